// Attention in terms of Lanes. Included by vector_body.h after one of the lanes_*.h; everything is
// local to the including file.
//
// Problem: a query must get the same bits whether it is computed alone (decode), among sixteen
// (prefill), or in any chunk of a prompt, by any number of threads.
//
// Idea: the order of arithmetic depends on the query's position P alone (in an encoder, which sees
// later positions too, also on the end of the text). Positions are divided into ranges of 256. Each
// range has its own maximum, sum of weights and weighted values; ranges are merged in ascending
// order. Inside a range every sum is one chain over ascending positions (or dimensions); lanes are
// added only in one fixed tree.
//
// Invariant: keys and values at a position that the query does not see change no bit, even if they
// are NaN. The score is replaced by -infinity, so it adds +0 to the sum of weights, and the value
// is skipped. So queries of a tile may visit more blocks than each of them needs, and the cache may
// contain anything after P. At the end of each range -0 becomes +0.
//
// Cost: 2 (k_dim + v_dim) multiply-adds a position and query head, from the first two caches; keys
// and values are widened once for each tile of rows.
// Hot: all of it.
#pragma once

#include "kernels/cpu/attention_latent.h"
#include "kernels/cpu/attention_pairs.h"
#include "kernels/cpu/attention_pass.h"
#include "kernels/cpu/attention_values.h"
#include "kernels/cpu/vector.h"

