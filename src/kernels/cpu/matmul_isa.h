// The tables of matrix product kernels of each ISA. The getters and the kernels are compiled with
// the flags of their ISA; call them only if is_supported() (kernels/cpu/isa.h). Hot: all of it.
#pragma once

#include "kernels/cpu/matmul_args.h"

namespace wick {

MatmulOverrides matmul_overrides_avx2() noexcept;
MatmulOverrides matmul_overrides_avx512() noexcept;
MatmulOverrides matmul_overrides_neon() noexcept;

// AVX-512's in emulated instructions, for tests where AVX2 is supported.
MatmulOverrides matmul_overrides_simde() noexcept;

}  // namespace wick
