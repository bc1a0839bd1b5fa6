// A tokenizer's regular expression as a tree, in the subset that wick's own automaton runs:
// sets of characters in sequence, alternatives and repetitions (greedy or lazy), and a look at the
// one character that comes next, as in \s+(?!\S) or $. What lies outside of it (anchors behind,
// longer looks, references, possessive repetitions) is refused, and PCRE2 runs it instead. Syntax
// and meaning are those of Oniguruma's Ruby syntax. Load time only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/char_set.h"

namespace wick {

struct RegexNode {
  enum class Kind : std::uint8_t { kSet, kLook, kSequence, kAlternatives, kRepeat };
  Kind kind = Kind::kSequence;
  int set = -1;                 // kSet: consumed; kLook: what must come next (may hold the end)
  int min = 0, max = 0;         // kRepeat; max -1 = no end
  bool is_lazy = false;         // kRepeat: as few as possible
  std::vector<int> parts = {};  // kRepeat: one
};

struct Regex {
  CharUniverse universe = {};
  std::vector<CharSet> sets = {};
  std::vector<RegexNode> nodes = {};
  int root = -1;
};

// Nothing where `pattern` is outside of the subset, or no regular expression at all.
std::optional<Regex> parse_regex(std::string_view pattern);

}  // namespace wick
