// A context-free grammar as productions. Parts without recursion become regular expressions, the
// terminals. So a grammar without recursion is a single terminal, and counters are not expanded.
//
// Immutable except for the automaton of its terminals: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "grammar/gbnf.h"
#include "regex/automaton.h"

namespace wick::grammar {

struct Symbol {
  bool is_terminal = false;
  std::uint32_t id = 0;  // an expression, or a nonterminal
};

struct Production {
  std::uint32_t left = 0;  // nonterminal
  std::vector<Symbol> right = {};
};

struct Productions {
  std::unique_ptr<regex::Automaton> automaton = {};
  std::vector<Production> all = {};               // only those that derive a text
  std::vector<std::vector<std::uint32_t>> of = {};  // by nonterminal
  std::vector<bool> is_nullable = {};             // by nonterminal
  std::vector<std::optional<std::string>> shortest = {};  // by nonterminal: a text of it
  std::uint32_t start = 0;                        // nonterminal
};

Result<Productions> make_productions(const GrammarRules& rules);

}  // namespace wick::grammar
