// Qwen 1.5 and 2 with experts: biases on q, k and v; a shared expert whose weight is a sigmoid.
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/experts.h"

namespace wick {

namespace {

constexpr HfFamily kFamilies[] = {
    {.model_type = "qwen2_moe",
     .defaults =
         R"({"vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 5632,
      "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16,
      "hidden_act": "silu", "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
      "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 4096,
      "max_window_layers": 28, "moe_intermediate_size": 1408,
      "shared_expert_intermediate_size": 5632, "num_experts_per_tok": 4,
      "norm_topk_prob": false})"}};

Result<DecoderSpec> qwen2moe_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kHalves,
                                                  .names = expert_names(),
                                                  .takes_experts = true}));
  WICK_DO(add_experts(spec, Hparams(file), expert_names(), {.normalizes = false}));
  return spec;
}

}  // namespace

Arch qwen2moe_arch() noexcept {
  return {.gguf_name = "qwen2moe",
          .spec = qwen2moe_spec,
          .names = expert_names(),
          .families = kFamilies};
}

}  // namespace wick
