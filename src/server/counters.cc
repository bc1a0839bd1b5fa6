#include "server/counters.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/limits.h"

namespace wick::server {

namespace {

constexpr std::int64_t kWindowNs = 10'000'000'000;
constexpr std::size_t kMaxModels = 1024;  // beyond: those without a running answer are forgotten

}  // namespace

// A window without an end of an answer goes on: the rate is not 0 while answers are under way.
void Pace::pass(std::int64_t now_ns) noexcept {
  if (under_way() > 0) busy_ns_ += std::max<std::int64_t>(0, now_ns - now_ns_);
  now_ns_ = std::max(now_ns, now_ns_);
  if (n_ == 0 || busy_ns_ - begin_ns_ < kWindowNs) return;
  n_last_ = std::exchange(n_, 0);
  last_begin_ns_ = std::exchange(begin_ns_, busy_ns_);
}

void Pace::begin(int n, std::int64_t now_ns) noexcept {
  const std::lock_guard lock(mutex_);
  pass(now_ns);
  under_way_.fetch_add(n, std::memory_order_relaxed);
}

void Pace::drop(int n, std::int64_t now_ns) noexcept {
  const std::lock_guard lock(mutex_);
  pass(now_ns);
  under_way_.fetch_sub(n, std::memory_order_relaxed);
}

void Pace::end(std::int64_t now_ns) noexcept {
  const std::lock_guard lock(mutex_);
  pass(now_ns);
  under_way_.fetch_sub(1, std::memory_order_relaxed);
  ++n_;
}

int Pace::seconds_of_backlog(std::int64_t now_ns) noexcept {
  const std::lock_guard lock(mutex_);
  pass(now_ns);
  const int n = n_ + n_last_;
  if (n == 0) return 1;
  const double seconds = static_cast<double>(busy_ns_ - last_begin_ns_) / 1e9;
  const double backlog = under_way() * seconds / n;
  return static_cast<int>(std::clamp(std::ceil(backlog), 1.0, double{kMaxRetryAfter}));
}

std::shared_ptr<Pace> Paces::of(const std::string& model) {
  const std::lock_guard lock(mutex_);
  if (paces_.size() >= kMaxModels && !paces_.contains(model))
    std::erase_if(paces_, [](const auto& one) { return one.second.use_count() == 1; });
  auto& found = paces_[model];
  if (found == nullptr) found = std::make_shared<Pace>();
  return found;
}

int Paces::under_way() const {
  const std::lock_guard lock(mutex_);
  int sum = 0;
  for (const auto& [model, pace] : paces_)
    sum += pace->under_way();
  return sum;
}

void RouteCounters::add(const DoneEvent& event) noexcept {
  finished[static_cast<std::size_t>(event.finish)].fetch_add(1, std::memory_order_relaxed);
  if (event.usage.generated_tokens == 0) return;
  prefill_ms.add(event.usage.prompt_ms);
  decode_ms.add(event.usage.generate_ms);
}

}  // namespace wick::server
