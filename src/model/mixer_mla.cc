#include "model/mixer_mla.h"

namespace wick {

namespace {

// Tensors for each head: attn_k_b [heads, kv_rank, nope] and attn_v_b [heads, v, kv_rank]. Older
// files have attn_kv_b [heads * (nope + v), kv_rank]: its values are read in place, its keys are
// turned around.
Result<void> bind_heads(MlaMixer& mixer, Binder& binder, const MlaSpec& spec, int layer) {
  mixer.to_latent = {.n_heads = spec.n_heads, .rows = spec.kv_rank};
  mixer.from_latent = {.n_heads = spec.n_heads, .rows = spec.v_dim};
  if (!spec.has_joint_kv) {
    WICK_TRY(mixer.to_latent.w, binder.heads("blk.{}.attn_k_b.weight", spec.n_heads,
                                             {spec.kv_rank, spec.nope_dim}, layer));
    WICK_TRY(mixer.from_latent.w, binder.heads("blk.{}.attn_v_b.weight", spec.n_heads,
                                               {spec.v_dim, spec.kv_rank}, layer));
    return {};
  }
  const int rows = spec.nope_dim + spec.v_dim;
  const Binder::Matrix joint{
      .out = std::int64_t{spec.n_heads} * rows, .in = spec.kv_rank, .takes_adapters = false};
  mixer.from_latent.first_row = spec.nope_dim;
  WICK_TRY(mixer.from_latent.w, binder.matrix("blk.{}.attn_kv_b.weight", joint, layer));
  WICK_TRY(mixer.to_latent.w, binder.transposed_heads("blk.{}.attn_kv_b.weight", spec.n_heads,
                                                      {rows, spec.kv_rank}, spec.nope_dim, layer));
  return {};
}

}  // namespace

Result<MlaMixer> bind(Binder& binder, const MlaSpec& spec, const BlockSpec& block, int d_model,
                      int layer) {
  MlaMixer mixer{.spec = spec};
  const int queries = spec.n_heads * (spec.nope_dim + spec.rope_dim);
  if (spec.q_rank > 0) {
    WICK_TRY(mixer.q_a[0], binder.matrix("blk.{}.attn_q_a.weight", {spec.q_rank, d_model}, layer));
    WICK_TRY(mixer.q_gain, binder.vector("blk.{}.attn_q_a_norm.weight", spec.q_rank, layer));
    WICK_TRY(mixer.q[0], binder.matrix("blk.{}.attn_q_b.weight", {queries, spec.q_rank}, layer));
  } else {
    WICK_TRY(mixer.q[0], binder.matrix("blk.{}.attn_q.weight", {queries, d_model}, layer));
  }
  WICK_TRY(mixer.kv_a[0],
           binder.matrix("blk.{}.attn_kv_a_mqa.weight", {spec.key_dim(), d_model}, layer));
  mixer.head = {.norm = spec.norm, .rope = spec.rope};
  WICK_TRY(mixer.head.k_gain, binder.vector("blk.{}.attn_kv_a_norm.weight", spec.kv_rank, layer));
  WICK_DO(bind_heads(mixer, binder, spec, layer));
  WICK_TRY(mixer.out[0], binder.matrix("blk.{}.attn_output.weight",
                                       {d_model, std::int64_t{spec.n_heads} * spec.v_dim}, layer));
  WICK_TRY(mixer.norm, bind_pre_mixer(binder, block, d_model, layer));
  WICK_TRY(mixer.residual, bind_post_mixer(binder, block, d_model, layer));
  mixer.attend = {.n_heads = spec.n_heads,
                  .n_kv_heads = 1,
                  .k_dim = spec.key_dim(),
                  .v_dim = spec.kv_rank,
                  .scale = spec.scale};
  return mixer;
}

void forward(const MlaMixer& mixer, const LayerMemory& memory, const Pass& pass) noexcept {
  const MlaSpec& s = mixer.spec;
  const Activations& all = pass.memory;
  const int queries = s.n_heads * (s.nope_dim + s.rope_dim);
  const Tensor keys = part(all.hidden, pass.n, s.key_dim());
  const Tensor low = part(all.hidden, pass.n, s.q_rank, s.key_dim());
  const Tensor heads = part(all.hidden, pass.n, queries, s.key_dim() + s.q_rank);
  const Tensor q = part(all.q, pass.n, s.n_heads * s.key_dim());
  const Tensor attended = part(all.attended, pass.n, s.n_heads * s.kv_rank);
  const Tensor values = part(all.hidden, pass.n, s.n_heads * s.v_dim);
  Backend& backend = pass.backend;

  // Keys are values here, which read x in two terms.
  backend.linear(keys, pass.in, with_norm({.w = mixer.kv_a, .is_fine = true}, mixer.norm));
  if (s.q_rank > 0) {
    backend.linear(low, pass.in, with_norm({.w = mixer.q_a}, mixer.norm));
    backend.linear(heads, low, {.w = mixer.q, .gain = mixer.q_gain, .norm = s.norm});
  } else {
    backend.linear(heads, pass.in, with_norm({.w = mixer.q}, mixer.norm));
  }
  backend.linear_heads(q, heads, mixer.to_latent);
  backend.latent(q, heads, keys, mixer.head, memory.kv, pass.batch);
  backend.attend(attended, q, memory.kv, pass.batch, mixer.attend);
  backend.linear_heads(values, attended, mixer.from_latent);
  add_product(pass, values, {.w = mixer.out}, mixer.residual);
}

}  // namespace wick
