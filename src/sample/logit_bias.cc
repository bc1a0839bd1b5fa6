// Logit bias: a number added to the logit of a token; -infinity bans it. Ids outside the vocabulary
// are passed over.
// Hot: all of it.
#include "sample/stage.h"

namespace wick {

void prepare_logit_bias(SamplerMemory& m, const SamplingParams& p, const ChainSizes& /*sizes*/) {
  m.edits.resize(m.edits.size() + p.logit_bias.size());
}

void apply_logit_bias(Candidates& c, const SamplingParams& p) noexcept {
  for (const LogitBias& one : p.logit_bias) {
    const auto id = static_cast<std::size_t>(one.id);
    if (id < c.logits.size()) edit_one(c, one.id, c.logits[id] + one.bias);
  }
}

}  // namespace wick
