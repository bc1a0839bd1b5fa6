// A monotonic clock. Code that depends on time takes a Clock, so that tests can use a fake one.
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

  // The system's clock.
  static const Clock& machine() noexcept {
    static const Clock kMachine;
    return kMachine;
  }
};

}  // namespace wick
