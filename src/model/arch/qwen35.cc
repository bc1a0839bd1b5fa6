// Qwen 3.5, 3.6 (dense, text): three gated delta layers with a recurrent state to each with
// attention, whose heads have gates; rotation of a quarter of a head's features.
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/delta.h"
#include "model/arch/experts.h"

namespace wick {

namespace {

constexpr HfFamily kFamilies[] = {
    {.model_type = "qwen3_5_text",
     .defaults =
         R"({"vocab_size": 248320, "hidden_size": 4096, "intermediate_size": 12288,
      "num_hidden_layers": 32, "num_attention_heads": 16, "num_key_value_heads": 4,
      "head_dim": 256, "hidden_act": "silu", "max_position_embeddings": 32768,
      "rms_norm_eps": 1e-6, "tie_word_embeddings": false, "partial_rotary_factor": 0.25,
      "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
      "linear_num_key_heads": 16, "linear_num_value_heads": 32})",
     .windows = HfFamily::Windows::kNone}};

Result<DecoderSpec> qwen35_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec,
           plain_decoder(file, {.layout = RopeParams::kHalves, .names = delta_names()}));
  const Hparams hparams(file);
  WICK_DO(drop_nextn_layers(spec, hparams));
  WICK_DO(set_delta_layers(spec, hparams, delta_names()));
  return spec;
}

}  // namespace

Arch qwen35_arch() noexcept {
  return {
      .gguf_name = "qwen35", .spec = qwen35_spec, .names = delta_names(), .families = kFamilies};
}

}  // namespace wick
