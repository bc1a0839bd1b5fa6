// The table of one ISA's vector kernels. A file vector_<isa>.cc includes one lanes_<isa>.h, then
// this, and names the result.
// Hot: all of it.
#pragma once

#include "kernels/cpu/attention_body.h"
#include "kernels/cpu/delta_body.h"
#include "kernels/cpu/elementary_body.h"
#include "kernels/cpu/vector.h"

namespace wick {
namespace {

constexpr VectorKernels kLaneKernels = {
    .rms_norm = rms_norm_kernel,
    .layer_norm = layer_norm_kernel,
    .gate = {gate_kernel<Silu>, gate_kernel<Gelu>, gate_kernel<GeluTanh>, gate_kernel<Relu2>,
             gate_kernel<Sigmoid>},
    .add_scaled = add_scaled_kernel,
    .soft_cap = soft_cap_kernel,
    .rotate_halves = rotate_halves_kernel,
    .rotate_pairs = rotate_pairs_kernel,
    .attend = attend_kernel,
    .attend_range = attend_range_kernel,
    .merge_ranges = merge_ranges_kernel,
    .conv_silu = conv_silu_kernel,
    .delta = delta_kernel,
};

}  // namespace
}  // namespace wick
