// Statistics of a provider, for metrics. Plain data, except HistogramCounter, which any thread may
// update.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace wick {

// Counts of times in milliseconds. Bucket i holds those up to kBounds[i], the last one all above.
struct Histogram {
  static constexpr std::array<double, 14> kBounds = {1,   2,   5,    10,   20,   50,    100,
                                                     200, 500, 1000, 2000, 5000, 10000, 60000};
  std::array<std::uint64_t, kBounds.size() + 1> counts = {};
  double sum_ms = 0;
};

class HistogramCounter {
 public:
  // Hot:
  void add(double ms) noexcept {
    std::size_t i = 0;
    while (i < Histogram::kBounds.size() && ms > Histogram::kBounds[i])
      ++i;
    counts_[i].fetch_add(1, std::memory_order_relaxed);
    sum_us_.fetch_add(static_cast<std::uint64_t>(ms > 0 ? ms * 1000 : 0),
                      std::memory_order_relaxed);
  }

  Histogram read() const noexcept {
    Histogram out{.sum_ms = static_cast<double>(sum_us_.load(std::memory_order_relaxed)) / 1000};
    for (std::size_t i = 0; i < counts_.size(); ++i)
      out.counts[i] = counts_[i].load(std::memory_order_relaxed);
    return out;
  }

 private:
  std::array<std::atomic<std::uint64_t>, Histogram::kBounds.size() + 1> counts_ = {};
  std::atomic<std::uint64_t> sum_us_ = 0;
};

struct Statistics {
  int running = 0, waiting = 0;  // requests now
  int slots = 0;                 // requests that may run at once; 0 = not told
  std::int64_t ms_to_unload = -1;  // if nobody uses it; -1 = no time unloads it
  // Since the start, of requests that are over:
  std::uint64_t requests = 0, cancelled = 0, failed = 0;
  std::uint64_t prompt_tokens = 0, cached_tokens = 0, generated_tokens = 0;
  std::uint64_t draft_tokens = 0, accepted_tokens = 0, preemptions = 0;
  int cache_blocks = 0;     // of 16 tokens; 0 = it has no cache of its own
  int free_blocks = 0;      // that no request under way holds
  Histogram queue_ms = {};  // from the call to admission
  Histogram ttft_ms = {};   // to the first token
  Histogram itl_ms = {};    // between two tokens, the mean of an answer
  Histogram e2e_ms = {};    // to the last token
};

}  // namespace wick
