// Formats with blocks of 32 times quantised activations, for AVX2 and, in its 256-bit form,
// AVX-512; the including file brings the formats. Included by *_avx2.cc and *_avx512.cc only.
//
// The order of docs/numerics.md is a chain: g = fma(d_j, float(k_j * S_j), g), then for formats
// with a minimum g = fma(m_j, float(k_j * B_j), g), over the blocks j of a group; then acc =
// fma(unit, g, acc) over the groups. A chain has one live value, so eight rows run side by side,
// one in each lane. But eight short rows must not be read side by side: that breaks the stream that
// the memory system prefetches. So each batch of eight rows has two phases:
//
//   1. Row after row, in address order: the exact integers of eight blocks come out of one tree of
//      adds as eight lanes, and go to a scratch table in the first-level cache, with the blocks'
//      scales beside them.
//   2. Group after group: 8 x 8 transposes turn "lane = block" into "lane = row", and the chains
//   run.
//
// Rows wider than slice_limit groups take both phases slice by slice; that costs a third of the
// speed from memory, so slices are as wide as the scratch allows. Integers are exact, so neither
// the tree nor the slices matter to the result.
//
//   struct Q4_0 {
//     using Block = BlockQ4_0;               // starts with d, or d and m
//     using Codes = FourBits;                // load<Block, N, whole>(blocks, n), sums<N>(group)
//     static constexpr bool kHasMin = false;
//     static constexpr float kOffset = 8;    // codes are stored as q + kOffset
//   };
//
// Codes::sums<N> gives k * sum(code * p) of N = 2, 4 or 8 blocks, block j in lane kLane[j].
#pragma once

#include "kernels/cpu/matmul_avx2.h"
#include "quant/blocks.h"

namespace wick {
namespace {  // NOLINT(google-build-namespaces): internal on purpose, see matmul_avx2.h

constexpr int kRows = 8;

// Groups in a slice at most: 16384 values with one token, 4096 with four; at most 32 KiB of
// scratch.
constexpr int slice_limit(int n_tokens) noexcept {
  return n_tokens == 1 ? 64 : 32 - 4 * n_tokens;
}

// What phase 1 leaves for phase 2, of one group: [row][block of the group]. Scales are d, or d and
// m as the low and the high half of a dword.
template <int T>
struct alignas(32) Scratch {
  std::int32_t sums[T][kRows][8];
  std::uint32_t scales[kRows][8];
};

// The first four bytes of eight blocks of Q4_1: 5 dwords a block, so the headers lie at dwords
// 0, 5, 10, … 35: no two in the same lane of the five vectors. Blends collect them, lane l has
// block 5 l mod 8.
inline __m256i q4_1_headers(const std::byte* at) noexcept {
  __m256i h = _mm256_blend_epi32(load256(at), load256(at + 32), 0x84);
  h = _mm256_blend_epi32(h, load256(at + 64), 0x10);
  h = _mm256_blend_epi32(h, load256(at + 96), 0x42);
  return _mm256_blend_epi32(h, load256(at + 128), 0x08);
}

template <class Format>
constexpr int scale_lane(int j) noexcept {
  return sizeof(typename Format::Block) == sizeof(BlockQ4_1) ? 5 * j % 8 : j;
}

template <class Format>
inline void store_scales(const std::byte* at, int n, std::uint32_t* out) noexcept {
  if constexpr (sizeof(typename Format::Block) == sizeof(BlockQ4_1)) {
    if (n == 8) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(out), q4_1_headers(at));
      return;
    }
  }
  for (int j = 0; j < n; ++j, at += sizeof(typename Format::Block)) {
    out[scale_lane<Format>(j)] =
        Format::kHasMin ? load_as<std::uint32_t>(at) : load_as<std::uint16_t>(at);
  }
}

