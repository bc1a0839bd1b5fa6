// The vector kernels on any processor: the scalar reference.
// Hot: all of it.
#include "kernels/cpu/lanes_scalar.h"
#include "kernels/cpu/vector_body.h"
#include "kernels/cpu/vector_tables.h"

namespace wick {

const VectorKernels kVectorScalar = kLaneKernels;

}  // namespace wick
