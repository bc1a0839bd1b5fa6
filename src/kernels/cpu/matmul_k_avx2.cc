// Q4_K, Q5_K and Q6_K rows times quantised activations.
//
// Inside a super-block of 256 everything is an exact integer, so lanes may be added in any order:
// I = sum of scale * k * S, and for Q4_K and Q5_K M = sum of min * k * B. Then
// t = fma(-dmin, float(M), d * float(I)) and acc = fma(unit, t, acc): one link of the chain for
// each super-block (docs/numerics.md).
//
// The rows are one stream of super-blocks. Four at a time leave four vectors of eight partial sums;
// three horizontal adds make them four integers, and the f32 operations run on four lanes. Only the
// last fma is carried from one super-block to the next; its four cycles hide behind the integers of
// the following four.
//
// Cost for 256 weights of Q4_K, one token: about 75 instructions for 144 bytes. Bounds (p = -128
// does not occur): vpmaddubsw gives at most 2 * 15 * 127 = 3810 for 4-bit codes, 8 of which fit 16
// bits, 2 * 31 * 127 = 7874 for 5-bit codes, 4 of which fit, and 2 * 63 * 127 = 16002 for 6-bit
// ones; scale * k is at most 63 * 8 and 128 * 8.
#include "kernels/cpu/matmul_avx2.h"
#include "quant/blocks.h"

namespace wick {
namespace {

constexpr int kSteps = 4;  // super-blocks at a time

// The activations of one group of one token.
struct Group {
  const std::byte* factors;
  const std::byte* factor_pairs;
  const std::byte* sums;
  const std::byte* half_sums;
  const std::byte* values;
};

template <int T>
struct Activations {
  ActivationLayout layout;
  const std::byte* rows[T];

  Group group(int t, int g) const noexcept {
    const std::byte* row = rows[t];
    const auto at = static_cast<std::size_t>(g);
    return {.factors = row + layout.factors + 16 * at,
            .factor_pairs = row + layout.factor_pairs + 32 * at,
            .sums = row + layout.sums + 16 * at,
            .half_sums = row + layout.half_sums + 32 * at,
            .values = row + layout.values + 256 * at};
  }

