// The vector kernels on AVX2.
// Hot: all of it.
#include "kernels/cpu/lanes_avx2.h"
#include "kernels/cpu/vector_body.h"
#include "kernels/cpu/vector_tables.h"

namespace wick {

const VectorKernels kVectorAvx2 = kLaneKernels;

}  // namespace wick
