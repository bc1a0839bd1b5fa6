// Q5_K: 5-bit quants; every 32 weights have a 6-bit scale and a 6-bit minimum. 176 bytes per 256
// weights = 5.5 bits per weight.
//
//   | d f16 | dmin f16 | scales[12]: see six_bit_pairs.h | qh[32] | qs[128]: nibbles as in Q4_K |
//   bit 4 of weight i = 32j + l is bit j of qh[l].
//   x = d * scale[i / 32] * q - dmin * min[i / 32]
#pragma once

#include <span>

#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/half.h"
#include "quant/search.h"
#include "quant/six_bit_pairs.h"

namespace wick {

struct Q5_K {
  static constexpr DType kType = DType::kQ5_K;
  static constexpr int kGgufId = 13;
  static constexpr int kBlockLen = 256;
  using Block = BlockQ5_K;

  static void decode(const Block& block, float* out) noexcept {
    const float d = f16_to_f32(block.d_f16);
    const float dmin = f16_to_f32(block.dmin_f16);
    for (int j = 0; j < 8; ++j) {
      const SixBitPair part = get_six_bit_pair(block.scales, j);
      const float scale = d * static_cast<float>(part.scale);
      const float min = dmin * static_cast<float>(part.min);
      for (int l = 0; l < 32; ++l) {
        const int low = block.qs[j / 2 * 32 + l] >> j % 2 * 4 & 15;
        const int q = low | (block.qh[l] >> j & 1) << 4;
        out[32 * j + l] = scale * static_cast<float>(q) - min;
      }
    }
  }

  static void encode(const float* in, Block& out) noexcept {
    const std::span<const float, kSuperBlock> x(in, kSuperBlock);
    const TwoLevel t = fit_two_level(x, 8, 31, 63);
    out = {.d_f16 = t.d_f16, .dmin_f16 = t.dmin_f16, .scales = {}, .qh = {}, .qs = {}};
    put_six_bit_pairs(t, out.scales);
    for (int i = 0; i < kBlockLen; ++i) {
      const int q = affine_quant(in[i], t.part(i / 32), 31);
      set_bits(out.qs[i / 64 * 32 + i % 32], q & 15, i / 32 % 2 * 4);
      set_bits(out.qh[i % 32], q >> 4, i / 32);
    }
  }
};

}  // namespace wick
