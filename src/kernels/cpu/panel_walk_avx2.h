// The walk of products with many tokens: the weights of a few vectors of eight rows unpack once
// into a panel, which then meets every token, a tile at a time. For AVX2 and AVX-512; the including
// file brings the kernel. Included by *_avx2.cc and *_avx512.cc only.
//
// A panel is a slice of a few groups of 256 weights, so that it stays in a near cache while all
// tokens of a block pass; the block (kTokenBytes) stays in the second-level cache while all rows
// pass. The chain of a row goes on from slice to slice in y. While a panel is multiplied, the next
// one's weights are on their way (Ahead).
#pragma once

#include "kernels/cpu/unpack_avx2.h"

namespace wick {
namespace {  // NOLINT(google-build-namespaces): internal on purpose, see matmul_avx2.h

constexpr std::ptrdiff_t kVectorBytes = 32;
constexpr std::ptrdiff_t kPair = 2 * kVectorBytes;  // a step of two vectors of eight rows
constexpr std::size_t kPanelBytes = 24 * 1024;      // of the first-level cache's 32 KiB
constexpr std::size_t kTokenBytes = 256 * 1024;     // of activations, in the second-level cache

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
  const std::byte* codes = nullptr;
  int row = 0, rows = 0;  // the panel's or fewer; a short panel repeats the last row
  int group = 0, groups = 0;
};

// The chains of a tile: those of token t in y[t * stride + row].
struct Chains {
  float* y;
  std::ptrdiff_t stride;

  float* at(std::ptrdiff_t token) const noexcept { return y + token * stride; }
};

// The same in registers: lane = row.
template <int V, int T>
inline void load_chains(const Chains& chains, __m256 (&acc)[V][T]) noexcept {
  for (int t = 0; t < T; ++t) {
    for (int v = 0; v < V; ++v)
      acc[v][t] = _mm256_loadu_ps(chains.at(t) + kRows8 * v);
  }
}

template <int V, int T>
inline void store_chains(const Chains& chains, const __m256 (&acc)[V][T]) noexcept {
  for (int t = 0; t < T; ++t) {
    for (int v = 0; v < V; ++v)
      _mm256_storeu_ps(chains.at(t) + kRows8 * v, acc[v][t]);
  }
}

// Behind the last block of 32 of group g.
inline std::ptrdiff_t blocks_end(const ActivationLayout& layout, int g) noexcept {
  return 8 * g + 8 < layout.blocks ? 8 * g + 8 : layout.blocks;
}

// What a kernel reads of a token.
template <class Kernel>
inline std::size_t token_bytes(const ActivationLayout& layout) noexcept {
  return Kernel::kReadsWide ? layout.bytes - layout.wide : layout.wide;
}

// acc = fma(unit, sum, acc), the link of a group.
template <int V, int T>
inline void end_group(const ActivationLayout& layout, const std::byte* const (&x)[T], int g,
                      const __m256 (&sum)[V][T], __m256 (&acc)[V][T]) noexcept {
  for (int t = 0; t < T; ++t) {
    const __m256 unit =
        _mm256_broadcast_ss(reinterpret_cast<const float*>(x[t] + layout.units) + g);
    for (std::ptrdiff_t v = 0; v < V; ++v)
      acc[v][t] = _mm256_fmadd_ps(unit, sum[v][t], acc[v][t]);
  }
}

// Asks for the weights of the next panel while this one is multiplied, a share before each tile:
// rows [row, end), bytes [begin, stop) of each.
class Ahead {
 public:
  Ahead(const MatmulArgs& args, int row, int end, std::ptrdiff_t begin,
        std::ptrdiff_t stop) noexcept
      : args_(args), row_(row), end_(end), begin_(begin), stop_(stop), at_(begin) {}

  void fetch(int lines) noexcept {
    for (; lines > 0 && row_ < end_; --lines) {
      _mm_prefetch(reinterpret_cast<const char*>(row_at(args_, row_) + at_), _MM_HINT_T1);
      at_ += 64;
      if (at_ < stop_) continue;
      at_ = begin_;
      ++row_;
    }
  }

  int lines() const noexcept {
    return row_ < end_ ? static_cast<int>((stop_ - begin_) / 64 + 1) * (end_ - row_) : 0;
  }

