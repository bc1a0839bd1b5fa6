#include "route/retry.h"

#include <algorithm>

namespace wick::route {

Next after_failure(Failure failure, int n_retries, const RetryOptions& options) noexcept {
  switch (failure) {
    case Failure::kNetwork:
    case Failure::kTimeout:
    case Failure::kRateLimit:
    case Failure::kOverload:
      return n_retries < options.max_retries ? Next::kSame : Next::kNextTarget;
    case Failure::kConflict:
      return n_retries < 1 ? Next::kSame : Next::kNextTarget;
    case Failure::kCredential:
    case Failure::kQuota:
    case Failure::kContextLength:
    case Failure::kNoModel:
    case Failure::kBadAnswer:
      return Next::kNextTarget;
    case Failure::kNone:
    case Failure::kRequest:
    case Failure::kContentPolicy:
      return Next::kStop;
  }
  return Next::kStop;
}

std::int64_t pause_ms(int n_retries, std::int64_t retry_after_ms, std::uint64_t random,
                      const RetryOptions& options) noexcept {
  const std::int64_t most =
      std::min(options.most_ms, options.first_ms << std::clamp(n_retries, 0, 20));
  const auto jitter = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(most + 1));
  return std::max(jitter, retry_after_ms);
}

bool is_ill(Failure failure) noexcept {
  return failure == Failure::kNetwork || failure == Failure::kTimeout ||
         failure == Failure::kRateLimit || failure == Failure::kOverload ||
         failure == Failure::kBadAnswer;
}

}  // namespace wick::route
