// The vector kernels on NEON.
// Hot: all of it.
#include "kernels/cpu/lanes_neon.h"
#include "kernels/cpu/vector_body.h"
#include "kernels/cpu/vector_tables.h"

namespace wick {

const VectorKernels kVectorNeon = kLaneKernels;

}  // namespace wick
