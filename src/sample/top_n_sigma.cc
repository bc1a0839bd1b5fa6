// Top-n-sigma (Tang et al. 2024): logits at most n standard deviations below the largest, the
// deviation being that of the whole vocabulary's finite logits.
#include <cmath>

#include "sample/stage.h"

namespace wick {

void apply_top_n_sigma(Candidates& c, const SamplingParams& p) noexcept {
  sort(c);
  double n = 0, sum = 0, squares = 0;
  const auto for_finite = [&](const auto& body) {
    for (std::size_t i = 0; i < c.logits.size(); ++i) {
      if (std::isfinite(c.logits[i]) && is_allowed(c.allowed, i)) {
        body(static_cast<double>(c.logits[i]));
      }
    }
  };
  for_finite([&](double x) {
    n += 1;
    sum += x;
  });
  if (n == 0) return;
  for_finite([&](double x) { squares += (x - sum / n) * (x - sum / n); });
  const double least = static_cast<double>(c.items[0].logit) -
                       static_cast<double>(p.top_n_sigma) * std::sqrt(squares / n);
  std::size_t kept = 1;
  while (kept < c.items.size() && static_cast<double>(c.items[kept].logit) >= least)
    ++kept;
  c.items = c.items.first(kept);
}

}  // namespace wick
