#include "route/bill.h"

#include <algorithm>

namespace wick::route {

namespace {

constexpr std::int64_t kMostTimes = 8;
constexpr std::int64_t kAddedTokens = 4096;

}  // namespace

bool is_plausible(const Usage& usage, const Facts& facts, int max_tokens) noexcept {
  return usage.prompt_tokens <= kMostTimes * facts.most_tokens + kAddedTokens &&
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
  end.is_estimated = true;
  end.cost = attempt.reserved;
  const bool may_have_thought = !is_whole && attempt.n_bytes == 0;
  if (is_told || may_have_thought) return end;
  const auto bytes = static_cast<std::int64_t>(attempt.n_bytes);
  end.cost = std::min(end.cost, cost_of(price, attempt.facts.most_tokens, bytes));
  return end;
}

}  // namespace wick::route