 private:
  const MatmulArgs& args_;
  int row_, end_;
  std::ptrdiff_t begin_, stop_, at_;
};

// What follows `panel`: its rows' next slice, or the first one of the next rows.
template <class Kernel>
inline Ahead ahead_of(const MatmulArgs& args, const ActivationLayout& layout,
                      const Panel& panel) noexcept {
  constexpr int kRows = Kernel::kVectors * kRows8;
  const bool is_last = panel.group + panel.groups == layout.groups;
  const int row = panel.row + (is_last ? kRows : 0);
  const std::ptrdiff_t group = is_last ? 0 : panel.group + panel.groups;
  const std::ptrdiff_t begin = group * Kernel::kGroupBytes;
  const std::ptrdiff_t all = std::ptrdiff_t{Kernel::kGroupBytes} * layout.blocks / 8;
  const std::ptrdiff_t stop = begin + Kernel::kGroups * Kernel::kGroupBytes;
  return {args, row, row + kRows < args.row_end ? row + kRows : args.row_end, begin,
          stop < all ? stop : all};
}

// T tokens times the rows of a panel. A short panel's results pass through a whole one.
template <class Kernel, int T>
__attribute__((noinline)) void run_tile(const MatmulArgs& args, const ActivationLayout& layout,
                                        const Panel& panel, int first_token) noexcept {
  constexpr int kRows = Kernel::kVectors * kRows8;
  const std::byte* x[T];
  for (int t = 0; t < T; ++t)
    x[t] = token_at(args, first_token + t);
  float* const y = args.y + first_token * args.y_stride + panel.row;
  const bool is_short = panel.rows < kRows;
  const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(is_short ? panel.rows : kRows);
  if (panel.group == 0) {
    for (int t = 0; t < T; ++t)
      __builtin_memset(y + t * args.y_stride, 0, bytes);
  }
  alignas(64) float whole[T * kRows];
  if (is_short) {
    __builtin_memset(whole, 0, sizeof whole);
    for (int t = 0; t < T; ++t)
      __builtin_memcpy(whole + t * kRows, y + t * args.y_stride, bytes);
  }
  Kernel::template multiply<T>(panel, layout, x,
                               is_short ? Chains{whole, kRows} : Chains{y, args.y_stride});
  if (!is_short) return;
  for (int t = 0; t < T; ++t)
    __builtin_memcpy(y + t * args.y_stride, whole + t * kRows, bytes);
}

template <class Kernel>
inline void run_tokens(const MatmulArgs& args, const ActivationLayout& layout, const Panel& panel,
                       int begin, int end) noexcept {
  constexpr int kTile = Kernel::kTokens;
  Ahead ahead = ahead_of<Kernel>(args, layout, panel);
  const int share = ahead.lines() / ((end - begin + kTile - 1) / kTile) + 1;
  int t = begin;
  for (; t + kTile <= end; t += kTile) {
    ahead.fetch(share);
    run_tile<Kernel, kTile>(args, layout, panel, t);
  }
  ahead.fetch(share);
  for (; t + 3 <= end; t += 3)
    run_tile<Kernel, 3>(args, layout, panel, t);
  if (t + 2 == end) return run_tile<Kernel, 2>(args, layout, panel, t);
  if (t + 1 == end) run_tile<Kernel, 1>(args, layout, panel, t);
}

// Kernel: kVectors of eight rows, kTokens of a tile, kGroups of a slice, kGroupBytes of 256 weights
// of a row (kGroupBytes / 8 of 32), kBytes of the panel, kReadsWide values; unpack(rows, layout,
// panel, out) for one vector's rows; multiply<T>(panel, layout, x, chains), which adds the slice's
// links to the chains.
template <class Kernel>
inline void run_panels(const MatmulArgs& args) noexcept {
  constexpr int kRows = Kernel::kVectors * kRows8;
  alignas(64) std::byte codes[Kernel::kBytes];
  const ActivationLayout layout = activation_layout(args.width);
  int block = static_cast<int>(kTokenBytes / token_bytes<Kernel>(layout)) / Kernel::kTokens *
              Kernel::kTokens;
  if (block < 32) block = 8 * Kernel::kTokens;
  for (int begin = 0; begin < args.n_tokens; begin += block) {
    const int end = args.n_tokens - begin < block ? args.n_tokens : begin + block;
    for (int row = args.row_begin; row < args.row_end; row += kRows) {
      Panel panel = {.codes = codes, .row = row, .rows = args.row_end - row};
      for (int g = 0; g < layout.groups; g += Kernel::kGroups) {
        const int left = layout.groups - g;
        panel.group = g;
        panel.groups = left < Kernel::kGroups ? left : Kernel::kGroups;
        for (int v = 0; v < Kernel::kVectors; ++v) {
          RowPointers rows;
          for (int i = 0; i < kRows8; ++i) {
            const int r = row + kRows8 * v + i;
            rows[i] = row_at(args, r < args.row_end ? r : args.row_end - 1);
          }
          Kernel::unpack(rows, layout, panel, codes + kVectorBytes * v);
        }
        run_tokens<Kernel>(args, layout, panel, begin, end);
      }
    }
  }
}

}  // namespace
}  // namespace wick
