// The loops of products with many tokens (GEMM): the weights of a few vectors of eight rows are
// unpacked once into a panel, which is multiplied with all tokens, one tile at a time. For AVX2 and
// AVX-512; the including file defines the kernel. Included by *_avx2.cc and *_avx512.cc only.
//
// A panel is a slice of a few groups of 256 weights, so that it stays in a near cache while all
// tokens of a block pass; the tokens' slice (kTokenCache) stays in the second-level cache while all
// rows pass. The chain of a row continues from slice to slice in y. While a panel is multiplied,
// the weights of the next panel and the tile's part of y are prefetched (Prefetcher). Hot: all of
// it.
#pragma once

#include "kernels/cpu/unpack_avx2.h"

namespace wick {
namespace {  // internal on purpose, see matmul_avx2.h

constexpr std::ptrdiff_t kVectorBytes = 32;
constexpr std::ptrdiff_t kPair = 2 * kVectorBytes;  // a step of two vectors of eight rows
constexpr std::size_t kPanelBytes = 24 * 1024;      // of the first-level cache's 32 KiB
constexpr std::size_t kTokenBytes = 256 * 1024;     // of activations, in the second-level cache
constexpr int kFewTokens = 64;                      // of a product that unpacks more than it reuses

// Keeps a value in a register at this point of the program: without it g++ 12 reorders the adds of
// a tile's sums and spills (67 GMAC/s instead of 99, Q4_1).
inline void pin(__m256i& v) noexcept {
  __asm__("" : "+x"(v));
}

inline __m256 load_floats(const std::byte* at) noexcept {
  return _mm256_load_ps(reinterpret_cast<const float*>(at));
}

inline void store256(std::byte* at, __m256i v) noexcept {
  _mm256_store_si256(reinterpret_cast<__m256i*>(at), v);
}

inline void store256(std::byte* at, __m256 v) noexcept {
  _mm256_store_ps(reinterpret_cast<float*>(at), v);
}

// A slice of groups [group, group + groups) of the product's rows [row, row + rows), unpacked.
struct Panel {
  const std::byte* quants = nullptr;
  int row = 0, rows = 0;  // rows: Kernel::kVectors * 8 or fewer; a short panel repeats its last one
  int group = 0, groups = 0;
};

// The accumulators of a tile: those of token t in y[t * stride + row]. Their old values are not
// read before the first group.
struct Accumulators {
  float* y;
  std::ptrdiff_t stride;

  float* at(std::ptrdiff_t token) const noexcept { return y + token * stride; }
};

// The same in registers: lane = row.
template <int V, int T>
inline void load_accumulators(const Panel& panel, const Accumulators& accumulators,
                              __m256 (&acc)[V][T]) noexcept {
  for (int t = 0; t < T; ++t) {
    for (int v = 0; v < V; ++v)
      acc[v][t] =
          panel.group == 0 ? _mm256_setzero_ps() : _mm256_loadu_ps(accumulators.at(t) + kRows8 * v);
  }
}

template <int V, int T>
inline void store_accumulators(const Accumulators& accumulators,
                               const __m256 (&acc)[V][T]) noexcept {
  for (int t = 0; t < T; ++t) {
    for (int v = 0; v < V; ++v)
      _mm256_storeu_ps(accumulators.at(t) + kRows8 * v, acc[v][t]);
  }
}

// After the last block of 32 of group g.
inline std::ptrdiff_t blocks_end(const ActivationLayout& layout, int g) noexcept {
  return 8 * g + 8 < layout.blocks ? 8 * g + 8 : layout.blocks;
}

// The data of a token that a kernel reads.
template <class Kernel>
inline std::size_t token_bytes(const ActivationLayout& layout) noexcept {
  return Kernel::kReadsInt16 ? layout.bytes - layout.int16s : layout.int16s;
}

// acc = fma(group_scale, sum, acc), which ends a group.
template <int V, int T>
inline void end_group(const ActivationLayout& layout, const std::byte* const (&x)[T], int g,
                      const __m256 (&sum)[V][T], __m256 (&acc)[V][T]) noexcept {
  for (int t = 0; t < T; ++t) {
    const __m256 group_scale =
        _mm256_broadcast_ss(reinterpret_cast<const float*>(x[t] + layout.group_scales) + g);
    for (std::ptrdiff_t v = 0; v < V; ++v)
      acc[v][t] = _mm256_fmadd_ps(group_scale, sum[v][t], acc[v][t]);
  }
}

// Prefetches the weights of the next panel while this one is multiplied, a part with each group of
// each tile: rows [row, end), bytes [begin, stop) of each. Too many prefetches at once would wait
// for each other and delay the loads of the tile.
class Prefetcher {
 public:
  Prefetcher(const MatmulArgs& args, int row, int end, std::ptrdiff_t begin,
             std::ptrdiff_t stop) noexcept
      : args_(args),
        row_(row),
        end_(end),
        begin_(begin),
        stop_(stop),
        at_(begin),
        share_(lines()) {}

