// Grammars in GBNF, llama.cpp's dialect: rules `name ::= …` over texts, classes of characters,
// rules, |, *, +, ?, {m,n} and parentheses; the start rule is `root`. Left recursion is allowed.
// Terminals that are tokens (`<[7]>`, `<|name|>`) want the control token.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/grammar_rules.h"
#include "grammar/special_tokens.h"

namespace wick::grammar {

// Errors name line and column (id "bad_grammar"), or the limit.
Result<GrammarRules> parse_gbnf(std::string_view text, const TokenNames& names = {});

}  // namespace wick::grammar
