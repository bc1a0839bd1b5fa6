// Temperature: logits divided by T. It comes last, so that top-p and min-p see the model's own
// distribution.
#include "sample/stage.h"

namespace wick {

void apply_temperature(Candidates& c, const SamplingParams& p) noexcept {
  for (Candidate& item : c.items)
    item.logit /= p.temperature;
}

}  // namespace wick
