#include "model/mixer_delta.h"

namespace wick {

DeltaParams sizes_of(const DeltaSpec& spec) noexcept {
  return {.n_k_heads = spec.n_k_heads,
          .n_v_heads = spec.n_v_heads,
          .k_dim = spec.k_dim,
          .v_dim = spec.v_dim,
          .conv_width = spec.conv_width,
          .are_heads_tiled = spec.are_heads_tiled,
          .norm = spec.norm};
}

Result<DeltaMixer> bind(Binder& binder, const DeltaSpec& spec, const BlockSpec& block, int d_model,
                        int layer) {
  DeltaMixer mixer{.params = sizes_of(spec)};
  DeltaParams& p = mixer.params;
  auto& [qkv, gate, beta, alpha] = mixer.in;
  WICK_TRY(qkv, binder.matrix("blk.{}.attn_qkv.weight", {p.channels(), d_model}, layer));
  WICK_TRY(gate, binder.matrix("blk.{}.attn_gate.weight", {p.values(), d_model}, layer));
  WICK_TRY(beta, binder.matrix("blk.{}.ssm_beta.weight", {p.n_v_heads, d_model}, layer));
  WICK_TRY(alpha, binder.matrix("blk.{}.ssm_alpha.weight", {p.n_v_heads, d_model}, layer));
  WICK_TRY(mixer.out[0], binder.matrix("blk.{}.ssm_out.weight", {d_model, p.values()}, layer));
  WICK_TRY(p.conv, binder.table("blk.{}.ssm_conv1d.weight", {p.channels(), p.conv_width}, layer));
  WICK_TRY(p.rate, binder.vector("blk.{}.ssm_a", p.n_v_heads, layer));
  WICK_TRY(p.dt, binder.vector("blk.{}.ssm_dt.bias", p.n_v_heads, layer));
  WICK_TRY(p.gain, binder.vector("blk.{}.ssm_norm.weight", p.v_dim, layer));
  WICK_TRY(mixer.norm, bind_pre_mixer(binder, block, d_model, layer));
  WICK_TRY(mixer.residual, bind_post_mixer(binder, block, d_model, layer));
  return mixer;
}

void forward(const DeltaMixer& mixer, const LayerMemory& memory, const Pass& pass) noexcept {
  const Tensor in = part(pass.memory.hidden, pass.n, mixer.params.cols());
  const Tensor out = part(pass.memory.attended, pass.n, mixer.params.values());
  pass.backend.linear(in, pass.in, with_norm({.w = mixer.in}, mixer.norm));
  pass.backend.delta(out, in, mixer.params, memory.state, pass.batch);
  add_product(pass, out, {.w = mixer.out}, mixer.residual);
}

}  // namespace wick
