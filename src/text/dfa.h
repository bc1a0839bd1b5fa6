// A pattern as a finite automaton that finds what a backtracking engine finds: at the leftmost
// place the first alternative that matches, repetitions as greedy as written. Each character is
// looked at once, without a stack or memory. All states are built at load, so that threads share
// them without a lock; a pattern with more than kMaxDfaStates is refused.
//
//   const auto dfa = Dfa::compile(R"(\p{L}+|\s+(?!\S)|\s+)");
//   dfa->find("ab  c", 2, work);  // [2, 3): the second space stays with the c
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/marked_text.h"
#include "text/char_set.h"
#include "text/limits.h"
#include "text/regex.h"

namespace wick {

class Dfa {
 public:
  // Nothing where the pattern is outside of the subset (text/regex.h) or too large.
  static std::optional<Dfa> compile(std::string_view pattern);

  // The search in `text` was given up, since `work` is more than kMaxVainBytes for each byte.
  static bool is_too_much(std::size_t work, std::string_view text) noexcept {
    return work > kMaxVainBytes * (text.size() + 16);
  }

  // Hot: the first match in `text` (valid UTF-8) that starts at or after `from`. `work` counts the
  // bytes that were read and belong to no match; above kMaxVainBytes for each byte of the text
  // (text/limits.h) the search is given up, so that no pattern costs the square of a text's length.
  std::optional<Span> find(std::string_view text, std::size_t from,
                           std::size_t& work) const noexcept;

 private:
  friend class DfaBuilder;
  // A transition: the next state, and whether the text matches up to where the character starts.
  using Next = std::uint16_t;
  static constexpr Next kMatch = 0x8000;
  static constexpr Next kWide = 0x7FFF;  // in bytes_: not ASCII, look at wide_
  static constexpr Next kDead = 0;
  static constexpr Next kStart = 1;
  static constexpr char32_t kBlocksEnd = 0x10000;
  static constexpr std::uint8_t kMixed = 0xFF;

  Next wide(Next state, char32_t code) const noexcept {
    std::size_t char_class = code < kBlocksEnd ? block_class_[code / kUnicodeBlock] : kMixed;
    if (char_class == kMixed) char_class = class_of_[universe_.element_of(code)];
    return wide_[state * n_classes_ + char_class];
  }

  CharUniverse universe_ = {};
  std::vector<std::uint8_t> class_of_ = {};  // by element
  // Of all characters in a block, as most are in East Asia; kMixed: look at each.
  std::array<std::uint8_t, kBlocksEnd / kUnicodeBlock> block_class_ = {};
  std::size_t n_classes_ = 0;
  std::vector<std::array<Next, 256>> bytes_ = {};  // by state and byte
  std::vector<Next> wide_ = {};                    // by state and class
  std::vector<Next> ends_ = {};                    // by state: the end of the text
  std::array<bool, 256> is_barren_ = {};           // no match starts with this byte
};

}  // namespace wick
