// Q4_K and Q5_K times quantized activations by AVX-512: one super-block of four rows at a time,
// for a few tokens. A row is a quarter of a register where a super-block has 16 bytes or 4 sums, so
// the four headers are unpacked, the minima multiplied and the f32 operations done at once; the
// activations are loaded once for the four rows. Same sums and f32 order as super_blocks_avx2.h.
//
// vpdpbusd adds four products to each lane in 32 bits: at most 4 * 15 * 127 = 7620 (Q4_K) or 15748
// (Q5_K), so vpackssdw keeps them, and vpdpwssd multiplies them by scale * k.
// Hot: all of it.
#pragma once

#include "kernels/cpu/rows_k_avx512.h"

namespace wick {
namespace {  // internal on purpose, see matmul_avx2.h

constexpr std::ptrdiff_t kPrefetchAhead = 2048;  // bytes of a row's stream

// Quarter i of the quants c is 16 weights of the block order[i]: of even0, odd0, even1 and odd1
// (see NibbleQuants) the blocks 0 and 2, 1 and 3, 4 and 6, 5 and 7.
//
// Words 8 * row .. 8 * row + 7 are the blocks' of a row. Which of them multiply the sums of the
// quants 2 * half and 2 * half + 1, packed by vpackssdw.
inline __m512i spread_index(int row, int half) noexcept {
  const int first = 8 * row + 4 * half;
  return word_index({first, first, first + 2, first + 2},
                    {first + 1, first + 1, first + 3, first + 3});
}

// Bytes of each quarter: eight scales, eight minima. A quarter of `headers` is the header of a
// block:
//   d|dmin, scales 0-3 with bits 4-5 of scales 4-7 on top, minima likewise, low nibbles of scales
//   4-7 and of minima 4-7.
inline __m512i six_bit_quarters(__m512i headers) noexcept {
  const auto in_quarters = [](long long scales, long long minima) {
    return _mm512_setr_epi64(scales, minima, scales, minima, scales, minima, scales, minima);
  };
  // Dwords 1 3 2 3, and 1 2 for the scales and minima 4-7.
  const __m512i low = _mm512_srlv_epi32(
      _mm512_shuffle_epi8(headers, in_quarters(0x0f0e0d0c'07060504, 0x0f0e0d0c'0b0a0908)),
      in_quarters(0, 4LL << 32));
  const __m512i high = _mm512_srli_epi32(
      _mm512_shuffle_epi8(headers, in_quarters(0x07060504'07060504, 0x0b0a0908'0b0a0908)), 2);
  return _mm512_or_si512(_mm512_and_si512(low, _mm512_set1_epi64(0x0f0f0f0f'3f3f3f3f)),
                         _mm512_and_si512(high, _mm512_set1_epi64(0x30303030'00000000)));
}

// The 16 bytes at `offset` of each row, a quarter each.
inline __m512i quarters_of(const RowBatch<kRows4>& rows, std::ptrdiff_t offset) noexcept {
  __m512i all = _mm512_castsi128_si512(load128(rows.at[0] + offset));
  all = _mm512_inserti32x4(all, load128(rows.at[1] + offset), 1);
  all = _mm512_inserti32x4(all, load128(rows.at[2] + offset), 2);
  return _mm512_inserti32x4(all, load128(rows.at[3] + offset), 3);
}

inline __m512i in_each_quarter(const std::byte* at) noexcept {
  return _mm512_broadcast_i32x4(load128(at));
}

// Lane r of the result: the sum of quarter r.
inline __m128i sums_of_quarters(__m512i v) noexcept {
  const __m512i two = _mm512_add_epi32(v, _mm512_unpackhi_epi64(v, v));
  const __m512i one = _mm512_add_epi32(two, _mm512_srli_epi64(two, 32));
  const __m512i firsts = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  return _mm512_castsi512_si128(_mm512_permutexvar_epi32(firsts, one));
}

// Lane r of the result: the sum of all lanes of rows[r].
inline __m128i sums_of_rows(const __m512i (&rows)[kRows4]) noexcept {
  const auto two = [](__m512i a, __m512i b) {  // a b a b in each quarter
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  };
  const __m512i ab = two(rows[0], rows[1]), cd = two(rows[2], rows[3]);
  const __m256i four =
      add_halves(_mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)));
  return _mm_add_epi32(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
}

// A super-block's quants in four registers: the low nibbles of 64 bytes are those of two blocks,
// the high ones those of the two next to them: blocks 0 and 2, 1 and 3, 4 and 6, 5 and 7.
template <class Format>
struct NibbleQuants;

template <>
struct NibbleQuants<Q4_K> {
  static void load(const std::byte* block, __m512i (&quants)[4]) noexcept {
    unpack(block + offsetof(BlockQ4_K, qs), quants);
  }

  static void unpack(const std::byte* qs, __m512i (&quants)[4]) noexcept {
    const __m512i nibble = _mm512_set1_epi8(15);
    for (int half = 0; half < 2; ++half) {
      const __m512i q = load512(qs + 64 * half);
      quants[2 * half] = _mm512_and_si512(q, nibble);
      quants[2 * half + 1] = _mm512_and_si512(_mm512_srli_epi16(q, 4), nibble);
    }
  }
};

template <>
struct NibbleQuants<Q5_K> {
  static void load(const std::byte* block, __m512i (&quants)[4]) noexcept {
    NibbleQuants<Q4_K>::unpack(block + offsetof(BlockQ5_K, qs), quants);
    // Bit j is of block j: in the high half those of blocks 2, 3, 6 and 7 move down by two places.
    const __m512i high =
        _mm512_srlv_epi64(_mm512_broadcast_i64x4(load256(block + offsetof(BlockQ5_K, qh))),
                          _mm512_setr_epi64(0, 0, 0, 0, 2, 2, 2, 2));
    const __m512i fifth[4] = {_mm512_slli_epi16(high, 4), _mm512_slli_epi16(high, 3), high,
                              _mm512_srli_epi16(high, 1)};
    for (int i = 0; i < 4; ++i) {
      quants[i] = _mm512_or_si512(quants[i], _mm512_and_si512(fifth[i], _mm512_set1_epi8(16)));
    }
  }
};

// 256 values in the order of the quants.
inline void load_values(const std::byte* values, __m512i (&out)[4]) noexcept {
  for (int half = 0; half < 2; ++half) {
    const __m512i first = load512(values + 128 * half), second = load512(values + 128 * half + 64);
    out[2 * half] = _mm512_shuffle_i32x4(first, second, 0x44);
    out[2 * half + 1] = _mm512_shuffle_i32x4(first, second, 0xee);
  }
}

// The sums of four registers times their words, not yet added up.
inline __m512i scaled_lanes(const __m512i (&quants)[4], const __m512i (&values)[4], __m512i words,
                            int row) noexcept {
  const __m512i low = _mm512_packs_epi32(dot(quants[0], values[0]), dot(quants[1], values[1]));
  const __m512i high = _mm512_packs_epi32(dot(quants[2], values[2]), dot(quants[3], values[3]));
  return _mm512_dpwssd_epi32(
      _mm512_madd_epi16(low, _mm512_permutexvar_epi16(spread_index(row, 0), words)), high,
      _mm512_permutexvar_epi16(spread_index(row, 1), words));
}

template <class Format>
struct NibbleKernel {
  template <int T>
  [[gnu::flatten]] static void run(const MatmulArgs& args, const Pass& pass) noexcept {
    const Activations<T> x = activations_of<T>(args, pass.first);
    for_batches<kRows4>(args, pass, [&](const RowBatch<kRows4>& rows) {
      __m128 acc[T];
      for (int t = 0; t < T; ++t)
        acc[t] = _mm_setzero_ps();
      for (int g = 0; g < x.layout.groups; ++g)
        add_terms<T>(rows, g, x, acc);
      for (int t = 0; t < T; ++t) {
        alignas(16) float out[kRows4];
        _mm_store_ps(out, acc[t]);
        for (int i = 0; i < kRows4; ++i)
          args.y[(pass.first + t) * args.y_stride + rows.row[i]] = out[i];
      }
    });
  }

 private:
  using Block = typename Format::Block;

  // acc = fma(group_scale, t, acc) of docs/numerics.md, lane = row.
  template <int T>
  static void add_terms(const RowBatch<kRows4>& rows, int g, const Activations<T>& x,
                        __m128 (&acc)[T]) noexcept {
    const std::ptrdiff_t offset = g * std::ptrdiff_t{sizeof(Block)};
    const __m512i headers = quarters_of(rows, offset);
    const __m512i pairs = six_bit_quarters(headers), zero = _mm512_setzero_si512();
    const __m512i scales = _mm512_unpacklo_epi8(pairs, zero);
    const __m512i minima = _mm512_unpackhi_epi8(pairs, zero);
    __m512i words[T], values[T][4], lanes[T][kRows4];
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      words[t] = _mm512_mullo_epi16(scales, in_each_quarter(group.block_scales));
      load_values(group.values, values[t]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows4; ++i) {
      const std::byte* const block = rows.at[i] + offset;
      for (std::size_t line = 0; line < sizeof(Block); line += 48)  // less than a cache line
        _mm_prefetch(reinterpret_cast<const char*>(block + kPrefetchAhead + line), _MM_HINT_T0);
      __m512i quants[4];
      NibbleQuants<Format>::load(block, quants);
      for (int t = 0; t < T; ++t)
        lanes[t][i] = scaled_lanes(quants, values[t], words[t], i);
    }
    // Words 0 and 1 of each header.
    const __m512i order = _mm512_castsi128_si512(_mm_setr_epi16(0, 8, 16, 24, 1, 9, 17, 25));
    const __m256 both =
        _mm256_cvtph_ps(_mm512_castsi512_si128(_mm512_permutexvar_epi16(order, headers)));
    const __m128 d = _mm256_castps256_ps128(both), dmin = _mm256_extractf128_ps(both, 1);
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const __m128i m = sums_of_quarters(_mm512_madd_epi16(minima, in_each_quarter(group.sums)));
      const __m128 term = _mm_fnmadd_ps(dmin, _mm_cvtepi32_ps(m),
                                        _mm_mul_ps(d, _mm_cvtepi32_ps(sums_of_rows(lanes[t]))));
      acc[t] = _mm_fmadd_ps(_mm_set1_ps(x.group_scale(t, g)), term, acc[t]);
    }
  }
};

}  // namespace
}  // namespace wick