// Phase 1 for one row and one group; the blocks beyond n (n <= N) count as zeros.
template <class Format, int T, int N, bool kIsWhole>
inline void sum_group(const std::byte* at, int n, const Activations<T>& x, int g, int r,
                      Scratch<T>& out) noexcept {
  using Block = typename Format::Block;
  using Codes = typename Format::Codes;
  const Codes codes =
      Codes::template load<Block, N, kIsWhole>(reinterpret_cast<const Block*>(at), n);
  for (int t = 0; t < T; ++t) {
    const Group group = x.group(t, g);
    _mm256_store_si256(reinterpret_cast<__m256i*>(out.sums[t][r]), codes.template sums<N>(group));
  }
  store_scales<Format>(at, n, out.scales[r]);
}

template <class Format, int T>
inline void sum_group(const std::byte* at, int n, std::ptrdiff_t ahead, const Activations<T>& x,
                      int g, int r, Scratch<T>& out) noexcept {
  constexpr int kBytes = 8 * static_cast<int>(sizeof(typename Format::Block));
  for (int l = 0; l < kBytes; l += 64)
    prefetch_ahead(at + l, ahead);
  if (n == 8) {
    sum_group<Format, T, 8, true>(at, 8, x, g, r, out);
  } else if (n > 4) {
    sum_group<Format, T, 8, false>(at, n, x, g, r, out);
  } else if (n > 2) {
    sum_group<Format, T, 4, false>(at, n, x, g, r, out);
  } else {
    sum_group<Format, T, 2, false>(at, n, x, g, r, out);
  }
}

// out[j] lane r = in[r][j].
inline void transpose(const void* in, __m256 (&out)[8]) noexcept {
  const float* at = static_cast<const float*>(in);
  const auto pair = [at](int r, int half) {
    const __m128 low = _mm_load_ps(at + 8 * r + 4 * half);
    return _mm256_insertf128_ps(_mm256_castps128_ps256(low),
                                _mm_load_ps(at + 8 * (r + 4) + 4 * half), 1);
  };
  for (int half = 0; half < 2; ++half) {
    const __m256 r0 = pair(0, half), r1 = pair(1, half), r2 = pair(2, half), r3 = pair(3, half);
    const __m256 a = _mm256_unpacklo_ps(r0, r1), b = _mm256_unpackhi_ps(r0, r1);
    const __m256 c = _mm256_unpacklo_ps(r2, r3), d = _mm256_unpackhi_ps(r2, r3);
    out[4 * half] = _mm256_shuffle_ps(a, c, 0x44);
    out[4 * half + 1] = _mm256_shuffle_ps(a, c, 0xee);
    out[4 * half + 2] = _mm256_shuffle_ps(b, d, 0x44);
    out[4 * half + 3] = _mm256_shuffle_ps(b, d, 0xee);
  }
}

struct Scales {
  __m256 d[8];
  __m256 m[8];
};

// [row][block] dwords of halves → per block eight rows of floats.
template <bool kHasMin>
inline void widen_scales(const std::uint32_t (&in)[kRows][8], Scales& out) noexcept {
  const __m256i split = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1,
                                         4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  __m256 dwords[8];
  transpose(in, dwords);
  for (int j = 0; j < 8; ++j) {
    const __m256i halves =
        _mm256_permute4x64_epi64(_mm256_shuffle_epi8(_mm256_castps_si256(dwords[j]), split), 0xd8);
    out.d[j] = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
    if constexpr (kHasMin) out.m[j] = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
  }
}

