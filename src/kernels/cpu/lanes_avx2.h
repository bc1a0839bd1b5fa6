// Sixteen floats at once in two AVX2 registers; the operations of lanes_scalar.h, same results bit
// for bit. Included once, by vector_avx2.cc; everything is local to that file.
// Hot: all of it.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace wick {
namespace {

struct Lanes {
  __m256 lo, hi;
};

// Query rows and vectors of 16 that the attention loops keep in registers at once. Six rows leave
// four of the sixteen registers: two for keys or values, one for a factor. With three rows of two
// vectors, as many sums, g++ 12 does not manage.
constexpr int kTileRows = 6;
constexpr int kLatentRows = 3;  // of a tile whose values lie in the keys: two sums each

constexpr int score_blocks(int rows) {
  return rows <= 2 ? 2 : 1;
}

constexpr int value_vectors(int rows) {
  return rows <= 2 ? 2 : 1;
}

inline Lanes all(float a) {
  return {_mm256_set1_ps(a), _mm256_set1_ps(a)};
}

inline Lanes load(const float* p) {
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}

inline void store(float* p, Lanes a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}

inline Lanes add(Lanes a, Lanes b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}

inline Lanes sub(Lanes a, Lanes b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}

inline float sum_of_lanes(Lanes a) {
  const __m256 eight = _mm256_add_ps(a.lo, a.hi);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline Lanes mul(Lanes a, Lanes b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}

inline Lanes div(Lanes a, Lanes b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}

inline Lanes fma(Lanes a, Lanes b, Lanes c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}

// to += a * b. The sum stays in its registers: where g++ 12 chooses, it moves sums and spills.
inline void add_product(Lanes& to, Lanes a, float b) {
  const __m256 factor = _mm256_set1_ps(b);
  __asm__("vfmadd231ps %1, %2, %0" : "+x"(to.lo) : "x"(a.lo), "x"(factor));
  __asm__("vfmadd231ps %1, %2, %0" : "+x"(to.hi) : "x"(a.hi), "x"(factor));
}

inline Lanes max(Lanes a, Lanes b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}

inline Lanes min(Lanes a, Lanes b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}

inline Lanes absolute(Lanes a) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  return {_mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi)};
}

inline Lanes round(Lanes a) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return {_mm256_round_ps(a.lo, kNearest), _mm256_round_ps(a.hi, kNearest)};
}

inline __m256 scale_half_by_power(__m256 y, __m256 n) {
  const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  const __m256 scaled = _mm256_mul_ps(y, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
  return _mm256_blendv_ps(scaled, n, _mm256_cmp_ps(n, n, _CMP_UNORD_Q));
}

inline Lanes scale_by_power(Lanes y, Lanes n) {
  return {scale_half_by_power(y.lo, n.lo), scale_half_by_power(y.hi, n.hi)};
}

inline Lanes keep_nan(Lanes x, Lanes a) {
  return {_mm256_blendv_ps(a.lo, x.lo, _mm256_cmp_ps(x.lo, x.lo, _CMP_UNORD_Q)),
          _mm256_blendv_ps(a.hi, x.hi, _mm256_cmp_ps(x.hi, x.hi, _CMP_UNORD_Q))};
}

inline Lanes pick_negative(Lanes x, Lanes a, Lanes b) {
  const __m256 zero = _mm256_setzero_ps();
  return {_mm256_blendv_ps(b.lo, a.lo, _mm256_cmp_ps(x.lo, zero, _CMP_LT_OQ)),
          _mm256_blendv_ps(b.hi, a.hi, _mm256_cmp_ps(x.hi, zero, _CMP_LT_OQ))};
}

inline __m256 round_half_to_bf16(__m256 a) {
  const __m256i bits = _mm256_castps_si256(a);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  return _mm256_castsi256_ps(_mm256_and_si256(sum, _mm256_set1_epi32(-65536)));
}

inline Lanes round_to_bf16(Lanes a) {
  return {round_half_to_bf16(a.lo), round_half_to_bf16(a.hi)};
}

// The high halves, by a mask that stays in memory: the loops that widen have no register to spare.
inline __m256 high_halves(__m256i a) {
  constexpr std::uint32_t kHigh = 0xffff0000;
  alignas(32) static constexpr std::uint32_t kMask[8] = {kHigh, kHigh, kHigh, kHigh,
                                                         kHigh, kHigh, kHigh, kHigh};
  __asm__("vpand %1, %0, %0" : "+x"(a) : "m"(kMask));
  return _mm256_castsi256_ps(a);
}

inline void widen_bf16(const std::byte* p, Lanes& even, Lanes& odd) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
  even = {_mm256_castsi256_ps(_mm256_slli_epi32(a, 16)),
          _mm256_castsi256_ps(_mm256_slli_epi32(b, 16))};
  odd = {high_halves(a), high_halves(b)};
}

