// Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0 rows times quantised activations: how their integers come about.
// The walk over rows and the f32 chains are in blocks32_avx2.h.
//
// Cost for 32 weights of Q4_1, one token: about 7 instructions for the integers and 3 for the
// chain, for 20 bytes. Bounds (p = -128 does not occur): vpmaddubsw gives at most 2 * 15 * 127 =
// 3810 for 4-bit codes, 8 of which fit 16 bits, 2 * 31 * 127 = 7874 for 5-bit codes, 4 of which
// fit; 2 * 128 * 127 = 32512 for 8-bit ones.
#include "kernels/cpu/blocks32_avx2.h"

namespace wick {
namespace {

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

inline __m256i multiply(__m256i codes, const std::byte* values) noexcept {
  return _mm256_maddubs_epi16(codes, load256(values));
}

// 4-bit formats: the nibbles of two blocks unpack at once, a's low nibbles beside b's, then the
// high ones beside each other; ActivationLayout::paired_values has that order.
struct Nibbles {
  __m256i low, high;
};

inline Nibbles unpack_two(const std::uint8_t* a, const std::uint8_t* b) noexcept {
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(load128(a)), load128(b), 1);
  return {_mm256_and_si256(both, mask), _mm256_and_si256(_mm256_srli_epi16(both, 4), mask)};
}

struct FourBits {
  static constexpr int kLane[8] = {0, 4, 1, 5, 2, 6, 3, 7};  // of block j in what sums() gives

  Nibbles codes[4];

  // The first n <= N blocks at `blocks`, all N if kIsWhole; those beyond count as zeros and are not
  // read.
  template <class Block, int N, bool kIsWhole>
  static FourBits load(const Block* blocks, int n) noexcept {
    static constexpr std::uint8_t kNone[16] = {};
    FourBits out;
    for (int i = 0; i < N / 2; ++i) {
      const int a = 2 * i, b = 2 * i + 1;
      out.codes[i] = unpack_two(kIsWhole || a < n ? blocks[a].qs : kNone,
                                kIsWhole || b < n ? blocks[b].qs : kNone);
    }
    return out;
  }

  // k * sum(q * p) of the blocks: 16-bit sums of two, four and eight products of two, the largest
  // 8 * 3810 = 30480; the last step multiplies by k.
  template <int N>
  __m256i sums(const Group& x) const noexcept {
    const __m256i zero = _mm256_setzero_si256();
    const auto two = [&](int i) {
      return _mm256_add_epi16(multiply(codes[i].low, x.paired_values + 64 * i),
                              multiply(codes[i].high, x.paired_values + 64 * i + 32));
    };
    const __m256i low = merge_two<16>(two(0), N > 2 ? two(1) : zero);
    const __m256i high = N == 8 ? merge_two<16>(two(2), two(3)) : zero;
    return _mm256_madd_epi16(merge_four<16>(low, high), load256(x.paired_factors));
  }
};

// 16 bytes of nibbles → 32 codes, those of the low nibbles first.
inline __m256i nibbles(const std::uint8_t* qs) noexcept {
  const __m256i shifts = _mm256_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4);
  return _mm256_and_si256(_mm256_srlv_epi32(load_twice(qs), shifts), _mm256_set1_epi8(15));
}

// 32 bits → 16 in the bytes whose bit is set.
inline __m256i fifth_bits(const std::uint8_t* qh) noexcept {
  const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
                                          2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull));
  const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(load_as<int>(qh)), spread);
  const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
  return _mm256_and_si256(is_set, _mm256_set1_epi8(16));
}

// 5-bit formats: block by block. The 16-bit sums end after two levels, at 4 * 7874 = 31496.
struct FiveBits {
  static constexpr int kLane[8] = {0, 1, 2, 3, 4, 5, 6, 7};

  __m256i codes[8];

