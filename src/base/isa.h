// The instruction set in use, by kernels (kernels/cpu/isa.h) and the sampler's scans
// (sample/scan.h). WICK_ISA=scalar|avx2|avx512|neon forces one (avx512 needs F, BW, DQ, VL, VNNI,
// VBMI and BF16). Decided once, at the first call; any thread.
#pragma once

#include <string_view>

#include "base/result.h"

namespace wick {

enum class Isa { kScalar, kAvx2, kAvx512, kNeon };

inline constexpr Isa kAllIsas[] = {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon};

std::string_view name(Isa isa) noexcept;
bool is_supported(Isa isa) noexcept;  // by this processor and this build
// The best supported one, or what WICK_ISA names: kInvalid for an unknown name, kUnsupported for
// one that cannot run here.
Result<Isa> choose_isa();
// The same for a given name; empty means the best supported one.
Result<Isa> choose_isa(std::string_view wanted);

}  // namespace wick
