// DeepSeek V2, V3 and R1, Kimi K2: latent attention in both layouts of GGUF, dense first layers,
// experts with groups, a selection bias and shared experts.
#include <cmath>

#include "base/strings.h"
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/experts.h"
#include "model/limits.h"
#include "model/tensors.h"

namespace wick {

namespace {

constexpr const char* kV3Defaults = R"({"vocab_size": 129280, "hidden_size": 7168,
    "intermediate_size": 18432, "moe_intermediate_size": 2048, "num_hidden_layers": 61,
    "num_attention_heads": 128, "num_key_value_heads": 128, "n_shared_experts": 1,
    "routed_scaling_factor": 2.5, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64,
    "v_head_dim": 128, "qk_nope_head_dim": 128, "n_group": 8, "topk_group": 4,
    "num_experts_per_tok": 8, "norm_topk_prob": true, "hidden_act": "silu",
    "max_position_embeddings": 4096, "rms_norm_eps": 1e-6, "bos_token_id": 0, "eos_token_id": 1,
    "tie_word_embeddings": false, "attention_bias": false, "scoring_func": "sigmoid"})";

constexpr HfFamily kFamilies[] = {
    {.model_type = "deepseek_v2",
     .defaults =
         R"({"vocab_size": 102400, "hidden_size": 4096, "intermediate_size": 11008,
      "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
      "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "bos_token_id": 1, "eos_token_id": 2,
      "tie_word_embeddings": false, "attention_bias": false, "kv_lora_rank": 512,
      "q_lora_rank": 1536, "n_shared_experts": 2, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
      "v_head_dim": 128, "routed_scaling_factor": 1.0, "topk_method": "greedy",
      "norm_topk_prob": false, "moe_intermediate_size": 1407, "scoring_func": "softmax"})"},
    {.model_type = "deepseek_v3", .defaults = kV3Defaults},
    {.model_type = "kimi_k2", .defaults = kV3Defaults}};

// YaRN as DeepSeek has it: scores grow by the square of 1 + 0.1 * mscale_all_dim * ln(factor),
// where GGUF stores the factor before the logarithm. Its files mean rotations that do not grow
// then.
Result<void> add_yarn(MlaSpec& mla, const Hparams& hparams) {
  const double mscale = hparams.file().metadata().number("wick.rope_mscale_all_dim").value_or(0);
  WICK_TRY(const double log_multiplier,
           hparams.number_or("rope.scaling.yarn_log_multiplier", 0.1 * mscale, 0, 100));
  if (log_multiplier == 0 || mla.rope.freq_scale >= 1) return {};
  const double log_factor = -std::log(static_cast<double>(mla.rope.freq_scale));
  const double growth = 1 + log_multiplier * log_factor;
  mla.scale *= static_cast<float>(growth * growth);
  const bool is_gguf = hparams.file().format() == FileFormat::kGguf;
  if (is_gguf && !hparams.has("rope.scaling.yarn_attn_factor")) {
    mla.rope.attn_factor /= static_cast<float>(1 + 0.1 * log_factor);
  }
  return {};
}

// Newer files name the sizes of heads beside those of the latent; older ones have only the former.
Result<MlaSpec> latent_spec(const Hparams& hparams, const DecoderSpec& spec, const GqaSpec& plain) {
  const bool is_new = hparams.has("attention.key_length_mla");
  WICK_TRY(
      const int key_dim,
      hparams.need(is_new ? "attention.key_length_mla" : "attention.key_length", 1, kMaxHeadDim));
  WICK_TRY(const int v_dim,
           hparams.need(is_new ? "attention.value_length_mla" : "attention.value_length", 1,
                        kMaxHeadDim));
  MlaSpec mla{.n_heads = plain.n_heads,
              .v_dim = v_dim,
              .norm = spec.final_norm.params,
              .rope = plain.rope,
              .scale = 1 / std::sqrt(static_cast<float>(key_dim))};
  WICK_TRY(mla.q_rank, hparams.integer_or("attention.q_lora_rank", 0, 0, kMaxWidth));
  WICK_TRY(mla.kv_rank, hparams.need("attention.kv_lora_rank", 1, kMaxHeadDim - 1));
  WICK_TRY(mla.rope_dim, hparams.need("rope.dimension_count", 1, key_dim - 1));
  mla.nope_dim = key_dim - mla.rope_dim;
  if (mla.key_dim() > kMaxHeadDim || std::int64_t{mla.n_heads} * mla.key_dim() > kMaxWidth) {
    return hparams.invalid(cat(mla.n_heads, " heads with latent keys of ", mla.key_dim(),
                               " features: wick takes keys of 1 to ", kMaxHeadDim, " and ",
                               kMaxWidth, " features in all"));
  }
  WICK_DO(add_yarn(mla, hparams));
  return mla;
}

Result<DecoderSpec> deepseek2_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kPairs,
                                                  .names = expert_names(),
                                                  .takes_experts = true}));
  const Hparams hparams(file);
  if (file.metadata().boolean("wick.attention_bias").value_or(false)) {
    return hparams.unsupported("has biases on its latents (attention_bias), which wick lacks");
  }
  for (int layer = 0; layer < static_cast<int>(spec.blocks.size()); ++layer) {
    WICK_TRY(MlaSpec mla, latent_spec(hparams, spec, gqa(spec, layer)));
    mla.has_joint_kv =
        find_tensor(file, expert_names(), "blk.{}.attn_kv_b.weight", layer).view != nullptr;
    spec.blocks[static_cast<std::size_t>(layer)].mixer = mla;
  }
  // Files that do not name the score: V2 has no bias for the choice, and a softmax.
  const int last = static_cast<int>(spec.blocks.size()) - 1;
  const bool has_bias =
      find_tensor(file, expert_names(), "blk.{}.exp_probs_b.bias", last).view != nullptr;
  using Score = Routing::Score;
  WICK_DO(
      add_experts(spec, hparams, expert_names(),
                  {.score = has_bias ? Score::kSigmoid : Score::kSoftmax, .normalizes = false}));
  WICK_DO(drop_nextn_layers(spec, hparams));
  return spec;
}

}  // namespace

Arch deepseek2_arch() noexcept {
  return {.gguf_name = "deepseek2",
          .spec = deepseek2_spec,
          .names = expert_names(),
          .families = kFamilies};
}

}  // namespace wick
