// Attention as a phase. Queries of one sequence that share a block of 16 positions are a tile; a
// chunk is a tile with one head of keys (or, of many queries' heads that share it, sixteen),
// longest first. If these are too few for the team (decode), each range of 256 positions is a chunk
// of its own, and the thread that finishes a head's last range merges them. Either way a query's
// arithmetic is the same (docs/numerics.md).
#include <algorithm>

#include "backend/cpu/cpu_backend.h"
#include "base/check.h"

namespace wick {
namespace {

constexpr int kChunksPerThread = 4;
constexpr int kMostHeads = 16;  // of queries in a chunk: as many rows as a kernel takes at once

CacheType cache_type(KvType type) noexcept {
  static_assert(static_cast<int>(CacheType::kF32) == static_cast<int>(KvType::kF32) &&
                static_cast<int>(CacheType::kBF16) == static_cast<int>(KvType::kBF16) &&
                static_cast<int>(CacheType::kF16) == static_cast<int>(KvType::kF16) &&
                static_cast<int>(CacheType::kQ8_0) == static_cast<int>(KvType::kQ8_0) &&
                static_cast<int>(CacheType::kQ4_0) == static_cast<int>(KvType::kQ4_0));
  return static_cast<CacheType>(type);
}

// Groups of heads of queries: as many as there are heads of keys, or more that share one.
int n_groups(const AttentionArgs& args, Tensor q) noexcept {
  return q.cols / (args.k_dim * args.group);
}

}  // namespace

int CpuBackend::make_tiles(const Batch& batch, const AttentionArgs& args,
                           bool is_causal) noexcept {
  int n_tiles = 0;
  const int n = static_cast<int>(batch.positions.size());
  int last = -1;  // row of the sequence that `first` belongs to
  for (int t = 0; t < n;) {
    const auto first = static_cast<std::size_t>(t);
    const Pos pos = batch.positions[first];
    while (last < t || (last + 1 < n && batch.seqs[static_cast<std::size_t>(last + 1)] ==
                                            batch.seqs[first])) {
      ++last;
    }
    int end = t + 1;
    while (end < n && batch.seqs[static_cast<std::size_t>(end)] == batch.seqs[first] &&
           batch.positions[static_cast<std::size_t>(end)] == pos + end - t &&
           (pos + end - t) % kBlockTokens != 0) {
      ++end;
    }
    AttentionArgs of_tile = args;
    of_tile.position = pos;
    of_tile.n_tokens = end - t;
    if (!is_causal) of_tile.end = batch.positions[static_cast<std::size_t>(last)] + 1;
    tiles_[static_cast<std::size_t>(n_tiles++)] = {.token = t,
                                                   .count = end - t,
                                                   .seq = batch.seqs[first],
                                                   .position = pos,
                                                   .end = of_tile.end,
                                                   .ranges = attention_ranges(of_tile)};
    t = end;
  }
  return n_tiles;
}

AttentionArgs CpuBackend::tile_args(const AttentionArgs& args, const Tile& tile, int group,
                                    const KvView& kv, Tensor y, Tensor q) const noexcept {
  AttentionArgs a = args;
  const auto head = static_cast<std::size_t>(group / (n_groups(args, q) / kv.n_kv_heads));
  a.k = kv.k + head * kv_head_block_bytes(kv.k_type, kv.k_dim);
  if (kv.v != nullptr) a.v = kv.v + head * kv_head_block_bytes(kv.v_type, kv.v_dim);
  a.table = kv.tables + static_cast<std::ptrdiff_t>(tile.seq) * kv.table_stride;
  a.position = tile.position;
  a.end = tile.end;
  a.n_tokens = tile.count;
  a.q = q.data + static_cast<std::ptrdiff_t>(tile.token) * q.row_stride +
        static_cast<std::ptrdiff_t>(group) * a.group * a.k_dim;
  if (a.sinks != nullptr) a.sinks += static_cast<std::ptrdiff_t>(group) * a.group;
  a.q_stride = q.row_stride;
  a.y = y.data + static_cast<std::ptrdiff_t>(tile.token) * y.row_stride +
        static_cast<std::ptrdiff_t>(group) * a.group * a.v_dim;
  a.y_stride = y.row_stride;
  return a;
}

void CpuBackend::attend_tiles(const AttentionArgs& args, int n_tiles, const KvView& kv, Tensor y,
                              Tensor q) noexcept {
  const int groups = n_groups(args, q);
  team_.run(n_tiles * groups, [&](int index, int member) noexcept {
    const int tile = n_tiles - 1 - index / groups;  // the last positions cost most
    AttentionArgs a =
        tile_args(args, tiles_[static_cast<std::size_t>(tile)], index % groups, kv, y, q);
    a.scratch = attention_.as<float>() + static_cast<std::size_t>(member) * attention_floats_;
    vector_.attend(a);
  });
}

void CpuBackend::attend_split(const AttentionArgs& args, int n_tiles, const KvView& kv, Tensor y,
                              Tensor q) noexcept {
  const int groups = n_groups(args, q);
  int n_tasks = 0;  // a task is one range; those of a (tile, group) follow each other
  for (int i = 0; i < n_tiles; ++i) {
    Tile& tile = tiles_[static_cast<std::size_t>(i)];
    const int n_ranges = tile.ranges.last - tile.ranges.first + 1;
    tile.first_task = n_tasks;
    n_tasks += n_ranges * groups;
    for (int g = 0; g < groups; ++g) {
      pending_[static_cast<std::size_t>(i * groups + g)].store(n_ranges, std::memory_order_relaxed);
    }
  }
  const std::size_t task_floats =
      static_cast<std::size_t>(args.group) * attention_state_floats(args.v_dim);
  team_.run(n_tasks, [&](int task, int member) noexcept {
    int i = n_tiles - 1;
    while (task < tiles_[static_cast<std::size_t>(i)].first_task)
      --i;
    const Tile& tile = tiles_[static_cast<std::size_t>(i)];
    const int n_ranges = tile.ranges.last - tile.ranges.first + 1;
    const int group = (task - tile.first_task) / n_ranges;
    const int range = (task - tile.first_task) % n_ranges;
    AttentionArgs a = tile_args(args, tile, group, kv, y, q);
    a.scratch = attention_.as<float>() + static_cast<std::size_t>(member) * attention_floats_;
    float* const own = states_.as<float>() + static_cast<std::size_t>(task) * task_floats;
    vector_.attend_range(a, tile.ranges.first + range, own);
    std::atomic<int>& pending = pending_[static_cast<std::size_t>(i * groups + group)];
    if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      vector_.merge_ranges(a, n_ranges, own - static_cast<std::size_t>(range) * task_floats);
    }
  });
}