  float unit(int t, int g) const noexcept {
    return load_as<float>(rows[t] + layout.units + 4 * static_cast<std::size_t>(g));
  }
};

// Eight lanes that add up to I, four that add up to M.
struct Sums {
  __m256i total;
  __m128i minima;
};

inline __m256i multiply(__m256i codes, const Group& x, int j) noexcept {
  return _mm256_maddubs_epi16(codes, load256(x.values + 32 * j));
}

inline __m256i merge_two(__m256i a, __m256i b) noexcept {  // dwords of each half: a b a b
  return _mm256_add_epi16(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}

inline __m256i merge_four(__m256i ab, __m256i cd) noexcept {  // a b c d
  return _mm256_add_epi16(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
}

// The scales and minima of Q4_K and Q5_K: bytes of each half: eight scales, eight minima.
//
//   dwords of the header: d|dmin, scales 0-3 with bits 4-5 of scales 4-7 on top, minima likewise,
//   low nibbles of scales 4-7 and of minima 4-7
inline __m256i six_bit_pairs(const std::byte* block) noexcept {
  const __m256i header = load_twice(block);
  const __m256i low = _mm256_shuffle_epi32(header, 0xed);   // dwords 1 3 2 3
  const __m256i high = _mm256_shuffle_epi32(header, 0xa5);  // dwords 1 1 2 2
  const __m256i shifts = _mm256_setr_epi32(0, 0, 0, 4, 0, 0, 0, 4);
  const __m256i low_mask = _mm256_setr_epi32(0x3f3f3f3f, 0x0f0f0f0f, 0x3f3f3f3f, 0x0f0f0f0f,
                                             0x3f3f3f3f, 0x0f0f0f0f, 0x3f3f3f3f, 0x0f0f0f0f);
  const __m256i high_mask =
      _mm256_setr_epi32(0, 0x30303030, 0, 0x30303030, 0, 0x30303030, 0, 0x30303030);
  return _mm256_or_si256(_mm256_and_si256(_mm256_srlv_epi32(low, shifts), low_mask),
                         _mm256_and_si256(_mm256_srli_epi32(high, 2), high_mask));
}

// Scales of blocks 0..3 in the low half, 4..7 in the high one, each twice as 16 bits.
inline __m256i scale_pairs(__m256i pairs) noexcept {
  return _mm256_shuffle_epi8(
      pairs, _mm256_setr_epi8(0, -1, 0, -1, 1, -1, 1, -1, 2, -1, 2, -1, 3, -1, 3, -1, 4, -1, 4, -1,
                              5, -1, 5, -1, 6, -1, 6, -1, 7, -1, 7, -1));
}

inline __m128i minima_words(__m256i pairs) noexcept {
  return _mm_shuffle_epi8(
      _mm256_castsi256_si128(pairs),
      _mm_setr_epi8(8, -1, 9, -1, 10, -1, 11, -1, 12, -1, 13, -1, 14, -1, 15, -1));
}

struct Q4_K {
  using Block = BlockQ4_K;
  static constexpr bool kHasMin = true;
  static constexpr int kScaleAt = 0;

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
        merged[i] = merge_two(
            multiply(_mm256_and_si256(q, nibble), group, 2 * i),
            multiply(_mm256_and_si256(_mm256_srli_epi16(q, 4), nibble), group, 2 * i + 1));
      }
      // Blocks 0 to 3 and 4 to 7 in both halves; then 0 to 7: at most 8 * 3810 = 30480.
      const __m256i low = merge_four(merged[0], merged[1]);
      const __m256i high = merge_four(merged[2], merged[3]);
      const __m256i all = _mm256_add_epi16(_mm256_blend_epi32(low, high, 0xf0),
                                           _mm256_permute2x128_si256(low, high, 0x21));
      const __m256i factors = _mm256_mullo_epi16(scales, load256(group.factor_pairs));
      out[t] = {_mm256_madd_epi16(all, factors), _mm_madd_epi16(minima, load128(group.sums))};
    }
  }
};

struct Q5_K {
  using Block = BlockQ5_K;
  static constexpr bool kHasMin = true;
  static constexpr int kScaleAt = 0;

  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m256i pairs = six_bit_pairs(at);
    const __m256i scales = scale_pairs(pairs);
    const __m128i minima = minima_words(pairs);
    __m256i codes[8];
    unpack(at, codes);
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const auto two = [&](int j) {
        return merge_two(multiply(codes[j], group, j), multiply(codes[j + 1], group, j + 1));
      };
      const __m256i low = merge_four(two(0), two(2));  // at most 4 * 7874 = 31496
      const __m256i high = merge_four(two(4), two(6));
      const __m256i factors = _mm256_mullo_epi16(scales, load256(group.factor_pairs));
      const __m256i first = _mm256_permute4x64_epi64(factors, 0x44);
      const __m256i second = _mm256_permute4x64_epi64(factors, 0xee);
      out[t] = {_mm256_add_epi32(_mm256_madd_epi16(low, first), _mm256_madd_epi16(high, second)),
                _mm_madd_epi16(minima, load128(group.sums))};
    }
  }

 private:
  static void unpack(const std::byte* at, __m256i (&codes)[8]) noexcept {
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
      codes[2 * i] =
          _mm256_or_si256(_mm256_and_si256(q, nibble), _mm256_and_si256(fifth[2 * i], sixteen));
      codes[2 * i + 1] = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(q, 4), nibble),
                                         _mm256_and_si256(fifth[2 * i + 1], sixteen));
    }
  }
};

// Codes are stored as q + 32: I = sum of scale * k * (sum of code * p) - 32 * sum of scale * k *
// B16.
struct Q6_K {
  using Block = BlockQ6_K;
  static constexpr bool kHasMin = false;
  static constexpr int kScaleAt = 208;

  template <int T>
  static void sums(const std::byte* at, const Activations<T>& x, int g, Sums (&out)[T]) noexcept {
    const __m128i bytes = load128(at + 192);
    // Scales of the first 16 weights of each block in the low half, of the second in the high one.
    const __m256i scales = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(
        bytes, _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)));
    const __m256i in_order = _mm256_cvtepi8_epi16(bytes);
    __m256i codes[8];
    unpack(at, codes);
    for (int t = 0; t < T; ++t) {
      const Group group = x.group(t, g);
      const __m256i factors = _mm256_mullo_epi16(scales, load_twice(group.factors));
      const __m256i offset = _mm256_madd_epi16(in_order, load256(group.half_sums));
      __m256i total = _mm256_slli_epi32(_mm256_sub_epi32(_mm256_setzero_si256(), offset), 5);
      for (int j = 0; j < 8; ++j) {
        const __m256i word = _mm256_set1_epi16(static_cast<short>(0x0100 + 0x0202 * j));
        const __m256i scale = _mm256_shuffle_epi8(factors, word);
        total = _mm256_add_epi32(total, _mm256_madd_epi16(multiply(codes[j], group, j), scale));
      }
      out[t] = {total, _mm_setzero_si128()};
    }
  }

 private:
  static void unpack(const std::byte* at, __m256i (&codes)[8]) noexcept {
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i top = _mm256_set1_epi8(0x30);
    for (int half = 0; half < 2; ++half) {
      const __m256i low = load256(at + 64 * half);
      const __m256i high = load256(at + 64 * half + 32);
      const __m256i bits = load256(at + 128 + 32 * half);
      const auto code = [&](__m256i four, __m256i two) {
        return _mm256_or_si256(_mm256_and_si256(four, nibble), _mm256_and_si256(two, top));
      };
      codes[4 * half] = code(low, _mm256_slli_epi16(bits, 4));
      codes[4 * half + 1] = code(high, _mm256_slli_epi16(bits, 2));
      codes[4 * half + 2] = code(_mm256_srli_epi16(low, 4), bits);
      codes[4 * half + 3] = code(_mm256_srli_epi16(high, 4), _mm256_srli_epi16(bits, 2));
    }
  }
};

