#include "model/pass.h"

#include <algorithm>
#include <array>
#include <variant>

#include "model/mixer_delta.h"

namespace wick {

namespace {

void widen(Widest& w, const GqaSpec& gqa) noexcept {
  const int v_dim = gqa.v_dim > 0 ? gqa.v_dim : gqa.head_dim;
  w.q = std::max(w.q, gqa.n_heads * gqa.head_dim);
  w.attended = std::max(w.attended, gqa.n_heads * v_dim);
  w.product = std::max(w.product, gqa.n_heads * v_dim);
  w.heads = std::max(w.heads, gqa.n_heads);
  w.head_dim = std::max({w.head_dim, gqa.head_dim, v_dim});
  if (gqa.qk_norm && gqa.qk_norm->gain == QkNormSpec::Gain::kJoint) {
    w.joint_keys = std::max(w.joint_keys, gqa.n_kv_heads * gqa.head_dim);
  }
}

void widen(Widest& w, const MlaSpec& mla) noexcept {
  const int queries = mla.n_heads * (mla.nope_dim + mla.rope_dim);
  const int values = mla.n_heads * mla.v_dim;
  w.q = std::max(w.q, mla.n_heads * mla.key_dim());
  w.attended = std::max(w.attended, mla.n_heads * mla.kv_rank);
  w.hidden = std::max({w.hidden, mla.key_dim() + mla.q_rank + queries, values});
  w.product = std::max({w.product, mla.q_rank, values});
  w.heads = std::max(w.heads, mla.n_heads);
  w.head_dim = std::max(w.head_dim, mla.key_dim());
}

void widen(Widest& w, const DeltaSpec& delta) noexcept {
  const DeltaParams p = sizes_of(delta);
  w.hidden = std::max(w.hidden, p.cols());
  w.attended = std::max(w.attended, p.values());
  w.product = std::max(w.product, p.values());
  w.heads = std::max(w.heads, p.n_v_heads);
  w.head_dim = std::max({w.head_dim, p.k_dim, p.v_dim});
}

void widen(Widest& w, const DenseSpec& dense) noexcept {
  w.hidden = std::max(w.hidden, dense.hidden);
  w.product = std::max(w.product, dense.hidden);
}

void widen(Widest& w, const MoeSpec& moe) noexcept {
  ExpertLimits& most = w.experts;
  most.n_experts = std::max(most.n_experts, moe.routing.n_experts);
  most.n_active = std::max(most.n_active, moe.routing.n_active);
  most.hidden = std::max(most.hidden, moe.hidden);
  most.shared_hidden = std::max(most.shared_hidden, moe.shared_hidden);
}

void widen(Widest& w, const DenseMoeSpec& both) noexcept {
  widen(w, both.dense);
  widen(w, both.experts);
  w.is_beside_experts = true;
}

}  // namespace

Widest widest(const DecoderSpec& spec) noexcept {
  Widest w;
  const auto of_part = [&w](const auto& part) noexcept { widen(w, part); };
  for (const BlockSpec& block : spec.blocks) {
    std::visit(of_part, block.mixer);
    std::visit(of_part, block.ffn);
  }
  w.hidden = std::max(w.hidden, spec.layer_inputs_width());
  w.product = std::max(w.product, spec.layer_inputs_width());
  if (!spec.encoder) return w;
  for (const int features : spec.encoder->dense)
    w.product = std::max({w.product, spec.d_model, features});
  if (spec.encoder->classifier) {
    w.product = std::max({w.product, spec.d_model, spec.encoder->classifier->n_labels});
  }
  return w;
}

namespace {

// Rows of Activations::branch, for each token.
int branch_rows(const DecoderSpec& spec, int n) noexcept {
  const auto needs = [](const BlockSpec& block) {
    return block.is_parallel || (!block.norms_sums && (block.post_mixer || block.post_ffn));
  };
  return std::any_of(spec.blocks.begin(), spec.blocks.end(), needs) ? n : 0;
}

Result<BoundNorm> bind_pre(Binder& binder, std::string_view name,
                           const std::optional<NormSpec>& norm, int d_model, int layer) {
  if (!norm) return BoundNorm{};
  return binder.norm(name, *norm, d_model, layer);
}

Result<Residual> bind_post(Binder& binder, std::string_view name,
                           const std::optional<NormSpec>& norm, int d_model, int layer) {
  Residual residual;
  WICK_TRY(residual.norm, bind_pre(binder, name, norm, d_model, layer));
  return residual;
}

}  // namespace

Result<BoundNorm> bind_pre_mixer(Binder& binder, const BlockSpec& block, int d_model, int layer) {
  if (block.is_parallel) return BoundNorm{};  // the block itself binds it
  return bind_pre(binder, "blk.{}.attn_norm", block.pre_mixer, d_model, layer);
}

Result<Residual> bind_post_mixer(Binder& binder, const BlockSpec& block, int d_model, int layer) {
  WICK_TRY(
      Residual residual,
      bind_post(binder, block.norms_sums ? "blk.{}.attn_output_norm" : "blk.{}.post_attention_norm",
                block.post_mixer, d_model, layer));
  residual.scale = block.residual_scale;
  residual.norms_sum = block.norms_sums;
  return residual;
}

Result<BoundNorm> bind_pre_ffn(Binder& binder, const BlockSpec& block, int d_model, int layer) {
  return bind_pre(binder, block.pre_ffn_name, block.pre_ffn, d_model, layer);
}

Result<Residual> bind_post_ffn(Binder& binder, const BlockSpec& block, int d_model, int layer) {
  WICK_TRY(Residual residual,
           bind_post(binder, block.norms_sums ? "blk.{}.layer_output_norm" : "blk.{}.post_ffw_norm",
                     block.post_ffn, d_model, layer));
  if (block.has_output_scale && !block.has_layer_input) {
    WICK_TRY(residual.sum_scale, binder.number("blk.{}.layer_output_scale.weight", layer));
  }
  residual.scale = block.residual_scale;
  residual.norms_sum = block.norms_sums;
  return residual;
}

Normalize norm_of(const Residual& residual) noexcept {
  return {.gain = residual.norm.gain,
          .shift = residual.norm.shift,
          .norm = residual.norm.params,
          .adds = !residual.norms_sum,
          .scale = residual.sum_scale};
}

void add_product(const Pass& pass, const Tensor& from, Linear step,
                 const Residual& residual) noexcept {
  const Normalize norm = norm_of(residual);
  if (norm.gain == nullptr || residual.norms_sum) {
    step.epilogue = Linear::Epilogue::kAdd;
    step.scale = residual.scale;
    pass.backend.linear(pass.x, from, step);
    if (norm.gain != nullptr) pass.backend.normalize(pass.x, pass.x, norm);
    return;
  }
  const Tensor product = part(pass.memory.branch, pass.n, pass.x.cols);
  pass.backend.linear(product, from, step);
  pass.backend.normalize(pass.x, product, norm);
}

Result<Activations> make_activations(Device& device, const DecoderSpec& spec, const Widest& w,
                                     const DecoderOptions& options) {
  const int n = options.max_batch_tokens;
  const int logit_rows = spec.encoder ? 0 : options.max_logit_rows;
  const bool has_head =
      spec.encoder && (!spec.encoder->dense.empty() || spec.encoder->classifier.has_value());
  const int pooled = has_head ? 2 : 0;
  Activations all;

  struct Part {
    Tensor* tensor;
    int rows, cols;
  };

  const std::array parts{Part{&all.x, n, spec.d_model},
                         Part{&all.branch, branch_rows(spec, n), spec.d_model},
                         Part{&all.mixture, w.is_beside_experts ? n : 0, spec.d_model},
                         Part{&all.q, n, w.q},
                         Part{&all.attended, n, w.attended},
                         Part{&all.hidden, n, w.hidden},
                         Part{&all.layer_inputs, n, spec.layer_inputs_width()},
                         Part{&all.logits, logit_rows, spec.vocab},
                         Part{&all.pooled, pooled, w.product}};
  constexpr std::size_t kAlign = 64 / sizeof(float);
  const auto floats = [](const Part& p) {
    const auto count = static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(p.cols);
    return (count + kAlign - 1) / kAlign * kAlign;
  };
  std::size_t total = 0;
  for (const Part& p : parts)
    total += floats(p);
  WICK_TRY(all.memory, device.allocate(total * sizeof(float)));
  auto* at = reinterpret_cast<float*>(all.memory->data());
  for (const Part& p : parts) {
    *p.tensor = {.data = at, .rows = p.rows, .cols = p.cols, .row_stride = p.cols};
    at += floats(p);
  }
  return all;
}

}  // namespace wick
