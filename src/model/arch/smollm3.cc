// SmolLM 3: Llama, but every fourth layer does not rotate.
#include <vector>

#include "base/strings.h"
#include "model/arch/archs.h"
#include "model/arch/common.h"

namespace wick {

namespace {

constexpr HfFamily kFamilies[] = {
    {.model_type = "smollm3",
     .defaults =
         R"({"vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 11008,
      "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 4,
      "hidden_act": "silu", "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
      "pad_token_id": 128004, "bos_token_id": 128000, "eos_token_id": 128001,
      "use_sliding_window": false, "no_rope_layer_interval": 4, "tie_word_embeddings": true,
      "rope_theta": 2000000.0})"}};

// By layer; transformers has a list or an interval, GGUF no key.
Result<std::vector<std::int64_t>> rotated_layers(const ModelFile& file, std::size_t layers) {
  if (auto listed = file.metadata().integers("wick.rotated_layers")) {
    if (listed->size() == layers) return *std::move(listed);
    return Hparams(file).invalid(
        cat("no_rope_layers names ", listed->size(), " layers, the model has ", layers));
  }
  const auto interval = file.metadata().integer("wick.no_rope_layer_interval").value_or(4);
  std::vector<std::int64_t> rotates(layers, 1);
  for (std::size_t i = 0; interval > 0 && i < layers; ++i)
    rotates[i] = (static_cast<std::int64_t>(i) + 1) % interval != 0;
  return rotates;
}

Result<DecoderSpec> smollm3_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec,
           plain_decoder(file, {.layout = RopeParams::kPairs, .names = permuted_names()}));
  WICK_TRY(const auto rotates, rotated_layers(file, spec.blocks.size()));
  for (std::size_t i = 0; i < rotates.size(); ++i) {
    if (rotates[i] == 0) gqa(spec, static_cast<int>(i)).rope.layout = RopeParams::kNone;
  }
  return spec;
}

}  // namespace

Arch smollm3_arch() noexcept {
  return {.gguf_name = "smollm3",
          .spec = smollm3_spec,
          .names = permuted_names(),
          .families = kFamilies};
}

}  // namespace wick
