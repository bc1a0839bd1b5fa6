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
#include "grammar/grammar_rules.h"
#include "grammar/recognizer.h"
#include "regex/automaton.h"

namespace wick::grammar {

struct Symbol {
  bool is_terminal = false;
  std::uint32_t id = 0;        // an expression, or a nonterminal
  std::uint32_t document = 0;  // of a terminal that is a document: 1 + its number
};

struct Production {
  std::uint32_t left = 0;  // nonterminal
  std::vector<Symbol> right = {};
};

// A text of the language, or its end.
struct ShortText {
  std::string bytes = {};
  std::vector<std::uint32_t> cuts = {};  // where one terminal ends and the next begins

  void add(const ShortText& behind);
};

struct Productions {
  std::unique_ptr<regex::Automaton> automaton = {};
  std::vector<std::unique_ptr<Recognizer>> documents = {};  // of JSON Schemas
  std::vector<Production> all = {};                         // only those that derive a text
  std::vector<std::vector<std::uint32_t>> of = {};          // by nonterminal
  std::vector<bool> is_nullable = {};                       // by nonterminal
  std::vector<std::optional<ShortText>> shortest = {};      // by nonterminal: a text of it
  std::uint32_t start = 0;                                  // nonterminal
  bool is_lexed = false;                                    // as GrammarRules::is_lexed
  std::vector<std::string> ignored = {};  // short texts that may stand between lexemes

  // A terminal's state before its first byte.
  std::uint32_t begun(const Symbol& terminal) const noexcept {
    return terminal.document == 0 ? terminal.id : documents[terminal.document - 1]->start();
  }

  // The state of a terminal after `byte`: kDeadState, kFailedState.
  StateId step(const Symbol& terminal, std::uint32_t state, unsigned char byte);
  bool accepts(const Symbol& terminal, std::uint32_t state) const noexcept;
  Result<std::optional<ShortText>> shortest_of(const Symbol& terminal, std::uint32_t state);
};

Result<Productions> make_productions(const GrammarRules& rules);

}  // namespace wick::grammar
