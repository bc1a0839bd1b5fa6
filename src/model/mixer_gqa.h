// Grouped-query attention: q, k and v from the normalized hidden state, rotation, the cache,
// attention, and the projection back, added to the hidden state. bind() at load, forward() hot.
#pragma once

#include <array>

#include "model/pass.h"
#include "model/tensors.h"

namespace wick {

struct GqaMixer {  // bound to its weights
  std::array<const Weight*, 3> qkv = {}, qkv_bias = {};
  std::array<const Weight*, 1> out = {}, out_bias = {}, gate = {};
  int n_qkv = 3;  // 1: queries alone
  bool has_qkv_bias = false, has_out_bias = false, has_gate = false;
  BoundNorm norm = {};
  Residual residual = {};
  QkNormRope head = {};
  AttendParams attend = {};
};

Result<GqaMixer> bind(Binder& binder, const GqaSpec& spec, const BlockSpec& block, int d_model,
                      int layer);

// Hot:
void forward(const GqaMixer& mixer, const LayerMemory& memory, const Pass& pass) noexcept;

}  // namespace wick
