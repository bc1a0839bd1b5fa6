// Adaptive-p (llama.cpp #17927, 2025): prefers tokens whose probability is near a target, and moves
// the target so that the average probability of what was drawn stays there. The average forgets: a
// token's weight is decay^age, as if the request had begun with many tokens on target.
//
// A token at distance d from the target, in units of 0.3, is drawn in proportion to
// exp(-10 d^2 / (1 + d)): like a bell near the target, falling exponentially further out.
// Hot: all of it.
#include <algorithm>

#include "sample/stage.h"

namespace wick {

namespace {

constexpr double kWidth = 0.3, kSharpness = 10;

}  // namespace

void prepare_adaptive_p(SamplerMemory& m, const SamplingParams& p, const ChainSizes& /*sizes*/) {
  m.adaptive_weight = 1 / (1 - static_cast<double>(p.adaptive_decay));
  m.adaptive_sum = static_cast<double>(p.adaptive_target) * m.adaptive_weight;
}

std::size_t choose_adaptive_p(Candidates& c, const SamplingParams& p) noexcept {
  SamplerMemory& m = *c.memory;
  const double sum = exp_weights(c);
  const double target = std::clamp(
      2 * static_cast<double>(p.adaptive_target) - m.adaptive_sum / m.adaptive_weight, 0.0, 1.0);
  // The bell of the candidate with this weight.
  const auto preference = [&](double weight) {
    const double off = weight / sum - target;
    const double d = (off < 0 ? -off : off) / kWidth;
    return exp_of(-kSharpness * d * d / (1 + d));
  };
  double all = 0;
  for (std::size_t i = 0; i < c.items.size(); ++i)
    all += preference(c.weights[i]);
  const double drawn = m.draws.next() * all;
  double reached = 0;
  std::size_t chosen = 0;
  for (; chosen + 1 < c.items.size(); ++chosen) {
    reached += preference(c.weights[chosen]);
    if (drawn < reached) break;
  }
  const auto decay = static_cast<double>(p.adaptive_decay);
  m.adaptive_sum = c.weights[chosen] / sum + decay * m.adaptive_sum;
  m.adaptive_weight = 1 + decay * m.adaptive_weight;
  return chosen;
}

}  // namespace wick
