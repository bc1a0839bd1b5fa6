// Multi-head latent attention in its absorbed form: a head's query is turned into the latent space,
// where one key of kv_rank + rope_dim features serves all heads and its first kv_rank features are
// the value; what heads attended to is turned back, and projected to the hidden state. bind() at
// load, forward() hot.
#pragma once

#include <array>

#include "model/pass.h"
#include "model/tensors.h"

namespace wick {

struct MlaMixer {  // bound to its weights
  MlaSpec spec = {};
  std::array<const Weight*, 1> q_a = {}, q = {}, kv_a = {}, out = {};  // q_a: with a q_rank only
  const Weight* gain = nullptr;
  const Weight* q_gain = nullptr;
  NormParams norm = {};  // of the hidden state
  QkNormRope head = {};    // of keys; queries are rotated alone
  HeadLinear to_latent = {}, from_latent = {};
  AttendParams attend = {};
};

Result<MlaMixer> bind(Binder& binder, const MlaSpec& spec, const BlockSpec& block, int d_model,
                      int layer);

// Hot:
void forward(const MlaMixer& mixer, const LayerMemory& memory, const Pass& pass) noexcept;

}  // namespace wick
