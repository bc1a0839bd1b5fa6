// Random numbers without state: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", 2011) turns (seed, counter) into 128 random bits, so the n-th draw of a request never
// depends on what else runs.
// Hot: all of it.
#pragma once

#include <cstdint>

namespace wick {

// Uniform in [0, 1), 53 bits, for the counter-th draw under `seed`.
double uniform(std::uint64_t seed, std::uint64_t counter) noexcept;

}  // namespace wick
