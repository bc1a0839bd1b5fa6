// Formats with super-blocks of 256 times quantized activations, for AVX2 and, in its 256-bit form,
// AVX-512; the including file brings the formats. Included by *_avx2.cc and *_avx512.cc only.
//
// Inside a super-block everything is an exact integer, so lanes may be added in any order: I = sum
// of scale * k * S, and for formats with minima M = sum of min * k * B. Then t = fma(-dmin,
// float(M), d * float(I)) and acc = fma(group_scale, t, acc): one fma for each
// super-block (docs/numerics.md).
//
// Four rows at a time leave four vectors of eight partial sums; three horizontal adds make them
// four integers, and the f32 operations run on four lanes, one for each row.
//
//   template <>
//   struct Integers<Q6_K> {
//     template <int T> static void sums(const std::byte* at, const Activations<T>& x, int g,
//                                       Sums (&out)[T]);
//   };
// Hot: all of it.
#pragma once

#include "kernels/cpu/block_formats.h"
#include "kernels/cpu/matmul_avx2.h"

namespace wick {
namespace {  // internal on purpose, see matmul_avx2.h

constexpr int kRows4 = 4;

// Eight lanes that add up to I, four that add up to M.
struct Sums {
  __m256i total;
  __m128i minima;
};

template <class Format>
struct Integers;

// The scales and minima of Q4_K and Q5_K: bytes of each half: eight scales, eight minima.
//
//   dwords of the header: d|dmin, scales 0-3 with bits 4-5 of scales 4-7 on top, minima likewise,
//   low nibbles of scales 4-7 and of minima 4-7
inline __m256i six_bit_pairs(const std::byte* block) noexcept {
  const __m256i header = load_twice(block);
  const __m256i low = _mm256_shuffle_epi32(header, 0xed);   // dwords 1 3 2 3
  const __m256i high = _mm256_shuffle_epi32(header, 0xa5);  // dwords 1 1 2 2
  const __m256i shifts = _mm256_setr_epi32(0, 0, 0, 4, 0, 0, 0, 4);
  const __m256i low_mask = _mm256_setr_epi32(0x3f3f3f3f, 0x0f0f0f0f, 0x3f3f3f3f, 0x0f0f0f0f,
                                             0x3f3f3f3f, 0x0f0f0f0f, 0x3f3f3f3f, 0x0f0f0f0f);
  const __m256i high_mask =
      _mm256_setr_epi32(0, 0x30303030, 0, 0x30303030, 0, 0x30303030, 0, 0x30303030);
  return _mm256_or_si256(_mm256_and_si256(_mm256_srlv_epi32(low, shifts), low_mask),
                         _mm256_and_si256(_mm256_srli_epi32(high, 2), high_mask));
}

inline __m128i minima_words(__m256i pairs) noexcept {
  return _mm_shuffle_epi8(
      _mm256_castsi256_si128(pairs),
      _mm_setr_epi8(8, -1, 9, -1, 10, -1, 11, -1, 12, -1, 13, -1, 14, -1, 15, -1));
}

// The sixteen scales of Q3_K less 32. The 12 bytes hold low nibbles of 0..7 and of 8..15 on top,
// then bits 4-5 of scales i, i + 4, i + 8 and i + 12 in byte 8 + i. Read with the two bytes before
// them: the block ends two bytes behind.
inline __m128i q3_k_scales(const std::byte* at) noexcept {
  const __m128i bytes = load128(at + offsetof(BlockQ3_K, scales) - 2);
  const __m128i low = _mm_srlv_epi64(
      _mm_shuffle_epi8(bytes, _mm_setr_epi8(2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5, 6, 7, 8, 9)),
      _mm_set_epi64x(4, 0));
  const __m128i high = _mm_srlv_epi32(
      _mm_shuffle_epi8(
          bytes, _mm_setr_epi8(10, 11, 12, 13, 10, 11, 12, 13, 10, 11, 12, 13, 10, 11, 12, 13)),
      _mm_setr_epi32(0, 2, 4, 6));
  const __m128i six = _mm_or_si128(_mm_and_si128(low, _mm_set1_epi8(15)),
                                   _mm_slli_epi16(_mm_and_si128(high, _mm_set1_epi8(3)), 4));
  return _mm_sub_epi8(six, _mm_set1_epi8(32));
}

// The eight scales of IQ4_XS less 32: low nibbles in scales_l, bits 4-5 in pairs of bits of
// scales_h.
inline __m128i iq4_xs_scales(const std::byte* at) noexcept {
  const __m256i high = _mm256_srlv_epi32(
      _mm256_set1_epi32(load_as<std::uint16_t>(at + offsetof(BlockIQ4_XS, scales_h))),
      _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
  const __m256i low =
      _mm256_srlv_epi32(_mm256_set1_epi32(load_as<int>(at + offsetof(BlockIQ4_XS, scales_l))),
                        _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
  const __m256i six =
      _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi32(15)),
                      _mm256_slli_epi32(_mm256_and_si256(high, _mm256_set1_epi32(3)), 4));
  const __m256i scales = _mm256_sub_epi32(six, _mm256_set1_epi32(32));
  return _mm_packs_epi32(_mm256_castsi256_si128(scales), _mm256_extracti128_si256(scales, 1));
}

// Word j of each half in all words of that half.
inline __m256i spread_word(__m256i words, int j) noexcept {
  return _mm256_shuffle_epi8(words, _mm256_set1_epi16(static_cast<short>(0x0100 + 0x0202 * j)));
}

// t of docs/numerics.md: lane = row, for each token.
template <class Format, int T>
inline void terms(const RowBatch<kRows4>& rows, int g, const Activations<T>& x,
                  __m128 (&out)[T]) noexcept {
  constexpr std::ptrdiff_t kScaleAt = offsetof(typename Format::Block, d_f16);
  Sums sums[kRows4][T];
  std::uint32_t scales[kRows4];
#pragma GCC unroll 4
  for (int i = 0; i < kRows4; ++i) {
    const std::byte* at = rows.at[i] + g * std::ptrdiff_t{sizeof(typename Format::Block)};
    Integers<Format>::template sums<T>(at, x, g, sums[i]);
    scales[i] = Format::kHasMin ? load_as<std::uint32_t>(at + kScaleAt)
                                : load_as<std::uint16_t>(at + kScaleAt);
  }
  const __m128i split =
      _mm_shuffle_epi8(_mm_setr_epi32(static_cast<int>(scales[0]), static_cast<int>(scales[1]),
                                      static_cast<int>(scales[2]), static_cast<int>(scales[3])),
                       _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  const __m256 wide = _mm256_cvtph_ps(split);
  const __m128 d = _mm256_castps256_ps128(wide);
  const __m128 dmin = _mm256_extractf128_ps(wide, 1);
  for (int t = 0; t < T; ++t) {
    const __m256i four = _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0][t].total, sums[1][t].total),
                                           _mm256_hadd_epi32(sums[2][t].total, sums[3][t].total));
    const __m128i total =
        _mm_add_epi32(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    out[t] = _mm_mul_ps(d, _mm_cvtepi32_ps(total));
    if constexpr (Format::kHasMin) {
      const __m128i minima = _mm_hadd_epi32(_mm_hadd_epi32(sums[0][t].minima, sums[1][t].minima),
                                            _mm_hadd_epi32(sums[2][t].minima, sums[3][t].minima));
      out[t] = _mm_fnmadd_ps(dmin, _mm_cvtepi32_ps(minima), out[t]);
    }
  }
}

template <class Format>
struct SuperBlockKernel {
  template <int T>
  [[gnu::flatten]] static void run(const MatmulArgs& args, const Pass& pass) noexcept {
    const Activations<T> x = activations_of<T>(args, pass.first);
    for_batches<kRows4>(args, pass, [&](const RowBatch<kRows4>& rows) {
      __m128 acc[T];
      for (int t = 0; t < T; ++t)
        acc[t] = _mm_setzero_ps();
      for (int g = 0; g < x.layout.groups; ++g) {
        __m128 term[T];
        terms<Format, T>(rows, g, x, term);
        for (int t = 0; t < T; ++t)
          acc[t] = _mm_fmadd_ps(_mm_set1_ps(x.group_scale(t, g)), term[t], acc[t]);
      }
      for (int t = 0; t < T; ++t) {
        alignas(16) float out[kRows4];
        _mm_store_ps(out, acc[t]);
        for (int i = 0; i < kRows4; ++i)
          args.y[(pass.first + t) * args.y_stride + rows.row[i]] = out[i];
      }
    });
  }
};

}  // namespace
}  // namespace wick
