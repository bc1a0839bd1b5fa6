#include "grammar/token_mask.h"

#include <algorithm>

namespace wick::grammar {

bool TokenMask::allows(TokenId id) const noexcept {
  if (id < 0) return false;
  const auto i = static_cast<std::size_t>(id);
  if (bits != nullptr && i / 64 < bits->size() && (((*bits)[i / 64] >> (i % 64)) & 1U) != 0)
    return true;
  return std::binary_search(ids.begin(), ids.end(), id);
}

void TokenMask::fill(std::span<std::uint64_t> out) const noexcept {
  const std::size_t n = bits == nullptr ? 0 : std::min(bits->size(), out.size());
  if (n > 0) std::copy_n(bits->begin(), n, out.begin());
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(n), out.end(), 0);
  for (const TokenId id : ids) {
    const auto i = static_cast<std::size_t>(id);
    if (i / 64 < out.size()) out[i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

std::size_t TokenMask::bytes() const noexcept {
  return sizeof(TokenMask) + ids.capacity() * sizeof(TokenId);
}

}  // namespace wick::grammar
