// The table of what AVX2 brings.
#include "kernels/cpu/matmul_avx2.h"

#include "kernels/cpu/matmul_isa.h"
#include "kernels/cpu/peak_body.h"

namespace wick {
namespace {

std::uint64_t peak_avx2(std::uint64_t rounds) noexcept {
  __m256i quants = _mm256_set1_epi8(1);
  return products_of<__m256i>(rounds, [&quants](__m256i& sums) {
    __asm__ volatile("" : "+x"(quants));  // as if it were another one
    sums = _mm256_maddubs_epi16(quants, quants);
    __asm__ volatile("" : "+x"(sums));
  });
}

}  // namespace

MatmulOverrides matmul_overrides_avx2() noexcept {
  return {.quantize = quantize_avx2,
          .peak = peak_avx2,
          .reads_int16 = true,
          .f32 = matmul_f32_avx2,
          .f16 = matmul_f16_avx2,
          .bf16 = matmul_bf16_avx2,
          .q4_0 = matmul_q4_0_avx2,
          .q4_1 = matmul_q4_1_avx2,
          .q5_0 = matmul_q5_0_avx2,
          .q5_1 = matmul_q5_1_avx2,
          .q8_0 = matmul_q8_0_avx2,
          .q2_k = matmul_q2_k_avx2,
          .q3_k = matmul_q3_k_avx2,
          .q4_k = matmul_q4_k_avx2,
          .q5_k = matmul_q5_k_avx2,
          .q6_k = matmul_q6_k_avx2,
          .iq4_nl = matmul_iq4_nl_avx2,
          .iq4_xs = matmul_iq4_xs_avx2,
          .mxfp4 = matmul_mxfp4_avx2};
}

}  // namespace wick
