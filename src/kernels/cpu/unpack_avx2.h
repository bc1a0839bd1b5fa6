// From rows as they lie in files to panels (panel_avx2.h): the quants, scales and minima of eight
// rows, one unpacker for each format, in 256 bits for AVX2 and AVX-512. Where they go is up to the
// kernel. Included by *_avx2.cc and *_avx512.cc only.
//
// A vector of quants holds four consecutive weights of each row, a step of the panel:
//
//   byte   0  1  2  3 |  4  5  6  7 | ... | 28 29 30 31
//   row    0  0  0  0 |  1  1  1  1 |     |  7  7  7  7        weight 4 * step .. 4 * step + 3
//
// Cost for eight rows: about 5 instructions a step; a panel meets every token, so a kernel pays it
// once for a block of tokens.
// Hot: all of it.
#pragma once

#include "kernels/cpu/rows8_avx2.h"

namespace wick {
namespace {  // internal on purpose, see matmul_avx2.h

// 16 bytes at `at` of eight rows → lane r of out[c] = bytes 4c .. 4c + 3 of row r.
inline void transpose(const RowPointers& rows, std::ptrdiff_t at, __m256i (&out)[4]) noexcept {
  __m256i in[4];
  for (int i = 0; i < 4; ++i) {
    in[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(load128(rows[i] + at)),
                                    load128(rows[i + 4] + at), 1);
  }
  const __m256i low01 = _mm256_unpacklo_epi32(in[0], in[1]);
  const __m256i low23 = _mm256_unpacklo_epi32(in[2], in[3]);
  const __m256i high01 = _mm256_unpackhi_epi32(in[0], in[1]);
  const __m256i high23 = _mm256_unpackhi_epi32(in[2], in[3]);
  out[0] = _mm256_unpacklo_epi64(low01, low23);
  out[1] = _mm256_unpackhi_epi64(low01, low23);
  out[2] = _mm256_unpacklo_epi64(high01, high23);
  out[3] = _mm256_unpackhi_epi64(high01, high23);
}

// Bit `from` of each byte moved to bit `to`, its neighbors with it; what `mask` keeps of that.
inline __m256i move_bits(__m256i bytes, int from, int to, int mask) noexcept {
  const __m256i moved =
      from >= to ? _mm256_srli_epi16(bytes, from - to) : _mm256_slli_epi16(bytes, to - from);
  return _mm256_and_si256(moved, _mm256_set1_epi8(static_cast<char>(mask)));
}

inline __m256i low_nibbles(__m256i bytes) noexcept {
  return move_bits(bytes, 0, 0, 15);
}

inline __m256i high_nibbles(__m256i bytes) noexcept {
  return move_bits(bytes, 4, 0, 15);
}

// Quants below 128 plus kAdd. 128 is a bit of its own: with the mask that made the quants it is one
// instruction of AVX-512 (vpternlogd).
template <int kAdd>
inline __m256i plus(__m256i quants) noexcept {
  const __m256i add = _mm256_set1_epi8(static_cast<char>(kAdd));
  if constexpr (kAdd == 128) return _mm256_or_si256(quants, add);
  return kAdd == 0 ? quants : _mm256_add_epi8(quants, add);
}

// Bits 4 * step to 4 * step + 3 of each dword → 16 in the byte of each that is set.
inline __m256i fifth_bits(__m256i bits, int step) noexcept {
  const __m256i dwords = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404,
                                           0x08080808, 0x0c0c0c0c);
  const __m256i at = _mm256_add_epi8(dwords, _mm256_set1_epi8(static_cast<char>(step / 2)));
  const __m256i bit = _mm256_set1_epi32(step % 2 == 0 ? 0x08040201 : static_cast<int>(0x80402010));
  const __m256i mine = _mm256_and_si256(_mm256_shuffle_epi8(bits, at), bit);
  return _mm256_and_si256(_mm256_cmpeq_epi8(mine, bit), _mm256_set1_epi8(16));
}

// The block of 32 at `at`: put(step, q + kOffset) for each of its eight steps.
template <class Format, int kOffset, class Put>
inline void unpack_block32(const RowPointers& rows, std::ptrdiff_t at, Put put) noexcept {
  using Block = typename Format::Block;
  constexpr std::ptrdiff_t kQuantsAt = offsetof(Block, qs);
  constexpr int kAdd = kOffset - (Format::kHasTable ? kOffset : Format::kOffset);
  __m256i q[4];
  if constexpr (sizeof(Block::qs) == 32) {
    for (int half = 0; half < 2; ++half) {
      transpose(rows, at + kQuantsAt + 16 * half, q);
      for (int c = 0; c < 4; ++c)
        put(4 * half + c, _mm256_xor_si256(q[c], _mm256_set1_epi8(-128)));
    }
  } else {
    transpose(rows, at + kQuantsAt, q);
    __m256i quants[8];
    for (int c = 0; c < 4; ++c) {
      quants[c] = low_nibbles(q[c]);
      quants[4 + c] = high_nibbles(q[c]);
    }
    if constexpr (requires(Block block) { block.qh; }) {
      constexpr std::ptrdiff_t kHighIn = offsetof(Block, qh);
      const __m256i fifth = dwords_at(rows, at + kHighIn);
#pragma GCC unroll 8
      for (int step = 0; step < 8; ++step)
        quants[step] = _mm256_or_si256(quants[step], fifth_bits(fifth, step));
    }
    if constexpr (Format::kHasTable) {
      const __m256i table = table_plus(Format::kTable, kOffset);
      for (__m256i& quant : quants)
        quant = _mm256_shuffle_epi8(table, quant);
    }
#pragma GCC unroll 8
    for (int step = 0; step < 8; ++step)
      put(step, plus<kAdd>(quants[step]));
  }
}

// Bytes `low` and `high` of each dword as two words.
inline __m256i words_of(__m256i bytes, int low, int high) noexcept {
  const __m256i dwords = _mm256_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12);
  const __m256i first = _mm256_add_epi32(dwords, _mm256_set1_epi32(low));
  const __m256i second = _mm256_add_epi32(dwords, _mm256_set1_epi32(high));
  const __m256i at = _mm256_or_si256(first, _mm256_slli_epi32(second, 16));
  return _mm256_shuffle_epi8(bytes, _mm256_or_si256(at, _mm256_set1_epi32(-0x00ff0100)));
}

