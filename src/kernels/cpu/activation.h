// Quantized activation rows: the scalar definition of how they are made, and access to their parts.
// docs/numerics.md, "Activations", has the formulas and the reasons. Pure functions, any thread.
// Hot: all of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/matmul_args.h"

namespace wick {

// The definition; every ISA's quantize gives the same bytes. A group that holds a NaN or an
// infinity gets the group scale NaN and p = 0, so that the products of its row are NaN.
void quantize_scalar(const float* x, const ActivationLayout& layout, std::byte* out) noexcept;

// The residual of a quantized row: out = x - group_scale * (k * p), each operation rounded; NaN if
// the group scale is NaN. `out` may be x.
void residual(const float* x, const ActivationLayout& layout, const std::byte* row,
              float* out) noexcept;

// The parts of one row, by ActivationLayout.
struct ActivationRow {
  const float* group_scales = nullptr;
  const std::int16_t* block_scales = nullptr;
  const std::int16_t* sums = nullptr;
  const std::int16_t* half_sums = nullptr;
  const std::int8_t* values = nullptr;
};

ActivationRow activation_row(const ActivationLayout& layout, const std::byte* row) noexcept;

}  // namespace wick
