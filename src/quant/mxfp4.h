// MXFP4 (OCP Microscaling Formats 1.0, 5.3): 4-bit floats (1 sign, 2 exponent, 1 fraction bit) that
// share a power of two. 17 bytes per 32 weights = 4.25 bits per weight.
//
//   | e: the scale is 2^(e - 127) | qs[16]: weight i in the low nibble, 16 + i in the high one |
//   x = 2^(e - 127) * {0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives}[q]
//
// Two departures of GGUF from the specification: e = 255 is 2^128 and not NaN, and quant 8 (minus
// zero) decodes to plus zero. The table holds doubled values, the scale is halved, as there.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/codec.h"
#include "quant/search.h"

namespace wick {

struct MXFP4 {
  static constexpr DType kType = DType::kMXFP4;
  static constexpr int kGgufId = 39;
  static constexpr int kBlockLen = 32;
  using Block = BlockMXFP4;

  static void decode(const Block& block, float* out) noexcept {
    const float d = half_scale(block.e);
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(kMxfp4Doubled[block.qs[i] & 15]);
      out[i + 16] = d * static_cast<float>(kMxfp4Doubled[block.qs[i] >> 4]);
    }
  }

  // The specification's conversion, 6.3: the scale is the power of two of the largest magnitude
  // over that of the largest element (4 = 2^2); elements round to nearest even and saturate.
  static void encode(const float* in, Block& out) noexcept {
    const float peak = extreme({in, 32});
    const int exponent = std::clamp(std::ilogb(peak), 2 - 127, 127);  // ilogb(0) is far below
    out.e = static_cast<std::uint8_t>(exponent - 2 + 127);
    const float d = half_scale(out.e);
    const auto quant = [d](float x) { return element(x / d); };
    for (int i = 0; i < 16; ++i)
      out.qs[i] = pack_nibbles(quant(in[i]), quant(in[i + 16]));
  }

 private:
  // 2^(e - 128); the two smallest are subnormal floats.
  static float half_scale(std::uint8_t e) noexcept {
    const std::uint32_t exponent = e;
    return std::bit_cast<float>(e < 2 ? 0x00200000u << exponent : (exponent - 1u) << 23);
  }

  // Quant of the element nearest to `doubled` / 2. The middles between neighbors, doubled, are
  // 0.5 1.5 2.5 3.5 5 7 10; a value on a middle goes to the even quant.
  static int element(float doubled) noexcept {
    const float magnitude = std::fabs(doubled);
    const int quant = (magnitude > 0.5f) + (magnitude >= 1.5f) + (magnitude > 2.5f) +
                      (magnitude >= 3.5f) + (magnitude > 5.0f) + (magnitude >= 7.0f) +
                      (magnitude > 10.0f);
    return doubled < 0 && quant != 0 ? quant + 8 : quant;
  }
};

}  // namespace wick
