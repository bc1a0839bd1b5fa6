// Marks, control characters, punctuation and lower case as defined by Hugging Face's normalizers
// and pre-tokenizers (tools/goldens/unicode_classes.py). Constant data, any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace wick {

struct CharRange {
  char32_t first, last;
};

// Characters `step` apart from `first` to `last` have their lower case `distance` further.
struct LowerRange {
  char32_t first, last;
  std::uint32_t step;
  std::int32_t distance;
};

std::span<const CharRange> accents() noexcept;       // of StripAccents
std::span<const CharRange> bert_accents() noexcept;  // of BertNormalizer
std::span<const CharRange> bert_controls() noexcept;
std::span<const CharRange> punctuation() noexcept;
std::span<const LowerRange> lower_ranges() noexcept;

// The range that `code` lies in, if any; `ranges` ascend.
template <class Range>
const Range* range_of(std::span<const Range> ranges, char32_t code) noexcept {
  const auto next = std::upper_bound(ranges.begin(), ranges.end(), code,
                                     [](char32_t c, const Range& r) { return c < r.first; });
  if (next == ranges.begin() || std::prev(next)->last < code) return nullptr;
  return &*std::prev(next);
}

// White_Space, as Rust's char::is_whitespace has it.
constexpr bool is_white_space(char32_t code) noexcept {
  return (code >= 0x9 && code <= 0xD) || code == 0x20 || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

// The lower case of one character; U+0130 has two characters, "i̇", and is left to the caller.
inline char32_t lower_of(char32_t code) noexcept {
  const LowerRange* const range = range_of(lower_ranges(), code);
  if (range == nullptr || (code - range->first) % range->step != 0) return code;
  return static_cast<char32_t>(static_cast<std::int32_t>(code) + range->distance);
}

}  // namespace wick
