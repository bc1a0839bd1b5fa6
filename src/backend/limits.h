// Limits of this module.
#pragma once

namespace wick {

inline constexpr int kMaxDevices = 8;        // per process
inline constexpr int kMaxExpertGroups = 64;  // of a mixture of experts

}  // namespace wick
