// How attention reads keys and values, two elements at a time: a type for each format of the cache.
// Included by attention_body.h after one of the lanes_*.h; everything is local to the including
// file.
// Hot: all of it.
#pragma once

#include "kernels/cpu/elementary_body.h"
#include "kernels/cpu/vector.h"

namespace wick {
namespace {

template <int kIndex>
struct Index {
  static constexpr int value = kIndex;
};

// body(Index<0>), …, body(Index<kEnd - 1>). g++ 12 keeps an array of sums in memory when its
// indices become constant only by unrolling; with these they stay in registers.
template <int kEnd, int kBegin = 0, class Body>
inline __attribute__((always_inline)) void repeat(const Body& body) {
  if constexpr (kBegin < kEnd) {
    body(Index<kBegin>{});
    repeat<kEnd, kBegin + 1>(body);
  }
}

#define WICK_INLINE_BODY __attribute__((always_inline))

// How a block of keys or values is read: rows `pair` of `width` columns, two elements each; sixteen
// columns at a time. kFirst names the element that is multiplied first, kIsApart says that each
// element has its own bytes, kPairBytes is the size of a pair of features in a block of keys.
struct PairsF32 {  // [2 * pair + element][width]
  static constexpr int kFirst = 0;
  static constexpr bool kIsApart = true;
  static constexpr int kPairBytes = 128;

  static void read(const std::byte* block, int pair, int width, int column, Lanes& even,
                   Lanes& odd) {
    const auto* p = reinterpret_cast<const float*>(block) + 2 * pair * width + column;
    even = load(p);
    odd = load(p + width);
  }

  // The columns from `column` on, fewer than sixteen.
  static void read_rest(const std::byte* block, int pair, int width, int column, Lanes& even,
                        Lanes& odd) {
    const auto* p = reinterpret_cast<const float*>(block) + 2 * pair * width + column;
    even = load_part(p, width - column);
    odd = load_part(p + width, width - column);
  }
};

template <void (*kWiden)(const std::byte*, Lanes&, Lanes&)>
struct Pairs16 {  // [pair][width][element]
  static constexpr int kFirst = 1;
  static constexpr bool kIsApart = false;
  static constexpr int kPairBytes = 64;

  static void read(const std::byte* block, int pair, int width, int column, Lanes& even,
                   Lanes& odd) {
    kWiden(block + 4 * (pair * width + column), even, odd);
  }

  static void read_rest(const std::byte* block, int pair, int width, int column, Lanes& even,
                        Lanes& odd) {
    alignas(64) std::byte part[64] = {};
    for (int i = 0; i < 4 * (width - column); ++i)
      part[i] = block[4 * (pair * width + column) + i];
    kWiden(part, even, odd);
  }
};

using PairsBF16 = Pairs16<widen_bf16>;
using PairsF16 = Pairs16<widen_f16>;

// Quantized caches: a tile is 32 features of 16 positions with 16 scales in front, one for each
// position. Values have a row for each position; keys are read as integers, a pair at a time.
struct PairsQ8 {  // values: scales [16], quants [16][32]; keys: scales [16], quants [16][16][2]
  static constexpr int kFirst = 0;
  static constexpr bool kIsApart = true;
  static constexpr int kPairBytes = 32;

  static void read(const std::byte* tile, int pair, int width, int column, Lanes& even,
                   Lanes& odd) {
    const std::byte* p = tile + kCacheScaleBytes + 2 * pair * width + column;
    even = widen_bytes(p);
    odd = widen_bytes(p + width);
  }

  static Words keys(const std::byte* tile, int pair) {
    return widen_pairs(tile + kCacheScaleBytes + pair * kPairBytes);
  }
};

struct PairsQ4 {  // scales [16], quants [pair][width]: the even element in the low nibble
  static constexpr int kFirst = 0;
  static constexpr bool kIsApart = false;
  static constexpr int kPairBytes = 16;

  static void read(const std::byte* tile, int pair, int width, int column, Lanes& even,
                   Lanes& odd) {
    widen_nibbles(tile + kCacheScaleBytes + pair * width + column, even, odd);
  }

  static Words keys(const std::byte* tile, int pair) {
    return widen_nibble_pairs(tile + kCacheScaleBytes + pair * kPairBytes);
  }
};

template <class Pairs>
constexpr int kTileBytes = 0;  // not in tiles
template <>
constexpr int kTileBytes<PairsQ8> = kCacheScaleBytes + kCacheTile* kCacheBlock;
template <>
constexpr int kTileBytes<PairsQ4> = kCacheScaleBytes + kCacheTile* kCacheBlock / 2;

// Whether each element of a pair is read when it is its turn, not both at once: where that costs
// nothing, or with so many rows that registers are scarce.
template <class Pairs, int kRows>
constexpr bool kReadsEach = Pairs::kIsApart || kRows > 4;

// The same pointer; the compiler must not know that it reads twice, or it keeps the first.
template <class Pairs, int kRows, class T>
inline T* again(T* p) {
  if constexpr (kReadsEach<Pairs, kRows>) __asm__ volatile("" : "+r"(p));
  return p;
}

// sum(r) += element * factors(r)[element] for each row and both elements of a pair.
template <class Pairs, int kRows, class Read, class Factors, class Sum>
inline __attribute__((always_inline)) void add_pair(const Read& read, const Factors& factors,
                                                    const Sum& sum) {
  Lanes pair[2];
  repeat<2>([&](auto turn) WICK_INLINE_BODY {
    constexpr int kElement = turn.value == 0 ? Pairs::kFirst : 1 - Pairs::kFirst;
    if constexpr (turn.value == 0 || kReadsEach<Pairs, kRows>) read(pair);
    repeat<kRows>([&](auto r) WICK_INLINE_BODY {
      add_product(sum(r), pair[kElement], factors(r)[kElement]);
    });
  });
}

}  // namespace
}  // namespace wick
