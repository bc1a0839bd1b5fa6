// EmbeddingGemma: Gemma 3 as an encoder. Its windows lie on both sides of a token.
#include <array>

#include "model/arch/archs.h"
#include "model/arch/common.h"

namespace wick {

namespace {

// Gemma 3's, but for a field that only this one has.
std::array<HfFamily, 1> families() noexcept {
  HfFamily own = gemma3_arch().families.front();
  own.if_true = "use_bidirectional_attention";
  return {own};
}

Result<DecoderSpec> gemma_embedding_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, gemma3_arch().spec(file));
  WICK_DO(make_encoder(spec, file, {.has_final_norm = true}));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    GqaSpec& attention = gqa(spec, i);
    // The file has the width of both sides together.
    if (attention.window > 0) attention.window = attention.window / 2 + 1;
  }
  return spec;
}

}  // namespace

Arch gemma_embedding_arch() noexcept {
  static const std::array<HfFamily, 1> kFamilies = families();
  return {.gguf_name = "gemma-embedding",
          .spec = gemma_embedding_spec,
          .names = gemma3_arch().names,
          .families = kFamilies,
          .is_encoder = true};
}

}  // namespace wick
