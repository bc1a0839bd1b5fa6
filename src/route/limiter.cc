#include "route/limiter.h"

#include <algorithm>

namespace wick::route {

std::int64_t Limiter::take(std::int64_t tokens, std::int64_t now_ms,
                           const std::shared_ptr<Wake>& wake, Pass& pass) {
  const std::lock_guard lock(mutex_);
  if (options_.tokens_per_minute > 0 && tokens > options_.tokens_per_minute) return kNever;
  if (options_.parallel > 0 && running_ >= options_.parallel) {
    if (wake != nullptr) waiting_.push_back(wake);
    return kOnWake;
  }
  if (const std::int64_t wait = wait_for(now_ms, tokens); wait > 0) return wait;
  const std::int64_t second = now_ms / 1000;
  Sum& sum = sums_[static_cast<std::size_t>(second % kSeconds)];
  if (sum.second != second) sum = {.second = second};
  sum.requests += 1;
  sum.tokens += tokens;
  running_ += 1;
  pass = {.tokens = tokens, .second = second, .is_taken = true};
  return 0;
}

// Until enough of the last minute is a minute ago; 0 = now.
std::int64_t Limiter::wait_for(std::int64_t now_ms, std::int64_t tokens) const {
  const std::int64_t now = now_ms / 1000;
  std::array<const Sum*, kSeconds> recent = {};
  std::size_t n = 0;
  std::int64_t requests = 1, all_tokens = tokens;
  for (const Sum& sum : sums_) {
    if (sum.second <= now - kSeconds) continue;
    recent[n++] = &sum;
    requests += sum.requests;
    all_tokens += sum.tokens;
  }
  std::sort(recent.begin(), recent.begin() + static_cast<std::ptrdiff_t>(n),
            [](const Sum* a, const Sum* b) { return a->second < b->second; });
  std::int64_t wait = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool fits =
        (options_.requests_per_minute == 0 || requests <= options_.requests_per_minute) &&
        (options_.tokens_per_minute == 0 || all_tokens <= options_.tokens_per_minute);
    if (fits) return wait;
    requests -= recent[i]->requests;
    all_tokens -= recent[i]->tokens;
    wait = (recent[i]->second + kSeconds) * 1000 - now_ms;
  }
  return wait;
}

void Limiter::end(Pass& pass, std::int64_t used_tokens) {
  leave(pass, 0, used_tokens - pass.tokens);
}

void Limiter::undo(Pass& pass) {
  leave(pass, -1, -pass.tokens);
}

void Limiter::leave(Pass& pass, std::int64_t requests, std::int64_t tokens) {
  if (!pass.is_taken) return;
  pass.is_taken = false;
  std::vector<std::weak_ptr<Wake>> waiting;
  {
    const std::lock_guard lock(mutex_);
    running_ -= 1;
    Sum& sum = sums_[static_cast<std::size_t>(pass.second % kSeconds)];
    if (sum.second == pass.second) {
      sum.requests += requests;
      sum.tokens += tokens;
    }
    waiting.swap(waiting_);
  }
  for (const auto& one : waiting) {
    if (const auto wake = one.lock()) wake->set();
  }
}

int Limiter::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

}  // namespace wick::route
