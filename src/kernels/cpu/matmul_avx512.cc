// The table of what AVX-512 brings: rows for a few tokens, panels for many, floats in sixteen
// lanes.
//
// With WICK_SIMDE this file compiles into emulated instructions and another name of its one
// function, for the tests on processors without AVX-512.
// Hot: all of it.
#include "kernels/cpu/avx512.h"
#include "kernels/cpu/matmul_isa.h"
#include "kernels/cpu/panel_avx512.h"
#include "kernels/cpu/peak_body.h"
#include "kernels/cpu/rows32_avx512.h"
#include "kernels/cpu/rows_k_avx512.h"

namespace wick {
namespace {

struct F32Row {
  static constexpr int kBytes = 4;

  static __m512 load(const std::byte* at) noexcept { return _mm512_loadu_ps(at); }
};

struct F16Row {
  static constexpr int kBytes = 2;

  static __m512 load(const std::byte* at) noexcept { return _mm512_cvtph_ps(load256(at)); }
};

struct BF16Row {
  static constexpr int kBytes = 2;

  static __m512 load(const std::byte* at) noexcept {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(load256(at)), 16));
  }
};

// The last n < 16 values, continued with zeros.
template <class Row>
inline __m512 load_tail(const std::byte* at, int n) noexcept {
  alignas(64) std::byte padded[64] = {};
  __builtin_memcpy(padded, at, static_cast<std::size_t>(n) * Row::kBytes);
  return Row::load(padded);
}

// (i, i+8), (i, i+4), (i, i+2), (0, 1).
inline float total(__m512 acc) noexcept {
  const __m512i bits = _mm512_castps_si512(acc);
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(acc),
                                     _mm256_castsi256_ps(_mm512_extracti64x4_epi64(bits, 1)));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// R rows times T tokens: the chain of one row is slower than memory for 2-byte weights.
template <class Row, int T, int R>
inline void multiply_rows(const MatmulArgs& args, const RowBatch<R>& rows,
                          const std::byte* const (&x)[T], int first) noexcept {
  __m512 acc[R][T];
  for (int i = 0; i < R; ++i) {
    for (int t = 0; t < T; ++t)
      acc[i][t] = _mm512_setzero_ps();
  }
  for (int k = 0; k < args.width; k += 16) {
    const int left = args.width - k;
    __m512 v[T];
    for (int t = 0; t < T; ++t) {
      const std::byte* at = x[t] + std::ptrdiff_t{k} * 4;
      v[t] = left >= 16 ? F32Row::load(at) : load_tail<F32Row>(at, left);
    }
    for (int i = 0; i < R; ++i) {
      const std::byte* at = rows.at[i] + std::ptrdiff_t{k} * Row::kBytes;
      const __m512 w = left >= 16 ? Row::load(at) : load_tail<Row>(at, left);
      for (int t = 0; t < T; ++t)
        acc[i][t] = _mm512_fmadd_ps(w, v[t], acc[i][t]);
    }
  }
  for (int i = 0; i < R; ++i) {
    for (int t = 0; t < T; ++t)
      args.y[(first + t) * args.y_stride + rows.row[i]] = total(acc[i][t]);
  }
}

template <class Row>
struct FloatKernel {
  template <int T>
  static void run(const MatmulArgs& args, const Pass& pass) noexcept {
    const std::byte* x[T];
    for (int t = 0; t < T; ++t)
      x[t] = token_at(args, pass.first + t);
    constexpr int kFloatRows = 4;
    for_batches<kFloatRows>(args, pass, [&](const RowBatch<kFloatRows>& rows) {
      multiply_rows<Row, T, kFloatRows>(args, rows, x, pass.first);
    });
  }
};

// A few tokens by rows, from kFrom on by panels (docs/kernels/q4_1.md).
template <class Rows, class Panels, int kFrom>
void product(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kFrom) return run_panels<Panels>(args);
  run_passes<Rows>(args);
}

std::uint64_t peak_avx512(std::uint64_t rounds) noexcept {
  const __m512i quants = _mm512_set1_epi8(1);
  return products_of<__m512i>(rounds, [&quants](__m512i& sum) {
    sum = _mm512_dpbusd_epi32(sum, quants, quants);
    pin512(sum);
  });
}

template <class Format, class Quants>
constexpr MatmulFn kBlocks32 = product<Rows8Kernel<Format, Quants>, Panel512<Format>, 5>;
template <class Format>
constexpr MatmulFn kSuperBlocks = product<SuperBlockKernel<Format>, SuperPanel512<Format>, 4>;

}  // namespace

#ifdef WICK_SIMDE
MatmulOverrides matmul_overrides_simde() noexcept {
#else
MatmulOverrides matmul_overrides_avx512() noexcept {
#endif
  return {.quantize = quantize_avx2,
          .peak = peak_avx512,
          .f32 = run_passes<FloatKernel<F32Row>>,
          .f16 = run_passes<FloatKernel<F16Row>>,
          .bf16 = run_passes<FloatKernel<BF16Row>>,
          .q4_0 = kBlocks32<Q4_0, FourBits>,
          .q4_1 = kBlocks32<Q4_1, FourBits>,
          .q5_0 = kBlocks32<Q5_0, FourBits>,
          .q5_1 = kBlocks32<Q5_1, FourBits>,
          .q8_0 = kBlocks32<Q8_0, EightBits>,
          .q2_k = kSuperBlocks<Q2_K>,
          .q3_k = kSuperBlocks<Q3_K>,
          .q4_k = kSuperBlocks<Q4_K>,
          .q5_k = kSuperBlocks<Q5_K>,
          .q6_k = kSuperBlocks<Q6_K>,
          .iq4_nl = kBlocks32<IQ4_NL, FourBits>,
          .iq4_xs = kSuperBlocks<IQ4_XS>,
          .mxfp4 = kBlocks32<MXFP4, FourBits>};
}

}  // namespace wick
