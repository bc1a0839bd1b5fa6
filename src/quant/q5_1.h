// Q5_1: 5-bit quants with a scale and a minimum. 24 bytes per 32 weights = 6 bits per weight.
//
//   | d f16 | m f16 | qh[4]: bit i is bit 4 of weight i | qs[16]: nibbles as in Q4_1 |
//   x = d * q + m
#pragma once

#include <algorithm>

#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/half.h"
#include "quant/search.h"

namespace wick {

struct Q5_1 {
  static constexpr DType kType = DType::kQ5_1;
  static constexpr int kGgufId = 7;
  static constexpr int kBlockLen = 32;
  using Block = BlockQ5_1;

  static void decode(const Block& block, float* out) noexcept {
    const float d = f16_to_f32(block.d_f16);
    const float m = f16_to_f32(block.m_f16);
    for (int i = 0; i < 16; ++i) {
      const int low = (block.qs[i] & 15) | (block.qh[i / 8] >> i % 8 & 1) << 4;
      const int high = block.qs[i] >> 4 | (block.qh[2 + i / 8] >> i % 8 & 1) << 4;
      out[i] = d * static_cast<float>(low) + m;
      out[i + 16] = d * static_cast<float>(high) + m;
    }
  }

  static void encode(const float* in, Block& out) noexcept {
    const auto [lowest, highest] = std::minmax_element(in, in + 32);
    const float min = *lowest;
    const float d = (*highest - min) / 31.0f;
    const float inverse = d == 0 ? 0.0f : 1.0f / d;
    const auto quant = [=](float x) { return truncated((x - min) * inverse + 0.5f, 31); };
    out = {.d_f16 = f32_to_f16(d), .m_f16 = f32_to_f16(min), .qh = {}, .qs = {}};
    for (int i = 0; i < 16; ++i) {
      const int low = quant(in[i]);
      const int high = quant(in[i + 16]);
      out.qs[i] = pack_nibbles(low & 15, high & 15);
      set_bits(out.qh[i / 8], low >> 4, i % 8);
      set_bits(out.qh[2 + i / 8], high >> 4, i % 8);
    }
  }
};

}  // namespace wick
