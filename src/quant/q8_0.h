// Q8_0: signed bytes with one scale. 34 bytes per 32 weights = 8.5 bits per weight.
//
//   | d f16 | qs[32]: weight i in byte i |
//   x = d * q
#pragma once

#include <cmath>

#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/half.h"
#include "quant/search.h"

namespace wick {

struct Q8_0 {
  static constexpr DType kType = DType::kQ8_0;
  static constexpr int kGgufId = 8;
  static constexpr int kBlockLen = 32;
  using Block = BlockQ8_0;

  static void decode(const Block& block, float* out) noexcept {
    const float d = f16_to_f32(block.d_f16);
    for (int i = 0; i < 32; ++i)
      out[i] = d * static_cast<float>(block.qs[i]);
  }

  // Quants stay within ±127; halves round away from zero. Caches store any values: the scale
  // saturates; of a block that is not all finite it is NaN.
  static void encode(const float* in, Block& out) noexcept {
    if (!all_finite({in, 32})) {
      out = {.d_f16 = 0x7e00u, .qs = {}};
      return;
    }
    const float d = std::fmin(std::fabs(extreme({in, 32})) / 127.0f, kLargestF16);
    const float inverse = d == 0 ? 0.0f : 1.0f / d;
    out.d_f16 = f32_to_f16(d);
    for (int i = 0; i < 32; ++i) {
      out.qs[i] = static_cast<std::int8_t>(nearest(std::round(in[i] * inverse), -127, 127));
    }
  }
};

}  // namespace wick
