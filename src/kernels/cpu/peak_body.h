// The loop that finds an ISA's peak of multiplies (matmul_args.h, PeakFn). Included by the per-ISA
// files only; everything is local to the including file.
// Hot: all of it.
#pragma once

#include <cstdint>

namespace wick {
namespace {  // internal on purpose, see above

// multiply(sum): one instruction on a register of Vector, kept by the compiler. None waits for
// another one of its round.
template <class Vector, class Multiply>
inline std::uint64_t products_of(std::uint64_t rounds, const Multiply& multiply) noexcept {
  constexpr int kMultiplies = 12;
  Vector sums[kMultiplies] = {};
  for (std::uint64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (Vector& sum : sums)
      multiply(sum);
  }
  return rounds * kMultiplies * sizeof(Vector);
}

}  // namespace
}  // namespace wick
