#include "sample/stage.h"

#include <algorithm>

namespace wick {

void sort(Candidates& c) noexcept {
  if (c.is_sorted) return;
  std::sort(c.items.begin(), c.items.end(), [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  });
  c.is_sorted = true;
}

double exp_weights(Candidates& c) noexcept {
  sort(c);
  double sum = 0;
  for (std::size_t i = 0; i < c.items.size(); ++i) {
    c.weights[i] = exp_of_negative(static_cast<double>(c.items[i].logit) -
                                   static_cast<double>(c.items[0].logit));
    sum += c.weights[i];
  }
  return sum;
}

Spread measure_spread(Candidates& c) noexcept {
  const double sum = exp_weights(c);
  Spread out{.log_sum = log_of(sum)};
  for (std::size_t i = 0; i < c.items.size(); ++i) {
    if (c.weights[i] == 0) continue;
    const double below =
        static_cast<double>(c.items[0].logit) - static_cast<double>(c.items[i].logit);
    out.entropy += c.weights[i] / sum * (out.log_sum + below);
  }
  return out;
}

}  // namespace wick
