// The AVX-512 instructions of matmul_avx512.cc, emulated on AVX2 by SIMDe: for the tests only, so
// that a processor without AVX-512 holds its kernels to the same bits. Compile with AVX2, FMA and
// F16C, so that a fused multiply-add stays one.
// Hot: all of it.
#pragma once

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <immintrin.h>
#include <simde/x86/avx512.h>

// What SIMDe 0.7.4 lacks, in two halves of 256 bits.
namespace wick {
namespace {  // as in matmul_avx2.h

inline simde__m512 simde_cvtph(__m256i x) noexcept {
  simde__m512_private out;
  out.m256[0] = _mm256_cvtph_ps(_mm256_castsi256_si128(x));
  out.m256[1] = _mm256_cvtph_ps(_mm256_extracti128_si256(x, 1));
  return simde__m512_from_private(out);
}

inline simde__m512i simde_widen_words(__m256i x) noexcept {
  simde__m512i_private out;
  out.m256i[0] = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(x));
  out.m256i[1] = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(x, 1));
  return simde__m512i_from_private(out);
}

inline simde__m512 simde_whole_numbers(simde__m512i x) noexcept {
  const simde__m512i_private in = simde__m512i_to_private(x);
  simde__m512_private out;
  out.m256[0] = _mm256_cvtepi32_ps(in.m256i[0]);
  out.m256[1] = _mm256_cvtepi32_ps(in.m256i[1]);
  return simde__m512_from_private(out);
}

// Each quarter eight bytes to the right.
inline simde__m512i simde_upper_half_of_quarters(simde__m512i x) noexcept {
  simde__m512i_private out = simde__m512i_to_private(x);
  out.m256i[0] = _mm256_srli_si256(out.m256i[0], 8);
  out.m256i[1] = _mm256_srli_si256(out.m256i[1], 8);
  return simde__m512i_from_private(out);
}

}  // namespace
}  // namespace wick

#undef _mm512_cvtph_ps
#undef _mm512_cvtepi32_ps
#undef _mm512_cvtepu16_epi32
#undef _mm512_bsrli_epi128
#undef _mm512_madd_epi16  // SIMDe's has four parameters
#define _mm512_madd_epi16(a, b) simde_mm512_madd_epi16(a, b)
#define _mm512_cvtph_ps(x) simde_cvtph(x)
#define _mm512_cvtepi32_ps(x) simde_whole_numbers(x)
#define _mm512_cvtepu16_epi32(x) simde_widen_words(x)
#define _mm512_bsrli_epi128(x, n) \
  ((n) == 8 ? simde_upper_half_of_quarters(x) : simde_mm512_setzero_si512())
