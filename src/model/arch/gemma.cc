// Gemma 1: embeddings times the root of their width, GeGLU, gains that checkpoints store minus one.
#include <array>
#include <cmath>

#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr auto kNames =
    join(kTableRules, pre_norm_rules(Fix::kAddOne), attention_rules(), kGatedRules);

constexpr HfFamily kFamilies[] = {
    {.model_type = "gemma",
     .defaults =
         R"({"vocab_size": 256000, "hidden_size": 3072, "intermediate_size": 24576,
      "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16,
      "head_dim": 256, "max_position_embeddings": 8192, "rms_norm_eps": 1e-6,
      "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 2, "tie_word_embeddings": true})",
     .windows = HfFamily::Windows::kNone}};

Result<DecoderSpec> gemma_spec(const ModelFile& file) {
  WICK_TRY(
      DecoderSpec spec,
      plain_decoder(file, {.layout = RopeParams::kHalves, .names = kNames, .act = Act::kGeluTanh}));
  spec.embed_scale = std::sqrt(static_cast<float>(spec.d_model));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i)
    dense(spec, i).act = Act::kGeluTanh;  // "gelu" in old files means this one, too
  return spec;
}

}  // namespace

Arch gemma_arch() noexcept {
  return {.gguf_name = "gemma", .spec = gemma_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
