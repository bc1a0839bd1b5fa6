// A dense feed-forward and experts side by side, each between norms of its own (Gemma 4): their sum
// is normalized and added to the hidden state. bind() at load, forward() hot.
#pragma once

#include "model/ffn_dense.h"
#include "model/ffn_moe.h"

namespace wick {

struct DenseMoeFfn {    // bound to its weights
  DenseFfn dense = {};  // its residual is that of the sum
  MoeFfn experts = {};
  BoundNorm dense_norm = {}, experts_norm = {};  // of what they yield
};

Result<DenseMoeFfn> bind(Binder& binder, const DenseMoeSpec& spec, const BlockSpec& block,
                         int d_model, int layer);

// Hot:
void forward(const DenseMoeFfn& ffn, const Pass& pass) noexcept;

}  // namespace wick
