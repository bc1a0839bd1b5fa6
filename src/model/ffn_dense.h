// The dense feed-forward layer: up (and gate), activation, down, added to the hidden state. bind()
// at load, forward() hot.
#pragma once

#include <array>
#include <span>

#include "model/pass.h"
#include "model/tensors.h"

namespace wick {

struct DenseFfn {  // bound to its weights
  DenseSpec spec = {};
  std::array<const Weight*, 2> up = {},
                               up_bias = {};  // gate and up, in two tensors or one; or up alone
  std::size_t n_up = 1;
  std::array<const Weight*, 1> down = {}, down_bias = {};
  BoundNorm norm = {};
  Residual residual = {};
};

Result<DenseFfn> bind(Binder& binder, const DenseSpec& spec, const BlockSpec& block, int d_model,
                      int layer);

// Hot:
// act(gate(n(x))) * up(n(x)), or act(up(n(x))), in the memory of `pass`.
Tensor hidden_of(const DenseFfn& ffn, const Pass& pass) noexcept;
Linear down_of(const DenseFfn& ffn) noexcept;  // the product of that
void forward(const DenseFfn& ffn, const Pass& pass) noexcept;

}  // namespace wick
