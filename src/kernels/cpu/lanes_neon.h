// Sixteen floats at once in four NEON registers; the operations of lanes_scalar.h, same results bit
// for bit (FPCR.FZ must be 0, as systems leave it). Included once, by vector_neon.cc; everything is
// local to that file.
// Hot: all of it.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

namespace wick {
namespace {

struct Lanes {
  float32x4_t v[4];
};

// Query rows and vectors of 16 that the attention loops keep in registers at once: sixteen of the
// 32 registers are sums.
constexpr int kTileRows = 4;
constexpr int kLatentRows = 2;  // of a tile whose values lie in the keys: two sums each

constexpr int score_blocks(int) {
  return 1;
}

constexpr int value_vectors(int) {
  return 1;
}

template <class Operation>
inline __attribute__((always_inline)) Lanes each(const Operation& operation) {
  return {{operation(0), operation(1), operation(2), operation(3)}};
}

inline Lanes all(float a) {
  return each([&](int) { return vdupq_n_f32(a); });
}

inline Lanes load(const float* p) {
  return each([&](int i) { return vld1q_f32(p + 4 * i); });
}

inline void store(float* p, Lanes a) {
  for (int i = 0; i < 4; ++i)
    vst1q_f32(p + 4 * i, a.v[i]);
}

inline Lanes add(Lanes a, Lanes b) {
  return each([&](int i) { return vaddq_f32(a.v[i], b.v[i]); });
}

inline Lanes sub(Lanes a, Lanes b) {
  return each([&](int i) { return vsubq_f32(a.v[i], b.v[i]); });
}

inline float sum_of_lanes(Lanes a) {
  const float32x4_t four = vaddq_f32(vaddq_f32(a.v[0], a.v[2]), vaddq_f32(a.v[1], a.v[3]));
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

inline Lanes mul(Lanes a, Lanes b) {
  return each([&](int i) { return vmulq_f32(a.v[i], b.v[i]); });
}

inline Lanes div(Lanes a, Lanes b) {
  return each([&](int i) { return vdivq_f32(a.v[i], b.v[i]); });
}

inline Lanes fma(Lanes a, Lanes b, Lanes c) {
  return each([&](int i) { return vfmaq_f32(c.v[i], a.v[i], b.v[i]); });
}

// to += a * b
inline void add_product(Lanes& to, Lanes a, float b) {
  to = fma(a, all(b), to);
}

// Not vmaxq_f32, which orders zeros and returns NaN from either side.
inline Lanes max(Lanes a, Lanes b) {
  return each([&](int i) { return vbslq_f32(vcgtq_f32(a.v[i], b.v[i]), a.v[i], b.v[i]); });
}

inline Lanes min(Lanes a, Lanes b) {
  return each([&](int i) { return vbslq_f32(vcltq_f32(a.v[i], b.v[i]), a.v[i], b.v[i]); });
}

inline Lanes absolute(Lanes a) {
  return each([&](int i) { return vabsq_f32(a.v[i]); });
}

inline Lanes round(Lanes a) {
  return each([&](int i) { return vrndnq_f32(a.v[i]); });
}

inline Lanes scale_by_power(Lanes y, Lanes n) {
  return each([&](int i) {
    const int32x4_t exponent = vaddq_s32(vcvtnq_s32_f32(n.v[i]), vdupq_n_s32(127));
    const float32x4_t power = vreinterpretq_f32_s32(vshlq_n_s32(exponent, 23));
    return vbslq_f32(vceqq_f32(n.v[i], n.v[i]), vmulq_f32(y.v[i], power), n.v[i]);
  });
}

inline Lanes keep_nan(Lanes x, Lanes a) {
  return each([&](int i) { return vbslq_f32(vceqq_f32(x.v[i], x.v[i]), a.v[i], x.v[i]); });
}

inline Lanes pick_negative(Lanes x, Lanes a, Lanes b) {
  return each(
      [&](int i) { return vbslq_f32(vcltq_f32(x.v[i], vdupq_n_f32(0.0F)), a.v[i], b.v[i]); });
}

inline Lanes round_to_bf16(Lanes a) {
  return each([&](int i) {
    const uint32x4_t bits = vreinterpretq_u32_f32(a.v[i]);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t sum = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
    return vreinterpretq_f32_u32(vandq_u32(sum, vdupq_n_u32(0xffff0000U)));
  });
}

inline void widen_bf16(const std::byte* p, Lanes& even, Lanes& odd) {
  for (int i = 0; i < 4; ++i) {
    const uint32x4_t pairs =
        vreinterpretq_u32_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(p) + 16 * i));
    even.v[i] = vreinterpretq_f32_u32(vshlq_n_u32(pairs, 16));
    odd.v[i] = vreinterpretq_f32_u32(vandq_u32(pairs, vdupq_n_u32(0xffff0000U)));
  }
}

inline void widen_f16(const std::byte* p, Lanes& even, Lanes& odd) {
  for (int i = 0; i < 4; ++i) {
    const uint32x4_t pairs =
        vreinterpretq_u32_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(p) + 16 * i));
    even.v[i] = vcvt_f32_f16(vreinterpret_f16_u16(vmovn_u32(pairs)));
    odd.v[i] = vcvt_f32_f16(vreinterpret_f16_u16(vshrn_n_u32(pairs, 16)));
  }
}

