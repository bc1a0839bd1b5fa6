// ECMA-262 regular expressions (with the flag u, and the lenient escapes that patterns in JSON
// Schemas use) as expressions over bytes: the language of all texts that the pattern matches.
//
// Supported assertions: lookahead, \b, \B, ^ and $, outside of repetitions and in repetitions of at
// most kMaxUnrolled times; lookbehind at the start of the pattern, before a final $, and behind a
// part of at least its length. Other constructs are errors with name and place: back-references,
// other lookbehind, assertions in longer repetitions, flags in groups. Exceptions, which may repeat
// without a limit: `((?!x).)*` at the end of the text, `(.(?!x))*` before a text shorter than x,
// lookahead that sees no more than what follows in its own group (`(\.(?!\.)/)*`), and ^ if there
// is no other assertion.
//
//   parse_ecma(pool, "^[a-z]+$");                    // texts with a match (JSON Schema's pattern)
//   parse_ecma(pool, "[a-z]+", PatternUse::kWhole);  // texts that match as a whole
#pragma once

#include <string_view>

#include "base/result.h"
#include "regex/expr.h"

namespace wick::regex {

enum class PatternUse : std::uint8_t { kSearch, kWhole };

// Errors: kInvalid ("regex_syntax") for a syntax error; kUnsupported for a refused construct
// ("regex_unsupported") or a pattern that is too large ("regex_fuel", "regex_memory"). Places are
// byte offsets from 0.
Result<ExprId> parse_ecma(ExprPool& pool, std::string_view pattern,
                          PatternUse use = PatternUse::kSearch);

}  // namespace wick::regex
