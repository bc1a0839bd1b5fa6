// Grammars in EBNF. Two dialects, told apart by the sign behind a rule's name:
//
//   W3C    digits ::= [0-9]+  sum ::= digits ('+' digits)* /* … */   #x41, A - B, rule numbers [1]
//   ISO    sum = digits, { "+", digits } ; (* … *)                   [optional], 3 * "x", A - B
//
// The start rule is `root`, else the first one.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/grammar_rules.h"
#include "grammar/special_tokens.h"

namespace wick::grammar {

// Errors name line and column (id "bad_grammar"), or the limit.
Result<GrammarRules> parse_ebnf(std::string_view text, const TokenNames& names = {});

}  // namespace wick::grammar
