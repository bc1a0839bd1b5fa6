#include "route/limiter.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "base/strings.h"

namespace wick::route {

namespace {

class LocalLimiter final : public Limiter {
 public:
  using Limiter::Limiter;

  std::int64_t take(std::int64_t tokens, std::int64_t now_ms, const std::shared_ptr<Wake>& wake,
                    Pass& pass) override;
  int running() const override;

 protected:
  void leave(Pass& pass, std::int64_t requests, std::int64_t tokens) override;

 private:
  struct Sum {
    std::int64_t second = -kSeconds, requests = 0, tokens = 0;
  };

  std::int64_t wait_for(std::int64_t now_ms, std::int64_t tokens) const;

  mutable std::mutex mutex_;
  std::array<Sum, kSeconds> sums_ = {};  // by second modulo kSeconds
  int running_ = 0;
  std::vector<std::weak_ptr<Wake>> waiting_ = {};  // for another request's end
};

std::int64_t LocalLimiter::take(std::int64_t tokens, std::int64_t now_ms,
                                const std::shared_ptr<Wake>& wake, Pass& pass) {
  const std::lock_guard lock(mutex_);
  if (options().tokens_per_minute > 0 && tokens > options().tokens_per_minute) return kNever;
  if (options().parallel > 0 && running_ >= options().parallel) {
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
std::int64_t LocalLimiter::wait_for(std::int64_t now_ms, std::int64_t tokens) const {
  if (options().requests_per_minute == 0 && options().tokens_per_minute == 0) return 0;
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
        (options().requests_per_minute == 0 || requests <= options().requests_per_minute) &&
        (options().tokens_per_minute == 0 || all_tokens <= options().tokens_per_minute);
    if (fits) return wait;
    requests -= recent[i]->requests;
    all_tokens -= recent[i]->tokens;
    wait = (recent[i]->second + kSeconds) * 1000 - now_ms;
  }
  return wait;
}

void LocalLimiter::leave(Pass& pass, std::int64_t requests, std::int64_t tokens) {
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

int LocalLimiter::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

constexpr LimitStoreKind kLimitStores[] = {
    {"redis://", open_redis_limits},
    {"redis+unix://", open_redis_limits},
};

}  // namespace

std::unique_ptr<Limiter> local_limiter(const LimitOptions& options) {
  return std::make_unique<LocalLimiter>(options);
}

std::span<const LimitStoreKind> limit_stores() noexcept {
  return kLimitStores;
}

Result<std::shared_ptr<LimitStore>> open_limit_store(const std::string& uri) {
  std::string known;
  for (const LimitStoreKind& kind : kLimitStores) {
    if (uri.starts_with(kind.scheme)) return kind.open(uri);
    known += cat(known.empty() ? "" : " or ", kind.scheme);
  }
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_setting",
               .message = cat("the store of limits does not begin with ", known)};
}

std::unique_ptr<Limiter> make_limiter(LimitStore* store, const std::string& name,
                                      const LimitOptions& options) {
  return store != nullptr && options.is_any() ? store->make(name, options) : local_limiter(options);
}

}  // namespace wick::route
