// Limits of a local model.
#pragma once

#include <cstddef>

namespace wick {

inline constexpr std::size_t kMaxConversationBytes = std::size_t{64} << 20;  // JSON of a session

// Unread text of an answer, besides the longest piece, at which the answer pauses. Memory is
// committed as it is used.
inline constexpr std::size_t kRingBytes = std::size_t{1} << 14;

// Structured output: compiled formats that are kept, what they take together with their masks, and
// how many tokens before max_tokens the end of the text is planned, besides four times its
// shortest.
inline constexpr std::size_t kMaxFormats = 32;
inline constexpr std::size_t kMaxFormatBytes = std::size_t{64} << 20;
inline constexpr int kClosingHorizon = 512;

}  // namespace wick
