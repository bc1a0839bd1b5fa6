#include "route/bill.h"

namespace wick::route {

namespace {

constexpr std::int64_t kMostTimes = 8;
constexpr std::int64_t kAddedTokens = 4096;

}  // namespace

bool is_plausible(const Usage& usage, const Facts& facts, int max_tokens) noexcept {
  return usage.prompt_tokens > 0 && usage.cached_tokens <= usage.prompt_tokens &&
         usage.prompt_tokens <= kMostTimes * facts.most_tokens + kAddedTokens &&
         (max_tokens == 0 || usage.generated_tokens <= kMostTimes * max_tokens + kAddedTokens);
}

Settlement bill(const Attempt& attempt, const DoneEvent& done, const AnswerReport& report) {
  Settlement end{.usage = done.usage,
                 .is_estimated = report.is_usage_estimated,
                 .has_failed = done.finish == FinishReason::kError};
  const Candidate& candidate = attempt.candidate;
  const bool is_unanswered = report.failure == Failure::kNetwork && report.status == 0;
  const bool is_refused =
      end.has_failed && attempt.n_bytes == 0 && (report.status >= 300 || is_unanswered);
  if (candidate.most_cost == 0 || is_refused) return end;
  const Price& price = *candidate.about.price;
  const bool is_whole = !end.has_failed && done.finish != FinishReason::kCancelled;
  const bool is_told = is_whole && !report.is_usage_estimated;
  if (is_told && is_plausible(done.usage, attempt.facts, candidate.max_tokens)) {
    end.cost = cost_of(price, done.usage);
    return end;
  }
  // Whatever has come: reasoning may not be shown, and an API goes on when the client has left.
  end.is_estimated = true;
  end.cost = attempt.reserved;
  return end;
}

}  // namespace wick::route
