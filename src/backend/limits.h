// Maxima of this room.
#pragma once

namespace wick {

inline constexpr int kMaxDevices = 8;  // that a process looks at

}  // namespace wick