  template <class Block, int N, bool kIsWhole>
  static FiveBits load(const Block* blocks, int n) noexcept {
    FiveBits out;
    for (int j = 0; j < N; ++j) {
      out.codes[j] = _mm256_setzero_si256();
      if (kIsWhole || j < n) {
        out.codes[j] = _mm256_or_si256(nibbles(blocks[j].qs), fifth_bits(blocks[j].qh));
      }
    }
    return out;
  }

  template <int N>
  __m256i sums(const Group& x) const noexcept {
    const __m256i zero = _mm256_setzero_si256();
    const auto two = [&](int j) {
      return merge_two<16>(multiply(codes[j], x.values + 32 * j),
                           multiply(codes[j + 1], x.values + 32 * j + 32));
    };
    const __m256i low = _mm256_madd_epi16(merge_four<16>(two(0), N > 2 ? two(2) : zero),
                                          load_twice(x.factor_pairs));
    if constexpr (N < 8) return merge_halves<32>(low, zero);
    return merge_halves<32>(
        low, _mm256_madd_epi16(merge_four<16>(two(4), two(6)), load_twice(x.factor_pairs + 16)));
  }
};

// Q8_0: |w| times p with the sign of w. One product of two may take all 16 bits.
struct EightBits {
  static constexpr int kLane[8] = {0, 1, 2, 3, 4, 5, 6, 7};

  __m256i codes[8];

  template <class Block, int N, bool kIsWhole>
  static EightBits load(const Block* blocks, int n) noexcept {
    EightBits out;
    for (int j = 0; j < N; ++j) {
      out.codes[j] = kIsWhole || j < n ? load256(blocks[j].qs) : _mm256_setzero_si256();
    }
    return out;
  }

  template <int N>
  __m256i sums(const Group& x) const noexcept {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i ones = _mm256_set1_epi16(1);
    const auto one = [&](int j) {
      const __m256i p = _mm256_sign_epi8(load256(x.values + 32 * j), codes[j]);
      return _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(codes[j]), p), ones);
    };
    const auto two = [&](int j) { return merge_two<32>(one(j), one(j + 1)); };
    const __m256i low = merge_four<32>(two(0), N > 2 ? two(2) : zero);
    const __m256i high = N == 8 ? merge_four<32>(two(4), two(6)) : zero;
    return _mm256_mullo_epi32(merge_halves<32>(low, high),
                              _mm256_cvtepi16_epi32(load128(x.factors)));
  }
};

// Codes are stored as q + kOffset.
struct Q4_0 {
  using Block = BlockQ4_0;
  using Codes = FourBits;
  static constexpr bool kHasMin = false;
  static constexpr float kOffset = 8;
};

struct Q4_1 {
  using Block = BlockQ4_1;
  using Codes = FourBits;
  static constexpr bool kHasMin = true;
  static constexpr float kOffset = 0;
};

struct Q5_0 {
  using Block = BlockQ5_0;
  using Codes = FiveBits;
  static constexpr bool kHasMin = false;
  static constexpr float kOffset = 16;
};

struct Q5_1 {
  using Block = BlockQ5_1;
  using Codes = FiveBits;
  static constexpr bool kHasMin = true;
  static constexpr float kOffset = 0;
};

struct Q8_0 {
  using Block = BlockQ8_0;
  using Codes = EightBits;
  static constexpr bool kHasMin = false;
  static constexpr float kOffset = 0;
};

}  // namespace

void matmul_q4_0_avx2(const MatmulArgs& args) noexcept {
  run_passes<Blocks32Kernel<Q4_0>>(args);
}

void matmul_q4_1_avx2(const MatmulArgs& args) noexcept {
  run_passes<Blocks32Kernel<Q4_1>>(args);
}

void matmul_q5_0_avx2(const MatmulArgs& args) noexcept {
  run_passes<Blocks32Kernel<Q5_0>>(args);
}

void matmul_q5_1_avx2(const MatmulArgs& args) noexcept {
  run_passes<Blocks32Kernel<Q5_1>>(args);
}

void matmul_q8_0_avx2(const MatmulArgs& args) noexcept {
  run_passes<Blocks32Kernel<Q8_0>>(args);
}

}  // namespace wick
