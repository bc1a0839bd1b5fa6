#include "sample/logprobs.h"

#include <cmath>
#include <limits>

namespace wick {

Scorer::Scorer(int vocab, int n_top_logprobs) : n_top_(n_top_logprobs) {
  if (!is_on()) return;
  maxima_.resize(2 * count_chunks(static_cast<std::size_t>(vocab)));
  top_.resize(static_cast<std::size_t>(n_top_));
}

void Scorer::score(std::span<const float> logits, TokenId token,
                   std::span<IdLogprob> out) noexcept {
  const double all = log_sum_exp(logits);
  const auto logprob = [&](float logit) {
    const auto value = static_cast<float>(static_cast<double>(logit) - all);
    return std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value;  // one NaN
  };
  out[0] = {token, logprob(logits[static_cast<std::size_t>(token)])};
  if (top_.empty()) return;
  const std::size_t n = select_top_k({.logits = logits}, top_.size(), kLowest, maxima_, top_);
  for (std::size_t i = 0; i < top_.size(); ++i)
    out[1 + i] = i < n ? IdLogprob{top_[i].id, logprob(top_[i].logit)} : IdLogprob{};
}

}  // namespace wick
