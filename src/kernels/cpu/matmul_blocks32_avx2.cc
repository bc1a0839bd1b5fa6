// Rows of formats with blocks of 32 times quantized activations: how their integers come about. The
// loop over rows and the f32 accumulators are in rows8_avx2.h.
//
// Cost for 32 weights of Q4_1, one token: about 5.5 instructions for the integers and 2.5 for the
// scales and the chain, for 20 bytes. Bounds (p = -128 does not occur): vpmaddubsw gives at most 2
// * 15 * 127 = 3810 for 4-bit quants, 8 of which fit 16 bits, 2 * 31 * 127 = 7874 for 5-bit quants,
// 2 * 128 * 127 = 32512 for 8-bit ones.
// Hot: all of it.
#include "kernels/cpu/rows8_avx2.h"

namespace wick {
namespace {

inline __m256i multiply(__m256i quants, __m256i values) noexcept {
  return _mm256_maddubs_epi16(quants, values);
}

struct FourBits {
  static constexpr int kCentre = 0;
  FourBitQuants quants;

  template <class Format>
  static FourBits load(const RowPointers& rows, std::ptrdiff_t at) noexcept {
    return {FourBitQuants::load<Format>(rows, at)};
  }

  __m256i sums(const BlockValues& x) const noexcept {
    return _mm256_madd_epi16(words(x), x.block_scales());
  }

  // 16-bit sums of two, four and eight products of two, two of each row, the largest 8 * 3810 =
  // 30480.
  __m256i words(const BlockValues& x) const noexcept {
    const __m256i first = load_twice(x.values), second = load_twice(x.values + 16);
    const auto row_pair = [&](int i) {
      return _mm256_add_epi16(multiply(quants.low[i], first), multiply(quants.high[i], second));
    };
    return merge_four<16>(merge_two<16>(row_pair(0), row_pair(1)),
                          merge_two<16>(row_pair(2), row_pair(3)));
  }
};

// Quants up to 31: their sums wrap around until -16 times the sum of the values joins them; then
// they are those of quant - 16, at most 16 * 16 * 127 = 32512.
struct CentredBits {
  static constexpr int kCentre = 16;
  FourBits four;

  template <class Format>
  static CentredBits load(const RowPointers& rows, std::ptrdiff_t at) noexcept {
    return {FourBits::load<Format>(rows, at)};
  }

  __m256i sums(const BlockValues& x) const noexcept {
    return _mm256_madd_epi16(_mm256_add_epi16(four.words(x), x.compensation()), x.block_scales());
  }
};

// IQ4_NL: |p| times the value with the sign of p, as no value is -128. One product of two is at
// most 2 * 127 * 127 = 32258, which takes all 16 bits.
struct WideTable {
  static constexpr int kCentre = 128;
  FourBitQuants quants;

  template <class Format>
  static WideTable load(const RowPointers& rows, std::ptrdiff_t at) noexcept {
    return {FourBitQuants::load<Format, 0>(rows, at)};
  }

  __m256i sums(const BlockValues& x) const noexcept {
    const __m256i first = load_twice(x.values), second = load_twice(x.values + 16);
    const __m256i first_size = _mm256_abs_epi8(first), second_size = _mm256_abs_epi8(second);
    const __m256i block_scales = x.block_scales();
    const auto product = [&](__m256i size, __m256i values, __m256i p) {
      return _mm256_madd_epi16(multiply(size, _mm256_sign_epi8(values, p)), block_scales);
    };
    const auto row_pair = [&](int i) {
      return _mm256_add_epi32(product(first_size, quants.low[i], first),
                              product(second_size, quants.high[i], second));
    };
    return merge_four<32>(merge_two<32>(row_pair(0), row_pair(1)),
                          merge_two<32>(row_pair(2), row_pair(3)));
  }
};

// Q8_0: |w| times p with the sign of w. One product of two may take all 16 bits.
struct EightBits {
  static constexpr int kCentre = 128;
  __m256i quants[kRows8];

  template <class Format>
  static EightBits load(const RowPointers& rows, std::ptrdiff_t at) noexcept {
    using Block = typename Format::Block;
    EightBits out;
    for (int i = 0; i < kRows8; ++i)
      out.quants[i] = load256(rows[i] + at + offsetof(Block, qs));
    return out;
  }

  __m256i sums(const BlockValues& x) const noexcept {
    const __m256i values = load256(x.values), block_scales = x.block_scales();
    const auto one = [&](int i) {
      const __m256i p = _mm256_sign_epi8(values, quants[i]);
      return _mm256_madd_epi16(multiply(_mm256_abs_epi8(quants[i]), p), block_scales);
    };
    const auto two = [&](int i) { return merge_two<32>(one(i), one(i + 1)); };
    const auto four = [&](int i) { return merge_four<32>(two(i), two(i + 2)); };
    return merge_halves<32>(four(0), four(4));
  }
};

}  // namespace

void matmul_q4_0_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokens) return panel_q4_0_avx2(args);
  run_passes<Rows8Kernel<Q4_0, FourBits>>(args);
}

void matmul_q4_1_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokens) return panel_q4_1_avx2(args);
  run_passes<Rows8Kernel<Q4_1, FourBits>>(args);
}

void matmul_q5_0_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokens) return panel_q5_0_avx2(args);
  run_passes<Rows8Kernel<Q5_0, CentredBits>>(args);
}

void matmul_q5_1_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokens) return panel_q5_1_avx2(args);
  run_passes<Rows8Kernel<Q5_1, CentredBits>>(args);
}

void matmul_q8_0_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokens) return panel_q8_0_avx2(args);
  run_passes<Rows8Kernel<Q8_0, EightBits>>(args);
}

void matmul_iq4_nl_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokens) return panel_iq4_nl_avx2(args);
  run_passes<Rows8Kernel<IQ4_NL, WideTable>>(args);
}

void matmul_mxfp4_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokens) return panel_mxfp4_avx2(args);
  run_passes<Rows8Kernel<MXFP4, CentredBits>>(args);
}

}  // namespace wick
