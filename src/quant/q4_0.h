// Q4_0: 4-bit quants around 8 with one scale. 18 bytes per 32 weights = 4.5 bits per weight.
//
//   | d f16 | qs[16]: weight i in the low nibble of byte i, weight 16 + i in the high one |
//   x = d * (q - 8)
#pragma once

#include <algorithm>
#include <iterator>

#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/half.h"
#include "quant/search.h"

namespace wick {

struct Q4_0 {
  static constexpr DType kType = DType::kQ4_0;
  static constexpr int kGgufId = 2;
  static constexpr int kBlockLen = 32;
  using Block = BlockQ4_0;

  static void decode(const Block& block, float* out) noexcept {
    const float d = f16_to_f32(block.d_f16);
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>((block.qs[i] & 15) - 8);
      out[i + 16] = d * static_cast<float>((block.qs[i] >> 4) - 8);
    }
  }

  // The extreme value gets quant 0, which reaches one step further than quant 15 does. Caches store
  // any values: the scale saturates; of a block that is not all finite it is NaN, and quants are 8.
  static void encode(const float* in, Block& out) noexcept {
    if (!all_finite({in, 32})) {
      out.d_f16 = 0x7e00u;
      std::fill(std::begin(out.qs), std::end(out.qs), pack_nibbles(8, 8));
      return;
    }
    const float d = std::clamp(extreme({in, 32}) / -8.0f, -kLargestF16, kLargestF16);
    const float inverse = d == 0 ? 0.0f : 1.0f / d;
    const auto quant = [inverse](float x) { return truncated(x * inverse + 8.5f, 15); };
    out.d_f16 = f32_to_f16(d);
    for (int i = 0; i < 16; ++i)
      out.qs[i] = pack_nibbles(quant(in[i]), quant(in[i + 16]));
  }
};

}  // namespace wick
