// Q6_K: 6-bit quants around 32; every 16 weights have an 8-bit signed scale. 210 bytes per 256
// weights = 6.5625 bits per weight.
//
//   | ql[128] | qh[64] | scales[16] i8 | d f16 |
//   weight i = 128h + 32s + l: low nibble in ql[64h + 32(s % 2) + l], its low half for s < 2 and
//   its high half for s >= 2; bits 4-5 in bits 2s..2s+1 of qh[32h + l].
//   x = d * scale[i / 16] * (q - 32)
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/half.h"
#include "quant/search.h"

namespace wick {

struct Q6_K {
  static constexpr DType kType = DType::kQ6_K;
  static constexpr int kGgufId = 14;
  static constexpr int kBlockLen = 256;
  using Block = BlockQ6_K;

  static void decode(const Block& block, float* out) noexcept {
    const float d = f16_to_f32(block.d_f16);
    for (int i = 0; i < kBlockLen; ++i) {
      const int low = block.ql[low_byte(i)] >> i % 128 / 64 * 4 & 15;
      const int high = block.qh[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
      const float scale = d * static_cast<float>(block.scales[i / 16]);
      out[i] = scale * static_cast<float>((low | high << 4) - 32);
    }
  }

  static void encode(const float* in, Block& out) noexcept {
    std::array<float, 16> wanted = {};
    for (std::size_t j = 0; j < 16; ++j)
      wanted[j] = fit_signed({in + 16 * j, 16}, 32);
    const TwoLevelSigned t = round_scales(wanted, 128);
    out = {.ql = {}, .qh = {}, .scales = {}, .d_f16 = t.d_f16};
    std::copy(t.scale.begin(), t.scale.end(), out.scales);
    for (int i = 0; i < kBlockLen; ++i) {
      const int q = nearest(in_steps(in[i], t.part(i / 16)), -32, 31) + 32;
      set_bits(out.ql[low_byte(i)], q & 15, i % 128 / 64 * 4);
      set_bits(out.qh[i / 128 * 32 + i % 32], q >> 4, i % 128 / 32 * 2);
    }
  }

 private:
  static int low_byte(int i) noexcept { return i / 128 * 64 + i % 64; }
};

}  // namespace wick
