// Formats with blocks of 32 times quantized activations: eight rows at a time, one in each lane.
// For AVX2 and, in its 256-bit form, AVX-512; the including file brings the formats. Included by
// *_avx2.cc and *_avx512.cc only.
//
// The order of docs/numerics.md is a chain: g = fma(d_j, float(k_j * S_j), g), then for formats
// with a minimum g = fma(m_j, float(k_j * B_j), g), over the blocks j of a group; then acc =
// fma(group_scale, g, acc) over the groups. A chain has one live value, so eight accumulators run
// side by side. A tree of adds brings the eight rows' integers S_j to the eight lanes; integers are
// exact, so the tree does not matter to the result.
//
//   struct FourBits {                       // the quants of one block of eight rows
//     static constexpr int kCentre = 0;      // what sums() takes off the quants of block_formats.h
//     template <class Format> static FourBits load(rows, at);
//     __m256i sums(x);
//   };
//
// sums returns k * sum((q + kOffset - kCentre) * p) of the block at `at` of row r in lane r; the
// remaining offset is subtracted as a float. Hot: all of it.
#pragma once

#include "kernels/cpu/block_formats.h"
#include "kernels/cpu/matmul_avx2.h"

namespace wick {
namespace {  // internal on purpose, see matmul_avx2.h

constexpr int kRows8 = 8;

using RowPointers = const std::byte* [kRows8];

// Four bytes at `at` of eight rows.
inline __m256i dwords_at(const RowPointers& rows, std::ptrdiff_t at) noexcept {
  const auto dword = [&](int i) { return load_as<int>(rows[i] + at); };
  return _mm256_setr_epi32(dword(0), dword(1), dword(2), dword(3), dword(4), dword(5), dword(6),
                           dword(7));
}

// 16 in the bytes whose bit is set: byte i of a half has bit i % 8 of the byte of `bits` that
// `spread` names.
inline __m256i fifth_bits_of(__m256i bits, __m256i spread) noexcept {
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull));
  const __m256i mine = _mm256_and_si256(_mm256_shuffle_epi8(bits, spread), bit);
  return _mm256_and_si256(_mm256_cmpeq_epi8(mine, bit), _mm256_set1_epi8(16));
}

// The quants of formats in nibbles, with a fifth bit (qh) or a table or neither: rows i and i + 4
// unpack in one register. q + kOffset, which a format without a table cannot choose.
struct FourBitQuants {
  __m256i low[4], high[4];

  template <class Format, int kOffset = Format::kOffset>
  static FourBitQuants load(const RowPointers& rows, std::ptrdiff_t at) noexcept {
    using Block = typename Format::Block;
    constexpr std::ptrdiff_t kQuantsAt = offsetof(Block, qs);
    const __m256i mask = _mm256_set1_epi8(15);
    FourBitQuants out;
    for (int i = 0; i < 4; ++i) {
      const __m256i both =
          _mm256_inserti128_si256(_mm256_castsi128_si256(load128(rows[i] + at + kQuantsAt)),
                                  load128(rows[i + 4] + at + kQuantsAt), 1);
      out.low[i] = _mm256_and_si256(both, mask);
      out.high[i] = _mm256_and_si256(_mm256_srli_epi16(both, 4), mask);
    }
    if constexpr (requires(Block block) { block.qh; }) {
      constexpr std::ptrdiff_t kHighAt = offsetof(Block, qh);
      out.add_fifth_bits(dwords_at(rows, at + kHighAt));
    }
    if constexpr (Format::kHasTable) return out.through(table_plus(Format::kTable, kOffset));
    static_assert(Format::kHasTable || kOffset == Format::kOffset);
    return out;
  }

 private:
  // Dword i of a half: of row i or i + 4; the first 16 bits belong to the low nibbles.
  void add_fifth_bits(__m256i bits) noexcept {
    const __m256i first =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256i spread = _mm256_add_epi8(first, _mm256_set1_epi8(static_cast<char>(4 * i)));
      const __m256i next = _mm256_add_epi8(spread, _mm256_set1_epi8(2));
      low[i] = _mm256_or_si256(low[i], fifth_bits_of(bits, spread));
      high[i] = _mm256_or_si256(high[i], fifth_bits_of(bits, next));
    }
  }

  // What the table has for each quant.
  FourBitQuants through(__m256i table) const noexcept {
    FourBitQuants out;
    for (int i = 0; i < 4; ++i) {
      out.low[i] = _mm256_shuffle_epi8(table, low[i]);
      out.high[i] = _mm256_shuffle_epi8(table, high[i]);
    }
    return out;
  }
};

// The activations of one block.
struct BlockValues {
  const std::byte* values;              // p [32]
  const std::byte* block_scale_pairs;   // k twice, 16 bits each
  const std::byte* word_compensations;  // -16 * the word sums

  __m256i block_scales() const noexcept {
    return _mm256_set1_epi32(load_as<int>(block_scale_pairs));
  }

  __m256i compensation() const noexcept {
    return _mm256_set1_epi32(load_as<int>(word_compensations));
  }
};

struct RowScales {
  __m256 d, m;  // lane = row
};

