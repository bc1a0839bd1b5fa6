// A mixture of experts as a feed-forward layer, added to the hidden state. bind() at load,
// forward() hot.
#pragma once

#include <vector>

#include "model/pass.h"
#include "model/tensors.h"

namespace wick {

struct MoeFfn {  // bound to its weights
  std::vector<const Weight*> gate = {}, up = {}, down = {};
  std::vector<LowRank> gate_changes = {}, up_changes = {}, down_changes = {};
  ExpertStep step = {};  // its gate, up and down have no spans yet
};

Result<MoeFfn> bind(Binder& binder, const MoeSpec& spec, const BlockSpec& block, int d_model,
                    int layer);

// The same without the norm of its input: `step` has no gain yet.
Result<MoeFfn> bind_mixture(Binder& binder, const MoeSpec& spec, int d_model, int layer);

// Hot:
// The experts' sum, added to y or alone.
void mix(const MoeFfn& ffn, const Pass& pass, const Tensor& y, bool adds) noexcept;
void forward(const MoeFfn& ffn, const Pass& pass) noexcept;

}  // namespace wick
