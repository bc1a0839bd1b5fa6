#include "server/counters.h"

#include <algorithm>
#include <cmath>

#include "server/limits.h"

namespace wick::server {

namespace {

constexpr std::int64_t kWindowNs = 10'000'000'000;

}  // namespace

void Pace::turn(std::int64_t now_ns) noexcept {
  if (begin_ns_ == 0) begin_ns_ = last_begin_ns_ = now_ns;
  if (now_ns - begin_ns_ < kWindowNs) return;
  n_last_ = n_;
  last_begin_ns_ = begin_ns_;
  n_ = 0;
  begin_ns_ = now_ns;
}

void Pace::end(std::int64_t now_ns) noexcept {
  drop(1);
  const std::lock_guard lock(mutex_);
  turn(now_ns);
  ++n_;
}

int Pace::seconds_of_backlog(std::int64_t now_ns) noexcept {
  const std::lock_guard lock(mutex_);
  turn(now_ns);
  const int n = n_ + n_last_;
  if (n == 0) return 1;
  const double seconds = static_cast<double>(now_ns - last_begin_ns_) / 1e9;
  const double backlog = under_way() * seconds / n;
  return static_cast<int>(std::clamp(std::ceil(backlog), 1.0, double{kMaxRetryAfter}));
}

void RouteCounters::add(const DoneEvent& event, std::int64_t now_ns) noexcept {
  finished[static_cast<std::size_t>(event.finish)].fetch_add(1, std::memory_order_relaxed);
  pace.end(now_ns);
  if (event.usage.generated_tokens == 0) return;
  prefill_ms.add(event.usage.prompt_ms);
  decode_ms.add(event.usage.generate_ms);
}

}  // namespace wick::server
