// Shared by the NEON products. Included by *_neon.cc only; everything is internal to the file that
// includes it (docs/ARCHITECTURE.md, "ISA dispatch"). Hot: all of it.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/block_formats.h"
#include "kernels/cpu/matmul_args.h"

namespace wick {

void matmul_q2_k_neon(const MatmulArgs& args) noexcept;
void matmul_q3_k_neon(const MatmulArgs& args) noexcept;
void matmul_q4_k_neon(const MatmulArgs& args) noexcept;
void matmul_q5_k_neon(const MatmulArgs& args) noexcept;
void matmul_q6_k_neon(const MatmulArgs& args) noexcept;
void matmul_iq4_xs_neon(const MatmulArgs& args) noexcept;

// Defined with the layout in activation.cc, which is compiled for every processor.
ActivationLayout activation_layout(int width, bool has_int16 = true) noexcept;

namespace {  // internal on purpose, see above

template <class T>
inline T load_as(const void* at) noexcept {
  T value;
  __builtin_memcpy(&value, at, sizeof value);
  return value;
}

inline float widen(std::uint16_t half) noexcept {
  return static_cast<float>(load_as<__fp16>(&half));
}

inline const std::byte* row_at(const MatmulArgs& args, int r) noexcept {
  const std::ptrdiff_t at = args.row_map == nullptr ? r : args.row_map[r];
  return args.w + at * static_cast<std::ptrdiff_t>(args.row_bytes);
}

}  // namespace
}  // namespace wick
