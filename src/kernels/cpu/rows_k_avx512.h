// Rows of super-blocks times quantized activations by AVX-512: their integers by vpdpbusd over 64
// weights. The loop over rows and the f32 operations are those of super_blocks_avx2.h.
//
// vpdpbusd adds four products to each lane in 32 bits; packs to 16 bits hold at most 4 * 63 * 127 =
// 32004 (Q6_K), 1524 (Q2_K) and 3556 (Q3_K). A lane of IQ4_XS reaches 4 * 241 * 127 = 122428, so
// that one multiplies in 32 bits. Q4_K and Q5_K: rows_q4_k_avx512.h.
// Hot: all of it.
#pragma once

#include "kernels/cpu/avx512.h"
#include "kernels/cpu/super_blocks_avx2.h"

namespace wick {
namespace {  // internal on purpose, see matmul_avx2.h

// Which word of scale * k belongs to the words that vpackssdw makes of two registers of sums:
// quarter i has four words for `first[i]`, then four for `second[i]`.
inline __m512i word_index(const int (&first)[4], const int (&second)[4]) noexcept {
  const auto twice = [](int word) { return word * 0x10001; };
  return _mm512_setr_epi32(twice(first[0]), twice(first[0]), twice(second[0]), twice(second[0]),
                           twice(first[1]), twice(first[1]), twice(second[1]), twice(second[1]),
                           twice(first[2]), twice(first[2]), twice(second[2]), twice(second[2]),
                           twice(first[3]), twice(first[3]), twice(second[3]), twice(second[3]));
}

inline __m512i dot(__m512i quants, __m512i values) noexcept {
  return _mm512_dpbusd_epi32(_mm512_setzero_si512(), quants, values);
}

// Four registers of sums times their words, added up to eight lanes.
inline __m256i scaled_sum(const __m512i (&sums)[4], __m256i words, __m512i low,
                          __m512i high) noexcept {
  const __m512i all = _mm512_castsi256_si512(words);
  const __m512i first =
      _mm512_dpwssd_epi32(_mm512_setzero_si512(), _mm512_packs_epi32(sums[0], sums[1]),
                          _mm512_permutexvar_epi16(low, all));
  return add_halves(_mm512_dpwssd_epi32(first, _mm512_packs_epi32(sums[2], sums[3]),
                                        _mm512_permutexvar_epi16(high, all)));
}

// Quants are stored as q + 32: I = sum of scale * k * (sum of quant * p) - 32 * sum of scale * k *
// B16.
template <>
struct Integers<Q6_K> {
  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m256i scales = _mm256_cvtepi8_epi16(load128(at + offsetof(BlockQ6_K, scales)));
    __m512i quants[4];
    unpack(at, quants);
    // Quarter i of quants c holds the part 4c + i of 16 weights.
    const __m512i low = word_index({0, 1, 2, 3}, {4, 5, 6, 7});
    const __m512i high = word_index({8, 9, 10, 11}, {12, 13, 14, 15});
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      __m512i s[4];
      for (int i = 0; i < 4; ++i)
        s[i] = dot(quants[i], load512(group.values + 64 * i));
      const __m256i words = _mm256_mullo_epi16(scales, load256(group.block_scale_pairs));
      const __m256i offset = _mm256_madd_epi16(scales, load256(group.half_sums));
      out[t] = {_mm256_sub_epi32(scaled_sum(s, words, low, high), _mm256_slli_epi32(offset, 5)),
                _mm_setzero_si128()};
    }
  }

 private:
  static void unpack(const std::byte* at, __m512i (&quants)[4]) noexcept {
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i top = _mm512_set1_epi8(0x30);
    const __m512i up = _mm512_setr_epi64(4, 4, 4, 4, 2, 2, 2, 2);
    const __m512i down = _mm512_setr_epi64(0, 0, 0, 0, 2, 2, 2, 2);
    for (int half = 0; half < 2; ++half) {
      const __m512i four = load512(at + 64 * half);
      const __m512i two = _mm512_broadcast_i64x4(load256(at + 128 + 32 * half));
      const auto quant = [&](__m512i low, __m512i high) {
        return _mm512_or_si512(_mm512_and_si512(low, nibble), _mm512_and_si512(high, top));
      };
      quants[2 * half] = quant(four, _mm512_sllv_epi64(two, up));
      quants[2 * half + 1] = quant(_mm512_srli_epi16(four, 4), _mm512_srlv_epi64(two, down));
    }
  }
};

// Q2_K and Q3_K: register s of quants holds the blocks s and 4 + s, so its quarters the parts 2s,
// 2s + 1, 8 + 2s and 8 + 2s + 1. scales: of the sixteen parts, 16 bits.
inline __m256i sum_of_parts(const __m512i (&quants)[4], __m256i scales,
                            const Group& group) noexcept {
  const __m512i low = word_index({0, 1, 8, 9}, {2, 3, 10, 11});
  const __m512i high = word_index({4, 5, 12, 13}, {6, 7, 14, 15});
  __m512i s[4];
  for (int i = 0; i < 4; ++i) {
    const __m512i values =
        _mm512_inserti64x4(_mm512_castsi256_si512(load256(group.values + 32 * i)),
                           load256(group.values + 128 + 32 * i), 1);
    s[i] = dot(quants[i], values);
  }
  return scaled_sum(s, _mm256_mullo_epi16(scales, load256(group.block_scale_pairs)), low, high);
}

