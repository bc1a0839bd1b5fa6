// The dense feed-forward layer: up (and gate), activation, down, added to the hidden state. bind()
// at load, forward() hot.
#pragma once

#include <array>
#include <span>

#include "model/pass.h"
#include "model/tensors.h"

namespace wick {

struct DenseFfn {  // bound to its weights
  std::array<const Weight*, 2> gate_up = {}, gate_up_bias = {};
  std::array<const Weight*, 1> down = {}, down_bias = {};
  bool has_bias = false;
  const Weight* gain = nullptr;
  NormParams norm = {};
  Act act = Act::kSilu;
  int hidden = 0;
};

Result<DenseFfn> bind(Binder& binder, const DenseSpec& spec, const BlockSpec& block, int d_model,
                      int layer);

// Hot:
void forward(const DenseFfn& ffn, const Pass& pass) noexcept;

}  // namespace wick
