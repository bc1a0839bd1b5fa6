// What a local model refuses to exceed.
#pragma once

#include <cstddef>

namespace wick {

inline constexpr std::size_t kMaxConversationBytes = std::size_t{64} << 20;  // JSON of a session

// Text that an answer's reader may be behind, besides the longest piece, before the answer waits
// for it. Memory is touched as it is used.
inline constexpr std::size_t kRingBytes = std::size_t{1} << 14;

}  // namespace wick
