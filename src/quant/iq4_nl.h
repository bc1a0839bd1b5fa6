// IQ4_NL: 4-bit indices into a table of 16 values with one scale. 18 bytes per 32 weights = 4.5
// bits per weight.
//
//   | d f16 | qs[16]: weight i in the low nibble of byte i, weight 16 + i in the high one |
//   x = d * kIq4Values[q]
#pragma once

#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/half.h"
#include "quant/search.h"

namespace wick {

struct IQ4_NL {
  static constexpr DType kType = DType::kIQ4_NL;
  static constexpr int kGgufId = 20;
  static constexpr int kBlockLen = 32;
  using Block = BlockIQ4_NL;

  static void decode(const Block& block, float* out) noexcept {
    const float d = f16_to_f32(block.d_f16);
    for (int i = 0; i < 16; ++i) {
      out[i] = d * iq4_value(block.qs[i] & 15);
      out[i + 16] = d * iq4_value(block.qs[i] >> 4);
    }
  }

  static void encode(const float* in, Block& out) noexcept {
    out.d_f16 = f32_to_f16(fit_iq4({in, 32}));
    const float d = f16_to_f32(out.d_f16);
    const auto quant = [d](float x) { return nearest_iq4(in_steps(x, d)); };
    for (int i = 0; i < 16; ++i)
      out.qs[i] = pack_nibbles(quant(in[i]), quant(in[i + 16]));
  }
};

}  // namespace wick