  // Until then a share is the whole panel.
  void split_into(int shares) noexcept { share_ = lines() / shares + 1; }

  void prefetch_share() noexcept {
    int left = share_;
    while (left > 0 && row_ < end_) {
      const std::byte* const row = row_at(args_, row_);
      for (; left > 0 && at_ < stop_; --left, at_ += 64)
        _mm_prefetch(reinterpret_cast<const char*>(row + at_), _MM_HINT_T1);
      if (at_ < stop_) return;
      at_ = begin_;
      ++row_;
    }
  }

 private:
  int lines() const noexcept {
    return row_ < end_ ? static_cast<int>((stop_ - begin_) / 64 + 1) * (end_ - row_) : 0;
  }

  const MatmulArgs& args_;
  int row_, end_;
  std::ptrdiff_t begin_, stop_, at_;
  int share_;  // lines of the cache
};

// Groups of a strip and of its slices. A rest that is too short for a slice is added to the last
// slice.
struct Blocking {
  int strip, slice;
};

// Few tokens get slices that the first-level cache holds while it takes the weights, too.
template <class Kernel>
inline Blocking blocking_of(const MatmulArgs& args, const ActivationLayout& layout) noexcept {
  const std::size_t tokens_bytes =
      static_cast<std::size_t>(args.n_tokens) * token_bytes<Kernel>(layout);
  return {.strip = tokens_bytes <= Kernel::kTokenCache ? layout.groups : Kernel::kGroups,
          .slice = args.n_tokens <= kFewTokens ? Kernel::kFewGroups : Kernel::kGroups};
}

// The panel after `panel` (after an empty one: the first): the next slice of its rows' strip, then
// the same strip of the next rows, then the next strip of the first rows. After the last panel: a
// panel without rows.
template <class Kernel>
inline Panel next_of(const MatmulArgs& args, const ActivationLayout& layout,
                     const Blocking& blocking, Panel panel) noexcept {
  constexpr int kRows = Kernel::kVectors * kRows8;
  const int begin = panel.group / blocking.strip * blocking.strip;
  panel.group += panel.groups;
  if (panel.group == layout.groups || panel.group == begin + blocking.strip) {
    panel.row += kRows;
    if (panel.row < args.row_end) {
      panel.group = begin;
    } else {
      panel.row = args.row_begin;
    }
  }
  const int left = layout.groups - panel.group;
  const int below = left > 0 ? args.row_end - panel.row : 0;
  panel.rows = below < kRows ? below : kRows;
  const bool is_last = left < 2 * blocking.slice && left <= Kernel::kGroups;
  panel.groups = is_last ? left : blocking.slice;
  return panel;
}

// The weights of `next`.
template <class Kernel>
inline Prefetcher prefetcher_of(const MatmulArgs& args, const ActivationLayout& layout,
                                const Panel& next) noexcept {
  const std::ptrdiff_t begin = next.group * Kernel::kGroupBytes;
  const std::ptrdiff_t all = std::ptrdiff_t{Kernel::kGroupBytes} * layout.blocks / 8;
  const std::ptrdiff_t stop = begin + next.groups * Kernel::kGroupBytes;
  return {args, next.row, next.row + next.rows, begin, stop < all ? stop : all};
}

// T tokens times the rows of a panel. The accumulators of a short panel are copied through a full
// one. y is prefetched first: stores that wait for memory would delay those of the next tile.
template <class Kernel, int T>
__attribute__((noinline)) void run_tile(const MatmulArgs& args, const ActivationLayout& layout,
                                        const Panel& panel, Prefetcher& prefetcher,
                                        int first_token) noexcept {
  constexpr int kRows = Kernel::kVectors * kRows8;
  float* const y = args.y + first_token * args.y_stride + panel.row;
  const std::byte* x[T];
  const std::byte* at = token_at(args, first_token);
  for (int t = 0; t < T; ++t, at += args.x_stride) {
    x[t] = at;
    for (int i = 0; i < kRows; i += 16)
      _mm_prefetch(reinterpret_cast<const char*>(y + t * args.y_stride + i), _MM_HINT_T0);
  }
  alignas(64) float whole[T * kRows];
  const bool is_short = panel.rows < kRows;
  const auto bytes = sizeof(float) * static_cast<std::size_t>(panel.rows);
  if (is_short) {
    __builtin_memset(whole, 0, sizeof whole);
    for (int t = 0; panel.group > 0 && t < T; ++t)
      __builtin_memcpy(whole + t * kRows, y + t * args.y_stride, bytes);
  }
  Kernel::template multiply<T>(
      panel, layout, x, is_short ? Accumulators{whole, kRows} : Accumulators{y, args.y_stride},
      prefetcher);
  for (int t = 0; is_short && t < T; ++t)
    __builtin_memcpy(y + t * args.y_stride, whole + t * kRows, bytes);
}

template <class Kernel>
inline void run_tokens(const MatmulArgs& args, const ActivationLayout& layout, const Panel& panel,
                       Prefetcher prefetcher, int begin, int end) noexcept {
  constexpr int kTile = Kernel::kTokens;
  prefetcher.split_into((end - begin + kTile - 1) / kTile * panel.groups);
  int t = begin;
  for (; t + kTile <= end; t += kTile)
    run_tile<Kernel, kTile>(args, layout, panel, prefetcher, t);
  if constexpr (kTile > 5) {
    if (t + 5 == end) return run_tile<Kernel, 5>(args, layout, panel, prefetcher, t);
    if (t + 4 == end) return run_tile<Kernel, 4>(args, layout, panel, prefetcher, t);
  }
  for (; t + 3 <= end; t += 3)
    run_tile<Kernel, 3>(args, layout, panel, prefetcher, t);
  if (t + 2 == end) return run_tile<Kernel, 2>(args, layout, panel, prefetcher, t);
  if (t + 1 == end) run_tile<Kernel, 1>(args, layout, panel, prefetcher, t);
}

// A group of all rows after the other, while its weights are in the first-level cache.
template <class Kernel>
inline void unpack_panel(const MatmulArgs& args, const ActivationLayout& layout, const Panel& panel,
                         std::byte* out) noexcept {
  RowPointers rows[Kernel::kVectors];
  for (int i = 0; i < Kernel::kVectors * kRows8; ++i)
    rows[i / kRows8][i % kRows8] = row_at(args, panel.row + (i < panel.rows ? i : panel.rows - 1));
  for (int g = panel.group; g < panel.group + panel.groups; ++g) {
    for (int v = 0; v < Kernel::kVectors; ++v)
      Kernel::unpack(rows[v], layout, {.group = g, .groups = 1}, out + kVectorBytes * v);
    out += Kernel::kBytes / Kernel::kGroups;
  }
}

// Few tokens stay in the cache, so the weights are read in memory order. With more tokens, a strip
// is processed slice by slice, for as many tokens as their slices fit into the cache.
//
// Kernel: kVectors of eight rows, kTokens of a tile, kGroups of a slice (kFewGroups for few
// tokens), kGroupBytes of 256 weights of a row (kGroupBytes / 8 of 32), kBytes of the panel,
// kTokenCache, kReadsInt16; unpack(rows, layout, panel, out) for one vector's rows;
// multiply<T>(panel, layout, x, accumulators, prefetcher), which adds the slice's terms to the
// accumulators and fetches a share with each group.
template <class Kernel>
inline void run_panels(const MatmulArgs& args) noexcept {
  alignas(64) std::byte quants[Kernel::kBytes];
  const ActivationLayout layout = activation_layout(args.width);
  const std::size_t bytes = token_bytes<Kernel>(layout);
  const auto slices =
      static_cast<std::size_t>(layout.groups + Kernel::kGroups - 1) / Kernel::kGroups;
  const Blocking blocking = blocking_of<Kernel>(args, layout);
  // A slice of a token has less than 8 KiB: never 0.
  const int block =
      static_cast<int>(Kernel::kTokenCache * slices / bytes) / Kernel::kTokens * Kernel::kTokens;
  for (int begin = 0; begin < args.n_tokens; begin += block) {
    const int end = args.n_tokens - begin < block ? args.n_tokens : begin + block;
    Panel panel =
        next_of<Kernel>(args, layout, blocking, {.quants = quants, .row = args.row_begin});
    prefetcher_of<Kernel>(args, layout, panel).prefetch_share();
    while (panel.rows > 0) {
      const Panel next = next_of<Kernel>(args, layout, blocking, panel);
      unpack_panel<Kernel>(args, layout, panel, quants);
      run_tokens<Kernel>(args, layout, panel, prefetcher_of<Kernel>(args, layout, next), begin,
                         end);
      panel = next;
    }
  }
}

}  // namespace
}  // namespace wick
