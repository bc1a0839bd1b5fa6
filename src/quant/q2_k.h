// Q2_K: 2-bit quants; every 16 weights have a 4-bit scale and a 4-bit minimum. 84 bytes per 256
// weights = 2.625 bits per weight.
//
//   | scales[16]: scale j in the low nibble, minimum j in the high one | qs[64] | d f16 | dmin f16
//   | half h of the block (128 weights) owns qs[32h .. 32h+31]; weight 128h + 32s + l has the bits
//   2s..2s+1 of byte 32h + l.
//   x = d * scale[i / 16] * q - dmin * min[i / 16]
#pragma once

#include <cstddef>
#include <span>

#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/half.h"
#include "quant/search.h"

namespace wick {

struct Q2_K {
  static constexpr DType kType = DType::kQ2_K;
  static constexpr int kGgufId = 10;
  static constexpr int kBlockLen = 256;
  using Block = BlockQ2_K;

  static void decode(const Block& block, float* out) noexcept {
    const float d = f16_to_f32(block.d_f16);
    const float dmin = f16_to_f32(block.dmin_f16);
    for (int i = 0; i < kBlockLen; ++i) {
      const int part = block.scales[i / 16];
      const int q = block.qs[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
      const float scale = d * static_cast<float>(part & 15);
      const float min = dmin * static_cast<float>(part >> 4);
      out[i] = scale * static_cast<float>(q) - min;
    }
  }

  static void encode(const float* in, Block& out) noexcept {
    const std::span<const float, kSuperBlock> x(in, kSuperBlock);
    const TwoLevel t = fit_two_level(x, 16, 3, 15);
    out = {.scales = {}, .qs = {}, .d_f16 = t.d_f16, .dmin_f16 = t.dmin_f16};
    for (std::size_t j = 0; j < 16; ++j)
      out.scales[j] = pack_nibbles(t.scale[j], t.min[j]);
    for (int i = 0; i < kBlockLen; ++i) {
      const int q = affine_quant(in[i], t.part(i / 16), 3);
      set_bits(out.qs[i / 128 * 32 + i % 32], q, i % 128 / 32 * 2);
    }
  }
};

}  // namespace wick
