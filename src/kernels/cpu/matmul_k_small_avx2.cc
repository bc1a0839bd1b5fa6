// Q2_K, Q3_K and IQ4_XS rows times quantized activations: how their integers come about. The loop
// over rows and the f32 operations are in super_blocks_avx2.h.
//
// Bounds (p = -128 does not occur): vpmaddubsw gives at most 2 * 3 * 127 = 762 for 2-bit quants, 2
// * 7 * 127 = 1778 for 3-bit ones, 8 of which fit 16 bits, and 2 * 127 * 127 = 32258 for the values
// of IQ4_XS; scale * k is at most 15 * 8 and 32 * 8.
// Hot: all of it.
#include "kernels/cpu/super_blocks_avx2.h"

namespace wick {
namespace {

inline __m256i multiply(__m256i quants, const std::byte* values) noexcept {
  return _mm256_maddubs_epi16(quants, load256(values));
}

// Scales of the first halves of the blocks in the low half, of the second in the high one, each
// twice as 16 bits: those of the blocks 0..3 or, with `first` = 8, 4..7.
inline __m256i half_scales(__m128i bytes, char first) noexcept {
  const __m128i at = _mm_setr_epi8(0, 0, 2, 2, 4, 4, 6, 6, 1, 1, 3, 3, 5, 5, 7, 7);
  return _mm256_cvtepi8_epi16(_mm_shuffle_epi8(bytes, _mm_add_epi8(at, _mm_set1_epi8(first))));
}

// sum of scale * k * (sum of quant * p) of quants whose sums over 16 weights fit 16 bits. Quants j
// are block j of 32.
inline __m256i scaled_sum(const __m256i (&quants)[8], __m128i scales, const Group& group) noexcept {
  const auto four = [&](int j) {
    const auto two = [&](int i) {
      return merge_two<16>(multiply(quants[i], group.values + 32 * i),
                           multiply(quants[i + 1], group.values + 32 * i + 32));
    };
    return merge_four<16>(two(j), two(j + 2));  // at most 8 * 1778 = 14224
  };
  const auto combined_scales = [&](int j) {
    return _mm256_mullo_epi16(half_scales(scales, static_cast<char>(2 * j)),
                              load_twice(group.block_scale_pairs + 4 * j));
  };
  return _mm256_add_epi32(_mm256_madd_epi16(four(0), combined_scales(0)),
                          _mm256_madd_epi16(four(4), combined_scales(4)));
}

template <>
struct Integers<Q2_K> {
  using Block = BlockQ2_K;

  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m128i nibble = _mm_set1_epi8(15);
    const __m128i bytes = load128(at);
    const __m128i scales = _mm_and_si128(bytes, nibble);
    const __m256i minima = _mm256_cvtepu8_epi16(_mm_and_si128(_mm_srli_epi16(bytes, 4), nibble));
    __m256i quants[8];
    for (int half = 0; half < 2; ++half) {
      const __m256i q = load256(at + offsetof(Block, qs) + 32 * half);
      for (int s = 0; s < 4; ++s)
        quants[4 * half + s] = _mm256_and_si256(_mm256_srli_epi16(q, 2 * s), _mm256_set1_epi8(3));
    }
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const __m256i m = _mm256_madd_epi16(minima, load256(group.half_sums));
      out[t] = {scaled_sum(quants, scales, group),
                _mm_add_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1))};
    }
  }
};

// Quants are stored as q + 4: I = sum of scale * k * (sum of quant * p) - 4 * sum of scale * k *
// B16.
template <>
struct Integers<Q3_K> {
  using Block = BlockQ3_K;

  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m128i scales = q3_k_scales(at);
    const __m256i in_order = _mm256_cvtepi8_epi16(scales);
    __m256i quants[8];
    unpack(at, quants);
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const __m256i offset = _mm256_madd_epi16(in_order, load256(group.half_sums));
      out[t] = {_mm256_sub_epi32(scaled_sum(quants, scales, group), _mm256_slli_epi32(offset, 2)),
                _mm_setzero_si128()};
    }
  }

 private:
  static void unpack(const std::byte* at, __m256i (&quants)[8]) noexcept {
    const __m256i two = _mm256_set1_epi8(3), four = _mm256_set1_epi8(4);
    const __m256i high = load256(at);  // bit j: of block j
    const __m256i bits[8] = {
        _mm256_slli_epi16(high, 2), _mm256_slli_epi16(high, 1), high,
        _mm256_srli_epi16(high, 1), _mm256_srli_epi16(high, 2), _mm256_srli_epi16(high, 3),
        _mm256_srli_epi16(high, 4), _mm256_srli_epi16(high, 5)};
    for (int j = 0; j < 8; ++j) {
      const __m256i q = load256(at + offsetof(Block, qs) + j / 4 * 32);
      const __m256i low = _mm256_and_si256(_mm256_srli_epi16(q, 2 * (j % 4)), two);
      quants[j] = _mm256_or_si256(low, _mm256_and_si256(bits[j], four));
    }
  }
};

// |p| times the value with the sign of p, as no value is -128.
template <>
struct Integers<IQ4_XS> {
  using Block = BlockIQ4_XS;

  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m256i table = load_twice(kIq4Values);
    const __m256i shifts = _mm256_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4);
    const __m128i scales = iq4_xs_scales(at);
    __m256i values[8];
    for (int j = 0; j < 8; ++j) {
      const __m256i q = load_twice(at + offsetof(Block, qs) + 16 * j);
      values[j] = _mm256_shuffle_epi8(
          table, _mm256_and_si256(_mm256_srlv_epi32(q, shifts), _mm256_set1_epi8(15)));
    }
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const __m256i combined_scales =
          _mm256_broadcastsi128_si256(_mm_mullo_epi16(scales, load128(group.block_scales)));
      __m256i total = _mm256_setzero_si256();
      for (int j = 0; j < 8; ++j) {
        const __m256i p = load256(group.values + 32 * j);
        const __m256i products =
            _mm256_maddubs_epi16(_mm256_abs_epi8(p), _mm256_sign_epi8(values[j], p));
        total =
            _mm256_add_epi32(total, _mm256_madd_epi16(products, spread_word(combined_scales, j)));
      }
      out[t] = {total, _mm_setzero_si128()};
    }
  }
};

}  // namespace

void matmul_q2_k_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokensSuper) return panel_q2_k_avx2(args);
  run_passes<SuperBlockKernel<Q2_K>>(args);
}

void matmul_q3_k_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokensSuper) return panel_q3_k_avx2(args);
  run_passes<SuperBlockKernel<Q3_K>>(args);
}

void matmul_iq4_xs_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokensSuper) return panel_iq4_xs_avx2(args);
  run_passes<SuperBlockKernel<IQ4_XS>>(args);
}

}  // namespace wick
