// XTC, exclude top choices (p-e-w 2024): with probability xtc_probability, of the tokens that reach
// xtc_threshold only the least likely stays. Above one half at most one token can reach it.
// Hot: all of it.
#include "sample/stage.h"

namespace wick {

void apply_xtc(Candidates& c, const SamplingParams& p) noexcept {
  if (c.memory->draws.next() >= static_cast<double>(p.xtc_probability)) return;
  sort(c);
  const double least = static_cast<double>(p.xtc_threshold) * exp_weights(c);
  std::size_t n = 0;
  while (n < c.items.size() && c.weights[n] >= least)
    ++n;
  if (n < 2) return;
  c.items = c.items.subspan(n - 1);
  c.n_weights = 0;
}

}  // namespace wick
