// IQ4_XS: as IQ4_NL, but every 32 of 256 weights have a 6-bit scale around 32. 136 bytes per 256
// weights = 4.25 bits per weight.
//
//   | d f16 | scales_h u16 | scales_l[4] | qs[128]: 16 bytes for each 32 weights, as in IQ4_NL |
//   scale j: nibble j % 2 of scales_l[j / 2], bits 4-5 from bits 2j.. of scales_h.
//   x = d * (scale[i / 32] - 32) * kIq4Values[q]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/half.h"
#include "quant/search.h"

namespace wick {

struct IQ4_XS {
  static constexpr DType kType = DType::kIQ4_XS;
  static constexpr int kGgufId = 23;
  static constexpr int kBlockLen = 256;
  using Block = BlockIQ4_XS;

  static void decode(const Block& block, float* out) noexcept {
    const float d = f16_to_f32(block.d_f16);
    for (int j = 0; j < 8; ++j) {
      const int low = block.scales_l[j / 2] >> j % 2 * 4 & 15;
      const int high = block.scales_h >> 2 * j & 3;
      const float scale = d * static_cast<float>((low | high << 4) - 32);
      for (int l = 0; l < 16; ++l) {
        const int pair = block.qs[16 * j + l];
        out[32 * j + l] = scale * iq4_value(pair & 15);
        out[32 * j + l + 16] = scale * iq4_value(pair >> 4);
      }
    }
  }

  static void encode(const float* in, Block& out) noexcept {
    std::array<float, 8> wanted = {};
    for (std::size_t j = 0; j < 8; ++j)
      wanted[j] = fit_iq4({in + 32 * j, 32});
    const TwoLevelSigned t = round_scales(wanted, 32);
    out = {.d_f16 = t.d_f16, .scales_h = 0, .scales_l = {}, .qs = {}};
    for (int j = 0; j < 8; ++j) {
      const int scale = t.scale[static_cast<std::size_t>(j)] + 32;
      set_bits(out.scales_l[j / 2], scale & 15, j % 2 * 4);
      out.scales_h = static_cast<std::uint16_t>(out.scales_h | scale >> 4 << 2 * j);
    }
    for (int i = 0; i < kBlockLen; ++i) {
      const int q = nearest_iq4(in_steps(in[i], t.part(i / 32)));
      set_bits(out.qs[i / 32 * 16 + i % 16], q, i / 16 % 2 * 4);
    }
  }
};

}  // namespace wick
