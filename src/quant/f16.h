// F16: IEEE half precision. Every value widens exactly; encoding rounds to nearest even.
#pragma once

#include <cstdint>

#include "quant/codec.h"
#include "quant/half.h"

namespace wick {

struct F16 {
  static constexpr DType kType = DType::kF16;
  static constexpr int kGgufId = 1;
  static constexpr int kBlockLen = 1;
  using Block = std::uint16_t;

  static void decode(const Block& block, float* out) noexcept { *out = f16_to_f32(block); }

  static void encode(const float* in, Block& out) noexcept { out = f32_to_f16(*in); }
};

}  // namespace wick
