// Which kernel serves which format on which ISA: the scalar table, overridden by what the ISA
// brings.
#include "kernels/cpu/matmul.h"

#include "kernels/cpu/isa.h"
#include "kernels/cpu/matmul_isa.h"
#include "kernels/cpu/matmul_scalar.h"

namespace wick {

bool needs_quantized(DType type) noexcept {
  return type != DType::kF32 && type != DType::kF16 && type != DType::kBF16;
}

MatmulKernels with_overrides(const MatmulOverrides& o) noexcept {
  MatmulKernels kernels = matmul_kernels_scalar();
  if (o.quantize != nullptr) kernels.quantize = o.quantize;
  kernels.peak = o.peak;
  for (const DType type : {DType::kQ8_0, DType::kIQ4_NL, DType::kIQ4_XS})
    kernels.reads_int16[static_cast<int>(type)] = o.reads_int16;
  const auto put = [&kernels](DType type, MatmulFn fn) {
    if (fn != nullptr) kernels.matmul[static_cast<int>(type)] = fn;
  };
  put(DType::kF32, o.f32);
  put(DType::kF16, o.f16);
  put(DType::kBF16, o.bf16);
  put(DType::kQ4_0, o.q4_0);
  put(DType::kQ4_1, o.q4_1);
  put(DType::kQ5_0, o.q5_0);
  put(DType::kQ5_1, o.q5_1);
  put(DType::kQ8_0, o.q8_0);
  put(DType::kQ2_K, o.q2_k);
  put(DType::kQ3_K, o.q3_k);
  put(DType::kQ4_K, o.q4_k);
  put(DType::kQ5_K, o.q5_k);
  put(DType::kQ6_K, o.q6_k);
  put(DType::kIQ4_NL, o.iq4_nl);
  put(DType::kIQ4_XS, o.iq4_xs);
  put(DType::kMXFP4, o.mxfp4);
  return kernels;
}

const MatmulKernels& matmul_kernels(Isa isa) noexcept {
  // A getter runs with the instructions of its ISA: only where they are supported.
  if (!is_supported(isa)) return matmul_kernels_scalar();
#if defined(__x86_64__)
  if (isa == Isa::kAvx2) {
    static const MatmulKernels kernels = with_overrides(matmul_overrides_avx2());
    return kernels;
  }
  if (isa == Isa::kAvx512) {
    static const MatmulKernels kernels = with_overrides(matmul_overrides_avx512());
    return kernels;
  }
#elif defined(__aarch64__)
  if (isa == Isa::kNeon) {
    static const MatmulKernels kernels = with_overrides(matmul_overrides_neon());
    return kernels;
  }
#endif
  return matmul_kernels_scalar();
}

}  // namespace wick
