// gpt-oss (20B, 120B): experts in every layer, each with biases and a clamped gate; attention
// sinks; every other layer has a window.
#include <array>

#include "base/strings.h"
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/experts.h"
#include "model/arch/names.h"

namespace wick {

namespace {

// Checkpoints have the experts' matrices transposed, gate and up in alternate columns.
constexpr auto kNames = join(
    kTableRules, pre_norm_rules(), attention_rules(),
    std::array{
        NameRule{"model.layers.{}.post_attention_layernorm.weight",
                 "blk.{}.post_attention_norm.weight"},
        NameRule{"model.layers.{}.self_attn.sinks", "blk.{}.attn_sinks.weight"},
        NameRule{"model.layers.{}.mlp.router.weight", "blk.{}.ffn_gate_inp.weight"},
        NameRule{"model.layers.{}.mlp.router.bias", "blk.{}.ffn_gate_inp.bias"},
        NameRule{"model.layers.{}.mlp.experts.gate_up_proj", "blk.{}.ffn_gate_exps.weight",
                 Fix::kTurnedEven},
        NameRule{"model.layers.{}.mlp.experts.gate_up_proj", "blk.{}.ffn_up_exps.weight",
                 Fix::kTurnedOdd},
        NameRule{"model.layers.{}.mlp.experts.down_proj", "blk.{}.ffn_down_exps.weight",
                 Fix::kTurned},
        NameRule{"model.layers.{}.mlp.experts.gate_up_proj_bias", "blk.{}.ffn_gate_exps.bias",
                 Fix::kTurnedEven},
        NameRule{"model.layers.{}.mlp.experts.gate_up_proj_bias", "blk.{}.ffn_up_exps.bias",
                 Fix::kTurnedOdd},
        NameRule{"model.layers.{}.mlp.experts.down_proj_bias", "blk.{}.ffn_down_exps.bias"}});

constexpr int kWindowPeriod = 2;
constexpr double kLimit = 7, kAlpha = 1.702;  // of the gate; GGUF has no keys for them

constexpr HfFamily kFamilies[] = {
    {.model_type = "gpt_oss",
     .defaults =
         R"({"vocab_size": 201088, "hidden_size": 2880, "intermediate_size": 2880,
      "num_hidden_layers": 36, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
      "hidden_act": "silu", "max_position_embeddings": 131072, "rms_norm_eps": 1e-5,
      "tie_word_embeddings": false, "sliding_window": 128, "num_local_experts": 128,
      "num_experts_per_tok": 4, "swiglu_alpha": 1.702, "swiglu_limit": 7.0, "rope_theta": 150000.0,
      "rope_parameters": {"rope_type": "yarn", "rope_theta": 150000.0, "factor": 32.0,
        "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false,
        "original_max_position_embeddings": 4096}})",
     .window_period = kWindowPeriod}};

// A clamped gate, the same in all layers.
Result<void> set_clamp(DecoderSpec& spec, const ModelFile& file) {
  const double limit = file.metadata().number("wick.swiglu_limit").value_or(kLimit);
  const double alpha = file.metadata().number("wick.swiglu_alpha").value_or(kAlpha);
  if (!(limit > 0 && limit < 1e6 && alpha > 0 && alpha < 1e6)) {
    return Hparams(file).invalid(cat("clamps gates at ", limit, " (swiglu_limit) after a factor ",
                                     alpha, " (swiglu_alpha), wanted positive numbers"));
  }
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    MoeSpec* const experts = experts_of(spec, i);
    if (experts == nullptr) return Hparams(file).invalid(cat("layer ", i, " has no experts"));
    experts->limit = static_cast<float>(limit);
    experts->alpha = static_cast<float>(alpha);
  }
  return {};
}

Result<DecoderSpec> gpt_oss_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec,
           plain_decoder(
               file, {.layout = RopeParams::kHalves, .names = kNames, .takes_experts = true}));
  const Hparams hparams(file);
  set_window_period(spec, hparams, kWindowPeriod);
  WICK_DO(add_experts(spec, hparams, kNames, {.normalizes = true}));
  WICK_DO(set_clamp(spec, file));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    spec.blocks[static_cast<std::size_t>(i)].pre_ffn_name = "blk.{}.post_attention_norm";
    GqaSpec& attention = gqa(spec, i);
    attention.has_sinks = true;
    // GGUF has no key for it; every published file needs it so.
    if (file.format() == FileFormat::kGguf) attention.rope.is_range_rounded = false;
  }
  return spec;
}

}  // namespace

Arch gpt_oss_arch() noexcept {
  return {.gguf_name = "gpt-oss", .spec = gpt_oss_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
