// Shared by the AVX2 products: the loop over rows and tokens, and a few shuffles. Included by
// *_avx2.cc only. Everything is internal to the including file, so no function compiled for AVX2
// can run on a processor without it (docs/ARCHITECTURE.md, "ISA dispatch"). Hot: all of it.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/matmul_args.h"

namespace wick {

void quantize_avx2(const float* x, const ActivationLayout& layout, std::byte* out) noexcept;
void matmul_f32_avx2(const MatmulArgs& args) noexcept;
void matmul_f16_avx2(const MatmulArgs& args) noexcept;
void matmul_bf16_avx2(const MatmulArgs& args) noexcept;
void matmul_q4_0_avx2(const MatmulArgs& args) noexcept;
void matmul_q4_1_avx2(const MatmulArgs& args) noexcept;
void matmul_q5_0_avx2(const MatmulArgs& args) noexcept;
void matmul_q5_1_avx2(const MatmulArgs& args) noexcept;
void matmul_q8_0_avx2(const MatmulArgs& args) noexcept;
void matmul_q2_k_avx2(const MatmulArgs& args) noexcept;
void matmul_q3_k_avx2(const MatmulArgs& args) noexcept;
void matmul_q4_k_avx2(const MatmulArgs& args) noexcept;
void matmul_q5_k_avx2(const MatmulArgs& args) noexcept;
void matmul_q6_k_avx2(const MatmulArgs& args) noexcept;
void matmul_iq4_nl_avx2(const MatmulArgs& args) noexcept;
void matmul_iq4_xs_avx2(const MatmulArgs& args) noexcept;
void matmul_mxfp4_avx2(const MatmulArgs& args) noexcept;

// The same products by panels (panel_avx2.h), for many tokens.
void panel_q4_0_avx2(const MatmulArgs& args) noexcept;
void panel_q4_1_avx2(const MatmulArgs& args) noexcept;
void panel_q5_0_avx2(const MatmulArgs& args) noexcept;
void panel_q5_1_avx2(const MatmulArgs& args) noexcept;
void panel_q8_0_avx2(const MatmulArgs& args) noexcept;
void panel_q2_k_avx2(const MatmulArgs& args) noexcept;
void panel_q3_k_avx2(const MatmulArgs& args) noexcept;
void panel_q4_k_avx2(const MatmulArgs& args) noexcept;
void panel_q5_k_avx2(const MatmulArgs& args) noexcept;
void panel_q6_k_avx2(const MatmulArgs& args) noexcept;
void panel_iq4_nl_avx2(const MatmulArgs& args) noexcept;
void panel_iq4_xs_avx2(const MatmulArgs& args) noexcept;
void panel_mxfp4_avx2(const MatmulArgs& args) noexcept;

// Defined with the layout in activation.cc, which is compiled for every processor.
ActivationLayout activation_layout(int width, bool has_int16 = true) noexcept;

namespace {  // internal on purpose, see above

constexpr int kPassTokens = 4;  // more would spill the accumulators
// From here on panels are faster, also from memory, where the passes' streams are worth more to few
// tokens (measured: EPYC Zen 3, `bench_matmul --tokens 5` to 12 with --kib 256 and 65536).
constexpr int kPanelTokens = 8;                     // blocks of 32
constexpr int kPanelTokensSuper = kPassTokens + 1;  // super-blocks
constexpr std::size_t kChunkBytes = 96 * 1024;      // of weights, to stay in the second-level cache

inline const std::byte* row_at(const MatmulArgs& args, int r) noexcept {
  const std::ptrdiff_t at = args.row_map == nullptr ? r : args.row_map[r];
  return args.w + at * static_cast<std::ptrdiff_t>(args.row_bytes);
}

inline const std::byte* token_at(const MatmulArgs& args, int t) noexcept {
  return args.x + static_cast<std::size_t>(t) * args.x_stride;
}

inline __m256i load256(const void* at) noexcept {
  return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}

inline __m128i load128(const void* at) noexcept {
  return _mm_loadu_si128(static_cast<const __m128i*>(at));
}

// The same 16 bytes in both halves.
inline __m256i load_twice(const void* at) noexcept {
  return _mm256_broadcastsi128_si256(load128(at));
}

template <class T>
inline T load_as(const void* at) noexcept {
  T value;
  __builtin_memcpy(&value, at, sizeof value);
  return value;
}

// Two vectors that each hold 16-bit or 32-bit partial sums → one with half as many of each.
template <int kBits>
inline __m256i add(__m256i a, __m256i b) noexcept {
  return kBits == 16 ? _mm256_add_epi16(a, b) : _mm256_add_epi32(a, b);
}

template <int kBits>
inline __m256i merge_two(__m256i a, __m256i b) noexcept {  // dwords of each half: a b a b
  return add<kBits>(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}

template <int kBits>
inline __m256i merge_four(__m256i ab, __m256i cd) noexcept {  // a b c d
  return add<kBits>(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
}

template <int kBits>
inline __m256i merge_halves(__m256i low, __m256i high) noexcept {  // a b c d e f g h
  return add<kBits>(_mm256_blend_epi32(low, high, 0xf0),
                    _mm256_permute2x128_si256(low, high, 0x21));
}

// A table of 16 bytes, each plus `offset`, in both halves: for vpshufb.
inline __m256i table_plus(const std::int8_t* table, int offset) noexcept {
  return _mm256_add_epi8(load_twice(table), _mm256_set1_epi8(static_cast<char>(offset)));
}

// The activations of one group of one token, by ActivationLayout.
struct Group {
  const std::byte* block_scales;
  const std::byte* block_scale_pairs;
  const std::byte* sums;
  const std::byte* half_sums;
  const std::byte* word_compensations;
  const std::byte* values;
};

// The activations of T tokens.
template <int T>
struct Activations {
  ActivationLayout layout;
  const std::byte* rows[T];

  Group group(int t, int g) const noexcept {
    const std::byte* row = rows[t];
    const auto at = static_cast<std::size_t>(g);
    return {.block_scales = row + layout.block_scales + 16 * at,
            .block_scale_pairs = row + layout.block_scale_pairs + 32 * at,
            .sums = row + layout.sums + 16 * at,
            .half_sums = row + layout.half_sums + 32 * at,
            .word_compensations = row + layout.word_compensations + 32 * at,
            .values = row + layout.values + 256 * at};
  }

  float group_scale(int t, int g) const noexcept {
    return load_as<float>(rows[t] + layout.group_scales + 4 * static_cast<std::size_t>(g));
  }

  const float* float_sums(int t, int g) const noexcept {
    return reinterpret_cast<const float*>(rows[t] + layout.float_sums) + 8 * std::ptrdiff_t{g};
  }
};

template <int T>
inline Activations<T> activations_of(const MatmulArgs& args, int first_token) noexcept {
  Activations<T> x = {.layout = activation_layout(args.width), .rows = {}};
  for (int t = 0; t < T; ++t)
    x.rows[t] = token_at(args, first_token + t);
  return x;
}

// Rows [begin, end) times tokens [first, first + count).
struct Pass {
  int begin = 0, end = 0;
  int first = 0;
};

// R rows that are computed together.
template <int R>
struct RowBatch {
  const std::byte* at[R];
  int row[R];  // of the product; a short batch repeats its last row
};

// Calls f(batch) for all rows of the pass. The rows of a batch are an R-th of the pass apart, so
// the weights are R streams, each read in address order. The memory system fetches streams ahead,
// and one alone does not fill it: a Zen 3 thread reads 13.5 GB/s in one, 20 GB/s in eight. Adjacent
// rows would be one stream read in jumps, which is slower still.
template <int R, class F>
inline void for_batches(const MatmulArgs& args, const Pass& pass, F f) noexcept {
  const auto batch = [&](int first, int step) {
    RowBatch<R> rows;
    for (int i = 0; i < R; ++i) {
      const int r = first + i * step;
      rows.row[i] = r < pass.end ? r : pass.end - 1;
      rows.at[i] = row_at(args, rows.row[i]);
    }
    f(rows);
  };
  const int step = (pass.end - pass.begin) / R;
  for (int r = pass.begin; r < pass.begin + step; ++r)
    batch(r, step);
  for (int r = pass.begin + R * step; r < pass.end; r += R)
    batch(r, 1);
}

// Kernel::run<T>(args, pass) for the largest T <= kMost of `left` tokens. run() is
// [[gnu::flatten]]: what g++ does not inline by itself empties the vector registers at each call,
// which takes up to two thirds of the speed (tests/kernel_loops_test.py).
template <class Kernel, int kMost>
inline void run_pass(const MatmulArgs& args, const Pass& pass, int left) noexcept {
  if constexpr (kMost > 1) {
    if (left < kMost) return run_pass<Kernel, kMost - 1>(args, pass, left);
  }
  Kernel::template run<kMost>(args, pass);
}

// Calls Kernel::run<T>(args, pass) for passes of T <= kMost tokens. So few tokens read the rows
// once, in address order. More tokens take the rows in chunks that stay in the cache while all
// tokens pass.
template <class Kernel, int kMost = kPassTokens>
inline void run_passes(const MatmulArgs& args) noexcept {
  int chunk = args.row_end - args.row_begin;
  if (args.n_tokens > kMost) {
    chunk = static_cast<int>(kChunkBytes / (args.row_bytes + 1)) / 8 * 8;
    if (chunk < 8) chunk = 8;
  }
  for (int begin = args.row_begin; begin < args.row_end; begin += chunk) {
    const int end = args.row_end - begin < chunk ? args.row_end : begin + chunk;
    for (int first = 0; first < args.n_tokens; first += kMost) {
      run_pass<Kernel, kMost>(args, {.begin = begin, .end = end, .first = first},
                              args.n_tokens - first);
    }
  }
}

}  // namespace
}  // namespace wick
