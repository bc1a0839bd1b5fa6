// Granite 3: Llama with multipliers of embeddings, residuals, scores and logits.
#include "model/arch/archs.h"
#include "model/arch/common.h"

namespace wick {

namespace {

constexpr HfFamily kFamilies[] = {
    {.model_type = "granite",
     .defaults =
         R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
      "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
      "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "bos_token_id": 1, "eos_token_id": 2,
      "tie_word_embeddings": false, "embedding_multiplier": 1.0, "logits_scaling": 1.0,
      "residual_multiplier": 1.0, "attention_multiplier": 1.0})",
     .windows = HfFamily::Windows::kNone}};

constexpr double kMost = 1e6;

Result<DecoderSpec> granite_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec,
           plain_decoder(file, {.layout = RopeParams::kPairs, .names = permuted_names()}));
  const Hparams hparams(file);
  WICK_TRY(const double embedding, hparams.number_or("embedding_scale", 1, 1e-6, kMost));
  WICK_TRY(const double residual, hparams.number_or("residual_scale", 1, 1e-6, kMost));
  WICK_TRY(const double score, hparams.number_or("attention.scale", 0, 0, kMost));
  WICK_TRY(const double logits, hparams.number_or("logit_scale", 1, 1e-6, kMost));
  spec.embed_scale = static_cast<float>(embedding);
  spec.logit_scale = static_cast<float>(1 / logits);  // the file's number divides
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    spec.blocks[static_cast<std::size_t>(i)].residual_scale = static_cast<float>(residual);
    if (score > 0) gqa(spec, i).scale = static_cast<float>(score);
  }
  return spec;
}

}  // namespace

Arch granite_arch() noexcept {
  return {.gguf_name = "granite",
          .spec = granite_spec,
          .names = permuted_names(),
          .families = kFamilies};
}

}  // namespace wick
