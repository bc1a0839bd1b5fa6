#include "kernels/cpu/vector.h"

#include "base/check.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/vector_tables.h"

namespace wick {

const VectorKernels& vector_kernels(Isa isa) noexcept {
  switch (isa) {
    case Isa::kScalar:
      return kVectorScalar;
#if defined(__x86_64__)
    case Isa::kAvx2:
      return kVectorAvx2;
    case Isa::kAvx512:
      return kVectorAvx512;
#elif defined(__aarch64__)
    case Isa::kNeon:
      return kVectorNeon;
#endif
    default:
      WICK_CHECK(false, "this build has no kernels for that ISA; is_supported() says which");
  }
}

std::size_t attention_state_floats(int v_dim) noexcept {
  return static_cast<std::size_t>((v_dim + 15) / 16 * 16 + 16);
}

std::size_t attention_scratch_floats(int rows, int k_dim, int v_dim) noexcept {
  const auto padded = static_cast<std::size_t>((k_dim + 15) / 16 * 16);
  return 16 * padded + 16 * kAttentionRange +
         2 * static_cast<std::size_t>(rows) * attention_state_floats(v_dim);
}

RangeSpan attention_ranges(const AttentionArgs& a) noexcept {
  const int end = end_seen(a, a.position + a.n_tokens - 1);
  return {first_seen(a, a.position) / kAttentionRange, (end - 1) / kAttentionRange};
}

}  // namespace wick
