// Top-p (nucleus sampling, Holtzman et al. 2020): the smallest set of most likely tokens whose
// probabilities reach p.
#include "sample/stage.h"

namespace wick {

void apply_top_p(Candidates& c, const SamplingParams& p) noexcept {
  const double wanted = static_cast<double>(p.top_p) * exp_weights(c);
  double sum = 0;
  for (std::size_t i = 0; i < c.items.size(); ++i) {
    sum += c.weights[i];
    if (sum >= wanted) {
      c.items = c.items.first(i + 1);
      return;
    }
  }
}

}  // namespace wick
