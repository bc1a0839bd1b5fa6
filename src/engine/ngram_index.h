// Draft tokens by n-gram lookup (prompt lookup decoding, Saxena 2023): where the last three tokens
// occurred earlier in the text, the tokens that followed there are proposed. A hash table keeps the
// latest position of each trigram and grows with the text; a collision overwrites the older one.
// Engine thread only; the constructor allocates.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace wick {

class NgramIndex {
 public:
  NgramIndex() = default;

  // For texts of at most `most` tokens.
  explicit NgramIndex(int most)
      : places_(std::bit_ceil(2 * static_cast<std::size_t>(std::max(most, 1))), -1) {}

  // Hot: Proposes tokens after `tokens`, which is the text of the last call or extends it. Fills
  // all of `out` or nothing; returns how many. Past the end of the text the match repeats.
  int draft(std::span<const TokenId> tokens, std::span<TokenId> out) noexcept {
    if (tokens.size() <= kLength || places_.empty()) return 0;
    for (; n_indexed_ + kLength < tokens.size(); ++n_indexed_)
      place(tokens, n_indexed_) = static_cast<std::int32_t>(n_indexed_);
    const std::size_t last = tokens.size() - kLength;
    const std::int32_t found = place(tokens, last);
    if (found < 0) return 0;
    const auto at = static_cast<std::size_t>(found);
    const auto same = tokens.subspan(at, kLength), wanted = tokens.subspan(last, kLength);
    if (!std::equal(same.begin(), same.end(), wanted.begin())) return 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t from = at + kLength + i;
      out[i] = from < tokens.size() ? tokens[from] : out[from - tokens.size()];
    }
    return static_cast<int>(out.size());
  }

 private:
  static constexpr std::size_t kLength = 3;

  // The latest position of the trigram at `i`.
  std::int32_t& place(std::span<const TokenId> tokens, std::size_t i) noexcept {
    std::uint64_t key = 0;
    for (std::size_t j = 0; j < kLength; ++j)
      key = (key ^ static_cast<std::uint32_t>(tokens[i + j])) * 0x9E3779B97F4A7C15;
    return places_[(key >> 32) & (places_.size() - 1)];
  }

  std::vector<std::int32_t> places_;
  std::size_t n_indexed_ = 0;  // runs of three that begin before this are in the table
};

}  // namespace wick
