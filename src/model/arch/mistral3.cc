// Ministral 3: Llama with YaRN whose growth GGUF gives as a logarithm's multiplier, and queries
// that grow with their position.
#include <cmath>

#include "base/strings.h"
#include "model/arch/archs.h"
#include "model/arch/common.h"

namespace wick {

namespace {

constexpr HfFamily kFamilies[] = {
    {.model_type = "ministral3",
     .defaults =
         R"({"vocab_size": 131072, "hidden_size": 4096, "intermediate_size": 14336,
      "num_hidden_layers": 34, "num_attention_heads": 32, "num_key_value_heads": 8,
      "head_dim": 128, "hidden_act": "silu", "max_position_embeddings": 262144,
      "rms_norm_eps": 1e-5, "pad_token_id": 11, "bos_token_id": 1, "eos_token_id": 2,
      "tie_word_embeddings": false,
      "rope_parameters": {"type": "yarn", "rope_theta": 1000000.0, "factor": 16.0,
        "original_max_position_embeddings": 16384, "beta_fast": 32.0, "beta_slow": 1.0,
        "mscale_all_dim": 1.0, "mscale": 1.0, "llama_4_scaling_beta": 0.1}})",
     .windows = HfFamily::Windows::kAll}};

Result<DecoderSpec> mistral3_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec,
           plain_decoder(file, {.layout = RopeParams::kPairs, .names = permuted_names()}));
  const Hparams hparams(file);
  WICK_TRY(const double growth, hparams.number_or("attention.temperature_scale", 0, 0, 1e3));
  WICK_TRY(const double log_multiplier,
           hparams.number_or("rope.scaling.yarn_log_multiplier", 0, 0, 1e3));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    GqaSpec& attention = gqa(spec, i);
    RopeParams& rope = attention.rope;
    if (log_multiplier != 0 && rope.freq_scale < 1) {
      const double lengths = std::log(1 / static_cast<double>(rope.freq_scale));
      rope.attn_factor /= static_cast<float>(1 + 0.1 * log_multiplier * lengths);
    }
    if (growth == 0) continue;
    if (rope.ctx_orig < 1) {
      return hparams.invalid(cat("scales queries by their position (",
                                 hparams.key("attention.temperature_scale"),
                                 ") without an original context length"));
    }
    attention.temperature = {.growth = static_cast<float>(growth), .context = rope.ctx_orig};
  }
  return spec;
}

}  // namespace

Arch mistral3_arch() noexcept {
  return {.gguf_name = "mistral3",
          .spec = mistral3_spec,
          .names = permuted_names(),
          .families = kFamilies};
}

}  // namespace wick
