#include "model/mixer_gqa.h"

namespace wick {

namespace {

struct Widths {  // of the projections' outputs
  std::int64_t q = 0, k = 0, v = 0, attended = 0;
};

Result<void> bind_biases(GqaMixer& mixer, Binder& binder, const GqaSpec& spec, const Widths& width,
                         int d_model, int layer) {
  mixer.has_qkv_bias = spec.qkv_bias;
  mixer.has_out_bias = spec.out_bias;
  if (spec.qkv_bias) {
    auto& [q, k, v] = mixer.qkv_bias;
    WICK_TRY(q, binder.vector("blk.{}.attn_q.bias", width.q, layer, spec.n_heads));
    WICK_TRY(k, binder.vector("blk.{}.attn_k.bias", width.k, layer, spec.n_kv_heads));
    WICK_TRY(v, binder.vector("blk.{}.attn_v.bias", width.v, layer));
  }
  if (spec.out_bias) {
    WICK_TRY(mixer.out_bias[0], binder.vector("blk.{}.attn_output.bias", d_model, layer));
  }
  return {};
}

Result<QkNormRope> bind_head(Binder& binder, const GqaSpec& spec, int layer) {
  QkNormRope head{.rope = spec.rope};
  if (spec.qk_norm) {
    head.norm = *spec.qk_norm;
    WICK_TRY(head.q_gain, binder.vector("blk.{}.attn_q_norm.weight", spec.head_dim, layer));
    WICK_TRY(head.k_gain, binder.vector("blk.{}.attn_k_norm.weight", spec.head_dim, layer));
  }
  if (spec.has_rope_factors) {
    WICK_TRY(head.rope.factors, binder.rope_factors(spec.rope.dim));
  }
  return head;
}

}  // namespace

Result<GqaMixer> bind(Binder& binder, const GqaSpec& spec, const BlockSpec& block, int d_model,
                      int layer) {
  const int v_dim = spec.v_dim > 0 ? spec.v_dim : spec.head_dim;
  const Widths width{.q = std::int64_t{spec.n_heads} * spec.head_dim,
                     .k = std::int64_t{spec.n_kv_heads} * spec.head_dim,
                     .v = std::int64_t{spec.n_kv_heads} * v_dim,
                     .attended = std::int64_t{spec.n_heads} * v_dim};
  GqaMixer mixer;
  auto& [q, k, v] = mixer.qkv;
  WICK_TRY(q, binder.matrix("blk.{}.attn_q.weight", {width.q, d_model, spec.n_heads}, layer));
  WICK_TRY(k, binder.matrix("blk.{}.attn_k.weight", {width.k, d_model, spec.n_kv_heads}, layer));
  WICK_TRY(v, binder.matrix("blk.{}.attn_v.weight", {width.v, d_model}, layer));
  WICK_TRY(mixer.out[0],
           binder.matrix("blk.{}.attn_output.weight", {d_model, width.attended}, layer));
  WICK_DO(bind_biases(mixer, binder, spec, width, d_model, layer));
  if (block.pre_mixer) {
    mixer.norm = *block.pre_mixer;
    WICK_TRY(mixer.gain, binder.vector("blk.{}.attn_norm.weight", d_model, layer));
  }
  WICK_TRY(mixer.head, bind_head(binder, spec, layer));
  mixer.attend = {.n_heads = spec.n_heads,
                  .n_kv_heads = spec.n_kv_heads,
                  .k_dim = spec.head_dim,
                  .v_dim = v_dim,
                  .scale = spec.scale,
                  .window = spec.window};
  return mixer;
}

void forward(const GqaMixer& mixer, const LayerMemory& memory, const Pass& pass) noexcept {
  const AttendParams& p = mixer.attend;
  const Tensor q = part(pass.memory.q, pass.n, p.n_heads * p.k_dim);
  const Tensor attended = part(pass.memory.attended, pass.n, p.n_heads * p.v_dim);
  Linear qkv{.w = mixer.qkv, .gain = mixer.gain, .norm = mixer.norm};
  if (mixer.has_qkv_bias) qkv.bias = mixer.qkv_bias;
  Linear out{.w = mixer.out, .epilogue = Linear::Epilogue::kAdd};
  if (mixer.has_out_bias) out.bias = mixer.out_bias;

  pass.backend.qkv(q, pass.x, qkv, mixer.head, memory.kv, pass.batch);
  pass.backend.attend(attended, q, memory.kv, pass.batch, p);
  pass.backend.linear(pass.x, attended, out);
}

}  // namespace wick
