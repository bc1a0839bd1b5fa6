// Locally typical sampling (Meister et al. 2023): the smallest set of tokens that reaches
// probability p, taking those first whose surprise -log p is nearest to the entropy.
//
// Surprise ascends along the sorted candidates, so the set is a run of them: it grows from where
// the entropy lies to whichever side is nearer.
// Hot: all of it.
#include "sample/stage.h"

namespace wick {

void apply_typical(Candidates& c, const SamplingParams& p) noexcept {
  sort(c);
  const std::size_t n = c.items.size();
  if (n == 0) return;
  const Spread spread = measure_spread(c);
  // How far the surprise of candidate i lies above the entropy.
  const auto above = [&](std::size_t i) {
    const double below =
        static_cast<double>(c.items[0].logit) - static_cast<double>(c.items[i].logit);
    return spread.log_sum + below - spread.entropy;
  };
  std::size_t begin = 0;
  while (begin < n && above(begin) < 0)
    ++begin;
  std::size_t end = begin;
  double sum = 0;
  const double wanted = static_cast<double>(p.typical_p) * spread.sum;
  do {
    const bool takes_likelier = end == n || (begin > 0 && -above(begin - 1) <= above(end));
    sum += c.weights[takes_likelier ? --begin : end++];
  } while (sum < wanted && end - begin < n);
  c.items = c.items.subspan(begin, end - begin);
  if (begin > 0) c.n_weights = 0;  // they were relative to one that is gone
}

}  // namespace wick
