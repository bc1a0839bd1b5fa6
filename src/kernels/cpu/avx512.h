// Included by every AVX-512 file. With WICK_SIMDE the instructions are emulated, for tests on
// processors without them. Included by *_avx512.cc and its headers only. Hot: all of it.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 warns about its own _mm512_undefined_epi32(), which is meant to be uninitialized (bug
// 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#ifdef WICK_SIMDE
#include "kernels/cpu/simde_avx512.h"
#endif

#include "kernels/cpu/matmul_avx2.h"

namespace wick {
namespace {  // internal on purpose, see matmul_avx2.h

inline __m512i load512(const void* at) noexcept {
  return _mm512_loadu_si512(at);
}

inline __m256i add_halves(__m512i v) noexcept {
  return _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
}

}  // namespace
}  // namespace wick
