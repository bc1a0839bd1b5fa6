// The arguments of a matrix product: plain structs without functions, so that per-ISA files may
// include this header (docs/ARCHITECTURE.md, "ISA dispatch"). kernels/cpu/matmul.h explains them.
// Hot: all of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick {

// The memory layout of one quantized activation row: one f32 group scale for each group of 256
// values (the last may be shorter, a multiple of 32), one block scale k of 1, 2, 4 or 8 for each
// block of 32, sums, and the int8 values p; x is about group_scale * k * p. Members are offsets in
// bytes from the row's start, each a multiple of 64. The last group is padded with zero blocks. The
// sums are stored in the forms that kernels load whole (B sums 32 values of p, B16 sums 16):
//
//   group_scales       f32 [groups]
//   block_scales       i16 [groups][8]    k
//   block_scale_pairs  i16 [groups][16]   each k twice: the multiplier of vpmaddwd over a block
//   sums               i16 [groups][8]    k * B      at most 8 * 32 * 127 = 32512
//   half_sums          i16 [groups][16]   k * B16
//   float_sums         f32 [groups][8]    k * B
//   values             i8  [groups][256]  p, -127..127
//   shifts             i32 [groups][8]    log2 k
//
// Compensations are the initial values of sums over unsigned quants (q plus an offset): they cancel
// the offset. The first two are split over the two 16-bit words that add up four values each, p[4i]
// + p[4i + 1] and p[4i + 2] + p[4i + 3]:
//
//   word_compensations       i16 [groups][8][2]   -16 * a block's word sums        at most 32512
//   half_word_compensations  i16 [groups][16][2]  -32 * half a block's word sums   at most 32512
//   compensations            i32 [groups][8]      -128 * B
//   half_compensations       i32 [groups][16]     -128 * B16
//
// Last, and only if a kernel of the step reads them (MatmulKernels::reads_int16), the values in 16
// bits, ready to be multiplied two by two:
//
//   int16s  i16 [groups][8][2][8][2]   k * p of a block: values 4i and 4i + 2 for i = 0 .. 7, then
//                                      4i + 1 and 4i + 3; at most 8 * 127 = 1016
struct ActivationLayout {
  int width = 0;   // values, a multiple of 32
  int groups = 0;  // of 256
  int blocks = 0;  // of 32
  std::size_t group_scales = 0, block_scales = 0, block_scale_pairs = 0;
  std::size_t sums = 0, half_sums = 0, float_sums = 0;
  std::size_t word_compensations = 0, half_word_compensations = 0;
  std::size_t shifts = 0, compensations = 0, half_compensations = 0;
  std::size_t values = 0;
  std::size_t int16s = 0;  // where it would begin, if the row has none
  std::size_t bytes = 0;   // of the row, a multiple of 64
  bool has_int16 = false;
};

struct MatmulArgs {
  const std::byte* w = nullptr;           // row 0
  std::size_t row_bytes = 0;              // from one row to the next
  const std::int32_t* row_map = nullptr;  // row r of the product is row row_map[r] of w; null = r
  int width = 0;                          // values in a row
  int row_begin = 0, row_end = 0;         // the rows to compute
  const std::byte* x = nullptr;  // n_tokens activations, quantized or float as needs_quantized says
  std::size_t x_stride = 0;      // bytes from one token's activations to the next
  int n_tokens = 0;
  float* y = nullptr;           // y[t * y_stride + r]
  std::ptrdiff_t y_stride = 0;  // floats
};

using MatmulFn = void (*)(const MatmulArgs& args) noexcept;
// x [width] floats → one activation row at `out` (64-byte aligned, activation_layout(width).bytes
// long).
using QuantizeFn = void (*)(const float* x, const ActivationLayout& layout,
                            std::byte* out) noexcept;

// Runs only independent multiplies of the ISA's widest byte instruction and returns the number of
// products. Benchmarks divide the speed of GEMM by this peak.
using PeakFn = std::uint64_t (*)(std::uint64_t rounds) noexcept;

// The kernels of one ISA; a null entry means the scalar kernel.
struct MatmulOverrides {
  QuantizeFn quantize = nullptr;
  PeakFn peak = nullptr;
  bool reads_int16 = false;  // quants of eight bits with many tokens: Q8_0, IQ4_NL, IQ4_XS
  MatmulFn f32 = nullptr, f16 = nullptr, bf16 = nullptr;
  MatmulFn q4_0 = nullptr, q4_1 = nullptr, q5_0 = nullptr, q5_1 = nullptr, q8_0 = nullptr;
  MatmulFn q2_k = nullptr, q3_k = nullptr, q4_k = nullptr, q5_k = nullptr, q6_k = nullptr;
  MatmulFn iq4_nl = nullptr, iq4_xs = nullptr, mxfp4 = nullptr;
};

}  // namespace wick