template <>
struct Integers<Q2_K> {
  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m128i nibble = _mm_set1_epi8(15);
    const __m128i bytes = load128(at);
    const __m256i scales = _mm256_cvtepu8_epi16(_mm_and_si128(bytes, nibble));
    const __m256i minima = _mm256_cvtepu8_epi16(_mm_and_si128(_mm_srli_epi16(bytes, 4), nibble));
    const __m512i q = load512(at + offsetof(BlockQ2_K, qs)), two = _mm512_set1_epi8(3);
    const __m512i quants[4] = {_mm512_and_si512(q, two),
                               _mm512_and_si512(_mm512_srli_epi16(q, 2), two),
                               _mm512_and_si512(_mm512_srli_epi16(q, 4), two),
                               _mm512_and_si512(_mm512_srli_epi16(q, 6), two)};
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const __m256i m = _mm256_madd_epi16(minima, load256(group.half_sums));
      out[t] = {sum_of_parts(quants, scales, group),
                _mm_add_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1))};
    }
  }
};

// Quants are stored as q + 4: I = sum of scale * k * (sum of quant * p) - 4 * sum of scale * k *
// B16.
template <>
struct Integers<Q3_K> {
  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m256i scales = _mm256_cvtepi8_epi16(q3_k_scales(at));
    const __m512i q = load512(at + offsetof(BlockQ3_K, qs));
    // Bit j is of block j: in the high half 4 + s moves to the place of s; then all by two.
    const __m512i high =
        _mm512_slli_epi16(_mm512_srlv_epi64(_mm512_broadcast_i64x4(load256(at)),
                                            _mm512_setr_epi64(0, 0, 0, 0, 4, 4, 4, 4)),
                          2);
    const auto quant = [](__m512i low, __m512i third) {
      return _mm512_or_si512(_mm512_and_si512(low, _mm512_set1_epi8(3)),
                             _mm512_and_si512(third, _mm512_set1_epi8(4)));
    };
    const __m512i quants[4] = {quant(q, high),
                               quant(_mm512_srli_epi16(q, 2), _mm512_srli_epi16(high, 1)),
                               quant(_mm512_srli_epi16(q, 4), _mm512_srli_epi16(high, 2)),
                               quant(_mm512_srli_epi16(q, 6), _mm512_srli_epi16(high, 3))};
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const __m256i offset = _mm256_madd_epi16(scales, load256(group.half_sums));
      out[t] = {_mm256_sub_epi32(sum_of_parts(quants, scales, group), _mm256_slli_epi32(offset, 2)),
                _mm_setzero_si128()};
    }
  }
};

// The table's values plus 128: I = sum of scale * k * (sum of quant * p) - 128 * sum of scale * k *
// B.
template <>
struct Integers<IQ4_XS> {
  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m512i table = _mm512_broadcast_i64x4(table_plus(kIq4Values, IQ4_XS::kOffset));
    const __m512i twice = _mm512_setr_epi64(0, 1, 0, 1, 2, 3, 2, 3);
    const __m512i shifts = _mm512_setr_epi64(0, 0, 4, 4, 0, 0, 4, 4);
    const __m128i scales = iq4_xs_scales(at);
    __m512i quants[4];  // blocks 2i and 2i + 1
    for (int i = 0; i < 4; ++i) {
      const __m512i two = _mm512_castsi256_si512(load256(at + offsetof(BlockIQ4_XS, qs) + 32 * i));
      const __m512i stored = _mm512_srlv_epi64(_mm512_permutexvar_epi64(twice, two), shifts);
      quants[i] = _mm512_shuffle_epi8(table, _mm512_and_si512(stored, _mm512_set1_epi8(15)));
    }
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const __m512i combined_scales = _mm512_castsi256_si512(
          _mm256_cvtepi16_epi32(_mm_mullo_epi16(scales, load128(group.block_scales))));
      __m512i total = _mm512_setzero_si512();
      for (int i = 0; i < 4; ++i) {
        const __m512i blocks = _mm512_setr_epi32(2 * i, 2 * i, 2 * i, 2 * i, 2 * i, 2 * i, 2 * i,
                                                 2 * i, 2 * i + 1, 2 * i + 1, 2 * i + 1, 2 * i + 1,
                                                 2 * i + 1, 2 * i + 1, 2 * i + 1, 2 * i + 1);
        const __m512i s = dot(quants[i], load512(group.values + 64 * i));
        total = _mm512_add_epi32(
            total, _mm512_mullo_epi32(s, _mm512_permutexvar_epi32(blocks, combined_scales)));
      }
      const __m128i offset = _mm_slli_epi32(_mm_madd_epi16(scales, load128(group.sums)), 7);
      out[t] = {_mm256_sub_epi32(add_halves(total), _mm256_zextsi128_si256(offset)),
                _mm_setzero_si128()};
    }
  }
};

}  // namespace
}  // namespace wick
