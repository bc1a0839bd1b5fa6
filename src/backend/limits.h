// Limits of this module.
#pragma once

namespace wick {

inline constexpr int kMaxDevices = 8;  // per process

}  // namespace wick
