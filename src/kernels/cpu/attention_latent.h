// Attention's second half for MLA, where a value is a part of its key: weights times the first
// v_dim features of the keys. Included by attention_body.h after one of the lanes_*.h; everything
// is local to the including file.
//
// A block of keys holds the sixteen positions of a feature side by side, so a sum runs in sixteen
// lanes, one for each position mod 16, over the ascending blocks of a range, and its lanes are
// added in one fixed tree at the end. A query may see only a part of the last block; the other
// positions are replaced by zeros before the multiplication.
//
// Cost: v_dim multiply-adds a position and row, as for values of their own, and a tree for each
// range, row and feature; a block is widened for each kLatentRows rows.
// Hot: all of it.
#pragma once

#include "kernels/cpu/attention_pass.h"

namespace wick {
namespace {

// The blocks of a pass; every row sees the first n_whole of them whole.
struct LatentBlocks {
  const std::byte* at[kRangeBlocks];
  int n = 0, n_whole = 0;
};

// The mask for a last block of which the first n positions are seen: the negative entries of [16 -
// n, 32 - n).
constexpr float kSeen[2 * kCacheBlock] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                          -1, -1, -1, -1, -1, 1,  1,  1,  1,  1,  1,
                                          1,  1,  1,  1,  1,  1,  1,  1,  1,  1};

constexpr int kFeatures = kCacheTile;  // that are multiplied while their lines are in the cache

// Features [first, first + n) of kRows rows, n at most kFeatures.
template <class Pairs, int kRows>
void weigh_features(const AttentionArgs& a, const Pass& pass, const LatentBlocks& blocks, int row,
                    int first, int n) {
  constexpr bool kIsTiled = kTileBytes<Pairs> != 0;
  const float* weights =
      pass.x + row * kAttentionRange + (pass.first_block - pass.range_block) * kCacheBlock;
  const std::ptrdiff_t tile_at = first / kCacheTile * kTileBytes<Pairs>;
  const auto seen = [&](Lanes value, int i, int r) WICK_INLINE_BODY {
    const int n_seen = position_of(a, pass, row + r) + 1 - (pass.first_block + i) * kCacheBlock;
    return pick_negative(load(kSeen + kCacheBlock - n_seen), value, all(0.0F));
  };
  alignas(64) float scaled[kIsTiled ? kRows * kAttentionRange : 1];
  if constexpr (kIsTiled) {
    for (int i = 0; i < blocks.n; ++i) {
      const Lanes scales = widen_halves(blocks.at[i] + tile_at);
      for (int r = 0; r < kRows; ++r) {
        const int at = r * kAttentionRange + i * kCacheBlock;
        const Lanes product = mul(load(weights + at), scales);
        store(scaled + at, i < blocks.n_whole ? product : seen(product, i, r));
      }
    }
    weights = scaled;
  }
  for (int d = 0; d < n; d += 2) {
    Lanes sum[kRows][2];
    clear(sum);
    const auto read = [&](int i, Lanes(&value)[2]) WICK_INLINE_BODY {
      if constexpr (kIsTiled) {
        to_floats(Pairs::keys(blocks.at[i] + tile_at, d / 2), value[0], value[1]);
      } else {
        Pairs::read(blocks.at[i], (first + d) / 2, kCacheBlock, 0, value[0], value[1]);
      }
    };
    for (int i = 0; i < blocks.n_whole; ++i) {
      Lanes value[2];
      read(i, value);
      repeat<kRows>([&](auto r) WICK_INLINE_BODY {
        const Lanes weight = load(weights + r.value * kAttentionRange + i * kCacheBlock);
        sum[r.value][0] = fma(value[0], weight, sum[r.value][0]);
        sum[r.value][1] = fma(value[1], weight, sum[r.value][1]);
      });
    }
    for (int i = blocks.n_whole; i < blocks.n; ++i) {
      Lanes value[2];
      read(i, value);
      repeat<kRows>([&](auto r) WICK_INLINE_BODY {
        const Lanes weight = load(weights + r.value * kAttentionRange + i * kCacheBlock);
        for (int e = 0; e < 2; ++e)
          sum[r.value][e] = fma(seen(value[e], i, r.value), weight, sum[r.value][e]);
      });
    }
    repeat<kRows>([&](auto r) WICK_INLINE_BODY {
      float* const to = pass.state + (row + r.value) * pass.state_floats + first + d;
      to[0] = sum_of_lanes(sum[r.value][0]) + 0.0F;  // -0 becomes +0
      to[1] = sum_of_lanes(sum[r.value][1]) + 0.0F;
    });
  }
}

template <class Pairs>
void weigh_latent_pass(const AttentionArgs& a, const Pass& pass) {
  LatentBlocks blocks;
  blocks.n = pass.end_block - pass.first_block;
  blocks.n_whole = pass.end_whole - pass.first_block;
  for (int i = 0; i < blocks.n; ++i)
    blocks.at[i] = a.k + static_cast<std::size_t>(a.table[pass.first_block + i]) * a.k_stride;
  for (int first = 0; first < a.v_dim; first += kFeatures) {
    const int left = a.v_dim - first, n_features = left < kFeatures ? left : kFeatures;
    for (int row = 0, n; row < pass.rows; row += n) {
      n = next_tile(pass.rows - row, kLatentRows);
      repeat<kLatentRows + 1, 1>([&](auto rows) WICK_INLINE_BODY {
        if (n == rows.value)
          weigh_features<Pairs, rows.value>(a, pass, blocks, row, first, n_features);
      });
    }
  }
}

inline void weigh_latent(const AttentionArgs& a, const Pass& pass) {
  switch (a.k_type) {
    case CacheType::kF32:
      return weigh_latent_pass<PairsF32>(a, pass);
    case CacheType::kBF16:
      return weigh_latent_pass<PairsBF16>(a, pass);
    case CacheType::kF16:
      return weigh_latent_pass<PairsF16>(a, pass);
    case CacheType::kQ8_0:
      return weigh_latent_pass<PairsQ8>(a, pass);
    case CacheType::kQ4_0:
      return weigh_latent_pass<PairsQ4>(a, pass);
  }
}

}  // namespace
}  // namespace wick
