// Top-k: the k most likely tokens.
// Hot: all of it.
#include <algorithm>

#include "sample/stage.h"

namespace wick {

void apply_top_k(Candidates& c, const SamplingParams& p) noexcept {
  const auto k = static_cast<std::size_t>(p.top_k);
  if (c.is_listed) {
    bring_to_front(c, k);
    c.items = c.items.first(std::min(k, c.items.size()));
    sort(c);
    return;
  }
  const std::size_t most = std::min(k, c.logits.size());
  c.items = c.items.first(select_top_k(c.vocabulary(), most, c.least, c.memory->maxima, c.items));
  c.is_listed = c.is_sorted = true;
}

}  // namespace wick