inline Lanes widen_halves(const std::byte* p) {
  const auto* halves = reinterpret_cast<const std::uint8_t*>(p);
  return each(
      [halves](int i) { return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(halves + 8 * i))); });
}

inline Lanes signed_bytes(int8x16_t bytes) {
  const int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_high_s8(bytes);
  return {{vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), vcvtq_f32_s32(vmovl_high_s16(low)),
           vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), vcvtq_f32_s32(vmovl_high_s16(high))}};
}

inline Lanes widen_bytes(const std::byte* p) {
  return signed_bytes(vld1q_s8(reinterpret_cast<const std::int8_t*>(p)));
}

inline void widen_nibbles(const std::byte* p, Lanes& low, Lanes& high) {
  const uint8x16_t bytes = vld1q_u8(reinterpret_cast<const std::uint8_t*>(p));
  const int8x16_t eight = vdupq_n_s8(8);
  low = signed_bytes(vsubq_s8(vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15))), eight));
  high = signed_bytes(vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4)), eight));
}

struct Words {  // [2][16]: the two features apart
  int16x8_t first[2], second[2];
};

struct Counts {
  int32x4_t v[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
};

inline Words widen_pairs(const std::byte* p) {
  const int8x16x2_t quants = vld2q_s8(reinterpret_cast<const std::int8_t*>(p));
  return {{vmovl_s8(vget_low_s8(quants.val[0])), vmovl_high_s8(quants.val[0])},
          {vmovl_s8(vget_low_s8(quants.val[1])), vmovl_high_s8(quants.val[1])}};
}

inline Words widen_nibble_pairs(const std::byte* p) {
  const uint8x16_t bytes = vld1q_u8(reinterpret_cast<const std::uint8_t*>(p));
  const int8x16_t eight = vdupq_n_s8(8);
  const int8x16_t first = vsubq_s8(vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15))), eight);
  const int8x16_t second = vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4)), eight);
  return {{vmovl_s8(vget_low_s8(first)), vmovl_high_s8(first)},
          {vmovl_s8(vget_low_s8(second)), vmovl_high_s8(second)}};
}

inline void add_pairs(Counts& to, const Words& a, const std::int16_t* b) {
  for (int i = 0; i < 2; ++i) {
    to.v[2 * i] = vmlal_n_s16(to.v[2 * i], vget_low_s16(a.first[i]), b[0]);
    to.v[2 * i] = vmlal_n_s16(to.v[2 * i], vget_low_s16(a.second[i]), b[1]);
    to.v[2 * i + 1] = vmlal_high_n_s16(to.v[2 * i + 1], a.first[i], b[0]);
    to.v[2 * i + 1] = vmlal_high_n_s16(to.v[2 * i + 1], a.second[i], b[1]);
  }
}

inline Lanes to_floats(const Counts& a) {
  return each([&](int i) { return vcvtq_f32_s32(a.v[i]); });
}

inline Lanes to_floats(const int16x8_t (&a)[2]) {
  return {{vcvtq_f32_s32(vmovl_s16(vget_low_s16(a[0]))), vcvtq_f32_s32(vmovl_high_s16(a[0])),
           vcvtq_f32_s32(vmovl_s16(vget_low_s16(a[1]))), vcvtq_f32_s32(vmovl_high_s16(a[1]))}};
}

inline void to_floats(const Words& a, Lanes& even, Lanes& odd) {
  even = to_floats(a.first);
  odd = to_floats(a.second);
}

inline void store_words(std::int16_t* to, Lanes a) {
  for (int i = 0; i < 4; ++i)
    vst1_s16(to + 4 * i, vqmovn_s32(vcvtnq_s32_f32(a.v[i])));
}

}  // namespace
}  // namespace wick
