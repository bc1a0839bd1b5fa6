// A gated delta layer. One matmul computes q, k, v, gate, beta and alpha from the normalized hidden
// state; convolution and recurrence follow. The output projection is added to the hidden state.
// bind() at load, forward() hot.
#pragma once

#include <array>

#include "model/pass.h"
#include "model/sequence_memory.h"
#include "model/tensors.h"

namespace wick {

struct DeltaMixer {                      // bound to its weights
  std::array<const Weight*, 4> in = {};  // q k v; gate; beta; alpha
  std::array<const Weight*, 1> out = {};
  BoundNorm norm = {};
  Residual residual = {};
  DeltaParams params = {};
};

// The sizes of a layer; its weights are null.
DeltaParams sizes_of(const DeltaSpec& spec) noexcept;

Result<DeltaMixer> bind(Binder& binder, const DeltaSpec& spec, const BlockSpec& block, int d_model,
                        int layer);

// Hot:
void forward(const DeltaMixer& mixer, const LayerMemory& memory, const Pass& pass) noexcept;

}  // namespace wick
