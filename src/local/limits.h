// Limits of a local model.
#pragma once

#include <cstddef>

namespace wick {

inline constexpr std::size_t kMaxConversationBytes = std::size_t{64} << 20;  // JSON of a session

// Unread text of an answer, besides the longest piece, at which the answer pauses. Memory is
// committed as it is used.
inline constexpr std::size_t kRingBytes = std::size_t{1} << 14;

}  // namespace wick
