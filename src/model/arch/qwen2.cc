// Qwen 2 and 2.5: biases on q, k and v, rotation of the two halves of a head.
#include "model/arch/archs.h"
#include "model/arch/common.h"

namespace wick {

namespace {

constexpr HfFamily kFamilies[] = {
    {.model_type = "qwen2",
     .defaults =
         R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "hidden_act": "silu", "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
      "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 4096,
      "max_window_layers": 28})"}};

Result<DecoderSpec> qwen2_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec,
           plain_decoder(file, {.layout = RopeParams::kHalves, .names = plain_names()}));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i)
    gqa(spec, i).qkv_bias = true;
  return spec;
}

}  // namespace

Arch qwen2_arch() noexcept {
  return {.gguf_name = "qwen2", .spec = qwen2_spec, .names = plain_names(), .families = kFamilies};
}

}  // namespace wick
