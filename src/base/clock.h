// Time that only goes forward. Who decides by time is given a Clock, so that a test can move it.
#pragma once

#include <chrono>
#include <cstdint>

namespace wick {

inline std::int64_t monotonic_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Clock {
 public:
  virtual ~Clock() = default;

  virtual std::int64_t now_ns() const noexcept { return monotonic_ns(); }  // any thread

  // The machine's.
  static const Clock& machine() noexcept {
    static const Clock kMachine;
    return kMachine;
  }
};

}  // namespace wick
