#include "engine/scheduler.h"

#include <algorithm>

namespace wick {

int schedule(std::span<const Work> work, int budget, std::span<Slice> out) noexcept {
  int n = 0;
  for (const bool is_decoding : {true, false}) {
    for (std::size_t i = 0; i < work.size() && budget > 0; ++i) {
      const Work& w = work[i];
      const int missing = w.known - w.done;
      if (w.is_paused || (missing == 1) != is_decoding) continue;
      const int count = std::min(missing, budget);
      out[static_cast<std::size_t>(n++)] = {.index = static_cast<int>(i),
                                            .begin = w.done,
                                            .count = count,
                                            .needs_logits = count == missing};
      budget -= count;
    }
  }
  return n;
}

}  // namespace wick
