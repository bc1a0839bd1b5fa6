// The vector kernels on AVX-512.
// Hot: all of it.
#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 warns about its own _mm512_undefined_ps(), which is meant to be uninitialized (bug
// 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include "kernels/cpu/lanes_avx512.h"
#include "kernels/cpu/vector_body.h"
#include "kernels/cpu/vector_tables.h"

namespace wick {

const VectorKernels kVectorAvx512 = kLaneKernels;

}  // namespace wick
