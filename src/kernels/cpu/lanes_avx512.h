// Sixteen floats at once in one AVX-512 register; the operations of lanes_scalar.h, same results
// bit for bit. Included once, by vector_avx512.cc (or by a test that emulates the instructions);
// everything is local to that file.
// Hot: all of it.
#pragma once

#ifdef WICK_SIMDE
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <immintrin.h>
#include <simde/x86/avx512.h>
#else
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>

namespace wick {
namespace {

struct Lanes {
  __m512 v;
};

// Query rows and vectors of 16 that the attention loops keep in registers at once.
constexpr int kTileRows = 4;
constexpr int kLatentRows = 4;  // of a tile whose values lie in the keys

constexpr int score_blocks(int) {
  return 2;
}

constexpr int value_vectors(int rows) {
  return rows <= 2 ? 4 : 2;
}

inline Lanes all(float a) {
  return {_mm512_set1_ps(a)};
}

inline Lanes load(const float* p) {
  return {_mm512_loadu_ps(p)};
}

inline void store(float* p, Lanes a) {
  _mm512_storeu_ps(p, a.v);
}

inline Lanes add(Lanes a, Lanes b) {
  return {_mm512_add_ps(a.v, b.v)};
}

inline Lanes sub(Lanes a, Lanes b) {
  return {_mm512_sub_ps(a.v, b.v)};
}

inline float sum_of_lanes(Lanes a) {
  const __m512i bits = _mm512_castps_si512(a.v);
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v),
                                     _mm256_castsi256_ps(_mm512_extracti64x4_epi64(bits, 1)));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline Lanes mul(Lanes a, Lanes b) {
  return {_mm512_mul_ps(a.v, b.v)};
}

inline Lanes div(Lanes a, Lanes b) {
  return {_mm512_div_ps(a.v, b.v)};
}

inline Lanes fma(Lanes a, Lanes b, Lanes c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}

// to += a * b
inline void add_product(Lanes& to, Lanes a, float b) {
  to = fma(a, all(b), to);
}

inline Lanes max(Lanes a, Lanes b) {
  return {_mm512_max_ps(a.v, b.v)};
}

inline Lanes min(Lanes a, Lanes b) {
  return {_mm512_min_ps(a.v, b.v)};
}

inline Lanes absolute(Lanes a) {
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  return {_mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(a.v), magnitude))};
}

// Adding 1.5 * 2^23 rounds to a whole number, as in lanes_scalar.h.
inline Lanes round(Lanes a) {
  const __m512 shift = _mm512_set1_ps(12582912.0F);
  return {_mm512_sub_ps(_mm512_add_ps(a.v, shift), shift)};
}

// The low bits of n + 1.5 * 2^23 are n; those above fall out of the shift.
inline Lanes scale_by_power(Lanes y, Lanes n) {
  const __m512 shifted = _mm512_add_ps(n.v, _mm512_set1_ps(12582912.0F));
  const __m512i exponent = _mm512_add_epi32(_mm512_castps_si512(shifted), _mm512_set1_epi32(127));
  const __m512 scaled = _mm512_mul_ps(y.v, _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23)));
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(n.v, n.v, _CMP_UNORD_Q), scaled, n.v)};
}

inline Lanes keep_nan(Lanes x, Lanes a) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(x.v, x.v, _CMP_UNORD_Q), a.v, x.v)};
}

inline Lanes pick_negative(Lanes x, Lanes a, Lanes b) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(x.v, _mm512_setzero_ps(), _CMP_LT_OQ), b.v, a.v)};
}

inline Lanes round_to_bf16(Lanes a) {
  const __m512i bits = _mm512_castps_si512(a.v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  return {_mm512_castsi512_ps(_mm512_and_si512(sum, _mm512_set1_epi32(-65536)))};
}

#ifdef WICK_SIMDE  // SIMDe 0.7.4 lacks the two conversions that widen_f16 takes
inline __m512 wick_narrow_and_widen(__m512i pairs) {
  alignas(64) std::uint32_t words[16];
  alignas(64) float floats[16];
  _mm512_storeu_si512(words, pairs);
  for (int i = 0; i < 16; ++i)
    floats[i] = _cvtsh_ss(static_cast<std::uint16_t>(words[i]));
  return _mm512_loadu_ps(floats);
}
#endif

inline void widen_bf16(const std::byte* p, Lanes& even, Lanes& odd) {
  const __m512i pairs = _mm512_loadu_si512(p);
  even.v = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
  odd.v = _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(-65536)));
}

