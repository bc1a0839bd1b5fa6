// The scalar matrix products: the definition that every other kernel is held to, bit for bit, and
// what runs where an ISA has no kernel of its own. Written to be believed, not to be fast.
// Hot: all of it.
#pragma once

#include "kernels/cpu/matmul.h"

namespace wick {

// Products with every format, in scalar code.
const MatmulKernels& matmul_kernels_scalar() noexcept;

// The scalar table with what one ISA brings in its place.
MatmulKernels with_overrides(const MatmulOverrides& overrides) noexcept;

}  // namespace wick
