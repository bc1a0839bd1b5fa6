// F32: IEEE single precision, as it is.
#pragma once

#include "quant/codec.h"

namespace wick {

struct F32 {
  static constexpr DType kType = DType::kF32;
  static constexpr int kGgufId = 0;
  static constexpr int kBlockLen = 1;
  using Block = float;

  static void decode(const Block& block, float* out) noexcept { *out = block; }

  static void encode(const float* in, Block& out) noexcept { out = *in; }
};

}  // namespace wick
