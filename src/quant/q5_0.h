// Q5_0: 5-bit quants around 16 with one scale. 22 bytes per 32 weights = 5.5 bits per weight.
//
//   | d f16 | qh[4]: bit i is bit 4 of weight i | qs[16]: nibbles as in Q4_0 |
//   x = d * (q - 16)
#pragma once

#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/half.h"
#include "quant/search.h"

namespace wick {

struct Q5_0 {
  static constexpr DType kType = DType::kQ5_0;
  static constexpr int kGgufId = 6;
  static constexpr int kBlockLen = 32;
  using Block = BlockQ5_0;

  static void decode(const Block& block, float* out) noexcept {
    const float d = f16_to_f32(block.d_f16);
    for (int i = 0; i < 16; ++i) {
      const int low = (block.qs[i] & 15) | (block.qh[i / 8] >> i % 8 & 1) << 4;
      const int high = block.qs[i] >> 4 | (block.qh[2 + i / 8] >> i % 8 & 1) << 4;
      out[i] = d * static_cast<float>(low - 16);
      out[i + 16] = d * static_cast<float>(high - 16);
    }
  }

  // The extreme value gets quant 0, which reaches one step further than quant 31 does.
  static void encode(const float* in, Block& out) noexcept {
    const float d = extreme({in, 32}) / -16.0f;
    const float inverse = d == 0 ? 0.0f : 1.0f / d;
    const auto quant = [inverse](float x) { return truncated(x * inverse + 16.5f, 31); };
    out = {.d_f16 = f32_to_f16(d), .qh = {}, .qs = {}};
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
