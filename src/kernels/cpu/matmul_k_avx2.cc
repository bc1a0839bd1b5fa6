// Q4_K, Q5_K and Q6_K rows times quantized activations: how their integers come about. The loop
// over rows and the f32 operations are in super_blocks_avx2.h.
//
// Cost for 256 weights of Q4_K, one token: about 100 instructions for 144 bytes. Bounds (p = -128
// does not occur): vpmaddubsw gives at most 2 * 15 * 127 = 3810 for 4-bit quants, 8 of which fit 16
// bits, 2 * 31 * 127 = 7874 for 5-bit quants, 4 of which fit, and 2 * 63 * 127 = 16002 for 6-bit
// ones; scale * k is at most 63 * 8 and 128 * 8.
// Hot: all of it.
#include "kernels/cpu/super_blocks_avx2.h"

namespace wick {
namespace {

inline __m256i multiply(__m256i quants, const std::byte* values) noexcept {
  return _mm256_maddubs_epi16(quants, load256(values));
}

// Scales of blocks 0..3 in the low half, 4..7 in the high one, each twice as 16 bits.
inline __m256i scale_pairs(__m256i pairs) noexcept {
  return _mm256_shuffle_epi8(
      pairs, _mm256_setr_epi8(0, -1, 0, -1, 1, -1, 1, -1, 2, -1, 2, -1, 3, -1, 3, -1, 4, -1, 4, -1,
                              5, -1, 5, -1, 6, -1, 6, -1, 7, -1, 7, -1));
}

template <>
struct Integers<Q4_K> {
  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i pairs = six_bit_pairs(at);
    const __m256i scales = scale_pairs(pairs);
    const __m128i minima = minima_words(pairs);
    const std::byte* qs = at + 16;
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      __m256i merged[4];
      for (int i = 0; i < 4; ++i) {
        const __m256i q = load256(qs + 32 * i);
        merged[i] = merge_two<16>(multiply(_mm256_and_si256(q, nibble), group.values + 64 * i),
                                  multiply(_mm256_and_si256(_mm256_srli_epi16(q, 4), nibble),
                                           group.values + 64 * i + 32));
      }
      // Blocks 0 to 3 and 4 to 7 in both halves; then 0 to 7: at most 8 * 3810 = 30480.
      const __m256i low = merge_four<16>(merged[0], merged[1]);
      const __m256i high = merge_four<16>(merged[2], merged[3]);
      const __m256i all = merge_halves<16>(low, high);
      const __m256i combined_scales = _mm256_mullo_epi16(scales, load256(group.block_scale_pairs));
      out[t] = {_mm256_madd_epi16(all, combined_scales),
                _mm_madd_epi16(minima, load128(group.sums))};
    }
  }
};

template <>
struct Integers<Q5_K> {
  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m256i pairs = six_bit_pairs(at);
    const __m256i scales = scale_pairs(pairs);
    const __m128i minima = minima_words(pairs);
    __m256i quants[8];
    unpack(at, quants);
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const auto two = [&](int j) {
        return merge_two<16>(multiply(quants[j], group.values + 32 * j),
                             multiply(quants[j + 1], group.values + 32 * j + 32));
      };
      const __m256i low = merge_four<16>(two(0), two(2));  // at most 4 * 7874 = 31496
      const __m256i high = merge_four<16>(two(4), two(6));
      const __m256i combined_scales = _mm256_mullo_epi16(scales, load256(group.block_scale_pairs));
      const __m256i first = _mm256_permute4x64_epi64(combined_scales, 0x44);
      const __m256i second = _mm256_permute4x64_epi64(combined_scales, 0xee);
      out[t] = {_mm256_add_epi32(_mm256_madd_epi16(low, first), _mm256_madd_epi16(high, second)),
                _mm_madd_epi16(minima, load128(group.sums))};
    }
  }

 private:
  static void unpack(const std::byte* at, __m256i (&quants)[8]) noexcept {
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i sixteen = _mm256_set1_epi8(16);
    const __m256i high = load256(at + 16);
    const std::byte* qs = at + 48;
    const __m256i fifth[8] = {_mm256_slli_epi16(high, 4),
                              _mm256_slli_epi16(high, 3),
                              _mm256_slli_epi16(high, 2),
                              _mm256_slli_epi16(high, 1),
                              high,
                              _mm256_srli_epi16(high, 1),
                              _mm256_srli_epi16(high, 2),
                              _mm256_srli_epi16(high, 3)};
    for (int i = 0; i < 4; ++i) {
      const __m256i q = load256(qs + 32 * i);
      quants[2 * i] =
          _mm256_or_si256(_mm256_and_si256(q, nibble), _mm256_and_si256(fifth[2 * i], sixteen));
      quants[2 * i + 1] = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(q, 4), nibble),
                                          _mm256_and_si256(fifth[2 * i + 1], sixteen));
    }
  }
};

// Quants are stored as q + 32: I = sum of scale * k * (sum of quant * p) - 32 * sum of scale * k *
// B16.
template <>
struct Integers<Q6_K> {
  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m128i bytes = load128(at + 192);
    // Scales of the first 16 weights of each block in the low half, of the second in the high one.
    const __m256i scales = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(
        bytes, _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)));
    const __m256i in_order = _mm256_cvtepi8_epi16(bytes);
    __m256i quants[8];
    unpack(at, quants);
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const __m256i combined_scales = _mm256_mullo_epi16(scales, load_twice(group.block_scales));
      const __m256i offset = _mm256_madd_epi16(in_order, load256(group.half_sums));
      __m256i total = _mm256_slli_epi32(_mm256_sub_epi32(_mm256_setzero_si256(), offset), 5);
      for (int j = 0; j < 8; ++j) {
        total =
            _mm256_add_epi32(total, _mm256_madd_epi16(multiply(quants[j], group.values + 32 * j),
                                                      spread_word(combined_scales, j)));
      }
      out[t] = {total, _mm_setzero_si128()};
    }
  }

 private:
  static void unpack(const std::byte* at, __m256i (&quants)[8]) noexcept {
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i top = _mm256_set1_epi8(0x30);
    for (int half = 0; half < 2; ++half) {
      const __m256i low = load256(at + 64 * half);
      const __m256i high = load256(at + 64 * half + 32);
      const __m256i bits = load256(at + 128 + 32 * half);
      const auto quant = [&](__m256i four, __m256i two) {
        return _mm256_or_si256(_mm256_and_si256(four, nibble), _mm256_and_si256(two, top));
      };
      quants[4 * half] = quant(low, _mm256_slli_epi16(bits, 4));
      quants[4 * half + 1] = quant(high, _mm256_slli_epi16(bits, 2));
      quants[4 * half + 2] = quant(_mm256_srli_epi16(low, 4), bits);
      quants[4 * half + 3] = quant(_mm256_srli_epi16(high, 4), _mm256_srli_epi16(bits, 2));
    }
  }
};

}  // namespace

void matmul_q4_k_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokensSuper) return panel_q4_k_avx2(args);
  run_passes<SuperBlockKernel<Q4_K>>(args);
}

void matmul_q5_k_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokensSuper) return panel_q5_k_avx2(args);
  run_passes<SuperBlockKernel<Q5_K>>(args);
}

void matmul_q6_k_avx2(const MatmulArgs& args) noexcept {
  if (args.n_tokens >= kPanelTokensSuper) return panel_q6_k_avx2(args);
  run_passes<SuperBlockKernel<Q6_K>>(args);
}

}  // namespace wick
