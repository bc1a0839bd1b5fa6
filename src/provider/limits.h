// What the provider refuses to exceed.
#pragma once

#include <cstddef>

namespace wick {

inline constexpr std::size_t kMaxConversationBytes = std::size_t{64} << 20;  // JSON of a session

}  // namespace wick
