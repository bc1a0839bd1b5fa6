// Time for the router: monotonic for limits, Unix time for budgets, and timers that set a Wake. The
// simulation has virtual clocks. Any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/wake.h"

namespace wick::route {

class RouteClock {
 public:
  virtual ~RouteClock() = default;
  virtual std::int64_t now_ms() const noexcept = 0;  // monotonic
  virtual std::int64_t unix_s() const noexcept = 0;
  // Sets `wake` at that time, or a little later; not if it is gone by then.
  virtual void at(std::int64_t ms, const std::shared_ptr<Wake>& wake) = 0;

  // The machine's, with one thread for all timers.
  static Result<std::shared_ptr<RouteClock>> machine();
};

}  // namespace wick::route