// Byte `at` of each dword, signed, as both words.
inline __m256i signed_words_of(__m256i bytes, int at) noexcept {
  const __m256i dwords = _mm256_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12);
  const __m256i first = _mm256_add_epi32(dwords, _mm256_set1_epi32(at));
  const __m256i both = _mm256_or_si256(_mm256_slli_epi32(first, 8), _mm256_slli_epi32(first, 24));
  const __m256i high = _mm256_or_si256(both, _mm256_set1_epi32(0x00ff00ff));
  return _mm256_srai_epi16(_mm256_shuffle_epi8(bytes, high), 8);
}

// The super-block at `at` of eight rows, brought to
//
//   struct Out {
//     void quants(int step, __m256i quants);      // of 64, adds kAdd; of IQ4_XS after all scales
//     void store(int step, __m256i quants);      // quants that have it already, of Q6_K
//     void scale(int i, __m256i words);         // i of Format::kScales: of each row, twice
//     void minima(int i, __m256i words);        // 2i and 2i + 1 of each row
//     void super(RowScales scales);             // d and dmin
//   };
template <class Format>
struct Unpack;

template <>
struct Unpack<Q2_K> {
  static constexpr std::ptrdiff_t kQsAt = offsetof(BlockQ2_K, qs),
                                  kScalesAt = offsetof(BlockQ2_K, scales),
                                  kDAt = offsetof(BlockQ2_K, d_f16);

  template <class Out>
  static void run(const RowPointers& rows, std::ptrdiff_t at, Out out) noexcept {
    for (int i = 0; i < 4; ++i) {  // half i % 2 of the blocks 4 * (i / 2) and the next three
      __m256i q[4];
      transpose(rows, at + kQsAt + 16 * i, q);
#pragma GCC unroll 4
      for (int s = 0; s < 4; ++s) {
        for (int c = 0; c < 4; ++c)
          out.quants((i / 2 * 4 + s) * 8 + i % 2 * 4 + c, move_bits(q[c], 2 * s, 0, 3));
      }
    }
    __m256i pairs[4];  // scales in the low nibbles, minima in the high ones
    transpose(rows, at + kScalesAt, pairs);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256i scales = low_nibbles(pairs[i]), minima = high_nibbles(pairs[i]);
#pragma GCC unroll 4
      for (int b = 0; b < 4; ++b)
        out.scale(4 * i + b, words_of(scales, b, b));
      out.minima(2 * i, words_of(minima, 0, 1));
      out.minima(2 * i + 1, words_of(minima, 2, 3));
    }
    out.super(half_pairs_at(rows, at + kDAt));
  }
};

template <>
struct Unpack<Q3_K> {
  static constexpr std::ptrdiff_t kQsAt = offsetof(BlockQ3_K, qs),
                                  kScalesAt = offsetof(BlockQ3_K, scales),
                                  kDAt = offsetof(BlockQ3_K, d_f16);

