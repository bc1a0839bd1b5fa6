// Qwen 3.5, 3.6 with experts (35B-A3B, 122B-A10B, text): Qwen 3.5's layers, a shared expert with a
// gate.
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/delta.h"
#include "model/arch/experts.h"

namespace wick {

namespace {

constexpr HfFamily kFamilies[] = {
    {.model_type = "qwen3_5_moe_text",
     .defaults =
         R"({"vocab_size": 248320, "hidden_size": 2048, "num_hidden_layers": 40,
      "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "hidden_act": "silu",
      "max_position_embeddings": 32768, "rms_norm_eps": 1e-6, "tie_word_embeddings": false,
      "partial_rotary_factor": 0.25, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
      "linear_value_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
      "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
      "num_experts_per_tok": 8, "num_experts": 256})",
     .windows = HfFamily::Windows::kNone}};

std::span<const NameRule> names() {
  static const std::vector<NameRule> all = with_experts(delta_names());
  return all;
}

Result<DecoderSpec> qwen35moe_spec(const ModelFile& file) {
  WICK_TRY(
      DecoderSpec spec,
      plain_decoder(
          file, {.layout = RopeParams::kHalves, .names = names(), .takes_experts = true}));
  const Hparams hparams(file);
  WICK_DO(drop_nextn_layers(spec, hparams));
  WICK_DO(set_delta_layers(spec, hparams, names()));
  WICK_DO(add_experts(spec, hparams, names(), {.normalizes = true}));
  return spec;
}

}  // namespace

Arch qwen35moe_arch() noexcept {
  return {.gguf_name = "qwen35moe",
          .spec = qwen35moe_spec,
          .names = names(),
          .families = kFamilies};
}

}  // namespace wick
