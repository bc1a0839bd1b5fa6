// Maxima of the grammar room.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick::grammar {

inline constexpr std::size_t kMaxTrieTokenBytes = 4096;  // longer tokens are never allowed
inline constexpr std::size_t kMaxMaskCacheBytes = 32U << 20U;
inline constexpr std::size_t kMaxSparseIds = 1024;  // allowed tokens of a mask that is a list
// Parts of a concatenation or union whose counters are brought to their common form.
inline constexpr std::size_t kMaxClampedParts = 64;
inline constexpr long kMaxBoundDigits = 400;           // of a number that another is compared with
inline constexpr std::uint64_t kMaskFuel = 4'000'000;  // steps for one mask
inline constexpr std::size_t kMaxJsonStringStates = 200'000;

}  // namespace wick::grammar
