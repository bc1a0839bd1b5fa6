// Plain text: UTF-8 whose characters a JSON string spells as themselves, that is without control
// characters, quotes and backslashes. The last character may be incomplete. Nearly all tokens are
// plain, and at most places in a string all of them are allowed: PlainReach proves it for a state,
// so that a mask need not try each token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "regex/automaton.h"

namespace wick::grammar {

// A byte that plain text may hold (if it is UTF-8 there).
constexpr bool is_plain_byte(unsigned char byte) noexcept {
  return byte >= 0x20 && byte != '"' && byte != '\\';
}

bool is_plain_text(std::string_view bytes) noexcept;
// Its last character is complete.
bool is_whole_plain_text(std::string_view bytes) noexcept;

class PlainReach {
 public:
  static constexpr int kFarthest = 64;

  // The largest n of 0, 8, 16, 32 and 64 for which it is proved that any plain text of at most n
  // bytes leaves `state` alive. Spends the fuel of the automaton's pool.
  int of(regex::Automaton& automaton, regex::ExprId state);

 private:
  struct Known {
    int alive = 0;             // any text of so many bytes leaves it alive
    int dead = kFarthest + 1;  // some text of so many bytes does not
  };

  bool is_alive_after(regex::Automaton& automaton, regex::ExprId state, std::uint32_t place,
                      int n_bytes);

  std::unordered_map<std::uint64_t, Known> known_ = {};  // by state and place in a character
};

// Leaves out of an expression the finite sets of strings that it excludes: "not one of these" in an
// array whose items must differ is new for each item, what is left is not.
class Exclusions {
 public:
  // An expression with the same texts before which it is not dead: any text that leads to an empty
  // language in one of them does in the other. `state` itself where there is no other.
  regex::ExprId without(regex::Automaton& automaton, regex::ExprId state);
  // The strings that without() adds to `state`, and perhaps others that are in neither.
  static regex::ExprId added(regex::Automaton& automaton, regex::ExprId state,
                             regex::ExprId without);

 private:
  // Each live state behind it has a next one.
  bool goes_on(regex::Automaton& automaton, regex::ExprId state);

  std::unordered_map<regex::ExprId, bool> goes_on_ = {};
};

}  // namespace wick::grammar