  template <class Out>
  static void run(const RowPointers& rows, std::ptrdiff_t at, Out out) noexcept {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      __m256i high[4];  // bit j: of block j
      transpose(rows, at + 16 * half, high);
#pragma GCC unroll 2
      for (int n = 0; n < 2; ++n) {
        __m256i q[4];
        transpose(rows, at + kQsAt + 32 * n + 16 * half, q);
#pragma GCC unroll 4
        for (int s = 0; s < 4; ++s) {
          const int j = 4 * n + s;
          for (int c = 0; c < 4; ++c) {
            out.quants(8 * j + 4 * half + c,
                       _mm256_or_si256(move_bits(q[c], 2 * s, 0, 3), move_bits(high[c], j, 2, 4)));
          }
        }
      }
    }
    // Twelve bytes, with the four before them: low nibbles of scales 0..7 and of 8..15 on top, then
    // bits 4-5 of i, i + 4, i + 8 and i + 12 in byte 8 + i.
    __m256i bytes[4];
    transpose(rows, at + kScalesAt - 4, bytes);
    const __m256i low[4] = {low_nibbles(bytes[1]), low_nibbles(bytes[2]), high_nibbles(bytes[1]),
                            high_nibbles(bytes[2])};
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256i six = _mm256_or_si256(low[i], move_bits(bytes[3], 2 * i, 4, 0x30));
      const __m256i scales = _mm256_sub_epi8(six, _mm256_set1_epi8(32));
#pragma GCC unroll 4
      for (int b = 0; b < 4; ++b)
        out.scale(4 * i + b, signed_words_of(scales, b));
    }
    out.super({halves_at(rows, at + kDAt), _mm256_setzero_ps()});
  }
};

// The 16 bytes before the quants of Q4_K and Q5_K. Dwords: d|dmin; scales 0-3 with bits 4-5 of
// scales 4-7 on top; minima likewise; low nibbles of scales 4-7 and of minima 4-7.
template <class Out>
inline void unpack_header(const RowPointers& rows, std::ptrdiff_t at, Out out) noexcept {
  __m256i header[4];
  transpose(rows, at, header);
  const __m256i scales[2] = {
      move_bits(header[1], 0, 0, 0x3f),
      _mm256_or_si256(low_nibbles(header[3]), move_bits(header[1], 6, 4, 0x30))};
  const __m256i minima[2] = {
      move_bits(header[2], 0, 0, 0x3f),
      _mm256_or_si256(high_nibbles(header[3]), move_bits(header[2], 6, 4, 0x30))};
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j)
    out.scale(j, words_of(scales[j / 4], j % 4, j % 4));
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i)
    out.minima(i, words_of(minima[i / 2], 2 * i % 4, 2 * i % 4 + 1));
  out.super(half_pairs_at(rows, at));
}

template <>
struct Unpack<Q4_K> {
  static constexpr std::ptrdiff_t kQsAt = offsetof(BlockQ4_K, qs);

  template <class Out>
  static void run(const RowPointers& rows, std::ptrdiff_t at, Out out) noexcept {
    unpack_header(rows, at, out);
    for (int i = 0; i < 8; ++i) {  // half i % 2 of the blocks 2 * (i / 2) and the next
      __m256i q[4];
      transpose(rows, at + kQsAt + 16 * i, q);
      const int step = i / 2 * 16 + i % 2 * 4;
      for (int c = 0; c < 4; ++c) {
        out.quants(step + c, low_nibbles(q[c]));
        out.quants(step + 8 + c, high_nibbles(q[c]));
      }
    }
  }
};

template <>
struct Unpack<Q5_K> {
  static constexpr std::ptrdiff_t kQhAt = offsetof(BlockQ5_K, qh), kQsAt = offsetof(BlockQ5_K, qs);

  template <class Out>
  static void run(const RowPointers& rows, std::ptrdiff_t at, Out out) noexcept {
    unpack_header(rows, at, out);
    for (int half = 0; half < 2; ++half) {
      __m256i fifth[4];  // bit j: of block j
      transpose(rows, at + kQhAt + 16 * half, fifth);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        __m256i q[4];
        transpose(rows, at + kQsAt + 32 * i + 16 * half, q);
        const int step = 16 * i + 4 * half;
        for (int c = 0; c < 4; ++c) {
          out.quants(step + c,
                     _mm256_or_si256(low_nibbles(q[c]), move_bits(fifth[c], 2 * i, 4, 16)));
          out.quants(step + 8 + c,
                     _mm256_or_si256(high_nibbles(q[c]), move_bits(fifth[c], 2 * i + 1, 4, 16)));
        }
      }
    }
  }
};

