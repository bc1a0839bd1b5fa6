// Counters of a local model, for Provider::statistics(). Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "provider/statistics.h"
#include "wick/usage.h"

namespace wick {

class Counters {
 public:
  // Hot: an answer has ended.
  void add(FinishReason finish, const Usage& usage) noexcept {
    const auto count = [](std::atomic<std::uint64_t>& sum, int n) {
      sum.fetch_add(static_cast<std::uint64_t>(n), std::memory_order_relaxed);
    };
    count(requests_, 1);
    count(cancelled_, finish == FinishReason::kCancelled ? 1 : 0);
    count(failed_, finish == FinishReason::kError ? 1 : 0);
    count(prompt_tokens_, usage.prompt_tokens);
    count(cached_tokens_, usage.cached_tokens);
    count(generated_tokens_, usage.generated_tokens);
    count(draft_tokens_, usage.draft_tokens);
    count(accepted_tokens_, usage.accepted_tokens);
    count(preemptions_, usage.preemptions);
    if (usage.generated_tokens == 0) return;
    queue_.add(usage.queue_ms);
    ttft_.add(usage.queue_ms + usage.prompt_ms);
    e2e_.add(usage.queue_ms + usage.prompt_ms + usage.generate_ms);
    if (usage.generated_tokens > 1) itl_.add(usage.generate_ms / (usage.generated_tokens - 1));
  }

  Statistics read() const noexcept {
    return {.requests = requests_,
            .cancelled = cancelled_,
            .failed = failed_,
            .prompt_tokens = prompt_tokens_,
            .cached_tokens = cached_tokens_,
            .generated_tokens = generated_tokens_,
            .draft_tokens = draft_tokens_,
            .accepted_tokens = accepted_tokens_,
            .preemptions = preemptions_,
            .queue_ms = queue_.read(),
            .ttft_ms = ttft_.read(),
            .itl_ms = itl_.read(),
            .e2e_ms = e2e_.read()};
  }

 private:
  std::atomic<std::uint64_t> requests_ = 0, cancelled_ = 0, failed_ = 0;
  std::atomic<std::uint64_t> prompt_tokens_ = 0, cached_tokens_ = 0, generated_tokens_ = 0;
  std::atomic<std::uint64_t> draft_tokens_ = 0, accepted_tokens_ = 0, preemptions_ = 0;
  HistogramCounter queue_, ttft_, itl_, e2e_;
};

}  // namespace wick
