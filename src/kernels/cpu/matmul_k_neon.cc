// NEON products of formats with super-blocks of 256 (ARMv8.2 with dot product). A super-block
// unpacks into sixteen parts of sixteen signed quants, each a register and a scale; sdot and one
// multiply-add bring a part's integers to four lanes, which add up to I (docs/numerics.md). An
// unpacked super-block serves up to four tokens. Correct first, its speed is untested.
// Hot: all of it.
#include "kernels/cpu/matmul_neon.h"

namespace wick {
namespace {

constexpr int kPassTokens = 4;

struct Parts {
  int8x16_t quants[16];
  std::int16_t scale[16];
  std::int16_t min[16];  // formats with a minimum only
};

inline uint8x16_t shifted_down(uint8x16_t bytes, int bits) noexcept {
  return vshlq_u8(bytes, vdupq_n_s8(static_cast<std::int8_t>(-bits)));
}

// Bits `from` and up of each byte: `mask` of them.
inline uint8x16_t bits_of(const std::uint8_t* at, int from, unsigned mask) noexcept {
  return vandq_u8(shifted_down(vld1q_u8(at), from), vdupq_n_u8(static_cast<std::uint8_t>(mask)));
}

// `value` in the bytes that have the bit.
inline uint8x16_t where_set(const std::uint8_t* at, int bit, unsigned value) noexcept {
  const uint8x16_t is_set = vtstq_u8(vld1q_u8(at), vdupq_n_u8(static_cast<std::uint8_t>(1 << bit)));
  return vandq_u8(is_set, vdupq_n_u8(static_cast<std::uint8_t>(value)));
}

inline int8x16_t less(uint8x16_t quants, int offset) noexcept {
  return vsubq_s8(vreinterpretq_s8_u8(quants), vdupq_n_s8(static_cast<std::int8_t>(offset)));
}

inline std::int16_t whole(unsigned bits, int offset = 0) noexcept {
  return static_cast<std::int16_t>(static_cast<int>(bits) - offset);
}

// Part i is half i % 2 of block i / 2 of 32.
inline void unpack(const BlockQ2_K& b, Parts& out) noexcept {
  for (int i = 0; i < 16; ++i) {
    const int j = i / 2;
    out.quants[i] = less(bits_of(b.qs + j / 4 * 32 + i % 2 * 16, 2 * (j % 4), 3), 0);
    out.scale[i] = whole(b.scales[i] & 15u);
    out.min[i] = whole(b.scales[i] >> 4u);
  }
}

inline void unpack(const BlockQ3_K& b, Parts& out) noexcept {
  for (int i = 0; i < 16; ++i) {
    const int j = i / 2;
    const uint8x16_t low = bits_of(b.qs + j / 4 * 32 + i % 2 * 16, 2 * (j % 4), 3);
    out.quants[i] = less(vorrq_u8(low, where_set(b.hmask + i % 2 * 16, j, 4)), 4);
    const unsigned four = b.scales[i % 8] >> i / 8 * 4 & 15u;
    const unsigned two = b.scales[8 + i % 4] >> i / 4 * 2 & 3u;
    out.scale[i] = whole(four | two << 4, 32);
  }
}

// The twelve bytes of Q4_K and Q5_K: scales 0-3 with bits 4-5 of scales 4-7 on top, minima
// likewise, low nibbles of scales 4-7 and of minima 4-7.
inline void unpack_scales(const std::uint8_t (&s)[12], Parts& out) noexcept {
  for (int i = 0; i < 16; ++i) {
    const int j = i / 2;
    const unsigned scale = j < 4 ? s[j] & 63u : (s[j + 4] & 15u) | (s[j - 4] >> 6u << 4u);
    const unsigned min = j < 4 ? s[j + 4] & 63u : (s[j + 4] >> 4u) | (s[j] >> 6u << 4u);
    out.scale[i] = whole(scale);
    out.min[i] = whole(min);
  }
}

inline void unpack(const BlockQ4_K& b, Parts& out) noexcept {
  unpack_scales(b.scales, out);
  for (int i = 0; i < 16; ++i)
    out.quants[i] = less(bits_of(b.qs + i / 4 * 32 + i % 2 * 16, i / 2 % 2 * 4, 15), 0);
}

inline void unpack(const BlockQ5_K& b, Parts& out) noexcept {
  unpack_scales(b.scales, out);
  for (int i = 0; i < 16; ++i) {
    const uint8x16_t low = bits_of(b.qs + i / 4 * 32 + i % 2 * 16, i / 2 % 2 * 4, 15);
    out.quants[i] = less(vorrq_u8(low, where_set(b.qh + i % 2 * 16, i / 2, 16)), 0);
  }
}

inline void unpack(const BlockQ6_K& b, Parts& out) noexcept {
  for (int i = 0; i < 16; ++i) {
    const int half = i / 8, j = i / 2 % 4, at = i % 2 * 16;
    const uint8x16_t low = bits_of(b.ql + 64 * half + j % 2 * 32 + at, j / 2 * 4, 15);
    const uint8x16_t high = bits_of(b.qh + 32 * half + at, 2 * j, 3);
    out.quants[i] = less(vorrq_u8(low, vshlq_n_u8(high, 4)), 32);
    out.scale[i] = b.scales[i];
  }
}

inline void unpack(const BlockIQ4_XS& b, Parts& out) noexcept {
  for (int i = 0; i < 16; ++i) {
    const int j = i / 2;
    out.quants[i] = vqtbl1q_s8(vld1q_s8(kIq4Values), bits_of(b.qs + 16 * j, i % 2 * 4, 15));
    const unsigned four = b.scales_l[j / 2] >> j % 2 * 4 & 15u;
    const unsigned two = static_cast<unsigned>(b.scales_h) >> 2 * j & 3u;
    out.scale[i] = whole(four | two << 4, 32);
  }
}

// I, and M where the format has minima.
inline int total_of(const Parts& parts, const std::int16_t* block_scales,
                    const std::int8_t* values) noexcept {
  int32x4_t total = vdupq_n_s32(0);
  for (int i = 0; i < 16; ++i) {
    const int32x4_t s = vdotq_s32(vdupq_n_s32(0), parts.quants[i], vld1q_s8(values + 16 * i));
    total = vmlaq_n_s32(total, s, parts.scale[i] * block_scales[i / 2]);
  }
  return vaddvq_s32(total);
}

inline int minima_of(const Parts& parts, const std::int16_t* half_sums) noexcept {
  int total = 0;
  for (int i = 0; i < 16; ++i)
    total += parts.min[i] * half_sums[i];
  return total;
}

template <class T>
inline const T* part(const std::byte* row, std::size_t offset) noexcept {
  return reinterpret_cast<const T*>(row + offset);
}

template <class Format>
void matmul_super_blocks(const MatmulArgs& args) noexcept {
  const ActivationLayout layout = activation_layout(args.width);
  for (int r = args.row_begin; r < args.row_end; ++r) {
    const std::byte* row = row_at(args, r);
    for (int first = 0; first < args.n_tokens; first += kPassTokens) {
      const int n = args.n_tokens - first < kPassTokens ? args.n_tokens - first : kPassTokens;
      float acc[kPassTokens] = {};
      for (std::ptrdiff_t g = 0; g < layout.groups; ++g) {
        const auto block = load_as<typename Format::Block>(
            row + g * static_cast<std::ptrdiff_t>(sizeof(typename Format::Block)));
        Parts parts;
        unpack(block, parts);
        for (int t = 0; t < n; ++t) {
          const std::byte* x = args.x + static_cast<std::size_t>(first + t) * args.x_stride;
          const int total = total_of(parts, part<std::int16_t>(x, layout.block_scales) + 8 * g,
                                     part<std::int8_t>(x, layout.values) + 256 * g);
          float term = widen(block.d_f16) * static_cast<float>(total);
          if constexpr (Format::kHasMin) {
            const int m = minima_of(parts, part<std::int16_t>(x, layout.half_sums) + 16 * g);
            term = __builtin_fmaf(-widen(block.dmin_f16), static_cast<float>(m), term);
          }
          acc[t] = __builtin_fmaf(part<float>(x, layout.group_scales)[g], term, acc[t]);
        }
      }
      for (int t = 0; t < n; ++t)
        args.y[(first + t) * args.y_stride + r] = acc[t];
    }
  }
}

}  // namespace

void matmul_q2_k_neon(const MatmulArgs& args) noexcept {
  matmul_super_blocks<Q2_K>(args);
}

void matmul_q3_k_neon(const MatmulArgs& args) noexcept {
  matmul_super_blocks<Q3_K>(args);
}

void matmul_q4_k_neon(const MatmulArgs& args) noexcept {
  matmul_super_blocks<Q4_K>(args);
}

void matmul_q5_k_neon(const MatmulArgs& args) noexcept {
  matmul_super_blocks<Q5_K>(args);
}

void matmul_q6_k_neon(const MatmulArgs& args) noexcept {
  matmul_super_blocks<Q6_K>(args);
}

void matmul_iq4_xs_neon(const MatmulArgs& args) noexcept {
  matmul_super_blocks<IQ4_XS>(args);
}

}  // namespace wick
