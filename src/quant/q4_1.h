// Q4_1: 4-bit quants with a scale and a minimum. 20 bytes per 32 weights = 5 bits per weight.
//
//   | d f16 | m f16 | qs[16]: weight i in the low nibble of byte i, weight 16 + i in the high one |
//   x = d * q + m
#pragma once

#include <algorithm>

#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/half.h"
#include "quant/search.h"

namespace wick {

struct Q4_1 {
  static constexpr DType kType = DType::kQ4_1;
  static constexpr int kGgufId = 3;
  static constexpr int kBlockLen = 32;
  using Block = BlockQ4_1;

  static void decode(const Block& block, float* out) noexcept {
    const float d = f16_to_f32(block.d_f16);
    const float m = f16_to_f32(block.m_f16);
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(block.qs[i] & 15) + m;
      out[i + 16] = d * static_cast<float>(block.qs[i] >> 4) + m;
    }
  }

  static void encode(const float* in, Block& out) noexcept {
    const auto [low, high] = std::minmax_element(in, in + 32);
    const float min = *low;
    const float d = (*high - min) / 15.0f;
    const float inverse = d == 0 ? 0.0f : 1.0f / d;
    const auto quant = [=](float x) { return truncated((x - min) * inverse + 0.5f, 15); };
    out.d_f16 = f32_to_f16(d);
    out.m_f16 = f32_to_f16(min);
    for (int i = 0; i < 16; ++i)
      out.qs[i] = pack_nibbles(quant(in[i]), quant(in[i + 16]));
  }
};

}  // namespace wick
