// The state of one forward pass: backend, batch, and activations, which are named parts of one
// buffer, sized once for the largest batch. Engine thread only.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "model/decoder.h"
#include "model/tensors.h"

namespace wick {

struct Activations {
  std::unique_ptr<Buffer> memory = {};
  Tensor x = {};  // [max_batch, d_model] the hidden state
  // [max_batch, d_model] the normalized input of a parallel layer, or the output of a matmul before
  // its post-norm; no rows if no layer needs it
  Tensor branch = {};
  // [max_batch, d_model] the experts' sum beside a dense feed-forward; no rows if no layer has both
  Tensor mixture = {};
  Tensor q = {};             // [max_batch, widest n_heads * head_dim]
  Tensor attended = {};      // [max_batch, widest n_heads * v_dim]
  Tensor layer_inputs = {};  // [max_batch, layers * width]; no columns if the model has none
  Tensor hidden = {};        // [max_batch, widest hidden]
  Tensor logits = {};        // [max_logit_rows, vocab]
  Tensor pooled = {};  // [2, widest] an encoder's dense layers after pooling: input and output
};

struct Widest {  // over all layers, in features of one token
  int q = 0, attended = 0, hidden = 0;
  int product = 0;  // input of a matmul, other than the hidden state
  int heads = 0, head_dim = 0;
  int joint_keys = 0;  // key features that one norm covers
  ExpertLimits experts = {};
  bool is_beside_experts = false;  // some layer has a dense feed-forward and experts
};

Widest widest(const DecoderSpec& spec) noexcept;

Result<Activations> make_activations(Device& device, const DecoderSpec& spec, const Widest& widest,
                                     const DecoderOptions& options);

// A packed tensor [rows, cols] in the memory of `all`: layers differ in width, so row_stride is
// `cols`. `skipped`: the columns of the parts that lie before it.
inline Tensor part(const Tensor& all, int rows, int cols, int skipped = 0) noexcept {
  float* const data = all.data + static_cast<std::ptrdiff_t>(rows) * skipped;
  return {.data = data, .rows = rows, .cols = cols, .row_stride = cols};
}

struct Pass {
  Backend& backend;
  const Batch& batch;
  const Activations& memory;
  Tensor x = {};   // [tokens, d_model]
  Tensor in = {};  // what mixer and feed-forward read: x, or in a parallel block its norm
  int n = 0;       // tokens
};

// How the output of a mixer or feed-forward is added to the hidden state.
struct Residual {
  BoundNorm norm = {};     // post-norm of the output, applied first
  float scale = 1;         // multiplies it; 1 with a norm
  bool norms_sum = false;  // the norm is of the new hidden state instead
  float sum_scale = 1;     // multiplies the new hidden state; needs a norm of the output
};

// The norms around a block's mixer and feed-forward, under their canonical names.
Result<BoundNorm> bind_pre_mixer(Binder& binder, const BlockSpec& block, int d_model, int layer);
Result<Residual> bind_post_mixer(Binder& binder, const BlockSpec& block, int d_model, int layer);
Result<BoundNorm> bind_pre_ffn(Binder& binder, const BlockSpec& block, int d_model, int layer);
Result<Residual> bind_post_ffn(Binder& binder, const BlockSpec& block, int d_model, int layer);

// `step`, which reads pass.in, with the norm of its input.
inline Linear with_norm(Linear step, const BoundNorm& norm) noexcept {
  step.gain = norm.gain;
  step.shift = norm.shift;
  step.norm = norm.params;
  return step;
}

// The post-norm of a residual as an op on the hidden state.
Normalize norm_of(const Residual& residual) noexcept;

// x = x + residual.scale * r, with r = `step` of `from`; if `residual` has a norm, either r or the
// sum is normalized.
void add_product(const Pass& pass, const Tensor& from, Linear step,
                 const Residual& residual) noexcept;

}  // namespace wick
