// Qwen 2 and 2.5: biases on q, k and v, rotation of the two halves of a head.
#include "model/arch/archs.h"
#include "model/arch/common.h"

namespace wick {

namespace {

Result<DecoderSpec> qwen2_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, RopeParams::kHalves, plain_names()));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i)
    gqa(spec, i).qkv_bias = true;
  return spec;
}

}  // namespace

Arch qwen2_arch() noexcept {
  return {.gguf_name = "qwen2", .spec = qwen2_spec, .names = plain_names()};
}

}  // namespace wick
