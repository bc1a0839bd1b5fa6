// AVX-512 products: the integers of Q4_0, Q4_1, Q8_0, Q4_K and Q6_K by vpdpbusd, floats in sixteen
// lanes. The walk over rows and the f32 operations are those of AVX2, in 256 bits; formats without
// a kernel here take AVX2's.
//
// vpdpbusd adds four products to each lane in 32 bits, so nothing saturates on the way; packs to 16
// bits hold at most 4 * 15 * 127 = 7620 (Q4_K) and 4 * 63 * 127 = 32004 (Q6_K).
//
// With WICK_SIMDE this file compiles into emulated instructions and another name of its one
// function, for the tests on processors without AVX-512.
#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 warns about its own _mm512_undefined_epi32(), which is meant to be uninitialised (bug
// 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#ifdef WICK_SIMDE
#include "kernels/cpu/simde_avx512.h"
#endif

#include "kernels/cpu/matmul_isa.h"
#include "kernels/cpu/rows8_avx2.h"
#include "kernels/cpu/super_blocks_avx2.h"

namespace wick {
namespace {

inline __m512i load512(const void* at) noexcept {
  return _mm512_loadu_si512(at);
}

inline __m256i add_halves(__m512i v) noexcept {
  return _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
}

// k times the sums of eight rows.
inline __m256i times_factor(__m256i sums, const BlockValues& x) noexcept {
  return _mm256_mullo_epi32(sums, _mm256_srai_epi32(x.factors(), 16));
}

// At most 32 * 15 * 127 = 60,960 before the factor.
struct FourBits {
  static constexpr int kCentre = 0;
  FourBitCodes codes;

  template <class Format>
  static FourBits load(const RowPointers& rows, std::ptrdiff_t at) noexcept {
    return {FourBitCodes::load<Format>(rows, at)};
  }

  __m256i sums(const BlockValues& x) const noexcept {
    const __m256i first = load_twice(x.values), second = load_twice(x.values + 16);
    const auto row_pair = [&](int i) {
      const __m256i low = _mm256_dpbusd_epi32(_mm256_setzero_si256(), codes.low[i], first);
      return _mm256_dpbusd_epi32(low, codes.high[i], second);
    };
    const __m256i all = merge_four<32>(merge_two<32>(row_pair(0), row_pair(1)),
                                       merge_two<32>(row_pair(2), row_pair(3)));
    return times_factor(all, x);
  }
};

// Signed bytes as unsigned ones, offset by 128.
struct EightBits {
  static constexpr int kCentre = 0;
  __m256i codes[kRows8];

  template <class Format>
  static EightBits load(const RowPointers& rows, std::ptrdiff_t at) noexcept {
    using Block = typename Format::Block;
    EightBits out;
    for (int i = 0; i < kRows8; ++i) {
      out.codes[i] =
          _mm256_xor_si256(load256(rows[i] + at + offsetof(Block, qs)), _mm256_set1_epi8(-128));
    }
    return out;
  }

  __m256i sums(const BlockValues& x) const noexcept {
    const __m256i values = load256(x.values);
    const auto one = [&](int i) {
      return _mm256_dpbusd_epi32(_mm256_setzero_si256(), codes[i], values);
    };
    const auto two = [&](int i) { return merge_two<32>(one(i), one(i + 1)); };
    const auto four = [&](int i) { return merge_four<32>(two(i), two(i + 2)); };
    return times_factor(merge_halves<32>(four(0), four(4)), x);
  }
};

// The word of scale * k for each of the 32 words that vpackssdw makes of two registers of sums.
inline __m512i spread_words(__m256i words, __m512i index) noexcept {
  return _mm512_permutexvar_epi16(index, _mm512_castsi256_si512(words));
}

// Words 4a..: quarter i of a register has the sums of four words `first[i]`, then of `second[i]`.
inline __m512i word_index(const int (&first)[4], const int (&second)[4]) noexcept {
  const auto twice = [](int word) { return word * 0x10001; };
  return _mm512_setr_epi32(twice(first[0]), twice(first[0]), twice(second[0]), twice(second[0]),
                           twice(first[1]), twice(first[1]), twice(second[1]), twice(second[1]),
                           twice(first[2]), twice(first[2]), twice(second[2]), twice(second[2]),
                           twice(first[3]), twice(first[3]), twice(second[3]), twice(second[3]));
}

inline __m512i dot(__m512i codes, const std::byte* values) noexcept {
  return _mm512_dpbusd_epi32(_mm512_setzero_si512(), codes, load512(values));
}

template <>
struct Integers<Q4_K> {
  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m256i pairs = six_bit_pairs(at);
    const __m128i scales = _mm_cvtepu8_epi16(_mm256_castsi256_si128(pairs));
    const __m128i minima = minima_words(pairs);
    // Low nibbles: blocks 0 and 2, 4 and 6; high ones: 1 and 3, 5 and 7. Bring neighbours together.
    __m512i codes[4];
    for (int i = 0; i < 2; ++i) {
      const __m512i q = load512(at + 16 + 64 * i);
      const __m512i even = _mm512_and_si512(q, nibble);
      const __m512i odd = _mm512_and_si512(_mm512_srli_epi16(q, 4), nibble);
      codes[2 * i] = _mm512_shuffle_i32x4(even, odd, 0x44);
      codes[2 * i + 1] = _mm512_shuffle_i32x4(even, odd, 0xee);
    }
    const __m512i low = word_index({0, 0, 1, 1}, {2, 2, 3, 3});
    const __m512i high = word_index({4, 4, 5, 5}, {6, 6, 7, 7});
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const __m256i words = _mm256_castsi128_si256(_mm_mullo_epi16(scales, load128(group.factors)));
      const __m512i a =
          _mm512_packs_epi32(dot(codes[0], group.values), dot(codes[1], group.values + 64));
      const __m512i b =
          _mm512_packs_epi32(dot(codes[2], group.values + 128), dot(codes[3], group.values + 192));
      __m512i total = _mm512_dpwssd_epi32(_mm512_setzero_si512(), a, spread_words(words, low));
      total = _mm512_dpwssd_epi32(total, b, spread_words(words, high));
      out[t] = {add_halves(total), _mm_madd_epi16(minima, load128(group.sums))};
    }
  }
};

