#include "model/mixer_gqa.h"

#include <string>

#include "base/strings.h"

namespace wick {

namespace {

struct Widths {  // of the projections' outputs
  std::int64_t q = 0, k = 0, v = 0, attended = 0;
};

struct Projections {  // of q, k and v
  std::array<Binder::Matrix, 3> rows = {};
  std::array<std::string_view, 3> names = {"blk.{}.attn_q", "blk.{}.attn_k", "blk.{}.attn_v"};
};

// Of a head's rows its query (part 0) or its gate (part 1).
Binder::Matrix gated_rows(std::int64_t rows, int d_model, int n_heads, int part) {
  return {.out = rows,
          .in = d_model,
          .first = part * (rows / n_heads),
          .all = 2 * rows,
          .blocks = n_heads};
}

Projections projections(const GqaSpec& spec, const Widths& width, int d_model) {
  Projections all{.rows = {{{width.q, d_model, spec.n_heads},
                            {width.k, d_model, spec.n_kv_heads},
                            {width.v, d_model}}}};
  if (spec.has_gate) all.rows[0] = gated_rows(width.q, d_model, spec.n_heads, 0);
  if (!spec.has_joint_qkv) return all;
  std::int64_t first = 0;
  for (Binder::Matrix& rows : all.rows) {
    rows.first = first;
    rows.all = width.q + width.k + width.v;
    first += rows.out;
  }
  all.names.fill("blk.{}.attn_qkv");
  return all;
}

Result<void> bind_qkv(GqaMixer& mixer, Binder& binder, const GqaSpec& spec, const Projections& all,
                      int layer) {
  mixer.has_qkv_bias = spec.qkv_bias;
  mixer.n_qkv = spec.kv_from_layer >= 0 ? 1 : 3;
  for (std::size_t i = 0; i < static_cast<std::size_t>(mixer.n_qkv); ++i) {
    if (i == 2 && spec.are_values_keys) {
      mixer.qkv[2] = mixer.qkv[1];
      mixer.qkv_bias[2] = mixer.qkv_bias[1];
      continue;
    }
    const Binder::Matrix& rows = all.rows[i];
    WICK_TRY(mixer.qkv[i], binder.matrix(cat(all.names[i], ".weight"), rows, layer));
    if (!spec.qkv_bias) continue;
    const std::string bias = cat(all.names[i], ".bias");
    if (spec.has_joint_qkv) {
      WICK_TRY(mixer.qkv_bias[i], binder.vector_part(bias, rows, layer));
    } else {
      WICK_TRY(mixer.qkv_bias[i], binder.vector(bias, rows.out, layer, rows.heads));
    }
  }
  return {};
}

// The gains of `n` heads.
Result<const Weight*> bind_gain(Binder& binder, std::string_view name, const GqaSpec& spec, int n,
                                int layer) {
  switch (spec.qk_norm->gain) {
    case QkNormSpec::Gain::kShared:
      return binder.vector(name, spec.head_dim, layer);
    case QkNormSpec::Gain::kPerHead:
      return binder.head_gains(name, n, spec.head_dim, layer);
    case QkNormSpec::Gain::kJoint:
      return binder.vector(name, std::int64_t{n} * spec.head_dim, layer, n);
  }
  return static_cast<const Weight*>(nullptr);
}

Result<QkNormRope> bind_head(Binder& binder, const GqaSpec& spec, int layer) {
  QkNormRope head{.rope = spec.rope, .temperature = spec.temperature};
  if (spec.qk_norm) {
    head.norm = spec.qk_norm->params;
    head.is_norm_joint = spec.qk_norm->gain == QkNormSpec::Gain::kJoint;
    WICK_TRY(head.q_gain,
             bind_gain(binder, "blk.{}.attn_q_norm.weight", spec, spec.n_heads, layer));
    if (spec.kv_from_layer < 0) {
      WICK_TRY(head.k_gain,
               bind_gain(binder, "blk.{}.attn_k_norm.weight", spec, spec.n_kv_heads, layer));
    }
    if (spec.normalizes_values && spec.kv_from_layer < 0) {
      WICK_TRY(head.v_gain, binder.ones(spec.v_dim > 0 ? spec.v_dim : spec.head_dim));
    }
  }
  if (spec.rope_factors != RopeFactors::kNone && spec.rope.layout != RopeParams::kNone) {
    WICK_TRY(head.rope.factors, binder.rope_factors(spec));
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
  GqaMixer mixer{.has_out_bias = spec.out_bias, .has_gate = spec.has_gate};
  WICK_DO(bind_qkv(mixer, binder, spec, projections(spec, width, d_model), layer));
  WICK_TRY(mixer.out[0],
           binder.matrix("blk.{}.attn_output.weight", {d_model, width.attended}, layer));
  if (spec.out_bias) {
    WICK_TRY(mixer.out_bias[0], binder.vector("blk.{}.attn_output.bias", d_model, layer));
  }
  if (spec.has_gate) {
    WICK_TRY(mixer.gate[0], binder.matrix("blk.{}.attn_q.weight",
                                          gated_rows(width.q, d_model, spec.n_heads, 1), layer));
  }
  WICK_TRY(mixer.norm, bind_pre_mixer(binder, block, d_model, layer));
  WICK_TRY(mixer.residual, bind_post_mixer(binder, block, d_model, layer));
  WICK_TRY(mixer.head, bind_head(binder, spec, layer));
  mixer.attend = {.n_heads = spec.n_heads,
                  .n_kv_heads = spec.n_kv_heads,
                  .k_dim = spec.head_dim,
                  .v_dim = v_dim,
                  .scale = spec.scale,
                  .window = spec.window,
                  .is_causal = spec.is_causal,
                  .soft_cap = spec.soft_cap};
  if (spec.has_sinks) {
    WICK_TRY(mixer.attend.sinks, binder.vector("blk.{}.attn_sinks.weight", spec.n_heads, layer));
  }
  return mixer;
}

void forward(const GqaMixer& mixer, const LayerMemory& memory, const Pass& pass) noexcept {
  const AttendParams& p = mixer.attend;
  const Tensor q = part(pass.memory.q, pass.n, p.n_heads * p.k_dim);
  const Tensor attended = part(pass.memory.attended, pass.n, p.n_heads * p.v_dim);
  const auto n_qkv = static_cast<std::size_t>(mixer.n_qkv);
  Linear qkv = with_norm({.w = std::span(mixer.qkv).first(n_qkv)}, mixer.norm);
  if (mixer.has_qkv_bias) qkv.bias = std::span(mixer.qkv_bias).first(n_qkv);
  Linear out{.w = mixer.out};
  if (mixer.has_out_bias) out.bias = mixer.out_bias;

  pass.backend.qkv(q, pass.in, qkv, mixer.head, memory.kv, pass.batch);
  pass.backend.attend(attended, q, memory.kv, pass.batch, p);
  if (mixer.has_gate) {
    pass.backend.linear(
        attended, pass.in,
        with_norm({.w = mixer.gate, .epilogue = Linear::Epilogue::kMultiply, .act = Act::kSigmoid},
                  mixer.norm));
  }
  add_product(pass, attended, out, mixer.residual);
}

}  // namespace wick
