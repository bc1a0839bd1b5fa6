// Attention's second half: weights times values. Included by attention_body.h after one of the
// lanes_*.h; everything is local to the including file.
//
// Blocks that every row of a pass sees completely are multiplied for all rows at once, without a
// branch (weigh_rows). The blocks at both ends of a range (the first blocks of a window, the block
// of the query) are added row by row (weigh_edge). A value that a row does not see is skipped, not
// multiplied by 0, because 0 times NaN or infinity is NaN. The chain of a row ascends: first edge,
// whole blocks, last edge. Hot: all of it.
#pragma once

#include "kernels/cpu/attention_pass.h"

namespace wick {
namespace {

template <int kRows, int kVectors>
inline void load_sums(const Pass& pass, int row, int column, Lanes (&sum)[kRows][kVectors]) {
  repeat<kRows>([&](auto r) WICK_INLINE_BODY {
    repeat<kVectors>([&](auto v) WICK_INLINE_BODY {
      sum[r.value][v.value] =
          load(pass.state + (row + r.value) * pass.state_floats + column + 16 * v.value);
    });
  });
}

// Values [column, column + 16 * kVectors) of kRows rows: a chain over the pass's whole blocks, from
// 0 or from the sums of the first edge. weights: [rows][256] for the first 32 columns, then for the
// next; without tiles, for all.
template <class Pairs, int kRows, int kVectors, bool kGoesOn>
void weigh_tile(const AttentionArgs& a, const Pass& pass, int row, int column,
                const float* weights) {
  constexpr bool kIsTiled = kTileBytes<Pairs> != 0;
  Lanes sum[kRows][kVectors];
  if constexpr (kGoesOn) {
    load_sums(pass, row, column, sum);
  } else {
    clear(sum);
  }
  for (int b = pass.first_whole; b < pass.end_whole; ++b) {
    const std::byte* block = a.v + static_cast<std::size_t>(a.table[b]) * a.v_stride;
    const float* const of_block = weights + (b - pass.range_block) * kCacheBlock;
    for (int pair = 0; pair < kCacheBlock / 2; ++pair) {
      repeat<kVectors>([&](auto v) WICK_INLINE_BODY {
        const int at = column + 16 * v.value;
        add_pair<Pairs, kRows>(
            [&](Lanes(&value)[2]) WICK_INLINE_BODY {
              if constexpr (kIsTiled) {
                const std::byte* tile = block + at / kCacheTile * kTileBytes<Pairs>;
                Pairs::read(again<Pairs, kRows>(tile), pair, kCacheTile, at % kCacheTile, value[0],
                            value[1]);
              } else {
                Pairs::read(again<Pairs, kRows>(block), pair, a.v_dim, at, value[0], value[1]);
              }
            },
            [&](auto r) WICK_INLINE_BODY {
              constexpr int kTile = kIsTiled ? 16 * v.value / kCacheTile : 0;
              return of_block + (kTile * kRows + r.value) * kAttentionRange + 2 * pair;
            },
            [&](auto r) WICK_INLINE_BODY -> Lanes& { return sum[r.value][v.value]; });
      });
    }
  }
  repeat<kRows>([&](auto r) WICK_INLINE_BODY {
    repeat<kVectors>([&](auto v) WICK_INLINE_BODY {
      float* to = pass.state + (row + r.value) * pass.state_floats + column + 16 * v.value;
      store(to, add(sum[r.value][v.value], all(0.0F)));  // -0 becomes +0
    });
  });
}

// The same for kTiles tiles of columns: the weights times the scales of each tile's positions.
template <class Pairs, int kRows, int kTiles, bool kGoesOn>
void weigh_tiles(const AttentionArgs& a, const Pass& pass, int row, int column) {
  alignas(64) float weights[kTiles][kRows][kAttentionRange];
  for (int b = pass.first_whole; b < pass.end_whole; ++b) {
    const std::byte* block = a.v + static_cast<std::size_t>(a.table[b]) * a.v_stride;
    const int at = (b - pass.range_block) * kCacheBlock;
    for (int t = 0; t < kTiles; ++t) {
      const Lanes scales = widen_halves(block + (column / kCacheTile + t) * kTileBytes<Pairs>);
      for (int r = 0; r < kRows; ++r)
        store(weights[t][r] + at, mul(load(pass.x + (row + r) * kAttentionRange + at), scales));
    }
  }
  constexpr int kVectors = value_vectors(kRows) == 1 ? 1 : 2 * kTiles;
  for (int v = 0; v < 2 * kTiles; v += kVectors)
    weigh_tile<Pairs, kRows, kVectors, kGoesOn>(a, pass, row, column + 16 * v, weights[0][0]);
}

// All values of kRows rows. Where v_dim is no multiple of 16 the last vector overlaps the one
// before it and computes the same bits again; not with kGoesOn, which would count them twice.
template <class Pairs, int kRows, bool kGoesOn>
void weigh_rows(const AttentionArgs& a, const Pass& pass, int row) {
  constexpr int kVectors = value_vectors(kRows);
  int column = 0;
  if constexpr (kTileBytes<Pairs> != 0) {
    constexpr int kTiles = kVectors > 2 ? kVectors / 2 : 1;
    for (; column + kTiles * kCacheTile <= a.v_dim; column += kTiles * kCacheTile)
      weigh_tiles<Pairs, kRows, kTiles, kGoesOn>(a, pass, row, column);
    for (; column < a.v_dim; column += kCacheTile)
      weigh_tiles<Pairs, kRows, 1, kGoesOn>(a, pass, row, column);
  } else {
    const float* const weights = pass.x + row * kAttentionRange;
    for (; column + 16 * kVectors <= a.v_dim; column += 16 * kVectors)
      weigh_tile<Pairs, kRows, kVectors, kGoesOn>(a, pass, row, column, weights);
    const int last = a.v_dim - 16;
    for (; column < a.v_dim; column += 16) {
      weigh_tile<Pairs, kRows, 1, kGoesOn>(a, pass, row, column < last ? column : last, weights);
    }
  }
}

// Goes on with kVectors sums of a row from `state` on, over positions [first, last) of a block.
// read(v, pair, out): a pair of values of vector v. weights: of the block's sixteen positions.
template <class Pairs, int kVectors, class Read>
inline void add_seen(const Read& read, int first, int last, const float* weights, float* state) {
  Lanes sum[kVectors];
  repeat<kVectors>([&](auto v) WICK_INLINE_BODY { sum[v.value] = load(state + 16 * v.value); });
  const auto add_one = [&](int pair, auto element) WICK_INLINE_BODY {
    repeat<kVectors>([&](auto v) WICK_INLINE_BODY {
      Lanes value[2];
      read(v, pair, value);
      add_product(sum[v.value], value[element.value], weights[2 * pair + element.value]);
    });
  };
  if (first % 2 == 1) add_one(first / 2, Index<1>{});
  int pair = (first + 1) / 2;
  for (; pair < last / 2; ++pair) {
    repeat<kVectors>([&](auto v) WICK_INLINE_BODY {
      Lanes value[2];
      read(v, pair, value);
      constexpr int kThen = 1 - Pairs::kFirst;
      add_product(sum[v.value], value[Pairs::kFirst], weights[2 * pair + Pairs::kFirst]);
      add_product(sum[v.value], value[kThen], weights[2 * pair + kThen]);
    });
  }
  if (2 * pair < last) add_one(pair, Index<0>{});
  repeat<kVectors>([&](auto v) WICK_INLINE_BODY {
    store(state + 16 * v.value, add(sum[v.value], all(0.0F)));  // -0 becomes +0
  });
}

// Continues the sums of one row with positions [first, last) of a block.
template <class Pairs>
void weigh_block(const AttentionArgs& a, const std::byte* block, int first, int last,
                 const float* weights, float* state) {
  int column = 0;
  if constexpr (kTileBytes<Pairs> != 0) {
    for (; column < a.v_dim; column += kCacheTile, block += kTileBytes<Pairs>) {
      alignas(64) float scaled[kCacheBlock];
      store(scaled, mul(load(weights), widen_halves(block)));
      const auto read = [&](auto v, int pair, Lanes(&value)[2]) WICK_INLINE_BODY {
        Pairs::read(block, pair, kCacheTile, 16 * v.value, value[0], value[1]);
      };
      add_seen<Pairs, 2>(read, first, last, scaled, state + column);
    }
  } else {
    const auto read = [&](auto v, int pair, Lanes(&value)[2]) WICK_INLINE_BODY {
      Pairs::read(block, pair, a.v_dim, column + 16 * v.value, value[0], value[1]);
    };
    for (; column + 64 <= a.v_dim; column += 64)
      add_seen<Pairs, 4>(read, first, last, weights, state + column);
    for (; column + 16 <= a.v_dim; column += 16)
      add_seen<Pairs, 1>(read, first, last, weights, state + column);
    const auto read_rest = [&](auto, int pair, Lanes(&value)[2]) {
      Pairs::read_rest(block, pair, a.v_dim, column, value[0], value[1]);
    };
    if (column < a.v_dim) add_seen<Pairs, 1>(read_rest, first, last, weights, state + column);
  }
}

// Goes on with the sums of each row over blocks [begin, end), of which it may see any part.
template <class Pairs>
void weigh_edge(const AttentionArgs& a, const Pass& pass, int begin, int end) {
  for (int row = 0; row < pass.rows; ++row) {
    const int position = position_of(a, pass, row);
    for (int b = begin; b < end; ++b) {
      const int origin = b * kCacheBlock;
      int first = first_seen(a, position) - origin, last = end_seen(a, position) - origin;
      if (first < 0) first = 0;
      if (last > kCacheBlock) last = kCacheBlock;
      if (first >= last) continue;
      weigh_block<Pairs>(a, a.v + static_cast<std::size_t>(a.table[b]) * a.v_stride, first, last,
                         pass.x + row * kAttentionRange + origin - pass.range_block * kCacheBlock,
                         pass.state + row * pass.state_floats);
    }
  }
}

template <class Pairs, bool kGoesOn>
void weigh_whole(const AttentionArgs& a, const Pass& pass) {
  for (int row = 0, n; row < pass.rows; row += n) {
    n = next_tile(pass.rows - row);
    repeat<kTileRows + 1, 1>([&](auto rows) WICK_INLINE_BODY {
      if (n == rows.value) weigh_rows<Pairs, rows.value, kGoesOn>(a, pass, row);
    });
  }
}

inline void clear_sums(const AttentionArgs& a, const Pass& pass) {
  for (int row = 0; row < pass.rows; ++row) {
    for (int d = 0; d < a.v_dim; d += 16)
      store(pass.state + row * pass.state_floats + d, all(0.0F));
  }
}

template <class Pairs>
void weigh_pass(const AttentionArgs& a, const Pass& pass) {
  const bool has_first_edge = pass.first_whole > pass.first_block;
  if (a.v_dim < 16 || (has_first_edge && a.v_dim % 16 != 0)) {  // no model that we know of
    clear_sums(a, pass);
    return weigh_edge<Pairs>(a, pass, pass.first_block, pass.end_block);
  }
  if (has_first_edge) {
    clear_sums(a, pass);
    weigh_edge<Pairs>(a, pass, pass.first_block, pass.first_whole);
    weigh_whole<Pairs, true>(a, pass);
  } else {
    weigh_whole<Pairs, false>(a, pass);
  }
  weigh_edge<Pairs>(a, pass, pass.end_whole, pass.end_block);
}

inline void weigh(const AttentionArgs& a, const Pass& pass) {
  switch (a.v_type) {
    case CacheType::kF32:
      return weigh_pass<PairsF32>(a, pass);
    case CacheType::kBF16:
      return weigh_pass<PairsBF16>(a, pass);
    case CacheType::kF16:
      return weigh_pass<PairsF16>(a, pass);
    case CacheType::kQ8_0:
      return weigh_pass<PairsQ8>(a, pass);
    case CacheType::kQ4_0:
      return weigh_pass<PairsQ4>(a, pass);
  }
}

}  // namespace
}  // namespace wick
