// Repetition penalty: tokens of the last repeat_window positions become less likely, each once
// however often it occurred.
#include <algorithm>

#include "sample/stage.h"

namespace wick {

void penalise(std::span<float> logits, std::span<const TokenId> history, const SamplingParams& p,
              std::span<std::uint64_t> seen) noexcept {
  if (p.repeat_window >= 0) {
    const auto window = std::min(history.size(), static_cast<std::size_t>(p.repeat_window));
    history = history.last(window);
  }
  for (const TokenId id : history) {
    const auto i = static_cast<std::size_t>(id);
    if (i >= logits.size() || (seen[i / 64] >> (i % 64) & 1) != 0) continue;
    seen[i / 64] |= std::uint64_t{1} << (i % 64);
    logits[i] = logits[i] > 0 ? logits[i] / p.repeat_penalty : logits[i] * p.repeat_penalty;
  }
  for (const TokenId id : history) {
    const auto i = static_cast<std::size_t>(id);
    if (i < logits.size()) seen[i / 64] = 0;
  }
}

}  // namespace wick
