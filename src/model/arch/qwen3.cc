// Qwen 3: each head of q and k is normalized before the rotation, which turns its two halves; the
// file names the head's size.
#include "model/arch/archs.h"
#include "model/arch/common.h"

namespace wick {

namespace {

Result<DecoderSpec> qwen3_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, RopeParams::kHalves, plain_names()));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i)
    gqa(spec, i).qk_norm = spec.final_norm;
  return spec;
}

}  // namespace

Arch qwen3_arch() noexcept {
  return {.gguf_name = "qwen3", .spec = qwen3_spec, .names = plain_names()};
}

}  // namespace wick
