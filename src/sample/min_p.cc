// Min-p (Nguyen et al. 2024): tokens at least min_p times as likely as the most likely one.
#include "sample/stage.h"

namespace wick {

void apply_min_p(Candidates& c, const SamplingParams& p) noexcept {
  exp_weights(c);
  std::size_t n = 1;  // weights[0] is 1
  while (n < c.items.size() && c.weights[n] >= static_cast<double>(p.min_p))
    ++n;
  c.items = c.items.first(n);
}

}  // namespace wick
