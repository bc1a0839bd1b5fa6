// GLM 4.5 to 4.7: biases on q, k and v, rotation of half a head's features in halves, in the large
// model norms of queries and keys; dense first layers, experts as DeepSeek V3 has them.
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/experts.h"

namespace wick {

namespace {

constexpr HfFamily kFamilies[] = {
    {.model_type = "glm4_moe",
     .defaults =
         R"({"vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 10944,
      "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8,
      "hidden_act": "silu", "max_position_embeddings": 131072, "rms_norm_eps": 1e-5,
      "tie_word_embeddings": false, "attention_bias": false, "moe_intermediate_size": 1408,
      "num_experts_per_tok": 8, "n_shared_experts": 1, "routed_scaling_factor": 1.0, "n_group": 1,
      "topk_group": 1, "norm_topk_prob": true, "partial_rotary_factor": 0.5})",
     .windows = HfFamily::Windows::kNone}};

Result<DecoderSpec> glm4moe_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kHalves,
                                                  .names = expert_names(),
                                                  .takes_experts = true}));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    spec.blocks[static_cast<std::size_t>(i)].pre_ffn_name = "blk.{}.post_attention_norm";
    if (has_tensor(file, expert_names(), "blk.{}.attn_q_norm.weight", i)) {
      gqa(spec, i).qk_norm = QkNormSpec{.params = spec.final_norm.params};
    }
  }
  const Hparams hparams(file);
  WICK_DO(add_experts(spec, hparams, expert_names(),
                      {.score = Routing::Score::kSigmoid, .normalizes = false}));
  WICK_DO(drop_nextn_layers(spec, hparams));
  return spec;
}

}  // namespace

Arch glm4moe_arch() noexcept {
  return {
      .gguf_name = "glm4moe", .spec = glm4moe_spec, .names = expert_names(), .families = kFamilies};
}

}  // namespace wick
