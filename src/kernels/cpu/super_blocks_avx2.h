// Formats with super-blocks of 256 times quantised activations, for AVX2 and, in its 256-bit form,
// AVX-512; the including file brings the formats. Included by *_avx2.cc and *_avx512.cc only.
//
// Inside a super-block everything is an exact integer, so lanes may be added in any order:
// I = sum of scale * k * S, and for Q4_K and Q5_K M = sum of min * k * B. Then
// t = fma(-dmin, float(M), d * float(I)) and acc = fma(unit, t, acc): one link of the chain for
// each super-block (docs/numerics.md).
//
// The rows are one stream of super-blocks. Four at a time leave four vectors of eight partial sums;
// three horizontal adds make them four integers, and the f32 operations run on four lanes. Only the
// last fma is carried from one super-block to the next; its four cycles hide behind the integers of
// the following four.
//
//   struct Q6_K {
//     using Block = BlockQ6_K;
//     static constexpr bool kHasMin = false;  // true: dmin lies behind d
//     static constexpr int kScaleAt = 208;    // where d lies
//     template <int T> static void sums(const std::byte* at, const Activations<T>& x, int g,
//                                       Sums (&out)[T]);
//   };
#pragma once

#include "kernels/cpu/matmul_avx2.h"
#include "quant/blocks.h"

namespace wick {
namespace {  // NOLINT(google-build-namespaces): internal on purpose, see matmul_avx2.h

constexpr int kSteps = 4;  // super-blocks at a time

// Eight lanes that add up to I, four that add up to M.
struct Sums {
  __m256i total;
  __m128i minima;
};

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

// Four super-blocks of the stream.
struct Step {
  const std::byte* blocks[kSteps];
  int groups[kSteps];
};

template <class Format, int T>
inline void terms(const Step& step, const Activations<T>& x, float (&out)[T][kSteps]) noexcept {
  Sums sums[kSteps][T];
  std::uint32_t scales[kSteps];
#pragma GCC unroll 4
  for (int s = 0; s < kSteps; ++s) {
    const std::byte* at = step.blocks[s];
    for (std::ptrdiff_t l = 0; l < std::ptrdiff_t{sizeof(typename Format::Block)}; l += 64) {
      prefetch_ahead(at + l, kAheadBytes);
    }
    Format::template sums<T>(at, x, step.groups[s], sums[s]);
    scales[s] = Format::kHasMin ? load_as<std::uint32_t>(at + Format::kScaleAt)
                                : load_as<std::uint16_t>(at + Format::kScaleAt);
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
    __m128 term = _mm_mul_ps(d, _mm_cvtepi32_ps(total));
    if constexpr (Format::kHasMin) {
      const __m128i minima = _mm_hadd_epi32(_mm_hadd_epi32(sums[0][t].minima, sums[1][t].minima),
                                            _mm_hadd_epi32(sums[2][t].minima, sums[3][t].minima));
      term = _mm_fnmadd_ps(dmin, _mm_cvtepi32_ps(minima), term);
    }
    _mm_storeu_ps(out[t], term);
  }
}

template <class Format>
struct SuperBlockKernel {
  template <int T>
  static void run(const MatmulArgs& args, const Pass& pass) noexcept {
    constexpr std::ptrdiff_t kBytes = sizeof(typename Format::Block);
    const Activations<T> x = activations_of<T>(args, pass.first);
    const int groups = x.layout.groups;
    std::int64_t left = std::int64_t{groups} * (pass.end - pass.begin);
    int next_row = pass.begin, next_group = 0;  // the next super-block to read
    int row = pass.begin, group = 0;            // the next to end up in acc
    const std::byte* at = left > 0 ? row_at(args, next_row) : nullptr;
    float acc[T] = {};
    while (left > 0) {
      const int n = left < kSteps ? static_cast<int>(left) : kSteps;
      Step step;
      for (int s = 0; s < kSteps; ++s) {  // a short last step repeats its last super-block
        step.blocks[s] = at;
        step.groups[s] = next_group;
        if (s + 1 >= n && left <= kSteps) continue;
        at += kBytes;
        if (++next_group < groups) continue;
        next_group = 0;
        at = row_at(args, ++next_row);
      }
      float term[T][kSteps];
      terms<Format, T>(step, x, term);
      for (int s = 0; s < n; ++s) {
        for (int t = 0; t < T; ++t)
          acc[t] = __builtin_fmaf(x.unit(t, group), term[t][s], acc[t]);
        if (++group < groups) continue;
        for (int t = 0; t < T; ++t) {
          args.y[(pass.first + t) * args.y_stride + row] = acc[t];
          acc[t] = 0;
        }
        group = 0;
        ++row;
      }
      left -= n;
    }
  }
};

}  // namespace
}  // namespace wick
