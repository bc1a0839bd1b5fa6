// Products with many tokens: the weights of sixteen rows unpack once into a panel, which then meets
// every token. Included by *_avx2.cc only; internal to the file that includes it, as matmul_avx2.h.
//
// A panel holds a slice of up to four groups of 256 weights of sixteen rows, two vectors of eight,
// as unpack_avx2.h brings them; or of eight rows, where codes take two planes of bits. Four weights
// of a row lie in a dword, so vpmaddubsw with four values of a token, broadcast as a dword, leaves
// two 16-bit sums in each row's lane; they add up without a shuffle, and one vpmaddwd makes them
// the row's 32-bit integer. Then one conversion and the fma of the chain serve eight rows
// (docs/numerics.md: integers are exact, so only the order of the chain matters, and that is the
// one of the passes).
//
// Bounds: codes are unsigned and p is -127..127, so one vpmaddubsw is at most 2 * c * 127 for codes
// up to c. Eight fit 16 bits for c = 15 (30480). Larger codes are summed centred, c - 16 or c - 32:
// the sums start at minus the offset times the values (start()), adds wrap around, the end is
// exact.
//
// A tile is two vectors of codes times four tokens: eight sums, two codes, a broadcast and a
// product in sixteen registers. The slice stays in the first-level cache (kPanelBytes) and a block
// of tokens in the second (kTokenBytes) while all rows pass; the chain goes on from slice to slice
// in y. While a panel is multiplied, the next one's weights are on their way (Ahead).
//
// Cost for 256 products of Q4_1 (32 weights of eight rows, one token): 8 vpmaddubsw, 7 adds, a
// vpmaddwd, a conversion, two fma and seven loads in all: bound by the vector pipes, 28 products a
// cycle on Zen 3. Unpacking them takes 60 instructions, once for a block of tokens.
#pragma once

#include "kernels/cpu/unpack_avx2.h"

