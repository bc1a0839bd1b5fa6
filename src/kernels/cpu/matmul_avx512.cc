// The table of what AVX-512 brings: for now what AVX2 has.
#include "kernels/cpu/matmul_isa.h"

namespace wick {

MatmulOverrides matmul_overrides_avx512() noexcept {
  return matmul_overrides_avx2();
}

}  // namespace wick
