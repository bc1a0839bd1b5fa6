// Temperature: logits divided by T. It comes last, so that the other stages see the model's own
// distribution. With a range (entropy-based dynamic temperature, kalomaze 2024) T moves between
// T - range and T + range with the share of the largest possible entropy, raised to an exponent.
// Hot: all of it.
#include <algorithm>

#include "sample/stage.h"

namespace wick {

namespace {

double dynamic(Candidates& c, const SamplingParams& p) noexcept {
  const double low = std::max(0.0, static_cast<double>(p.temperature - p.dynatemp_range));
  const double high = static_cast<double>(p.temperature + p.dynatemp_range);
  const double most = log_of(static_cast<double>(c.items.size()));
  const double share = std::clamp(measure_spread(c).entropy / most, 1e-30, 1.0);
  const double raised = power_of(share, static_cast<double>(p.dynatemp_exponent));
  return low + (high - low) * raised;
}

}  // namespace

void apply_temperature(Candidates& c, const SamplingParams& p) noexcept {
  list(c);
  auto temperature = p.temperature;
  if (p.dynatemp_range > 0 && c.items.size() > 1) temperature = static_cast<float>(dynamic(c, p));
  if (temperature < 1e-6F) {  // as good as greedy, and no division overflows
    sort(c);
    c.items = c.items.first(std::min<std::size_t>(1, c.items.size()));
    return;
  }
  for (Candidate& item : c.items)
    item.logit /= temperature;
  c.n_weights = 0;
}

}  // namespace wick
