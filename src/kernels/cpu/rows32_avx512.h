// Rows of formats with blocks of 32 times quantized activations by AVX-512: their integers by
// vpdpbusd on 256 bits. The loop over rows and the f32 accumulators are those of rows8_avx2.h.
// vpdpbusd adds four products to each lane in 32 bits, so nothing saturates on the way.
// Hot: all of it.
#pragma once

#include "kernels/cpu/avx512.h"
#include "kernels/cpu/rows8_avx2.h"

namespace wick {
namespace {  // internal on purpose, see matmul_avx2.h

// A block is shorter than a cache line, so one prefetch for each block of a row reaches every line.
inline void prefetch_rows(const RowPointers& rows, std::ptrdiff_t at) noexcept {
  constexpr std::ptrdiff_t kAhead = 1024;
  for (int i = 0; i < kRows8; ++i)
    _mm_prefetch(reinterpret_cast<const char*>(rows[i] + at + kAhead), _MM_HINT_T0);
}

// k times the sums of eight rows.
inline __m256i times_block_scale(__m256i sums, const BlockValues& x) noexcept {
  return _mm256_mullo_epi32(sums, _mm256_srai_epi32(x.block_scales(), 16));
}

// Quants of FourBitQuants. At most 32 * 241 * 127 before the block scale.
struct FourBits {
  static constexpr int kCentre = 0;
  FourBitQuants quants;

  template <class Format>
  static FourBits load(const RowPointers& rows, std::ptrdiff_t at) noexcept {
    prefetch_rows(rows, at);
    return {FourBitQuants::load<Format>(rows, at)};
  }

  __m256i sums(const BlockValues& x) const noexcept {
    const __m256i first = load_twice(x.values), second = load_twice(x.values + 16);
    const auto row_pair = [&](int i) {
      const __m256i low = _mm256_dpbusd_epi32(_mm256_setzero_si256(), quants.low[i], first);
      return _mm256_dpbusd_epi32(low, quants.high[i], second);
    };
    const __m256i all = merge_four<32>(merge_two<32>(row_pair(0), row_pair(1)),
                                       merge_two<32>(row_pair(2), row_pair(3)));
    return times_block_scale(all, x);
  }
};

// Signed bytes as unsigned ones, offset by 128; a row a register.
struct EightBits {
  static constexpr int kCentre = 0;
  __m256i quants[kRows8];

  template <class Format>
  static EightBits load(const RowPointers& rows, std::ptrdiff_t at) noexcept {
    prefetch_rows(rows, at);
    EightBits out;
    for (int i = 0; i < kRows8; ++i) {
      out.quants[i] = _mm256_xor_si256(load256(rows[i] + at + offsetof(typename Format::Block, qs)),
                                       _mm256_set1_epi8(-128));
    }
    return out;
  }

  __m256i sums(const BlockValues& x) const noexcept {
    const __m256i values = load256(x.values);
    const auto one = [&](int i) {
      return _mm256_dpbusd_epi32(_mm256_setzero_si256(), quants[i], values);
    };
    const auto two = [&](int i) { return merge_two<32>(one(i), one(i + 1)); };
    const auto four = [&](int i) { return merge_four<32>(two(i), two(i + 2)); };
    return times_block_scale(merge_halves<32>(four(0), four(4)), x);
  }
};

}  // namespace
}  // namespace wick
