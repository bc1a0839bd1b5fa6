// Top-n-sigma (Tang et al. 2024): logits at most n standard deviations below the largest, the
// deviation being that of the finite logits still in play.
// Hot: all of it.
#include <algorithm>
#include <cmath>

#include "sample/stage.h"

namespace wick {

void apply_top_n_sigma(Candidates& c, const SamplingParams& p) noexcept {
  const float top = largest(c);
  Moments m;
  if (c.is_listed) {
    for (const Candidate& item : c.items) {
      const double below = static_cast<double>(top) - static_cast<double>(item.logit);
      if (!std::isfinite(below)) continue;
      m.n += 1;
      m.sum += below;
      m.squares += below * below;
    }
  } else {
    m = measure_moments(c.vocabulary(), c.least, top);
  }
  if (m.n == 0) return;
  // Distances below the largest logit are small where they count, so nothing cancels.
  const double mean = m.sum / m.n;
  const double deviation = std::sqrt(std::max(0.0, m.squares / m.n - mean * mean));
  keep_from(c, static_cast<double>(top) - static_cast<double>(p.top_n_sigma) * deviation);
}

}  // namespace wick
