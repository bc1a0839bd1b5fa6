// Multi-head latent attention in its absorbed form. Each head projects its query into the latent
// space. There all heads share one key of kv_rank + rope_dim features, whose first kv_rank features
// are the value. Each head projects its result back; the output projection is added to the hidden
// state. bind() at load, forward() hot.
#pragma once

#include <array>

#include "model/pass.h"
#include "model/tensors.h"

namespace wick {

struct MlaMixer {  // bound to its weights
  MlaSpec spec = {};
  std::array<const Weight*, 1> q_a = {}, q = {}, kv_a = {}, out = {};  // q_a: if q_rank > 0
  const Weight* q_gain = nullptr;
  BoundNorm norm = {};  // of the hidden state
  Residual residual = {};
  QkNormRope head = {};  // of keys; queries get RoPE only
  HeadLinear to_latent = {}, from_latent = {};
  AttendParams attend = {};
};

Result<MlaMixer> bind(Binder& binder, const MlaSpec& spec, const BlockSpec& block, int d_model,
                      int layer);

// Hot:
void forward(const MlaMixer& mixer, const LayerMemory& memory, const Pass& pass) noexcept;

}  // namespace wick
