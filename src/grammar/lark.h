// Grammars in Lark's syntax with llguidance's additions:
//
//   start: "let" NAME "=" value
//   value: NUMBER | %json {"type": "array"} | <|image|>
//   NAME: /[a-z_]\w*/
//   %import common.NUMBER
//   %ignore /[ \t\n]+/
//
// Terminals (upper case) and texts are read greedily, as a lexer reads them; where several may
// begin, all that match as far as the longest are considered. Priorities are accepted and change
// nothing. Refused: templates, %declare, %extend, %override, lazy and stop attributes.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/grammar_rules.h"
#include "grammar/special_tokens.h"

namespace wick::grammar {

// Errors name line and column (id "bad_grammar"), or the limit.
Result<GrammarRules> parse_lark(std::string_view text, const TokenNames& names = {});

}  // namespace wick::grammar