inline void widen_f16(const std::byte* p, Lanes& even, Lanes& odd) {
  const __m512i pairs = _mm512_loadu_si512(p);
#ifdef WICK_SIMDE
  even.v = wick_narrow_and_widen(pairs);
  odd.v = wick_narrow_and_widen(_mm512_srli_epi32(pairs, 16));
#else
  even.v = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(pairs));
  odd.v = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(pairs, 16)));
#endif
}

// Two halves of 256 bits, which SIMDe knows too.
inline Lanes join(__m256 low, __m256 high) {
  return {_mm512_castsi512_ps(_mm512_inserti64x4(_mm512_castsi256_si512(_mm256_castps_si256(low)),
                                                 _mm256_castps_si256(high), 1))};
}

inline Lanes widen_halves(const std::byte* p) {
  return join(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
              _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16))));
}

inline Lanes signed_bytes(__m128i bytes) {
#ifdef WICK_SIMDE  // it lacks the conversion of sixteen
  return join(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
              _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_unpackhi_epi64(bytes, bytes))));
#else
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes))};
#endif
}

inline Lanes widen_bytes(const std::byte* p) {
  return signed_bytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

inline void widen_nibbles(const std::byte* p, Lanes& low, Lanes& high) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i mask = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);
  low = signed_bytes(_mm_sub_epi8(_mm_and_si128(bytes, mask), eight));
  high = signed_bytes(_mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(bytes, 4), mask), eight));
}

struct Words {
  __m512i v;
};

struct Counts {
  __m512i v = _mm512_setzero_si512();
};

inline Words widen_pairs(const std::byte* p) {
  return {_mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}

inline Words widen_nibble_pairs(const std::byte* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i mask = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);
  const __m128i first = _mm_sub_epi8(_mm_and_si128(bytes, mask), eight);
  const __m128i second = _mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(bytes, 4), mask), eight);
  const __m256i pairs =
      _mm256_set_m128i(_mm_unpackhi_epi8(first, second), _mm_unpacklo_epi8(first, second));
  return {_mm512_cvtepi8_epi16(pairs)};
}

inline void add_pairs(Counts& to, Words a, const std::int16_t* b) {
  std::int32_t pair;
  __builtin_memcpy(&pair, b, sizeof(pair));
  to.v = _mm512_dpwssd_epi32(to.v, a.v, _mm512_set1_epi32(pair));
}

inline Lanes to_floats(__m512i a) {
#ifdef WICK_SIMDE  // it lacks the conversion of sixteen
  return join(_mm256_cvtepi32_ps(_mm512_castsi512_si256(a)),
              _mm256_cvtepi32_ps(_mm512_extracti64x4_epi64(a, 1)));
#else
  return {_mm512_cvtepi32_ps(a)};
#endif
}

inline Lanes to_floats(Counts a) {
  return to_floats(a.v);
}

// Times 2^16, which keeps the sign without a shift that SIMDe lacks; all of it is exact.
inline void to_floats(Words a, Lanes& even, Lanes& odd) {
  even = mul(to_floats(_mm512_slli_epi32(a.v, 16)), all(0x1p-16F));
  odd = mul(to_floats(_mm512_and_si512(a.v, _mm512_set1_epi32(-65536))), all(0x1p-16F));
}

inline void store_words(std::int16_t* to, Lanes a) {
  alignas(64) float x[16];
  _mm512_store_ps(x, a.v);
  for (int i = 0; i < 16; i += 8) {
    const __m256i words = _mm256_cvtps_epi32(_mm256_load_ps(x + i));
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(to + i),
        _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  }
}

}  // namespace
}  // namespace wick
