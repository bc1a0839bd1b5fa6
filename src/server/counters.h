// Counters of the routes. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "provider/statistics.h"
#include "wick/event.h"

namespace wick::server {

// Running answers of a model, and the rate at which they end: over the last ten seconds or more in
// which there were any, so that an idle time tells nothing of it.
class Pace {
 public:
  void begin(int n, std::int64_t now_ns) noexcept;
  void drop(int n, std::int64_t now_ns) noexcept;  // without an end
  void end(std::int64_t now_ns) noexcept;

  // Seconds until the running answers have ended at that rate: 1 to kMaxRetryAfter.
  int seconds_of_backlog(std::int64_t now_ns) noexcept;

  int under_way() const noexcept { return under_way_.load(std::memory_order_relaxed); }

 private:
  void pass(std::int64_t now_ns) noexcept;

  std::atomic<int> under_way_ = 0;
  std::mutex mutex_;
  std::int64_t now_ns_ = 0;                        // of the latest call
  std::int64_t busy_ns_ = 0;                       // with an answer under way, until then
  std::int64_t begin_ns_ = 0, last_begin_ns_ = 0;  // of the window now and the one before, in it
  int n_ = 0, n_last_ = 0;                         // answers that ended in them
};

// Those of all models, by name.
class Paces {
 public:
  std::shared_ptr<Pace> of(const std::string& model);
  int under_way() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Pace>> paces_;
};

// Since the start; of /metrics.
struct RouteCounters {
  // By FinishReason.
  std::atomic<std::uint64_t> finished[static_cast<std::size_t>(FinishReason::kNone) + 1] = {};
  std::atomic<std::uint64_t> refused = 0;     // 4xx
  std::atomic<std::uint64_t> overloaded = 0;  // 503
  std::atomic<std::uint64_t> failed = 0;      // other 5xx
  HistogramCounter prefill_ms = {}, decode_ms = {};
  Paces paces = {};

  void add(const DoneEvent& event) noexcept;
};

}  // namespace wick::server
