// Penalties for tokens of the last repeat_window positions. repeat_penalty (Keskar et al. 2019,
// CTRL) divides positive and multiplies negative logits, once however often the token occurred;
// then presence_penalty is taken off once, frequency_penalty for each occurrence.
#include <algorithm>

#include "sample/stage.h"

namespace wick {

void penalise(std::span<float> logits, std::span<const TokenId> history, const SamplingParams& p,
              std::span<std::int32_t> counts) noexcept {
  if (p.repeat_window >= 0) {
    const auto window = std::min(history.size(), static_cast<std::size_t>(p.repeat_window));
    history = history.last(window);
  }
  const auto is_known = [&](TokenId id) { return static_cast<std::size_t>(id) < counts.size(); };
  for (const TokenId id : history) {
    if (is_known(id)) ++counts[static_cast<std::size_t>(id)];
  }
  for (const TokenId id : history) {
    if (!is_known(id)) continue;
    const auto i = static_cast<std::size_t>(id);
    if (counts[i] == 0) continue;  // done
    const float x = logits[i] > 0 ? logits[i] / p.repeat_penalty : logits[i] * p.repeat_penalty;
    logits[i] = x - (static_cast<float>(counts[i]) * p.frequency_penalty + p.presence_penalty);
    counts[i] = 0;
  }
}

}  // namespace wick
