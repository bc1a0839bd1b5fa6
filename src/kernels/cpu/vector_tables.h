// The tables of vector kernels, one for each ISA of this build. Immutable; any thread.
// Hot: all of it.
#pragma once

#include "kernels/cpu/vector.h"

namespace wick {

extern const VectorKernels kVectorScalar;
#if defined(__x86_64__)
extern const VectorKernels kVectorAvx2;
extern const VectorKernels kVectorAvx512;
#elif defined(__aarch64__)
extern const VectorKernels kVectorNeon;
#endif

}  // namespace wick
