// Architectures that only tests have, given to Decoder::load() as a program of its own would give
// them: mechanisms of which wick knows no family of models yet. Files by
// tests/support/tiny_model.h.
#pragma once

#include <string_view>

#include "model/arch/common.h"
#include "model/tensors.h"
#include "support/tiny_model.h"

namespace wick::test {

inline Result<DecoderSpec> delta_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, RopeParams::kHalves, {}));
  const TensorView* const beta = file.find("blk.0.ssm_beta.weight");
  if (beta == nullptr) return missing_tensor(file, "blk.0.ssm_beta.weight");
  const auto heads = static_cast<int>(beta->shape.dim[0]);
  for (int layer = 0; layer < static_cast<int>(spec.blocks.size()); layer += 2) {
    const int head_dim = gqa(spec, layer).head_dim;
    spec.blocks[static_cast<std::size_t>(layer)].mixer = DeltaSpec{.n_k_heads = heads,
                                                                   .n_v_heads = heads,
                                                                   .k_dim = head_dim,
                                                                   .v_dim = head_dim,
                                                                   .conv_width = kTinyConvWidth,
                                                                   .norm = spec.final_norm};
  }
  return spec;
}

// TinyModel{.arch = "tiny-delta", .delta_heads = n}: gated delta in every other layer.
inline constexpr Arch kTinyDelta{.gguf_name = "tiny-delta", .spec = delta_spec, .names = {}};

// The row for `name`, nullptr: none of these.
inline const Arch* tiny_arch(std::string_view name) noexcept {
  return name == kTinyDelta.gguf_name ? &kTinyDelta : nullptr;
}

}  // namespace wick::test