// Four dwords → the low halves of each, then the high ones.
inline __m128i split_halves(const RowPointers& rows, int first, std::ptrdiff_t at) noexcept {
  const auto dword = [&](int i) { return load_as<int>(rows[first + i] + at); };
  return _mm_shuffle_epi8(_mm_setr_epi32(dword(0), dword(1), dword(2), dword(3)),
                          _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
}

// Eight exponents e → 2^(e - 128), the two smallest of which are subnormal.
inline __m256 powers_of_two(__m256i e) noexcept {
  const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
  const __m256i subnormal = _mm256_sllv_epi32(_mm256_set1_epi32(1 << 21), e);
  const __m256i is_normal = _mm256_cmpgt_epi32(e, _mm256_set1_epi32(1));
  return _mm256_castsi256_ps(_mm256_blendv_epi8(subnormal, normal, is_normal));
}

// Eight halves, one of each row.
inline __m256 halves_at(const RowPointers& rows, std::ptrdiff_t at) noexcept {
  const auto half = [&](int i) { return load_as<short>(rows[i] + at); };
  return _mm256_cvtph_ps(
      _mm_setr_epi16(half(0), half(1), half(2), half(3), half(4), half(5), half(6), half(7)));
}

// A pair of halves of each row.
inline RowScales half_pairs_at(const RowPointers& rows, std::ptrdiff_t at) noexcept {
  const __m128i low = split_halves(rows, 0, at), high = split_halves(rows, 4, at);
  return {.d = _mm256_cvtph_ps(_mm_unpacklo_epi64(low, high)),
          .m = _mm256_cvtph_ps(_mm_unpackhi_epi64(low, high))};
}

// The scales of a block of 32, and its minima where there are any.
template <class Format>
inline RowScales scales_at(const RowPointers& rows, std::ptrdiff_t at) noexcept {
  using Block = typename Format::Block;
  if constexpr (requires(Block block) { block.e; }) {
    const auto e = [&](int i) { return load_as<char>(rows[i] + at + offsetof(Block, e)); };
    const __m128i bytes =
        _mm_setr_epi8(e(0), e(1), e(2), e(3), e(4), e(5), e(6), e(7), 0, 0, 0, 0, 0, 0, 0, 0);
    return {.d = powers_of_two(_mm256_cvtepu8_epi32(bytes)), .m = _mm256_setzero_ps()};
  } else if constexpr (Format::kHasMin) {
    return half_pairs_at(rows, at);
  } else {
    return {.d = halves_at(rows, at), .m = _mm256_setzero_ps()};
  }
}

// acc[t] lane r = the product of row r and token t. A token's data of block j is j steps after that
// of block 0, in all groups.
template <class Format, class Quants, int T>
inline void multiply_rows(const RowPointers& rows, const Activations<T>& x,
                          __m256 (&acc)[T]) noexcept {
  constexpr int kLeft = Format::kOffset - Quants::kCentre;
  constexpr std::ptrdiff_t kBytes = sizeof(typename Format::Block);
  BlockValues tokens[T];
  const float* float_sums[T];
  for (int t = 0; t < T; ++t) {
    const Group first = x.group(t, 0);
    tokens[t] = {.values = first.values,
                 .block_scale_pairs = first.block_scale_pairs,
                 .word_compensations = first.word_compensations};
    float_sums[t] = x.float_sums(t, 0);
  }
  std::ptrdiff_t j = 0;
  for (int g = 0; g < x.layout.groups; ++g) {
    const std::ptrdiff_t end = j + 8 < x.layout.blocks ? j + 8 : x.layout.blocks;
    __m256 sum[T];
    for (int t = 0; t < T; ++t)
      sum[t] = _mm256_setzero_ps();
    for (; j < end; ++j) {
      const Quants quants = Quants::template load<Format>(rows, j * kBytes);
      const RowScales scales = scales_at<Format>(rows, j * kBytes);
      for (int t = 0; t < T; ++t) {
        const __m256 b = _mm256_broadcast_ss(float_sums[t] + j);
        __m256 s = _mm256_cvtepi32_ps(
            quants.sums({.values = tokens[t].values + 32 * j,
                         .block_scale_pairs = tokens[t].block_scale_pairs + 4 * j,
                         .word_compensations = tokens[t].word_compensations + 4 * j}));
        if constexpr (kLeft != 0) {  // whole numbers below 2^24: exact
          s = _mm256_fnmadd_ps(_mm256_set1_ps(kLeft), b, s);
        }
        sum[t] = _mm256_fmadd_ps(scales.d, s, sum[t]);
        if constexpr (Format::kHasMin) sum[t] = _mm256_fmadd_ps(scales.m, b, sum[t]);
      }
    }
    for (int t = 0; t < T; ++t)
      acc[t] = _mm256_fmadd_ps(_mm256_set1_ps(x.group_scale(t, g)), sum[t], acc[t]);
  }
}

template <class Format, class Quants>
struct Rows8Kernel {
  template <int T>
  [[gnu::flatten]] static void run(const MatmulArgs& args, const Pass& pass) noexcept {
    const Activations<T> x = activations_of<T>(args, pass.first);
    for_batches<kRows8>(args, pass, [&](const RowBatch<kRows8>& rows) {
      __m256 acc[T];
      for (int t = 0; t < T; ++t)
        acc[t] = _mm256_setzero_ps();
      multiply_rows<Format, Quants, T>(rows.at, x, acc);
      for (int t = 0; t < T; ++t) {
        alignas(32) float out[kRows8];
        _mm256_store_ps(out, acc[t]);
        for (int i = 0; i < kRows8; ++i)
          args.y[(pass.first + t) * args.y_stride + rows.row[i]] = out[i];
      }
    });
  }
};

}  // namespace
}  // namespace wick
