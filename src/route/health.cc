#include "route/health.h"

#include <algorithm>
#include <bit>

#include "route/retry.h"

namespace wick::route {

namespace {
constexpr double kNewShare = 0.2;  // of a new time in the smoothed one
}

bool Health::admit(std::int64_t now_ms, std::uint64_t turn) {
  const std::lock_guard lock(mutex_);
  if (is_open_) {
    if (now_ms < open_until_ || is_probing_) return false;
    is_probing_ = true;
  }
  turn_ = turn;
  retries_ = std::min(retries_ + options_.retries_per_request, options_.most_retries);
  return true;
}

void Health::succeeded(std::int64_t /*now_ms*/) {
  const std::lock_guard lock(mutex_);
  if (is_open_) {  // the probe, or one that began before
    is_open_ = is_probing_ = false;
    outcomes_ = 0;
    n_outcomes_ = 0;
  }
  outcomes_ <<= 1U;
  n_outcomes_ = std::min(n_outcomes_ + 1, options_.window);
}

void Health::failed(Failure failure, std::int64_t retry_after_ms, std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  if (failure == Failure::kCredential || failure == Failure::kQuota)
    return open(failure, now_ms + std::max(options_.credential_ms, retry_after_ms));
  if (!is_ill(failure)) {
    is_probing_ = false;  // it answers
    return;
  }
  const bool asks_for_rest =
      retry_after_ms > 0 && (failure == Failure::kRateLimit || failure == Failure::kOverload);
  if (asks_for_rest) return open(failure, now_ms + retry_after_ms);
  if (is_open_) return open(failure, now_ms + options_.open_ms);
  outcomes_ = outcomes_ << 1U | 1U;
  n_outcomes_ = std::min(n_outcomes_ + 1, options_.window);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - n_outcomes_);
  const int n_failed = std::popcount(outcomes_ & mask);
  if (n_failed >= options_.least_failures && 2 * n_failed >= n_outcomes_)
    open(failure, now_ms + options_.open_ms);
}

void Health::left(std::int64_t /*now_ms*/) {
  const std::lock_guard lock(mutex_);
  is_probing_ = false;
}

void Health::open(Failure failure, std::int64_t until_ms) {
  is_open_ = true;
  opened_by_ = failure;
  is_probing_ = false;
  open_until_ = std::max(open_until_, until_ms);
}

bool Health::take_retry() {
  const std::lock_guard lock(mutex_);
  if (retries_ < 1) return false;
  retries_ -= 1;
  return true;
}

void Health::saw_first_token(double ms) {
  const std::lock_guard lock(mutex_);
  first_token_ms_ =
      first_token_ms_ == 0 ? ms : first_token_ms_ + kNewShare * (ms - first_token_ms_);
}

BreakerState Health::state(std::int64_t now_ms) const {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return BreakerState::kClosed;
  return now_ms < open_until_ ? BreakerState::kOpen : BreakerState::kHalfOpen;
}

std::int64_t Health::open_until_ms() const {
  const std::lock_guard lock(mutex_);
  return is_open_ ? open_until_ : 0;
}

Failure Health::opened_by() const {
  const std::lock_guard lock(mutex_);
  return opened_by_;
}

std::uint64_t Health::last_turn() const {
  const std::lock_guard lock(mutex_);
  return turn_;
}

double Health::first_token_ms() const {
  const std::lock_guard lock(mutex_);
  return first_token_ms_;
}

}  // namespace wick::route
