// Q3_K: 3-bit signed quants; every 16 weights have a 6-bit scale around 32. 110 bytes per 256
// weights = 3.4375 bits per weight.
//
//   | hmask[32] | qs[64] | scales[12] | d f16 |
//   weight i = 128h + 32s + l: low bits 2s..2s+1 of qs[32h + l], high bit 4h + s of hmask[l].
//   scale j: low nibble of scales[j] (j < 8) or high nibble of scales[j - 8], bits 4-5 from bits
//   2(j / 4).. of scales[8 + j % 4].
//   x = d * (scale[i / 16] - 32) * (low bits - (high bit ? 0 : 4))
#pragma once

#include <array>
#include <cstddef>

#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/half.h"
#include "quant/search.h"

namespace wick {

struct Q3_K {
  static constexpr DType kType = DType::kQ3_K;
  static constexpr int kGgufId = 11;
  static constexpr int kBlockLen = 256;
  using Block = BlockQ3_K;

  static void decode(const Block& block, float* out) noexcept {
    const float d = f16_to_f32(block.d_f16);
    for (int i = 0; i < kBlockLen; ++i) {
      const int low = block.qs[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
      const int q = (block.hmask[i % 32] >> i / 32 & 1) != 0 ? low : low - 4;
      const float scale = d * static_cast<float>(scale_of(block, i / 16) - 32);
      out[i] = scale * static_cast<float>(q);
    }
  }

  static void encode(const float* in, Block& out) noexcept {
    std::array<float, 16> wanted = {};
    for (std::size_t j = 0; j < 16; ++j)
      wanted[j] = fit_signed({in + 16 * j, 16}, 4);
    const TwoLevelSigned t = round_scales(wanted, 32);
    out = {.hmask = {}, .qs = {}, .scales = {}, .d_f16 = t.d_f16};
    for (int j = 0; j < 16; ++j) {
      const int scale = t.scale[static_cast<std::size_t>(j)] + 32;
      set_bits(out.scales[j % 8], scale & 15, j / 8 * 4);
      set_bits(out.scales[8 + j % 4], scale >> 4, j / 4 * 2);
    }
    for (int i = 0; i < kBlockLen; ++i) {
      const int q = nearest(in_steps(in[i], t.part(i / 16)), -4, 3) + 4;
      set_bits(out.qs[i / 128 * 32 + i % 32], q & 3, i % 128 / 32 * 2);
      set_bits(out.hmask[i % 32], q >> 2, i / 32);
    }
  }

 private:
  static int scale_of(const Block& block, int j) noexcept {
    return (block.scales[j % 8] >> j / 8 * 4 & 15) | (block.scales[8 + j % 4] >> j / 4 * 2 & 3)
                                                         << 4;
  }
};

}  // namespace wick
