// Sixteen floats at once, in plain C++: the definition of the operations that lanes_avx2.h,
// lanes_avx512.h and lanes_neon.h bring in instructions. Included once, by one kernel file, before
// the bodies that are written in terms of it; everything is local to that file. Operations round
// once, to nearest even; none flushes subnormals.
// Hot: all of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick {
namespace {

struct Lanes {
  float v[16];
};

// Query rows and vectors of 16 that the attention loops keep in registers at once.
constexpr int kTileRows = 4;
constexpr int kLatentRows = 2;  // of a tile whose values lie in the keys

constexpr int score_blocks(int) {
  return 1;
}

constexpr int value_vectors(int) {
  return 1;
}

template <class Operation>
inline Lanes each(const Operation& operation) {
  Lanes out;
  for (int i = 0; i < 16; ++i)
    out.v[i] = operation(i);
  return out;
}

inline Lanes all(float a) {
  return each([&](int) { return a; });
}

inline Lanes load(const float* p) {
  return each([&](int i) { return p[i]; });
}

inline void store(float* p, const Lanes& a) {
  __builtin_memcpy(p, a.v, sizeof(a.v));
}

inline Lanes add(const Lanes& a, const Lanes& b) {
  return each([&](int i) { return a.v[i] + b.v[i]; });
}

inline Lanes sub(const Lanes& a, const Lanes& b) {
  return each([&](int i) { return a.v[i] - b.v[i]; });
}

// Lanes (i, i + 8), then (i, i + 4), (i, i + 2), (i, i + 1).
inline float sum_of_lanes(Lanes a) {
  for (int step = 8; step >= 1; step /= 2) {
    for (int i = 0; i < step; ++i)
      a.v[i] += a.v[i + step];
  }
  return a.v[0];
}

inline Lanes mul(const Lanes& a, const Lanes& b) {
  return each([&](int i) { return a.v[i] * b.v[i]; });
}

inline Lanes div(const Lanes& a, const Lanes& b) {
  return each([&](int i) { return a.v[i] / b.v[i]; });
}

// a * b + c, rounded once
inline Lanes fma(const Lanes& a, const Lanes& b, const Lanes& c) {
  return each([&](int i) { return __builtin_fmaf(a.v[i], b.v[i], c.v[i]); });
}

// to += a * b, rounded once
inline __attribute__((always_inline)) void add_product(Lanes& to, const Lanes& a, float b) {
  to = fma(a, all(b), to);
}

// The second operand where either is NaN.
inline Lanes max(const Lanes& a, const Lanes& b) {
  return each([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}

inline Lanes min(const Lanes& a, const Lanes& b) {
  return each([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}

inline Lanes absolute(const Lanes& a) {
  return each([&](int i) { return __builtin_fabsf(a.v[i]); });
}

// Rounds to the nearest integer, halves to even; |a| < 2^22. A sum near 1.5 * 2^23 has no fraction
// bits, so the addition rounds.
inline Lanes round(const Lanes& a) {
  return each([&](int i) { return (a.v[i] + 12582912.0F) - 12582912.0F; });
}

// y * 2^n for whole n in [-126, 127]; NaN where n is NaN.
inline Lanes scale_by_power(const Lanes& y, const Lanes& n) {
  return each([&](int i) {
    if (!(n.v[i] == n.v[i])) return n.v[i];
    const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(n.v[i]) + 127) << 23;
    return y.v[i] * __builtin_bit_cast(float, bits);
  });
}

// x where it is NaN, elsewhere a
inline Lanes keep_nan(const Lanes& x, const Lanes& a) {
  return each([&](int i) { return x.v[i] == x.v[i] ? a.v[i] : x.v[i]; });
}

// `a` where x < 0, elsewhere b
inline Lanes pick_negative(const Lanes& x, const Lanes& a, const Lanes& b) {
  return each([&](int i) { return x.v[i] < 0.0F ? a.v[i] : b.v[i]; });
}

// Rounds to bfloat16 (nearest even) and widens again. The result for a NaN depends on its payload.
inline Lanes round_to_bf16(const Lanes& a) {
  return each([&](int i) {
    const auto bits = __builtin_bit_cast(std::uint32_t, a.v[i]);
    return __builtin_bit_cast(float, (bits + 0x7fffU + (bits >> 16 & 1U)) & 0xffff0000U);
  });
}

inline float widen_half(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7fffU;
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  std::uint32_t bits = 0;
  if (magnitude >= 0x7c00U) {
    bits = 0x7f800000U | (magnitude & 0x3ffU) << 13 | (magnitude > 0x7c00U ? 0x400000U : 0U);
  } else if (magnitude >= 0x400U) {
    bits = (magnitude << 13) + (112U << 23);
  } else {
    bits = __builtin_bit_cast(std::uint32_t, static_cast<float>(magnitude) * 0x1p-24F);
  }
  return __builtin_bit_cast(float, sign | bits);
}

// [16][2] 16-bit floats → the even and the odd elements, exactly.
inline void widen_bf16(const std::byte* p, Lanes& even, Lanes& odd) {
  for (int i = 0; i < 16; ++i) {
    std::uint32_t pair;
    __builtin_memcpy(&pair, p + 4 * i, 4);
    even.v[i] = __builtin_bit_cast(float, pair << 16);
    odd.v[i] = __builtin_bit_cast(float, pair & 0xffff0000U);
  }
}

inline void widen_f16(const std::byte* p, Lanes& even, Lanes& odd) {
  for (int i = 0; i < 16; ++i) {
    std::uint16_t pair[2];
    __builtin_memcpy(pair, p + 4 * i, 4);
    even.v[i] = widen_half(pair[0]);
    odd.v[i] = widen_half(pair[1]);
  }
}

// Sixteen 16-bit floats, exactly.
inline Lanes widen_halves(const std::byte* p) {
  return each([p](int i) {
    std::uint16_t half;
    __builtin_memcpy(&half, p + 2 * i, 2);
    return widen_half(half);
  });
}

// Sixteen signed bytes.
inline Lanes widen_bytes(const std::byte* p) {
  return each([p](int i) { return static_cast<float>(static_cast<std::int8_t>(p[i])); });
}

// Sixteen bytes → the values of their low and of their high nibbles: quant - 8.
inline void widen_nibbles(const std::byte* p, Lanes& low, Lanes& high) {
  low = each([p](int i) { return static_cast<float>(static_cast<int>(p[i] & std::byte{15}) - 8); });
  high = each([p](int i) { return static_cast<float>(static_cast<int>(p[i] >> 4) - 8); });
}

// Keys of a quantized cache, two features of sixteen positions: [16][2]; and their products with a
// query's quants, added up as integers.
struct Words {
  std::int16_t v[32];
};

struct Counts {
  std::int32_t v[16] = {};
};

// From bytes, and from nibbles: quant - 8, the first feature in the low one.
inline Words widen_pairs(const std::byte* p) {
  Words out;
  for (int i = 0; i < 32; ++i)
    out.v[i] = static_cast<std::int8_t>(p[i]);
  return out;
}

inline Words widen_nibble_pairs(const std::byte* p) {
  Words out;
  for (int i = 0; i < 16; ++i) {
    out.v[2 * i] = static_cast<std::int16_t>(static_cast<int>(p[i] & std::byte{15}) - 8);
    out.v[2 * i + 1] = static_cast<std::int16_t>(static_cast<int>(p[i] >> 4) - 8);
  }
  return out;
}

// to[i] += a[i][0] * b[0] + a[i][1] * b[1]
inline __attribute__((always_inline)) void add_pairs(Counts& to, const Words& a,
                                                     const std::int16_t* b) {
  for (int i = 0; i < 16; ++i)
    to.v[i] += a.v[2 * i] * b[0] + a.v[2 * i + 1] * b[1];
}

// To the nearest float, ties to even.
inline Lanes to_floats(const Counts& a) {
  return each([&](int i) { return static_cast<float>(a.v[i]); });
}

// The two features apart.
inline void to_floats(const Words& a, Lanes& even, Lanes& odd) {
  even = each([&](int i) { return static_cast<float>(a.v[2 * i]); });
  odd = each([&](int i) { return static_cast<float>(a.v[2 * i + 1]); });
}

// To the nearest integers, ties to even; magnitudes of at most 32,767.
inline void store_words(std::int16_t* to, const Lanes& a) {
  for (int i = 0; i < 16; ++i)
    to[i] = static_cast<std::int16_t>(__builtin_nearbyintf(a.v[i]));
}

}  // namespace
}  // namespace wick
