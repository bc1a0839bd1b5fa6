// End tokens are out until min_tokens are drawn, with ignore_eos always.
// Hot: all of it.
#include "sample/stage.h"

namespace wick {

void prepare_ends(SamplerMemory& m, const SamplingParams& /*p*/, const ChainSizes& sizes) {
  for (const TokenId id : sizes.ends) {
    if (id >= 0 && id < sizes.vocab) m.ends.push_back(id);  // cold: a request begins
  }
  m.edits.resize(m.edits.size() + m.ends.size());
}

void apply_ends(Candidates& c, const SamplingParams& p) noexcept {
  if (p.ignore_eos == 0 && c.memory->n_drawn >= p.min_tokens) return;
  for (const TokenId id : c.memory->ends)
    edit_one(c, id, -std::numeric_limits<float>::infinity());
}

}  // namespace wick
