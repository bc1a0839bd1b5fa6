// Qwen 3: each head of q and k is normalized before the rotation, which turns its two halves; the
// file names the head's size.
#include "model/arch/archs.h"
#include "model/arch/common.h"

namespace wick {

namespace {

constexpr HfFamily kFamilies[] = {
    {.model_type = "qwen3",
     .defaults =
         R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "head_dim": 128, "hidden_act": "silu", "max_position_embeddings": 32768,
      "rms_norm_eps": 1e-6, "tie_word_embeddings": false, "attention_bias": false,
      "use_sliding_window": false, "sliding_window": 4096, "max_window_layers": 28})"}};

Result<DecoderSpec> qwen3_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec,
           plain_decoder(file, {.layout = RopeParams::kHalves, .names = plain_names()}));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i)
    gqa(spec, i).qk_norm = QkNormSpec{.params = spec.final_norm.params};
  return spec;
}

}  // namespace

Arch qwen3_arch() noexcept {
  return {.gguf_name = "qwen3", .spec = qwen3_spec, .names = plain_names(), .families = kFamilies};
}

}  // namespace wick
