// Time that only goes forward.
#pragma once

#include <chrono>
#include <cstdint>

namespace wick {

inline std::int64_t monotonic_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace wick