void CpuBackend::attend(Tensor y, Tensor q, const KvView& kv, const Batch& batch,
                        const AttendParams& p) noexcept {
  WICK_CHECK(p.n_kv_heads > 0 && p.n_heads % p.n_kv_heads == 0 && p.n_heads <= limits_.max_heads,
             "query heads are a multiple of the heads of keys, within the limits");
  WICK_CHECK(p.n_kv_heads == kv.n_kv_heads && p.k_dim == kv.k_dim && p.v_dim == kv.v_dim &&
                 p.k_dim % 2 == 0 && p.v_dim % 2 == 0 &&
                 std::max(p.k_dim, p.v_dim) <= limits_.max_head_dim,
             "heads have the cache's dimensions, which are even and within the limits");
  WICK_CHECK(kv.v != nullptr || (p.window == 0 && p.v_dim <= p.k_dim && p.is_causal),
             "a value that is a part of its key is no longer, has no window, and is causal");
  WICK_CHECK(q.cols == p.n_heads * p.k_dim && y.cols == p.n_heads * p.v_dim && q.rows == y.rows &&
                 batch.positions.size() == static_cast<std::size_t>(q.rows),
             "q and y are [tokens, heads * head dimension]");
  AttentionArgs args;
  args.k_stride =
      static_cast<std::size_t>(kv.n_kv_heads) * kv_head_block_bytes(kv.k_type, kv.k_dim);
  args.v_stride =
      static_cast<std::size_t>(kv.n_kv_heads) * kv_head_block_bytes(kv.v_type, kv.v_dim);
  args.k_type = cache_type(kv.k_type);
  args.v_type = cache_type(kv.v_type);
  args.k_dim = p.k_dim;
  args.v_dim = p.v_dim;
  args.group = p.n_heads / p.n_kv_heads;
  if (args.group % kMostHeads == 0) args.group = kMostHeads;
  args.window = p.window;
  args.scale = p.scale;
  args.soft_cap = p.soft_cap;
  if (p.sinks != nullptr) {
    WICK_CHECK(as_cpu(*p.sinks).cols == p.n_heads, "each head of queries has a sink");
    args.sinks = as_cpu(*p.sinks).values.data();
  }
  const int n_tiles = make_tiles(batch, args, p.is_causal);
  const bool is_split = team_.size() > 1 && n_tiles == q.rows && n_tiles <= kMaxSplitTiles &&
                        n_tiles * n_groups(args, q) < kChunksPerThread * team_.size();
  if (is_split) {
    attend_split(args, n_tiles, kv, y, q);
  } else {
    attend_tiles(args, n_tiles, kv, y, q);
  }
}

}  // namespace wick
