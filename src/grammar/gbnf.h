// Grammars in GBNF, llama.cpp's dialect: rules `name ::= …` over texts, classes of characters,
// rules, |, *, +, ?, {m,n} and parentheses; the start rule is `root`. Left recursion is allowed.
// Terminals that are tokens (`<[id]>`, `<name>`) are refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "regex/code_points.h"

namespace wick::grammar {

struct GrammarNode {
  enum class Kind : std::uint8_t { kText, kClass, kRule, kSequence, kChoice, kRepeat };

  Kind kind = Kind::kText;
  std::string text = {};                      // kText
  regex::CodePoints set = {};                 // kClass
  std::uint32_t rule = 0;                     // kRule
  std::uint32_t min = 0, max = 0;             // kRepeat; regex::kUnbounded
  std::vector<std::uint32_t> children = {};   // of the others
};

struct GrammarRules {
  struct Rule {
    std::string name;
    std::uint32_t body = 0;  // index into nodes
    bool is_defined = false;
  };

  std::vector<GrammarNode> nodes = {};
  std::vector<Rule> rules = {};
  std::uint32_t start = 0;  // index into rules
};

// Errors name line and column (id "bad_grammar"), or the limit.
Result<GrammarRules> parse_gbnf(std::string_view text);

}  // namespace wick::grammar
