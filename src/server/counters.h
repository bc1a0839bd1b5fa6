// Counters of the routes. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "provider/statistics.h"
#include "wick/event.h"

namespace wick::server {

// Running answers, and the rate at which they end, over the last ten seconds or more.
class Pace {
 public:
  void begin(int n) noexcept { under_way_.fetch_add(n, std::memory_order_relaxed); }

  void drop(int n) noexcept { under_way_.fetch_sub(n, std::memory_order_relaxed); }

  void end(std::int64_t now_ns) noexcept;

  // Seconds until the running answers have ended at that rate: 1 to kMaxRetryAfter.
  int seconds_of_backlog(std::int64_t now_ns) noexcept;

  int under_way() const noexcept { return under_way_.load(std::memory_order_relaxed); }

 private:
  void turn(std::int64_t now_ns) noexcept;

  std::atomic<int> under_way_ = 0;
  std::mutex mutex_;
  std::int64_t begin_ns_ = 0, last_begin_ns_ = 0;  // of the window now and the one before; 0 = none
  int n_ = 0, n_last_ = 0;                         // answers that ended in them
};

// Since the start; of /metrics.
struct RouteCounters {
  // By FinishReason.
  std::atomic<std::uint64_t> finished[static_cast<std::size_t>(FinishReason::kNone) + 1] = {};
  std::atomic<std::uint64_t> refused = 0;     // 4xx
  std::atomic<std::uint64_t> overloaded = 0;  // 503
  std::atomic<std::uint64_t> failed = 0;      // other 5xx
  HistogramCounter prefill_ms = {}, decode_ms = {};
  Pace pace = {};

  void add(const DoneEvent& event, std::int64_t now_ns) noexcept;
};

}  // namespace wick::server
