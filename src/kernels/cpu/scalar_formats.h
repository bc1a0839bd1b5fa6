// The block formats as integers, for the scalar products: quants as signed numbers, scales and
// minima. Two shapes:
//
//   struct Q8_0Format {                     // blocks of 32: x = d * q + m
//     using Block = BlockQ8_0;
//     static Block32 unpack(const Block&);
//   };
//   struct Q6_KFormat {                     // super-blocks of 256: x = d * scale * q - dmin * min
//     using Block = BlockQ6_K;
//     static Block256 unpack(const Block&);
//   };
//
// Layouts are drawn in quant/<name>.h.
// Hot: all of it.
#pragma once

#include <bit>
#include <cstdint>

#include "quant/blocks.h"
#include "quant/half.h"
#include "quant/six_bit_pairs.h"

namespace wick {

struct Block32 {
  std::int8_t q[32] = {};
  float d = 0;
  float m = 0;  // formats with kHasMin only
};

// Scales and minima per 16 weights; formats that have one per 32 repeat it, which changes no
// integer sum.
struct Block256 {
  std::int8_t q[256] = {};
  std::int16_t scale[16] = {};
  std::int16_t min[16] = {};  // formats with kHasMin only
  float d = 0;
  float dmin = 0;
};

// Weight i of 32 in the low nibble of byte i for i < 16, in the high one of byte i - 16 otherwise.
inline int nibble(const std::uint8_t* qs, int i) noexcept {
  return qs[i % 16] >> i / 16 * 4 & 15;
}

inline int fifth_bit(const std::uint8_t* qh, int i) noexcept {
  return (qh[i / 8] >> i % 8 & 1) << 4;
}

struct Q4_0Format {
  using Block = BlockQ4_0;
  static constexpr bool kHasMin = false;

  static Block32 unpack(const Block& block) noexcept {
    Block32 out = {.d = f16_to_f32(block.d_f16)};
    for (int i = 0; i < 32; ++i)
      out.q[i] = static_cast<std::int8_t>(nibble(block.qs, i) - 8);
    return out;
  }
};

struct Q4_1Format {
  using Block = BlockQ4_1;
  static constexpr bool kHasMin = true;

  static Block32 unpack(const Block& block) noexcept {
    Block32 out = {.d = f16_to_f32(block.d_f16), .m = f16_to_f32(block.m_f16)};
    for (int i = 0; i < 32; ++i)
      out.q[i] = static_cast<std::int8_t>(nibble(block.qs, i));
    return out;
  }
};

struct Q5_0Format {
  using Block = BlockQ5_0;
  static constexpr bool kHasMin = false;

  static Block32 unpack(const Block& block) noexcept {
    Block32 out = {.d = f16_to_f32(block.d_f16)};
    for (int i = 0; i < 32; ++i) {
      out.q[i] = static_cast<std::int8_t>((nibble(block.qs, i) | fifth_bit(block.qh, i)) - 16);
    }
    return out;
  }
};

struct Q5_1Format {
  using Block = BlockQ5_1;
  static constexpr bool kHasMin = true;

  static Block32 unpack(const Block& block) noexcept {
    Block32 out = {.d = f16_to_f32(block.d_f16), .m = f16_to_f32(block.m_f16)};
    for (int i = 0; i < 32; ++i) {
      out.q[i] = static_cast<std::int8_t>(nibble(block.qs, i) | fifth_bit(block.qh, i));
    }
    return out;
  }
};

struct Q8_0Format {
  using Block = BlockQ8_0;
  static constexpr bool kHasMin = false;

  static Block32 unpack(const Block& block) noexcept {
    Block32 out = {.d = f16_to_f32(block.d_f16)};
    for (int i = 0; i < 32; ++i)
      out.q[i] = block.qs[i];
    return out;
  }
};

struct IQ4_NLFormat {
  using Block = BlockIQ4_NL;
  static constexpr bool kHasMin = false;

  static Block32 unpack(const Block& block) noexcept {
    Block32 out = {.d = f16_to_f32(block.d_f16)};
    for (int i = 0; i < 32; ++i)
      out.q[i] = kIq4Values[nibble(block.qs, i)];
    return out;
  }
};

struct MXFP4Format {
  using Block = BlockMXFP4;
  static constexpr bool kHasMin = false;

  static Block32 unpack(const Block& block) noexcept {
    // The values are doubled, the scale is halved: 2^(e - 128), the two smallest of which are
    // subnormal.
    const std::uint32_t e = block.e;
    Block32 out = {.d = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1u) << 23)};
    for (int i = 0; i < 32; ++i)
      out.q[i] = kMxfp4Doubled[nibble(block.qs, i)];
    return out;
  }
};

