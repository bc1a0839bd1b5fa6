// The scalar matrix products: the definition that all other kernels must equal bit for bit, and the
// fallback for an ISA without its own kernel. Written for clarity, not for speed. Hot: all of it.
#pragma once

#include "kernels/cpu/matmul.h"

namespace wick {

// Products with every format, in scalar code.
const MatmulKernels& matmul_kernels_scalar() noexcept;

// The scalar table with the entries of one ISA in place of its own.
MatmulKernels with_overrides(const MatmulOverrides& overrides) noexcept;

}  // namespace wick