// Phase 2 for one group of n blocks: acc = fma(unit, g, acc), lane = row.
template <class Format, int T>
inline void run_chains(const Scratch<T>& in, int n, const Activations<T>& x, int g,
                       __m256 (&acc)[T]) noexcept {
  Scales scales;
  widen_scales<Format::kHasMin>(in.scales, scales);
  for (int t = 0; t < T; ++t) {
    __m256 sums[8];
    transpose(in.sums[t], sums);
    const float* b = x.float_sums(t, g);
    __m256 sum = _mm256_setzero_ps();
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      if (j == n) break;
      __m256 s = _mm256_cvtepi32_ps(_mm256_castps_si256(sums[Format::Codes::kLane[j]]));
      if constexpr (Format::kOffset != 0) {  // whole numbers below 2^24: exact
        s = _mm256_fnmadd_ps(_mm256_set1_ps(Format::kOffset), _mm256_broadcast_ss(b + j), s);
      }
      const int lane = scale_lane<Format>(j);
      sum = _mm256_fmadd_ps(scales.d[lane], s, sum);
      if constexpr (Format::kHasMin) {
        sum = _mm256_fmadd_ps(scales.m[lane], _mm256_broadcast_ss(b + j), sum);
      }
    }
    acc[t] = _mm256_fmadd_ps(_mm256_set1_ps(x.unit(t, g)), sum, acc[t]);
  }
}

// Distance from a row's slice to the one that the same lane reads next, at least kAheadBytes where
// rows are one slice: then the whole matrix is one stream.
inline std::ptrdiff_t distance_ahead(std::ptrdiff_t row_bytes, std::ptrdiff_t slice_bytes,
                                     std::ptrdiff_t slice_at) noexcept {
  if (slice_at + slice_bytes < row_bytes) return slice_bytes;
  const std::ptrdiff_t next_batch = kRows * row_bytes - slice_at;
  return next_batch < kAheadBytes ? kAheadBytes : next_batch;
}

template <class Format, int T>
inline void multiply_batch(const MatmulArgs& args, const std::byte* const (&rows)[kRows],
                           const Activations<T>& x, __m256 (&acc)[T]) noexcept {
  constexpr std::ptrdiff_t kGroupBytes = 8 * sizeof(typename Format::Block);
  const int groups = x.layout.groups;
  const int blocks = x.layout.blocks;
  Scratch<T> scratch[slice_limit(T)];
  const int n_slices = (groups + slice_limit(T) - 1) / slice_limit(T);
  const int slice = (groups + n_slices - 1) / n_slices;  // even ones: each prefetches its successor
  for (int first = 0; first < groups; first += slice) {
    const int end = first + slice < groups ? first + slice : groups;
    const std::ptrdiff_t ahead = distance_ahead(static_cast<std::ptrdiff_t>(args.row_bytes),
                                                slice * kGroupBytes, first * kGroupBytes);
    for (int r = 0; r < kRows; ++r) {
      for (int g = first; g < end; ++g) {
        const int n = blocks - 8 * g < 8 ? blocks - 8 * g : 8;
        sum_group<Format, T>(rows[r] + g * kGroupBytes, n, ahead, x, g, r, scratch[g - first]);
      }
    }
    for (int g = first; g < end; ++g) {
      const int n = blocks - 8 * g < 8 ? blocks - 8 * g : 8;
      run_chains<Format, T>(scratch[g - first], n, x, g, acc);
    }
  }
}

template <class Format>
struct Blocks32Kernel {
  template <int T>
  static void run(const MatmulArgs& args, const Pass& pass) noexcept {
    const Activations<T> x = activations_of<T>(args, pass.first);
    for (int r = pass.begin; r < pass.end; r += kRows) {
      const int n = pass.end - r < kRows ? pass.end - r : kRows;
      const std::byte* rows[kRows];  // a short last batch repeats its last row
      for (int i = 0; i < kRows; ++i)
        rows[i] = row_at(args, r + (i < n ? i : n - 1));
      __m256 acc[T];
      for (int t = 0; t < T; ++t)
        acc[t] = _mm256_setzero_ps();
      multiply_batch<Format, T>(args, rows, x, acc);
      for (int t = 0; t < T; ++t) {
        alignas(32) float out[kRows];
        _mm256_store_ps(out, acc[t]);
        float* y = args.y + (pass.first + t) * args.y_stride + r;
        for (int i = 0; i < n; ++i)
          y[i] = out[i];
      }
    }
  }
};

}  // namespace
}  // namespace wick