struct Q2_KFormat {
  using Block = BlockQ2_K;
  static constexpr bool kHasMin = true;

  static Block256 unpack(const Block& block) noexcept {
    Block256 out = {.d = f16_to_f32(block.d_f16), .dmin = f16_to_f32(block.dmin_f16)};
    for (int i = 0; i < 16; ++i) {
      out.scale[i] = block.scales[i] & 15;
      out.min[i] = block.scales[i] >> 4;
    }
    for (int i = 0; i < 256; ++i) {
      out.q[i] = block.qs[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
    }
    return out;
  }
};

struct Q3_KFormat {
  using Block = BlockQ3_K;
  static constexpr bool kHasMin = false;

  static Block256 unpack(const Block& block) noexcept {
    Block256 out = {.d = f16_to_f32(block.d_f16)};
    for (int i = 0; i < 16; ++i) {
      const int low = block.scales[i % 8] >> i / 8 * 4 & 15;
      const int high = block.scales[8 + i % 4] >> i / 4 * 2 & 3;
      out.scale[i] = static_cast<std::int16_t>((low | high << 4) - 32);
    }
    for (int i = 0; i < 256; ++i) {
      const int low = block.qs[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
      const bool has_high = (block.hmask[i % 32] >> i / 32 & 1) != 0;
      out.q[i] = static_cast<std::int8_t>(has_high ? low : low - 4);
    }
    return out;
  }
};

inline void put_six_bit(const std::uint8_t (&bytes)[12], Block256& out) noexcept {
  for (int i = 0; i < 16; ++i) {
    const SixBitPair pair = get_six_bit_pair(bytes, i / 2);
    out.scale[i] = static_cast<std::int16_t>(pair.scale);
    out.min[i] = static_cast<std::int16_t>(pair.min);
  }
}

struct Q4_KFormat {
  using Block = BlockQ4_K;
  static constexpr bool kHasMin = true;

  static Block256 unpack(const Block& block) noexcept {
    Block256 out = {.d = f16_to_f32(block.d_f16), .dmin = f16_to_f32(block.dmin_f16)};
    put_six_bit(block.scales, out);
    for (int i = 0; i < 256; ++i) {
      out.q[i] = block.qs[i / 64 * 32 + i % 32] >> i / 32 % 2 * 4 & 15;
    }
    return out;
  }
};

struct Q5_KFormat {
  using Block = BlockQ5_K;
  static constexpr bool kHasMin = true;

  static Block256 unpack(const Block& block) noexcept {
    Block256 out = {.d = f16_to_f32(block.d_f16), .dmin = f16_to_f32(block.dmin_f16)};
    put_six_bit(block.scales, out);
    for (int i = 0; i < 256; ++i) {
      const int low = block.qs[i / 64 * 32 + i % 32] >> i / 32 % 2 * 4 & 15;
      const int high = block.qh[i % 32] >> i / 32 & 1;
      out.q[i] = static_cast<std::int8_t>(low | high << 4);
    }
    return out;
  }
};

struct Q6_KFormat {
  using Block = BlockQ6_K;
  static constexpr bool kHasMin = false;

  static Block256 unpack(const Block& block) noexcept {
    Block256 out = {.d = f16_to_f32(block.d_f16)};
    for (int i = 0; i < 16; ++i)
      out.scale[i] = block.scales[i];
    for (int i = 0; i < 256; ++i) {
      const int low = block.ql[i / 128 * 64 + i % 64] >> i % 128 / 64 * 4 & 15;
      const int high = block.qh[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
      out.q[i] = static_cast<std::int8_t>((low | high << 4) - 32);
    }
    return out;
  }
};

struct IQ4_XSFormat {
  using Block = BlockIQ4_XS;
  static constexpr bool kHasMin = false;

  static Block256 unpack(const Block& block) noexcept {
    Block256 out = {.d = f16_to_f32(block.d_f16)};
    for (int i = 0; i < 16; ++i) {
      const int j = i / 2;
      const int low = block.scales_l[j / 2] >> j % 2 * 4 & 15;
      const int high = block.scales_h >> 2 * j & 3;
      out.scale[i] = static_cast<std::int16_t>((low | high << 4) - 32);
    }
    for (int i = 0; i < 256; ++i) {
      out.q[i] = kIq4Values[nibble(block.qs + i / 32 * 16, i % 32)];
    }
    return out;
  }
};

}  // namespace wick
