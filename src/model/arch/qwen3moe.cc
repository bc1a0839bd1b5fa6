// Qwen 3 with experts (30B-A3B, 235B-A22B): Qwen 3's attention, no shared expert.
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/experts.h"

namespace wick {

namespace {

constexpr HfFamily kFamilies[] = {
    {.model_type = "qwen3_moe",
     .defaults =
         R"({"vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 6144,
      "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 4,
      "hidden_act": "silu", "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
      "tie_word_embeddings": false, "attention_bias": false, "use_sliding_window": false,
      "sliding_window": 4096, "moe_intermediate_size": 768, "num_experts_per_tok": 8,
      "norm_topk_prob": false})"}};

Result<DecoderSpec> qwen3moe_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kHalves,
                                                  .names = expert_names(),
                                                  .takes_experts = true}));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i)
    gqa(spec, i).qk_norm = QkNormSpec{.params = spec.final_norm.params};
  WICK_DO(add_experts(spec, Hparams(file), expert_names(), {.normalizes = true}));
  return spec;
}

}  // namespace

Arch qwen3moe_arch() noexcept {
  return {.gguf_name = "qwen3moe",
          .spec = qwen3moe_spec,
          .names = expert_names(),
          .families = kFamilies};
}

}  // namespace wick
