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
#include "kernels/cpu/rows_q4_k_avx512.h"

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

// Four lanes each of a and b: kWhich chooses two of a's, then two of b's.
template <int kWhich>
inline __m512 quarters(__m512 a, __m512 b) noexcept {
  return _mm512_castsi512_ps(
      _mm512_shuffle_i32x4(_mm512_castps_si512(a), _mm512_castps_si512(b), kWhich));
}

inline __m512 permuted(__m512 a, __m512i order) noexcept {
  return _mm512_castsi512_ps(_mm512_permutexvar_epi32(order, _mm512_castps_si512(a)));
}

// Lanes of four sums: (i, i+8), (i, i+4), (i, i+2), (0, 1) of each; lane j of the result is the
// total of sums[j]. Four are added at once, because one takes as many shuffles as all of them.
inline __m128 totals(const __m512 (&sums)[4]) noexcept {
  const auto eights = [](__m512 a, __m512 b) {  // (i, i+8): eight lanes of a, then of b
    return _mm512_add_ps(quarters<0x44>(a, b), quarters<0xee>(a, b));
  };
  const __m512 ab = eights(sums[0], sums[1]), cd = eights(sums[2], sums[3]);
  const __m512 fours = _mm512_add_ps(quarters<0x88>(ab, cd), quarters<0xdd>(ab, cd));  // (i, i+4)
  const __m512i by_two = _mm512_setr_epi32(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  const __m512i by_one = _mm512_setr_epi32(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  const __m512 twos = _mm512_add_ps(fours, permuted(fours, by_two));  // (i, i+2)
  const __m512 ones = _mm512_add_ps(twos, permuted(twos, by_one));    // (0, 1)
  const __m512i firsts = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  return _mm_castsi128_ps(_mm512_castsi512_si128(_mm512_castps_si512(permuted(ones, firsts))));
}

// R rows times T tokens: the chain of one row is slower than memory for 2-byte weights. R = 4.
template <class Row, int T, int R>
inline void multiply_rows(const MatmulArgs& args, const RowBatch<R>& rows,
                          const std::byte* const (&x)[T], int first) noexcept {
  __m512 acc[R][T];
  for (int i = 0; i < R; ++i) {
    for (int t = 0; t < T; ++t)
      acc[i][t] = _mm512_setzero_ps();
  }
  const int whole = args.width / 16 * 16;
  for (int k = 0; k < whole; k += 16) {
    __m512 v[T];
    for (int t = 0; t < T; ++t)
      v[t] = F32Row::load(x[t] + std::ptrdiff_t{k} * 4);
    for (int i = 0; i < R; ++i) {
      const __m512 w = Row::load(rows.at[i] + std::ptrdiff_t{k} * Row::kBytes);
      for (int t = 0; t < T; ++t)
        acc[i][t] = _mm512_fmadd_ps(w, v[t], acc[i][t]);
    }
  }
  if (const int left = args.width - whole; left > 0) {
    __m512 v[T];
    for (int t = 0; t < T; ++t)
      v[t] = load_tail<F32Row>(x[t] + std::ptrdiff_t{whole} * 4, left);
    for (int i = 0; i < R; ++i) {
      const __m512 w = load_tail<Row>(rows.at[i] + std::ptrdiff_t{whole} * Row::kBytes, left);
      for (int t = 0; t < T; ++t)
        acc[i][t] = _mm512_fmadd_ps(w, v[t], acc[i][t]);
    }
  }
  static_assert(R == 4);
  for (int t = 0; t < T; ++t) {
    alignas(16) float sums[R];
    _mm_store_ps(sums, totals({acc[0][t], acc[1][t], acc[2][t], acc[3][t]}));
    for (int i = 0; i < R; ++i)
      args.y[(first + t) * args.y_stride + rows.row[i]] = sums[i];
  }
}

template <class Row>
struct FloatKernel {
  template <int T>
  [[gnu::flatten]] static void run(const MatmulArgs& args, const Pass& pass) noexcept {
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
  run_passes<Rows, kFrom - 1>(args);
}

std::uint64_t peak_avx512(std::uint64_t rounds) noexcept {
  const __m512i quants = _mm512_set1_epi8(1);
  return products_of<__m512i>(rounds, [&quants](__m512i& sum) {
    sum = _mm512_dpbusd_epi32(sum, quants, quants);
    pin512(sum);
  });
}

template <class Row>
constexpr MatmulFn kFloats = run_passes<FloatKernel<Row>, 6>;  // 4 rows: 24 sums, 7 operands
template <class Format, class Quants>
constexpr MatmulFn kBlocks32 = product<Rows8Kernel<Format, Quants>, Panel512<Format>, 5>;
template <class Format>
constexpr MatmulFn kSuperBlocks = product<SuperBlockKernel<Format>, SuperPanel512<Format>, 4>;
template <class Format>
constexpr MatmulFn kNibbles = product<NibbleKernel<Format>, SuperPanel512<Format>, 4>;

}  // namespace

#ifdef WICK_SIMDE
MatmulOverrides matmul_overrides_simde() noexcept {
#else
MatmulOverrides matmul_overrides_avx512() noexcept {
#endif
  return {.quantize = quantize_avx2,
          .peak = peak_avx512,
          .f32 = kFloats<F32Row>,
          .f16 = kFloats<F16Row>,
          .bf16 = kFloats<BF16Row>,
          .q4_0 = kBlocks32<Q4_0, FourBits>,
          .q4_1 = kBlocks32<Q4_1, FourBits>,
          .q5_0 = kBlocks32<Q5_0, FourBits>,
          .q5_1 = kBlocks32<Q5_1, FourBits>,
          .q8_0 = kBlocks32<Q8_0, EightBits>,
          .q2_k = kSuperBlocks<Q2_K>,
          .q3_k = kSuperBlocks<Q3_K>,
          .q4_k = kNibbles<Q4_K>,
          .q5_k = kNibbles<Q5_K>,
          .q6_k = kSuperBlocks<Q6_K>,
          .iq4_nl = kBlocks32<IQ4_NL, FourBits>,
          .iq4_xs = kSuperBlocks<IQ4_XS>,
          .mxfp4 = kBlocks32<MXFP4, FourBits>};
}

}  // namespace wick