namespace wick {
namespace {

// Blocks of keys, and the lines to prefetch while they are multiplied, one with each pair: keys of
// the following blocks and values at the same positions. Blocks are not adjacent in memory, so the
// hardware prefetcher does not find them.
template <int kBlocks>
struct KeyBlocks {
  const std::byte* at[kBlocks];
  const std::byte* next[kBlocks];
  const std::byte* values[kBlocks];
};

// Prefetches one line, for pair number `pair` of the part of each block that begins at `offset`.
template <class Pairs, int kBlocks>
inline __attribute__((always_inline)) void fetch(const KeyBlocks<kBlocks>& blocks, int b,
                                                 std::ptrdiff_t offset, int pair) {
  const std::ptrdiff_t line = offset + pair * Pairs::kPairBytes;
  __builtin_prefetch(blocks.next[b] + line);
  __builtin_prefetch(blocks.values[b] + line);
}

// sum += q · key for kRows rows and kBlocks blocks.
template <class Pairs, int kRows, int kBlocks>
inline __attribute__((always_inline)) void add_products(const KeyBlocks<kBlocks>& blocks, int k_dim,
                                                        const float* q,
                                                        Lanes (&sum)[kRows][kBlocks]) {
  for (int pair = 0; pair < k_dim / 2; ++pair) {
    repeat<kBlocks>([&](auto b) WICK_INLINE_BODY {
      fetch<Pairs>(blocks, b.value, 0, pair);
      add_pair<Pairs, kRows>(
          [&](Lanes(&key)[2]) WICK_INLINE_BODY {
            const std::byte* block = again<Pairs, kRows>(blocks.at[b.value]);
            Pairs::read(block, pair, kCacheBlock, 0, key[0], key[1]);
          },
          [&](auto r) WICK_INLINE_BODY { return q + r.value * k_dim + 2 * pair; },
          [&](auto r) WICK_INLINE_BODY -> Lanes& { return sum[r.value][b.value]; });
    });
  }
}

// The same for tiles: products of integers, then the scales. A row of q holds quants [k_dim], then
// a query scale for each tile.
template <class Pairs, int kRows, int kBlocks>
inline __attribute__((always_inline)) void add_tiles(const KeyBlocks<kBlocks>& blocks, int k_dim,
                                                     const float* q, Lanes (&sum)[kRows][kBlocks]) {
  const auto* quants = reinterpret_cast<const std::int16_t*>(q);
  const float* const query_scales = q + k_dim / 2;
  std::ptrdiff_t offset = 0;
  for (int tile = 0; tile < k_dim / kCacheTile; ++tile, offset += kTileBytes<Pairs>) {
    Counts part[kRows][kBlocks];
    for (int pair = 0; pair < kCacheTile / 2; ++pair, quants += 2) {
      repeat<kBlocks>([&](auto b) WICK_INLINE_BODY {
        fetch<Pairs>(blocks, b.value, offset, pair);
        const Words keys = Pairs::keys(blocks.at[b.value] + offset, pair);
        repeat<kRows>([&](auto r) WICK_INLINE_BODY {
          add_pairs(part[r.value][b.value], keys, quants + r.value * 2 * k_dim);
        });
      });
    }
    repeat<kBlocks>([&](auto b) WICK_INLINE_BODY {
      const Lanes scales = widen_halves(blocks.at[b.value] + offset);
      repeat<kRows>([&](auto r) WICK_INLINE_BODY {
        const Lanes scaled = mul(scales, all(query_scales[r.value * k_dim + tile]));
        Lanes& to = sum[r.value][b.value];
        to = fma(to_floats(part[r.value][b.value]), scaled, to);
      });
    });
  }
}

// x = (q · key) * factor for kRows rows and kBlocks blocks.
template <class Pairs, int kRows, int kBlocks>
inline void score_tile(const KeyBlocks<kBlocks>& blocks, int k_dim, const float* q, float factor,
                       float* x) {
  Lanes sum[kRows][kBlocks];
  clear(sum);
  if constexpr (kTileBytes<Pairs> == 0) {
    add_products<Pairs>(blocks, k_dim, q, sum);
  } else {
    add_tiles<Pairs>(blocks, k_dim, q, sum);
  }
  repeat<kRows>([&](auto r) WICK_INLINE_BODY {
    repeat<kBlocks>([&](auto b) WICK_INLINE_BODY {
      store(x + r.value * kAttentionRange + b.value * kCacheBlock,
            mul(sum[r.value][b.value], all(factor)));
    });
  });
}

// Scores of kRows rows with blocks b, b + 1, … of the sequence, kBlocks at a time while they last;
// returns the first block that is left.
template <class Pairs, int kRows, int kBlocks>
int score_blocks_from(int b, const AttentionArgs& a, const Pass& pass, int row) {
  const float factor = a.scale * 1.44269502F;  // log2(e): weights are powers of two
  const auto keys = [&](int i) { return a.k + static_cast<std::size_t>(a.table[i]) * a.k_stride; };
  for (; b + kBlocks <= pass.end_block; b += kBlocks) {
    KeyBlocks<kBlocks> blocks;
    for (int i = 0; i < kBlocks; ++i) {
      const int next = b + i + kBlocks;
      blocks.at[i] = keys(b + i);
      blocks.next[i] = next < pass.end_block ? keys(next) : blocks.at[i];
      blocks.values[i] =
          is_latent(a) ? blocks.at[i] : a.v + static_cast<std::size_t>(a.table[b + i]) * a.v_stride;
    }
    score_tile<Pairs, kRows, kBlocks>(
        blocks, a.k_dim, pass.q + static_cast<std::ptrdiff_t>(row) * a.k_dim, factor,
        pass.x + row * kAttentionRange + (b - pass.range_block) * kCacheBlock);
  }
  return b;
}

template <class Pairs, int kRows>
void score_rows(const AttentionArgs& a, const Pass& pass, int row) {
  const int left =
      score_blocks_from<Pairs, kRows, score_blocks(kRows)>(pass.first_block, a, pass, row);
  score_blocks_from<Pairs, kRows, 1>(left, a, pass, row);
}

template <class Pairs>
void score_pass(const AttentionArgs& a, const Pass& pass) {
  for (int row = 0, n; row < pass.rows; row += n) {
    n = next_tile(pass.rows - row);
    repeat<kTileRows + 1, 1>([&](auto rows) WICK_INLINE_BODY {
      if (n == rows.value) score_rows<Pairs, rows.value>(a, pass, row);
    });
  }
}

inline void score(const AttentionArgs& a, const Pass& pass) {
  switch (a.k_type) {
    case CacheType::kF32:
      return score_pass<PairsF32>(a, pass);
    case CacheType::kBF16:
      return score_pass<PairsBF16>(a, pass);
    case CacheType::kF16:
      return score_pass<PairsF16>(a, pass);
    case CacheType::kQ8_0:
      return score_pass<PairsQ8>(a, pass);
    case CacheType::kQ4_0:
      return score_pass<PairsQ4>(a, pass);
  }
}

// Scores are in units of ln 2: so is the cap. Rows follow each other in pass.x.
inline void cap_scores(const AttentionArgs& a, const Pass& pass) {
  const int begin = (pass.first_block - pass.range_block) * kCacheBlock;
  const int end = (pass.end_block - pass.range_block) * kCacheBlock;
  for (int row = 0; row < pass.rows; ++row)
    soft_cap_kernel(pass.x + row * kAttentionRange + begin, a.soft_cap * 1.44269502F, end - begin);
}

// Where a row's state keeps its maximum and sum.
inline float* totals(const AttentionArgs& a, float* state) {
  return state + (a.v_dim + 15) / 16 * 16;
}

// Of a block's sixteen positions those in [first, last), elsewhere `otherwise`.
inline Lanes keep_seen(Lanes a, int first, int last, float otherwise) {
  alignas(64) float part[3 * kCacheBlock];
  store(part + 16, a);
  if (first > 0) store(part + (first < 16 ? first : 16), all(otherwise));
  if (last < 16) store(part + 16 + (last > 0 ? last : 0), all(otherwise));
  return load(part + 16);
}

// Scores → weights in place; the maximum and the sum of weights go to the row's state. A row that
// sees nothing of the range (another row of its tile does) gets sum 0. A NaN is no maximum, but its
// weight is NaN and so is the sum.
template <bool kRounds>
void softmax_row(const AttentionArgs& a, const Pass& pass, int row) {
  float* const x = pass.x + row * kAttentionRange;
  const int position = position_of(a, pass, row), origin = pass.range_block * kCacheBlock;
  const int begin = (pass.first_block - pass.range_block) * kCacheBlock;
  const int end = (pass.end_block - pass.range_block) * kCacheBlock;
  const int first = first_seen(a, position) - origin, last = end_seen(a, position) - origin;
  const auto fill_unseen = [&](int from, int to, float value) {
    for (int i = from; i < first && i < to; ++i)
      x[i] = value;
    for (int i = last > from ? last : from; i < to; ++i)
      x[i] = value;
  };
  fill_unseen(begin, end, -__builtin_inff());
  Lanes top = all(-__builtin_inff());
  for (int i = begin; i < end; i += 16)
    top = max(load(x + i), top);
  const float maximum = largest_of_lanes(top);
  Lanes sum = all(0.0F);
  int i = begin;
  const auto weigh_scores = [&](auto is_edge) WICK_INLINE_BODY {
    Lanes weight = exp2_weight(sub(load(x + i), all(maximum)));
    if constexpr (is_edge.value != 0) {
      store(x + i, weight);
      fill_unseen(i, i + 16, 0.0F);
      weight = load(x + i);
    }
    sum = add(sum, weight);
    store(x + i, kRounds ? round_to_bf16(weight) : weight);
  };
  for (; i < end && i < first; i += 16)
    weigh_scores(Index<1>{});
  for (; i + 16 <= end && i + 16 <= last; i += 16)
    weigh_scores(Index<0>{});
  for (; i < end; i += 16)
    weigh_scores(Index<1>{});
  float* const to = totals(a, pass.state + row * pass.state_floats);
  to[0] = maximum;
  to[1] = sum_of_lanes(sum);
}

// Of `into` and `from`, the later range; an empty one changes nothing.
inline void merge_state(const AttentionArgs& a, float* into, const float* from) {
  float* const total = totals(a, into);
  const float* const other = totals(a, const_cast<float*>(from));
  if (other[1] == 0.0F) return;
  if (total[1] == 0.0F) {
    for (std::size_t i = 0; i < attention_state_floats(a.v_dim); ++i)
      into[i] = from[i];
    return;
  }
  const float top = total[0] > other[0] ? total[0] : other[0];
  const Lanes keep = exp2_weight(all(total[0] - top));
  const Lanes take = exp2_weight(all(other[0] - top));
  for (int d = 0; d < a.v_dim; d += 16) {
    store(into + d, fma(load(into + d), keep, mul(load(from + d), take)));
  }
  alignas(64) float weights[2][16];
  store(weights[0], keep);
  store(weights[1], take);
  total[0] = top;
  total[1] = __builtin_fmaf(total[1], weights[0][0], other[1] * weights[1][0]);
}

// What a row's values are multiplied with: 1 / sum of weights. A sink is merged into maximum and
// sum as a last range of one position whose value is zero.
inline float inverse_sum(const AttentionArgs& a, float* state, int head) {
  const float* const total = totals(a, state);
  if (a.sinks == nullptr) return 1.0F / total[1];
  const float sink = a.sinks[head] * 1.44269502F;
  const float top = total[0] > sink ? total[0] : sink;
  alignas(64) float weights[2][16];
  store(weights[0], exp2_weight(all(total[0] - top)));
  store(weights[1], exp2_weight(all(sink - top)));
  return weights[0][0] / __builtin_fmaf(total[1], weights[0][0], weights[1][0]);
}

inline void write_row(const AttentionArgs& a, float* state, int head, float* y) {
  const Lanes inverse = all(inverse_sum(a, state, head));
  for (int d = 0; d < a.v_dim; d += 16) {
    const Lanes out = mul(load(state + d), inverse);
    if (a.v_dim - d >= 16) {
      store(y + d, out);
    } else {
      store_part(y + d, a.v_dim - d, out);
    }
  }
}

// A tile of a query to sixteen bits: its largest magnitude is 32,767 steps of the query scale. Of
// something that is not finite the query scale is NaN.
inline float quantize_tile(const float* x, std::int16_t* quants) {
  const Lanes first = load(x), second = load(x + 16);
  const float total = sum_of_lanes(add(absolute(first), absolute(second)));
  const float top = largest_of_lanes(max(absolute(first), absolute(second)));
  const bool is_finite = total < __builtin_inff(), is_zero = top < 0x1p-100F;
  const Lanes inverse = all(32767.0F / top), zero = all(0.0F);
  const bool is_quantized = is_finite && !is_zero;
  store_words(quants, is_quantized ? mul(first, inverse) : zero);
  store_words(quants + 16, is_quantized ? mul(second, inverse) : zero);
  return !is_finite ? __builtin_nanf("") : is_zero ? 0.0F : top / 32767.0F;
}

// Copies the queries of rows [row, row + n) to `to` [n][k_dim], rounded as the cache's keys are: to
// bf16, or to quants and query scales (add_tiles).
inline void gather_queries(const AttentionArgs& a, int row, int n, float* to) {
  const bool is_tiled = a.k_type == CacheType::kQ8_0 || a.k_type == CacheType::kQ4_0;
  for (int r = row; r < row + n; ++r, to += a.k_dim) {
    const float* from =
        a.q + r / a.group * a.q_stride + static_cast<std::ptrdiff_t>(r % a.group) * a.k_dim;
    for (int i = 0; is_tiled && i < a.k_dim; i += kCacheTile)
      to[a.k_dim / 2 + i / kCacheTile] =
          quantize_tile(from + i, reinterpret_cast<std::int16_t*>(to) + i);
    for (int i = 0; !is_tiled && i < a.k_dim; i += 16) {
      const int left = a.k_dim - i;
      Lanes part = left >= 16 ? load(from + i) : load_part(from + i, left);
      if (a.k_type == CacheType::kBF16) part = keep_nan(part, round_to_bf16(part));
      if (left >= 16) {
        store(to + i, part);
      } else {
        store_part(to + i, left, part);
      }
    }
  }
}

// Scratch: queries of a pass [16][k_dim rounded up], scores [16][256], then what attend() keeps.
struct Scratch {
  float* q;
  float* x;
  float* states;
};

inline Scratch divide_scratch(const AttentionArgs& a) {
  const std::ptrdiff_t padded = (a.k_dim + 15) / 16 * 16;
  float* const x = a.scratch + kPassRows * padded;
  return {a.scratch, x, x + kPassRows * kAttentionRange};
}

void attend_range_kernel(const AttentionArgs& a, int range, float* states) noexcept {
  const Scratch scratch = divide_scratch(a);
  const auto state_floats = static_cast<std::ptrdiff_t>(attention_state_floats(a.v_dim));
  const int last_block = (end_seen(a, a.position + a.n_tokens - 1) - 1) / kCacheBlock;
  const int first_block = first_seen(a, a.position) / kCacheBlock;
  const int range_block = range * kRangeBlocks;
  const int range_end = range_block + kRangeBlocks;
  const int rows = a.n_tokens * a.group;
  for (int row = 0; row < rows; row += kPassRows) {
    Pass pass;
    pass.first_row = row;
    pass.rows = rows - row < kPassRows ? rows - row : kPassRows;
    pass.first_block = first_block > range_block ? first_block : range_block;
    pass.end_block = last_block + 1 < range_end ? last_block + 1 : range_end;
    pass.range_block = range_block;
    find_whole(a, pass);
    pass.q = scratch.q;
    pass.x = scratch.x;
    pass.state = states + row * state_floats;
    pass.state_floats = state_floats;
    gather_queries(a, row, pass.rows, scratch.q);
    score(a, pass);
    if (a.soft_cap > 0) cap_scores(a, pass);
    const bool rounds = !is_latent(a) && a.v_type == CacheType::kBF16;
    for (int r = 0; r < pass.rows; ++r)
      (rounds ? softmax_row<true> : softmax_row<false>)(a, pass, r);
    (is_latent(a) ? weigh_latent : weigh)(a, pass);
  }
}

void merge_ranges_kernel(const AttentionArgs& a, int n_ranges, float* states) noexcept {
  const auto state_floats = static_cast<std::ptrdiff_t>(attention_state_floats(a.v_dim));
  const int rows = a.n_tokens * a.group;
  for (int row = 0; row < rows; ++row) {
    float* const into = states + row * state_floats;
    for (int range = 1; range < n_ranges; ++range) {
      merge_state(a, into, into + static_cast<std::ptrdiff_t>(range) * rows * state_floats);
    }
    const int head = row % a.group;
    write_row(a, into, head,
              a.y + row / a.group * a.y_stride + static_cast<std::ptrdiff_t>(head) * a.v_dim);
  }
}

void attend_kernel(const AttentionArgs& a) noexcept {
  const RangeSpan span = attention_ranges(a);
  const auto state_floats = static_cast<std::ptrdiff_t>(attention_state_floats(a.v_dim));
  const int rows = a.n_tokens * a.group;
  float* const states = divide_scratch(a).states;
  float* const part = states + rows * state_floats;
  attend_range_kernel(a, span.first, states);
  for (int range = span.first + 1; range <= span.last; ++range) {
    attend_range_kernel(a, range, part);
    for (int row = 0; row < rows; ++row) {
      merge_state(a, states + row * state_floats, part + row * state_floats);
    }
  }
  merge_ranges_kernel(a, 1, states);
}

#undef WICK_INLINE_BODY  // of attention_pairs.h

}  // namespace
}  // namespace wick
