// An NFA: a syntax tree as nodes with ordered edges, in the order in which backtracking tries them.
// dfa.cc builds its states from these nodes. Load time only.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "regex/syntax.h"

namespace wick::regex {

struct NfaNode {
  enum class Kind : std::uint8_t {
    kSet,     // one character of `set`
    kNext,    // a test of the next character, or of the end of the text
    kBefore,  // a test of the previous character, or of the start of the text
    kAhead,   // a lookahead of more than one character: look_starts[look]
    kFork,
    kEnd
  };
  Kind kind = Kind::kEnd;
  bool is_negative = false;  // of a test or lookahead
  bool holds_edge = false;   // kNext, kBefore: true at the end or start of the text
  int set = -1;
  int look = -1;
  int next = -1;   // kFork: tried first
  int other = -1;  // kFork: tried second
};

class Nfa {
 public:
  static Result<Nfa> build(const SyntaxTree& tree);

  int start() const noexcept { return start_; }

  const std::vector<NfaNode>& nodes() const noexcept { return nodes_; }

  const std::vector<CodePoints>& sets() const noexcept { return sets_; }

  const std::vector<int>& look_starts() const noexcept { return look_starts_; }

 private:
  friend class NfaBuilder;

  std::vector<NfaNode> nodes_ = {};
  std::vector<CodePoints> sets_ = {};
  std::vector<int> look_starts_ = {};  // each leads to an end of its own
  int start_ = 0;
};

}  // namespace wick::regex
