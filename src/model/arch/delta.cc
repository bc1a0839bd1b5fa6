#include "model/arch/delta.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "model/arch/names.h"
#include "model/limits.h"

namespace wick {

namespace {

constexpr int kMaxConvolution = 8;  // taps

constexpr std::array<NameRule, 12> kDeltaRules{
    {{"model.norm.weight", "output_norm.weight", Fix::kAddOne},
     {"model.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight", Fix::kAddOne},
     {"model.layers.{}.post_attention_layernorm.weight", "blk.{}.post_attention_norm.weight",
      Fix::kAddOne},
     {"model.layers.{}.linear_attn.in_proj_qkv.weight", "blk.{}.attn_qkv.weight"},
     {"model.layers.{}.linear_attn.in_proj_z.weight", "blk.{}.attn_gate.weight"},
     {"model.layers.{}.linear_attn.in_proj_b.weight", "blk.{}.ssm_beta.weight"},
     {"model.layers.{}.linear_attn.in_proj_a.weight", "blk.{}.ssm_alpha.weight"},
     {"model.layers.{}.linear_attn.conv1d.weight", "blk.{}.ssm_conv1d.weight"},
     {"model.layers.{}.linear_attn.A_log", "blk.{}.ssm_a", Fix::kNegatedExp},
     {"model.layers.{}.linear_attn.dt_bias", "blk.{}.ssm_dt.bias"},
     {"model.layers.{}.linear_attn.norm.weight", "blk.{}.ssm_norm.weight"},
     {"model.layers.{}.linear_attn.out_proj.weight", "blk.{}.ssm_out.weight"}}};

constexpr auto kNames = join(kTableRules, kDeltaRules,
                             attention_rules(Fix::kNone, Fix::kNone, Fix::kAddOne), kGatedRules);

Result<DeltaSpec> delta_spec(const Hparams& hparams, const NormParams& norm) {
  DeltaSpec delta{.are_heads_tiled = hparams.file().format() == FileFormat::kGguf, .norm = norm};
  WICK_TRY(delta.n_k_heads, hparams.need("ssm.group_count", 1, kMaxHeads));
  WICK_TRY(delta.n_v_heads, hparams.need("ssm.time_step_rank", 1, kMaxHeads));
  WICK_TRY(delta.k_dim, hparams.need("ssm.state_size", 1, kMaxHeadDim));
  WICK_TRY(delta.conv_width, hparams.need("ssm.conv_kernel", 2, kMaxConvolution));
  if (delta.n_v_heads % delta.n_k_heads != 0) {
    return hparams.invalid(cat(delta.n_v_heads, " heads of values (",
                               hparams.key("ssm.time_step_rank"), ") cannot share ",
                               delta.n_k_heads, " heads of keys evenly (",
                               hparams.key("ssm.group_count"), ")"));
  }
  const int most = std::min(kMaxWidth, kMaxHeadDim * delta.n_v_heads);
  WICK_TRY(const int values, hparams.need("ssm.inner_size", delta.n_v_heads, most));
  if (values % delta.n_v_heads != 0 || delta.n_k_heads * delta.k_dim > kMaxWidth) {
    return hparams.invalid(cat(hparams.key("ssm.inner_size"), " is ", values,
                               ", it must divide into ", delta.n_v_heads, " heads"));
  }
  delta.v_dim = values / delta.n_v_heads;
  return delta;
}

}  // namespace

std::span<const NameRule> delta_names() noexcept {
  return kNames;
}

Result<void> set_delta_layers(DecoderSpec& spec, const Hparams& hparams,
                              std::span<const NameRule> names) {
  WICK_TRY(const DeltaSpec delta, delta_spec(hparams, spec.final_norm.params));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    BlockSpec& block = spec.blocks[static_cast<std::size_t>(i)];
    block.pre_ffn_name = "blk.{}.post_attention_norm";
    if (has_tensor(hparams.file(), names, "blk.{}.ssm_a", i)) {
      block.mixer = delta;
      continue;
    }
    GqaSpec& attention = gqa(spec, i);
    if (attention.qkv_bias) {
      return hparams.unsupported(
          cat("layer ", i, " has biases of gated queries, which wick cannot run"));
    }
    attention.has_gate = true;
    attention.qk_norm = QkNormSpec{.params = spec.final_norm.params};
  }
  return {};
}

}  // namespace wick
