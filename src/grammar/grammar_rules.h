// A context-free grammar as its parser leaves it (gbnf.h, ebnf.h, lark.h); productions.h makes
// productions of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "regex/code_points.h"

namespace wick::grammar {

struct GrammarNode {
  enum class Kind : std::uint8_t {
    kText,
    kClass,
    kRegex,       // text: a pattern (ECMA-262), matched from end to end
    kDifference,  // the first child without the second; both are regular
    kJson,        // text: a JSON Schema, documents of it
    kRule,
    kSequence,
    kChoice,
    kRepeat
  };

  Kind kind = Kind::kText;
  std::string text = {};
  regex::CodePoints set = {};                // kClass
  std::uint32_t rule = 0;                    // kRule
  std::uint32_t min = 0, max = 0;            // kRepeat; regex::kUnbounded
  std::vector<std::uint32_t> children = {};  // of the others
};

struct GrammarRules {
  struct Rule {
    std::string name;
    std::uint32_t body = 0;  // index into nodes
    bool is_defined = false;
    bool is_lexeme = false;  // of Lark: a terminal
  };

  std::vector<GrammarNode> nodes = {};
  std::vector<Rule> rules = {};
  std::uint32_t start = 0;  // index into rules
  // Lexemes are read greedily: where one may go on with a byte, none begins with it.
  bool is_lexed = false;
  std::vector<std::uint32_t> ignored = {};  // nodes of Lark's %ignore
};

enum class GrammarSyntax { kDetect, kGbnf, kEbnf, kLark };

// The syntax that a text is most likely in.
GrammarSyntax detected_syntax(std::string_view text);

}  // namespace wick::grammar
