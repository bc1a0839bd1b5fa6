// Everything of the forward pass that is not a product with a weight matrix: norms, rotations,
// activation functions, attention. One order of arithmetic (docs/numerics.md), the same bits on
// every ISA. Pure functions; any thread.
#pragma once

namespace wick {

struct VectorKernels;

}  // namespace wick