// 16 * (nibble / divisor % 4) + add, a multiple of 16, for each nibble.
struct PairTable {
  alignas(16) std::int8_t at[16] = {};

  constexpr PairTable(int divisor, int add) noexcept {
    for (int i = 0; i < 16; ++i)
      at[i] = static_cast<std::int8_t>(16 * (i / divisor % 4) + add);
  }
};

template <int kDivisor, int kAdd>
constexpr PairTable kPairs(kDivisor, kAdd);

template <>
struct Unpack<Q6_K> {
  static constexpr std::ptrdiff_t kQhAt = offsetof(BlockQ6_K, qh),
                                  kScalesAt = offsetof(BlockQ6_K, scales),
                                  kDAt = offsetof(BlockQ6_K, d_f16);

  template <class Out>
  static void run(const RowPointers& rows, std::ptrdiff_t at, Out out) noexcept {
    // Two pairs of bits in a nibble number the upper parts of two quants, kAdd with them.
    const __m256i first = load_twice(kPairs<1, Out::kAdd>.at);
    const __m256i second = load_twice(kPairs<4, Out::kAdd>.at);
    for (int i = 0; i < 4; ++i) {  // quarter i % 2 of half i / 2
      const int half = i / 2, quarter = i % 2;
      const std::ptrdiff_t low_at = at + 64 * half + 16 * quarter;
      __m256i even[4], odd[4], pairs[4];
      transpose(rows, low_at, even);
      transpose(rows, low_at + 32, odd);
      transpose(rows, at + kQhAt + 32 * half + 16 * quarter, pairs);
      const auto put = [&](int block, int c, __m256i low, __m256i high) {
        out.store(32 * half + 4 * quarter + 8 * block + c, _mm256_or_si256(low, high));
      };
      for (int c = 0; c < 4; ++c) {
        const __m256i of_01 = low_nibbles(pairs[c]), of_23 = high_nibbles(pairs[c]);
        put(0, c, low_nibbles(even[c]), _mm256_shuffle_epi8(first, of_01));
        put(1, c, low_nibbles(odd[c]), _mm256_shuffle_epi8(second, of_01));
        put(2, c, high_nibbles(even[c]), _mm256_shuffle_epi8(first, of_23));
        put(3, c, high_nibbles(odd[c]), _mm256_shuffle_epi8(second, of_23));
      }
    }
    __m256i scales[4];
    transpose(rows, at + kScalesAt, scales);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      out.scale(i, signed_words_of(scales[i / 4], i % 4));
    out.super({halves_at(rows, at + kDAt), _mm256_setzero_ps()});
  }
};

template <>
struct Unpack<IQ4_XS> {
  static constexpr std::ptrdiff_t kQsAt = offsetof(BlockIQ4_XS, qs),
                                  kScalesLAt = offsetof(BlockIQ4_XS, scales_l),
                                  kScalesHAt = offsetof(BlockIQ4_XS, scales_h);

  template <class Out>
  static void run(const RowPointers& rows, std::ptrdiff_t at, Out out) noexcept {
    // Low nibbles of the scales in eight nibbles, bits 4-5 in eight pairs of bits.
    const __m256i low = dwords_at(rows, at + kScalesLAt);
    const __m256i high = dwords_at(rows, at + kScalesHAt - 2);
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      const __m256i four = _mm256_and_si256(_mm256_srli_epi32(low, 4 * j), _mm256_set1_epi32(15));
      const __m256i two =
          _mm256_and_si256(_mm256_srli_epi32(high, 16 + 2 * j), _mm256_set1_epi32(3));
      const __m256i six = _mm256_or_si256(four, _mm256_slli_epi32(two, 4));
      const __m256i scale = _mm256_sub_epi32(six, _mm256_set1_epi32(32));
      out.scale(j, _mm256_blend_epi16(scale, _mm256_slli_epi32(scale, 16), 0xaa));
    }
    const __m256i table = table_plus(kIq4Values, IQ4_XS::kOffset);
    for (int j = 0; j < 8; ++j) {
      __m256i q[4];
      transpose(rows, at + kQsAt + 16 * j, q);
      for (int c = 0; c < 4; ++c) {
        out.quants(8 * j + c, _mm256_shuffle_epi8(table, low_nibbles(q[c])));
        out.quants(8 * j + 4 + c, _mm256_shuffle_epi8(table, high_nibbles(q[c])));
      }
    }
    out.super({halves_at(rows, at), _mm256_setzero_ps()});
  }
};

}  // namespace
}  // namespace wick
