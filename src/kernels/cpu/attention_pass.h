// Shared by attention_body.h and attention_values.h. They include it after one of the lanes_*.h;
// everything is local to the including file. Hot: all of it.
#pragma once

#include "kernels/cpu/attention_pairs.h"
#include "kernels/cpu/vector.h"

namespace wick {
namespace {

constexpr int kPassRows = 16;  // rows whose scores are kept at once: 16 KiB
constexpr int kRangeBlocks = kAttentionRange / kCacheBlock;

// The arguments of one pass over a range.
struct Pass {
  int first_row = 0, rows = 0;
  int first_block = 0, end_block = 0;  // of the sequence
  int first_whole = 0, end_whole = 0;  // those of them that every row sees whole
  int range_block = 0;                 // where the range begins
  const float* q = nullptr;            // [rows][k_dim]
  float* x = nullptr;                  // [rows][256] scores, then weights
  float* state = nullptr;              // [rows][state_floats]: values, maximum, sum of weights
  std::ptrdiff_t state_floats = 0;
};

// Values lie in the keys.
inline bool is_latent(const AttentionArgs& a) {
  return a.v == nullptr;
}

inline int position_of(const AttentionArgs& a, const Pass& pass, int row) {
  return a.position + (pass.first_row + row) / a.group;
}

// The last row's window begins last, the first row's past ends first.
inline void find_whole(const AttentionArgs& a, Pass& pass) {
  const int begin = first_seen(a, position_of(a, pass, pass.rows - 1)) + kCacheBlock - 1;
  const int end = end_seen(a, position_of(a, pass, 0));
  const auto within = [](int block, int low, int high) {
    return block < low ? low : block > high ? high : block;
  };
  pass.first_whole = within(begin / kCacheBlock, pass.first_block, pass.end_block);
  pass.end_whole = within(end / kCacheBlock, pass.first_whole, pass.end_block);
}

// How many of the `left` rows the next tile takes, so that all tiles are about as large.
inline int next_tile(int left, int most = kTileRows) {
  const int tiles = (left + most - 1) / most;
  return (left + tiles - 1) / tiles;
}

template <int kRows, int kBlocks>
inline __attribute__((always_inline)) void clear(Lanes (&sum)[kRows][kBlocks]) {
  repeat<kRows>([&](auto r) WICK_INLINE_BODY {
    repeat<kBlocks>([&](auto b) WICK_INLINE_BODY { sum[r.value][b.value] = all(0.0F); });
  });
}

}  // namespace
}  // namespace wick
