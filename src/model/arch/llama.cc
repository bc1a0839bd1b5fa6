// Llama 1 to 3, SmolLM2, Mistral, Mixtral, Yi, TinyLlama, and models of the same design. GGUF files
// of this family rotate adjacent pairs: their q and k rows are permuted at conversion, so
// checkpoints in Hugging Face's order are read through the same permutation and sum in the same
// order.
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/experts.h"

namespace wick {

namespace {

constexpr HfFamily kFamilies[] = {
    {.model_type = "llama",
     .defaults =
         R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
      "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
      "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "bos_token_id": 1, "eos_token_id": 2,
      "tie_word_embeddings": false, "attention_bias": false, "mlp_bias": false})",
     .windows = HfFamily::Windows::kNone},
    {.model_type = "mistral",
     .defaults =
         R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "hidden_act": "silu", "max_position_embeddings": 131072, "rms_norm_eps": 1e-6,
      "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": false,
      "sliding_window": 4096})",
     .windows = HfFamily::Windows::kAll},
    {.model_type = "mixtral",
     .defaults =
         R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "hidden_act": "silu", "max_position_embeddings": 131072, "rms_norm_eps": 1e-5,
      "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": false,
      "num_experts_per_tok": 2})",
     .windows = HfFamily::Windows::kAll}};

Result<DecoderSpec> llama_spec(const ModelFile& file) {
  const std::span<const NameRule> names = permuted_expert_names();
  WICK_TRY(
      DecoderSpec spec,
      plain_decoder(file, {.layout = RopeParams::kPairs, .names = names, .takes_experts = true}));
  WICK_DO(add_experts(spec, Hparams(file), names, {.normalizes = true}));
  return spec;
}

}  // namespace

Arch llama_arch() noexcept {
  return {.gguf_name = "llama",
          .spec = llama_spec,
          .names = permuted_expert_names(),
          .families = kFamilies};
}

}  // namespace wick
