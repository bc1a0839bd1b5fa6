// Matrix products on the CPU over native blocks, in the one order of arithmetic that
// docs/numerics.md fixes: the same bits for one token or many, any split of the rows, and every
// ISA. Pure functions: no allocation, no state, any thread.
//
//   y[t, r] = sum_k W[r, k] * x[t, k]    W: rows of blocks as in the file; x: see below; y: float
//
// Activations are quantized once per row and shared by every product that reads them (block
// formats); F32, F16 and BF16 weights take float activations as they are. A product reads
// width values of each row in [row_begin, row_end), its activations, and nothing else; it writes
// y[t * y_stride + r] for these rows only.
//
//   const MatmulKernels& k = matmul_kernels(isa);         // kernels/cpu/isa.h
//   k.quantize(x, activation_layout(width), buffer);
//   k.matmul[static_cast<int>(DType::kQ4_1)]({.w = w, .row_bytes = 360, .width = 576, …});
// Hot: all of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/matmul_args.h"
#include "quant/dtype.h"

namespace wick {

// width: positive, a multiple of 32. Rows without the int16 values are shorter and otherwise the
// same.
ActivationLayout activation_layout(int width, bool has_int16 = true) noexcept;

// Whether products with weights of `type` read quantized activations; if so, width must be a
// multiple of 32 (of 256 for types with blocks of 256).
bool needs_quantized(DType type) noexcept;

struct MatmulKernels {
  QuantizeFn quantize = nullptr;
  MatmulFn matmul[kDTypes] = {};   // by DType; every entry is set
  bool reads_int16[kDTypes] = {};  // products of this type need rows with int16 values
  PeakFn peak = nullptr;           // null: the ISA has no such multiply
};

}  // namespace wick
