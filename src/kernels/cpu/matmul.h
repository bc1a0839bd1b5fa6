// Matrix products on the CPU over native blocks, in the one order of arithmetic that
// docs/numerics.md fixes: the same bits for one token or many, any split of the rows, and every
// ISA. Pure functions: no allocation, no state, any thread.
//
//   y[t, r] = sum_k W[r, k] * x[t, k]        W: rows of blocks as in the file; x: see below; y:
//   float
//
// Activations are quantised once per row and shared by every product that reads them (block
// formats); F32, F16 and BF16 weights take float activations as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "quant/dtype.h"

namespace wick {

// How one quantised activation row lies in memory: for each group of 256 (the last may be shorter,
// a multiple of 32) one f32 unit, for each block of 32 a factor 1, 2, 4 or 8 and sums, and the int8
// values. Offsets in bytes from the row's start.
struct ActivationLayout {
  int width = 0;   // values, a multiple of 32
  int groups = 0;  // of 256
  int blocks = 0;  // of 32
  std::size_t units = 0, factors = 0, sums = 0, values = 0;
  std::size_t bytes = 0;  // of the row, a multiple of 64
};

ActivationLayout activation_layout(int width) noexcept;

struct MatmulArgs {
  const std::byte* w = nullptr;  // row 0
  std::size_t row_bytes = 0;     // from one row to the next
  const std::int32_t* row_map =
      nullptr;                     // row r of the product is row row_map[r] of w; nullptr = r
  int width = 0;                   // values in a row
  int row_begin = 0, row_end = 0;  // the rows to compute
  const std::byte* x =
      nullptr;               // n_tokens activations, quantised or float as needs_quantised() says
  std::size_t x_stride = 0;  // bytes from one token's activations to the next
  int n_tokens = 0;
  float* y = nullptr;           // y[t * y_stride + r]
  std::ptrdiff_t y_stride = 0;  // floats
};

using MatmulFn = void (*)(const MatmulArgs& args) noexcept;
// x [width] floats → one activation row at `out` (64-byte aligned, activation_layout(width).bytes
// long).
using QuantiseFn = void (*)(const float* x, const ActivationLayout& layout,
                            std::byte* out) noexcept;

// Whether products with weights of `type` read quantised activations; if so, width must be a
// multiple of 32 (of 256 for types with blocks of 256).
bool needs_quantised(DType type) noexcept;

struct MatmulKernels {
  QuantiseFn quantise = nullptr;
  MatmulFn matmul[kDTypes] = {};  // by DType; every entry is set
};

}  // namespace wick
