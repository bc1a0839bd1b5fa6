// Penalties for tokens of the last repeat_last_n positions. repeat_penalty (Keskar et al. 2019,
// CTRL) divides positive and multiplies negative logits, once however often the token occurred;
// then presence_penalty is taken off once, frequency_penalty for each occurrence.
// Hot: all of it.
#include "sample/stage.h"

namespace wick {

void prepare_penalties(SamplerMemory& m, const SamplingParams& p, const ChainSizes& sizes) {
  m.counts = WindowCounts(sizes.vocab, p.repeat_last_n);
  const auto vocab = static_cast<std::size_t>(sizes.vocab);
  m.edits.resize(
      m.edits.size() +
      (p.repeat_last_n < 0 ? vocab : std::min(vocab, static_cast<std::size_t>(p.repeat_last_n))));
}

void apply_penalties(Candidates& c, const SamplingParams& p) noexcept {
  WindowCounts& counts = c.memory->counts;
  counts.follow(c.history);
  edit(c, counts.ids(), [&](TokenId id, float logit) {
    const auto count = static_cast<float>(counts.count(id));
    if (count == 0) return logit;
    const float x = logit > 0 ? logit / p.repeat_penalty : logit * p.repeat_penalty;
    return x - (count * p.frequency_penalty + p.presence_penalty);
  });
}

}  // namespace wick
