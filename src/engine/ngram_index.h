// Guesses at what comes next by what came before: where the last three tokens stood earlier in the
// text, the same tokens may follow (prompt lookup, Saxena 2023). The latest place of each three is
// kept in a hash table that grows with the text; a collision forgets the older. Engine thread only;
// the constructor allocates.
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

  // Hot:
  // Guesses the tokens behind `tokens`, which is the text of last time or goes on behind it.
  // Returns how many of `out` it filled: all or none. A text that repeats itself is guessed to go
  // on so.
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

  // Where the three tokens at `i` were seen last.
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