namespace wick {
namespace {  // NOLINT(google-build-namespaces): internal on purpose, see matmul_avx2.h

constexpr int kTileTokens = 4;
constexpr std::ptrdiff_t kVectorBytes = 32;
constexpr std::ptrdiff_t kPair = 2 * kVectorBytes;
constexpr std::size_t kPanelBytes = 24 * 1024;   // of the first-level cache's 32 KiB
constexpr std::size_t kTokenBytes = 256 * 1024;  // of activations, in the second-level cache

// A slice of groups [group, group + groups) of the product's rows [row, row + rows), unpacked.
struct Panel {
  const std::byte* codes = nullptr;
  int row = 0, rows = 0;  // the panel's or fewer; a short panel repeats the last row
  int group = 0, groups = 0;
};

// Keeps a value in a register at this point of the program: without it g++ 12 reorders the adds of
// dot() and spills (67 GMAC/s instead of 99, Q4_1).
inline void pin(__m256i& v) noexcept {
  __asm__("" : "+x"(v));
}

inline void store256(std::byte* at, __m256i v) noexcept {
  _mm256_store_si256(reinterpret_cast<__m256i*>(at), v);
}

inline void store256(std::byte* at, __m256 v) noexcept {
  _mm256_store_ps(reinterpret_cast<float*>(at), v);
}

inline __m256 load_floats(const std::byte* at) noexcept {
  return _mm256_load_ps(reinterpret_cast<const float*>(at));
}

// The 16-bit sums of kSteps vectors of codes times their values, for two vectors `w` and T tokens.
// w: [kSteps][2] vectors. The sums of those vectors that kStarted has a bit for go on from what is
// in them.
template <int kSteps, int T, unsigned kStarted>
inline void dot(const std::byte* w, const std::byte* const (&values)[T], std::ptrdiff_t at,
                __m256i (&sums)[2][T]) noexcept {
#pragma GCC unroll 8
  for (int i = 0; i < kSteps; ++i) {
    const __m256i w0 = load256(w + i * kPair);
    const __m256i w1 = load256(w + i * kPair + kVectorBytes);
#pragma GCC unroll 4
    for (int t = 0; t < T; ++t) {
      const __m256i p = _mm256_set1_epi32(load_as<int>(values[t] + at + 4 * i));
      const __m256i s0 = _mm256_maddubs_epi16(w0, p), s1 = _mm256_maddubs_epi16(w1, p);
      sums[0][t] = i == 0 && (kStarted & 1) == 0 ? s0 : _mm256_add_epi16(sums[0][t], s0);
      sums[1][t] = i == 0 && (kStarted & 2) == 0 ? s1 : _mm256_add_epi16(sums[1][t], s1);
      pin(sums[0][t]);
      pin(sums[1][t]);
    }
  }
}

// The sums of those vectors that kStarted has a bit for start at the two words of each token at
// `at`.
template <int T, unsigned kStarted>
inline void start(const std::byte* const (&words)[T], std::ptrdiff_t at,
                  __m256i (&sums)[2][T]) noexcept {
#pragma GCC unroll 4
  for (int t = 0; t < T; ++t) {
    const __m256i both = _mm256_set1_epi32(load_as<int>(words[t] + at));
    if constexpr ((kStarted & 1) != 0) sums[0][t] = both;
    if constexpr ((kStarted & 2) != 0) sums[1][t] = both;
  }
}

// vpmaddubsw cannot take codes of 8 bits: a product of two may be 2 * 255 * 127. So q + 128 is two
// planes of nibbles, each with the bounds of a 4-bit format: low, and high + 8, whose sums start at
// -16 times the values. Then S = low + 16 * high, the offset taken off. Four instructions for 32
// products; 16-bit codes and vpmaddwd would take the same four and twice the bytes of x.
inline void store_planes(std::byte* to, __m256i codes) noexcept {
  store256(to, low_nibbles(codes));
  store256(to + kVectorBytes, _mm256_add_epi8(high_nibbles(codes), _mm256_set1_epi8(8)));
}

// Eight floats of y; only the first `count` exist.
inline __m256 load_results(const float* y, int count) noexcept {
  if (count >= kRows8) return _mm256_loadu_ps(y);
  alignas(32) float v[kRows8] = {};
  for (int i = 0; i < count; ++i)
    v[i] = y[i];
  return _mm256_load_ps(v);
}

inline void store_results(float* y, int count, __m256 value) noexcept {
  if (count >= kRows8) return _mm256_storeu_ps(y, value);
  alignas(32) float v[kRows8];
  _mm256_store_ps(v, value);
  for (int i = 0; i < count; ++i)
    y[i] = v[i];
}

// What a tile computes: T tokens times the rows of a panel.
template <class Kernel, int T>
__attribute__((noinline)) void run_tile(const MatmulArgs& args, const ActivationLayout& layout,
                                        const Panel& panel, int first_token) noexcept {
  const std::byte* x[T];
  for (int t = 0; t < T; ++t)
    x[t] = token_at(args, first_token + t);
  float* const y = args.y + first_token * args.y_stride + panel.row;
  __m256 acc[Kernel::kVectors][T];
  for (int t = 0; t < T; ++t) {
    for (int v = 0; v < Kernel::kVectors; ++v) {
      acc[v][t] = panel.group == 0
                      ? _mm256_setzero_ps()
                      : load_results(y + t * args.y_stride + kRows8 * v, panel.rows - kRows8 * v);
    }
  }
  Kernel::template multiply<T>(panel, layout, x, acc);
  for (int t = 0; t < T; ++t) {
    for (int v = 0; v < Kernel::kVectors; ++v)
      store_results(y + t * args.y_stride + kRows8 * v, panel.rows - kRows8 * v, acc[v][t]);
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

template <class Kernel>
inline void run_tokens(const MatmulArgs& args, const ActivationLayout& layout, const Panel& panel,
                       int begin, int end) noexcept {
  Ahead ahead = ahead_of<Kernel>(args, layout, panel);
  const int share = ahead.lines() / ((end - begin + kTileTokens - 1) / kTileTokens) + 1;
  int t = begin;
  for (; t + kTileTokens <= end; t += kTileTokens) {
    ahead.fetch(share);
    run_tile<Kernel, kTileTokens>(args, layout, panel, t);
  }
  ahead.fetch(share);
  switch (end - t) {
    case 3:
      return run_tile<Kernel, 3>(args, layout, panel, t);
    case 2:
      return run_tile<Kernel, 2>(args, layout, panel, t);
    case 1:
      return run_tile<Kernel, 1>(args, layout, panel, t);
    default:
      return;
  }
}

// Kernel: kVectors of eight rows, kGroups of a slice, kGroupBytes of 256 weights of a row
// (kGroupBytes / 8 of 32), kBytes of the panel; unpack(rows, layout, panel, out) for one vector's
// rows; multiply<T>(panel, layout, x, acc), which adds the slice's links to
// the chains acc[vector][token].
template <class Kernel>
inline void run_panels(const MatmulArgs& args) noexcept {
  static_assert(Kernel::kBytes <= kPanelBytes);
  constexpr int kRows = Kernel::kVectors * kRows8;
  alignas(64) std::byte codes[Kernel::kBytes];
  const ActivationLayout layout = activation_layout(args.width);
  int block = static_cast<int>(kTokenBytes / layout.bytes) / kTileTokens * kTileTokens;
  if (block < 32) block = 32;
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
