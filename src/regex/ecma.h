// ECMA-262 regular expressions (with the flag u, and the lenient escapes that patterns in JSON
// Schemas use) as expressions over bytes: the language of all texts that the pattern matches.
//
// Everything that a finite automaton can do is honored: lookahead, \b and \B, ^ and $ anywhere
// outside of a repetition (or in one of at most kMaxUnrolled), lookbehind at the start of the
// pattern and before a final $. What remains is refused by name and place: back-references, other
// lookbehind, assertions in longer repetitions, flags in groups. `((?!x).)*` is understood where
// it ends the text.
//
//   parse_ecma(pool, "^[a-z]+$")                    // texts that a search finds: JSON Schema's
//   pattern parse_ecma(pool, "[a-z]+", PatternUse::kWhole)  // texts that it matches from end to
//   end
#pragma once

#include <string_view>

#include "base/result.h"
#include "regex/expr.h"

namespace wick::regex {

enum class PatternUse : std::uint8_t { kSearch, kWhole };

// Errors: kInvalid ("regex_syntax") for what is no pattern, kUnsupported ("regex_unsupported") for
// what is refused, "regex_fuel" and "regex_memory" for what is too large. Places are bytes, from 0.
Result<ExprId> parse_ecma(ExprPool& pool, std::string_view pattern,
                          PatternUse use = PatternUse::kSearch);

}  // namespace wick::regex
