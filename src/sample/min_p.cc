// Min-p (Nguyen et al. 2024): tokens at least min_p times as likely as the most likely one, which
// is a bound on the logits.
// Hot: all of it.
#include "sample/stage.h"

namespace wick {

void apply_min_p(Candidates& c, const SamplingParams& p) noexcept {
  keep_from(c, static_cast<double>(largest(c)) + log_of(static_cast<double>(p.min_p)));
}

}  // namespace wick