// Codes are stored as q + 32: I = sum of scale * k * (sum of code * p) - 32 * sum of scale * k *
// B16.
template <>
struct Integers<Q6_K> {
  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m256i scales = _mm256_cvtepi8_epi16(load128(at + 192));
    __m512i codes[4];
    unpack(at, codes);
    // Quarter i of codes c holds the part 4c + i of 16 weights.
    const __m512i low = word_index({0, 1, 2, 3}, {4, 5, 6, 7});
    const __m512i high = word_index({8, 9, 10, 11}, {12, 13, 14, 15});
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const __m256i words = _mm256_mullo_epi16(scales, load256(group.factor_pairs));
      const __m512i a =
          _mm512_packs_epi32(dot(codes[0], group.values), dot(codes[1], group.values + 64));
      const __m512i b =
          _mm512_packs_epi32(dot(codes[2], group.values + 128), dot(codes[3], group.values + 192));
      __m512i total = _mm512_dpwssd_epi32(_mm512_setzero_si512(), a, spread_words(words, low));
      total = _mm512_dpwssd_epi32(total, b, spread_words(words, high));
      const __m256i offset = _mm256_madd_epi16(scales, load256(group.half_sums));
      out[t] = {_mm256_sub_epi32(add_halves(total), _mm256_slli_epi32(offset, 5)),
                _mm_setzero_si128()};
    }
  }

 private:
  static void unpack(const std::byte* at, __m512i (&codes)[4]) noexcept {
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i top = _mm512_set1_epi8(0x30);
    const __m512i up = _mm512_setr_epi64(4, 4, 4, 4, 2, 2, 2, 2);
    const __m512i down = _mm512_setr_epi64(0, 0, 0, 0, 2, 2, 2, 2);
    for (int half = 0; half < 2; ++half) {
      const __m512i four = load512(at + 64 * half);
      const __m512i two = _mm512_broadcast_i64x4(load256(at + 128 + 32 * half));
      const auto code = [&](__m512i low, __m512i high) {
        return _mm512_or_si512(_mm512_and_si512(low, nibble), _mm512_and_si512(high, top));
      };
      codes[2 * half] = code(four, _mm512_sllv_epi64(two, up));
      codes[2 * half + 1] = code(_mm512_srli_epi16(four, 4), _mm512_srlv_epi64(two, down));
    }
  }
};

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

}  // namespace

#ifdef WICK_SIMDE
MatmulOverrides matmul_overrides_simde() noexcept {
#else
MatmulOverrides matmul_overrides_avx512() noexcept {
#endif
  return {.quantise = quantise_avx2,
          .f32 = run_passes<FloatKernel<F32Row>>,
          .f16 = run_passes<FloatKernel<F16Row>>,
          .bf16 = run_passes<FloatKernel<BF16Row>>,
          .q4_0 = run_passes<Rows8Kernel<Q4_0, FourBits>>,
          .q4_1 = run_passes<Rows8Kernel<Q4_1, FourBits>>,
          .q5_0 = matmul_q5_0_avx2,
          .q5_1 = matmul_q5_1_avx2,
          .q8_0 = run_passes<Rows8Kernel<Q8_0, EightBits>>,
          .q2_k = matmul_q2_k_avx2,
          .q3_k = matmul_q3_k_avx2,
          .q4_k = run_passes<SuperBlockKernel<Q4_K>>,
          .q5_k = matmul_q5_k_avx2,
          .q6_k = run_passes<SuperBlockKernel<Q6_K>>,
          .iq4_nl = matmul_iq4_nl_avx2,
          .iq4_xs = matmul_iq4_xs_avx2,
          .mxfp4 = matmul_mxfp4_avx2};
}

}  // namespace wick
