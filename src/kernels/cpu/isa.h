// The kernels of an instruction set. The scalar table is complete; each ISA overrides entries.
// Hot: all of it.
#pragma once

#include "base/isa.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/vector.h"

namespace wick {

// The kernels of `isa`; where it is not supported, the scalar ones.
const MatmulKernels& matmul_kernels(Isa isa) noexcept;
const VectorKernels& vector_kernels(Isa isa) noexcept;  // norms, rotations, activations, attention

}  // namespace wick
