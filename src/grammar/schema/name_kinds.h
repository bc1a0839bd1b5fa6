// The kinds of names that patterns tell apart: for each pattern of an object, whether a name
// matches it. `^(.*)_script$` and `^(.*)cache$` make three kinds, for no name matches both.
//
// The patterns run side by side, each as an automaton of its own. Few states of all together can be
// reached, and a step is one of each pattern. The derivatives of an expression such as "matches the
// first, but none of the others" would be large, and others for each kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "regex/automaton.h"

namespace wick::grammar {

class NameKinds {
 public:
  using Kind = std::uint64_t;  // bit i: the names are in set i

  static constexpr std::size_t kMaxSets = 64;

  // Of `sets`, at most kMaxSets: the kinds of which there is a text, ascending. Null where the
  // patterns have too many states together, or the fuel of the automaton's pool is used up. Valid
  // as long as this object.
  const std::vector<Kind>* of(regex::Automaton& automaton, std::span<const regex::ExprId> sets);

  static constexpr bool has(Kind kind, std::ptrdiff_t set) noexcept {
    return (kind >> set & 1U) != 0;
  }

  struct Judged {
    Kind kind = 0;
    bool is_good = false;
  };

  // The names of good kinds, and perhaps some that are of none of `kinds`.
  static regex::ExprId united(regex::ExprPool& pool, std::span<const regex::ExprId> sets,
                              std::span<const Judged> kinds);

  std::size_t used_bytes() const noexcept { return n_bytes_; }  // about

 private:
  // By the sets. Nothing where they have too many states.
  std::map<std::vector<regex::ExprId>, std::optional<std::vector<Kind>>> known_ = {};
  std::size_t n_bytes_ = 0;
};

}  // namespace wick::grammar
