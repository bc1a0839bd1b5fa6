// What follows a failed attempt, and how long to wait before it. Pure functions.
#pragma once

#include <cstdint>

#include "provider/answer_report.h"

namespace wick::route {

enum class Next : std::uint8_t {
  kStop,       // no repetition will help
  kSame,       // again here, after a pause
  kNextTarget  // elsewhere, at once
};

struct RetryOptions {
  int max_retries = 2;                          // on one target
  std::int64_t first_ms = 250, most_ms = 5000;  // of the pauses
};

// `n_retries` were made on this target already.
Next after_failure(Failure failure, int n_retries, const RetryOptions& options) noexcept;

// Full jitter: uniform in [0, min(most, first · 2^n)], by `random` of 64 bits. At least
// `retry_after_ms`, if the provider asks for that.
std::int64_t pause_ms(int n_retries, std::int64_t retry_after_ms, std::uint64_t random,
                      const RetryOptions& options) noexcept;

// Whether it says something about the target's health, rather than about the request.
bool is_ill(Failure failure) noexcept;

}  // namespace wick::route
