// Products with many tokens: the weights of sixteen rows unpack once into a panel, which then meets
// every token. Included by *_avx2.cc only; internal to the file that includes it, as matmul_avx2.h.
//
// A panel holds a slice of up to four groups of 256 weights of sixteen rows, two vectors of eight,
// as unpack_avx2.h brings them. Four weights of a row lie in a dword, so vpmaddubsw with four
// values of a token, broadcast as a dword, leaves two 16-bit sums in each row's lane; they add up
// without a shuffle, and one vpmaddwd makes them the row's 32-bit integer. Then one conversion and
// the fma of the chain serve eight rows (docs/numerics.md: integers are exact, so only the order of
// the chain matters, and that is the one of the passes).
//
// Bounds: quants are unsigned and p is -127..127, so one vpmaddubsw is at most 2 * c * 127 for
// quants up to c. Eight fit 16 bits for c = 15 (30480). Larger quants are summed centred, c - 16 or
// c - 32: the sums start at minus the offset times the values (compensation()), adds wrap around,
// the end is exact.
//
// A tile is two vectors of quants times four tokens: eight sums, two quants, a broadcast and a
// product in sixteen registers. The slice stays in the first-level cache (kPanelBytes) and a block
// of tokens in the second (kTokenBytes) while all rows are processed; the chain continues from
// slice to slice in y. While a panel is multiplied, the weights of the next one are prefetched
// (Prefetcher).
//
// Cost for 256 products of Q4_1 (32 weights of eight rows, one token): 8 vpmaddubsw, 7 adds, a
// vpmaddwd, a conversion, two fma and seven loads in all: bound by the vector pipes, 35 products a
// cycle on Zen 3. tests/kernel_loops_test.py holds the compiler to the loops.
// Hot: all of it.
#pragma once

#include "kernels/cpu/panel_loop_avx2.h"

namespace wick {
namespace {  // internal on purpose, see matmul_avx2.h

// How a vector of weights is multiplied with a token's dword: four bytes of a row into two 16-bit
// sums, or two words into a 32-bit sum.
struct ByteProducts {
  static __m256i multiply(__m256i w, __m256i p) noexcept { return _mm256_maddubs_epi16(w, p); }

  static __m256i add(__m256i a, __m256i b) noexcept { return _mm256_add_epi16(a, b); }
};

struct WordProducts {
  static __m256i multiply(__m256i w, __m256i p) noexcept { return _mm256_madd_epi16(w, p); }

  static __m256i add(__m256i a, __m256i b) noexcept { return _mm256_add_epi32(a, b); }
};

// The sums of kSteps steps of two vectors `w` ([kSteps][2]) times T tokens' dwords from `at` on.
// With kGoesOn they continue from their current values.
template <class Products, int kSteps, int T, bool kGoesOn>
inline void dot(const std::byte* w, const std::byte* const (&values)[T], std::ptrdiff_t at,
                __m256i (&sums)[2][T]) noexcept {
#pragma GCC unroll 16
  for (int i = 0; i < kSteps; ++i) {
    const __m256i w0 = load256(w + i * kPair);
    const __m256i w1 = load256(w + i * kPair + kVectorBytes);
#pragma GCC unroll 4
    for (int t = 0; t < T; ++t) {
      const __m256i p = _mm256_set1_epi32(load_as<int>(values[t] + at + 4 * i));
      const __m256i s0 = Products::multiply(w0, p), s1 = Products::multiply(w1, p);
      sums[0][t] = i == 0 && !kGoesOn ? s0 : Products::add(sums[0][t], s0);
      sums[1][t] = i == 0 && !kGoesOn ? s1 : Products::add(sums[1][t], s1);
      pin(sums[0][t]);
      pin(sums[1][t]);
    }
  }
}

// The sums start at the two words of each token at `at`.
template <int T>
inline void start_at_compensation(const std::byte* const (&words)[T], std::ptrdiff_t at,
                                  __m256i (&sums)[2][T]) noexcept {
#pragma GCC unroll 4
  for (int t = 0; t < T; ++t)
    sums[0][t] = sums[1][t] = _mm256_set1_epi32(load_as<int>(words[t] + at));
}

}  // namespace
}  // namespace wick
