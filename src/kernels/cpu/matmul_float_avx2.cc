// F32, F16 and BF16 rows times float activations. Lane k % 16 sums the products of value k in
// ascending order: two registers of eight lanes a row and token. What follows the last whole 16
// values counts as zeros.
//
// Memory bound: 4 or 2 bytes a weight, one fma for eight. One token takes four rows at a time,
// because the chain of one row (4 cycles per 16 weights) is slower than memory for 2-byte weights.
// Hot: all of it.
#include "kernels/cpu/matmul_avx2.h"

namespace wick {
namespace {

struct Lanes {
  __m256 low, high;  // lanes 0..7 and 8..15
};

struct F32Row {
  static constexpr int kBytes = 4;

  static __m256 load(const std::byte* at) noexcept {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(at));
  }
};

struct F16Row {
  static constexpr int kBytes = 2;

  static __m256 load(const std::byte* at) noexcept { return _mm256_cvtph_ps(load128(at)); }
};

struct BF16Row {
  static constexpr int kBytes = 2;

  static __m256 load(const std::byte* at) noexcept {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load128(at)), 16));
  }
};

template <class Row>
inline Lanes load_lanes(const std::byte* at) noexcept {
  return {Row::load(at), Row::load(at + 8 * Row::kBytes)};
}

// The last n < 16 values, continued with zeros.
template <class Row>
inline Lanes load_tail(const std::byte* at, int n) noexcept {
  alignas(32) std::byte padded[64] = {};
  __builtin_memcpy(padded, at, static_cast<std::size_t>(n) * Row::kBytes);
  return load_lanes<Row>(padded);
}

inline void multiply_add(Lanes& acc, const Lanes& w, const Lanes& x) noexcept {
  acc.low = _mm256_fmadd_ps(w.low, x.low, acc.low);
  acc.high = _mm256_fmadd_ps(w.high, x.high, acc.high);
}

// (i, i+8), (i, i+4), (i, i+2), (0, 1).
inline float total(const Lanes& acc) noexcept {
  const __m256 eight = _mm256_add_ps(acc.low, acc.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// R rows times T tokens.
template <class Row, int T, int R>
inline void multiply_rows(const MatmulArgs& args, const RowBatch<R>& rows,
                          const std::byte* const (&x)[T], int first) noexcept {
  Lanes acc[R][T];
  for (int i = 0; i < R; ++i) {
    for (int t = 0; t < T; ++t)
      acc[i][t] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  }
  const int whole = args.width / 16 * 16;
  for (int k = 0; k < whole; k += 16) {
    Lanes v[T];
    for (int t = 0; t < T; ++t)
      v[t] = load_lanes<F32Row>(x[t] + std::ptrdiff_t{k} * 4);
    for (int i = 0; i < R; ++i) {
      const Lanes w = load_lanes<Row>(rows.at[i] + std::ptrdiff_t{k} * Row::kBytes);
      for (int t = 0; t < T; ++t)
        multiply_add(acc[i][t], w, v[t]);
    }
  }
  if (whole < args.width) {
    for (int i = 0; i < R; ++i) {
      const Lanes w =
          load_tail<Row>(rows.at[i] + std::ptrdiff_t{whole} * Row::kBytes, args.width - whole);
      for (int t = 0; t < T; ++t) {
        const std::byte* at = x[t] + std::ptrdiff_t{whole} * 4;
        multiply_add(acc[i][t], w, load_tail<F32Row>(at, args.width - whole));
      }
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
  [[gnu::flatten]] static void run(const MatmulArgs& args, const Pass& pass) noexcept {
    constexpr int kRows = T == 1 ? 4 : T == 2 ? 2 : 1;  // more would spill the accumulators
    const std::byte* x[T];
    for (int t = 0; t < T; ++t)
      x[t] = token_at(args, pass.first + t);
    for_batches<kRows>(args, pass, [&](const RowBatch<kRows>& rows) {
      multiply_rows<Row, T, kRows>(args, rows, x, pass.first);
    });
  }
};

}  // namespace

void matmul_f32_avx2(const MatmulArgs& args) noexcept {
  run_passes<FloatKernel<F32Row>>(args);
}

void matmul_f16_avx2(const MatmulArgs& args) noexcept {
  run_passes<FloatKernel<F16Row>>(args);
}

void matmul_bf16_avx2(const MatmulArgs& args) noexcept {
  run_passes<FloatKernel<BF16Row>>(args);
}

}  // namespace wick