// Four super-blocks of the stream.
struct Step {
  const std::byte* blocks[kSteps];
  int groups[kSteps];
};

template <class Format, int T>
inline void terms(const Step& step, const Activations<T>& x, float (&out)[T][kSteps]) noexcept {
  Sums sums[kSteps][T];
  std::uint32_t scales[kSteps];
#pragma GCC unroll 4
  for (int s = 0; s < kSteps; ++s) {
    const std::byte* at = step.blocks[s];
    for (std::ptrdiff_t l = 0; l < std::ptrdiff_t{sizeof(typename Format::Block)}; l += 64) {
      prefetch_ahead(at + l, kAheadBytes);
    }
    Format::template sums<T>(at, x, step.groups[s], sums[s]);
    scales[s] = Format::kHasMin ? load_as<std::uint32_t>(at + Format::kScaleAt)
                                : load_as<std::uint16_t>(at + Format::kScaleAt);
  }
  const __m128i split =
      _mm_shuffle_epi8(_mm_setr_epi32(static_cast<int>(scales[0]), static_cast<int>(scales[1]),
                                      static_cast<int>(scales[2]), static_cast<int>(scales[3])),
                       _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  const __m256 wide = _mm256_cvtph_ps(split);
  const __m128 d = _mm256_castps256_ps128(wide);
  const __m128 dmin = _mm256_extractf128_ps(wide, 1);
  for (int t = 0; t < T; ++t) {
    const __m256i four = _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0][t].total, sums[1][t].total),
                                           _mm256_hadd_epi32(sums[2][t].total, sums[3][t].total));
    const __m128i total =
        _mm_add_epi32(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    __m128 term = _mm_mul_ps(d, _mm_cvtepi32_ps(total));
    if constexpr (Format::kHasMin) {
      const __m128i minima = _mm_hadd_epi32(_mm_hadd_epi32(sums[0][t].minima, sums[1][t].minima),
                                            _mm_hadd_epi32(sums[2][t].minima, sums[3][t].minima));
      term = _mm_fnmadd_ps(dmin, _mm_cvtepi32_ps(minima), term);
    }
    _mm_storeu_ps(out[t], term);
  }
}

template <class Format>
struct Kernel {
  template <int T>
  static void run(const MatmulArgs& args, const Pass& pass) noexcept {
    constexpr std::ptrdiff_t kBytes = sizeof(typename Format::Block);
    Activations<T> x = {.layout = activation_layout(args.width), .rows = {}};
    for (int t = 0; t < T; ++t)
      x.rows[t] = token_at(args, pass.first + t);
    const int groups = x.layout.groups;
    std::int64_t left = std::int64_t{groups} * (pass.end - pass.begin);
    int next_row = pass.begin, next_group = 0;  // the next super-block to read
    int row = pass.begin, group = 0;            // the next to end up in acc
    const std::byte* at = left > 0 ? row_at(args, next_row) : nullptr;
    float acc[T] = {};
    while (left > 0) {
      const int n = left < kSteps ? static_cast<int>(left) : kSteps;
      Step step;
      for (int s = 0; s < kSteps; ++s) {  // a short last step repeats its last super-block
        step.blocks[s] = at;
        step.groups[s] = next_group;
        if (s + 1 >= n && left <= kSteps) continue;
        at += kBytes;
        if (++next_group < groups) continue;
        next_group = 0;
        at = row_at(args, ++next_row);
      }
      float term[T][kSteps];
      terms<Format, T>(step, x, term);
      for (int s = 0; s < n; ++s) {
        for (int t = 0; t < T; ++t)
          acc[t] = __builtin_fmaf(x.unit(t, group), term[t][s], acc[t]);
        if (++group < groups) continue;
        for (int t = 0; t < T; ++t) {
          args.y[(pass.first + t) * args.y_stride + row] = acc[t];
          acc[t] = 0;
        }
        group = 0;
        ++row;
      }
      left -= n;
    }
  }
};

}  // namespace

void matmul_q4_k_avx2(const MatmulArgs& args) noexcept {
  run_passes<Kernel<Q4_K>>(args);
}

void matmul_q5_k_avx2(const MatmulArgs& args) noexcept {
  run_passes<Kernel<Q5_K>>(args);
}

void matmul_q6_k_avx2(const MatmulArgs& args) noexcept {
  run_passes<Kernel<Q6_K>>(args);
}

}  // namespace wick