// Low halves of eight 32-bit lanes, in order, as floats.
inline __m256 halves_to_floats(__m256i pairs) {
  const __m128i packed =
      _mm_packus_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  return _mm256_cvtph_ps(packed);
}

inline void widen_f16(const std::byte* p, Lanes& even, Lanes& odd) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
  const __m256i low = _mm256_set1_epi32(0xffff);
  even = {halves_to_floats(_mm256_and_si256(a, low)), halves_to_floats(_mm256_and_si256(b, low))};
  odd = {halves_to_floats(_mm256_srli_epi32(a, 16)), halves_to_floats(_mm256_srli_epi32(b, 16))};
}

inline Lanes widen_halves(const std::byte* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16)))};
}

inline Lanes signed_bytes(__m128i bytes) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
          _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_unpackhi_epi64(bytes, bytes)))};
}

inline Lanes widen_bytes(const std::byte* p) {
  const auto eight = [](const std::byte* at) {
    return _mm256_cvtepi32_ps(
        _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at))));
  };
  return {eight(p), eight(p + 8)};
}

inline void widen_nibbles(const std::byte* p, Lanes& low, Lanes& high) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i mask = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);
  low = signed_bytes(_mm_sub_epi8(_mm_and_si128(bytes, mask), eight));
  high = signed_bytes(_mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(bytes, 4), mask), eight));
}

struct Words {
  __m256i lo, hi;
};

struct Counts {
  __m256i lo = _mm256_setzero_si256(), hi = _mm256_setzero_si256();
};

inline Words widen_pairs(const std::byte* p) {
  return {_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16)))};
}

inline Words widen_nibble_pairs(const std::byte* p) {
  const auto eight = [](const std::byte* at) {
    const __m256i bytes =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)));
    const __m256i both = _mm256_or_si256(bytes, _mm256_slli_epi32(bytes, 12));
    return _mm256_sub_epi16(_mm256_and_si256(both, _mm256_set1_epi16(15)), _mm256_set1_epi16(8));
  };
  return {eight(p), eight(p + 8)};
}

inline void add_pairs(Counts& to, Words a, const std::int16_t* b) {
  std::int32_t pair;
  __builtin_memcpy(&pair, b, sizeof(pair));
  const __m256i factors = _mm256_set1_epi32(pair);
  __m256i product;
  __asm__("vpmaddwd %2, %3, %1\n\tvpaddd %1, %0, %0"
          : "+x"(to.lo), "=&x"(product)
          : "x"(a.lo), "x"(factors));
  __asm__("vpmaddwd %2, %3, %1\n\tvpaddd %1, %0, %0"
          : "+x"(to.hi), "=&x"(product)
          : "x"(a.hi), "x"(factors));
}

inline Lanes to_floats(Counts a) {
  return {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)};
}

inline void to_floats(Words a, Lanes& even, Lanes& odd) {
  const auto low = [](__m256i pairs) {
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(pairs, 16), 16));
  };
  const auto high = [](__m256i pairs) { return _mm256_cvtepi32_ps(_mm256_srai_epi32(pairs, 16)); };
  even = {low(a.lo), low(a.hi)};
  odd = {high(a.lo), high(a.hi)};
}

inline void store_words(std::int16_t* to, Lanes a) {
  const __m256i words = _mm256_packs_epi32(_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permute4x64_epi64(words, 0xd8));
}

}  // namespace
}  // namespace wick
