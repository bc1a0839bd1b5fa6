// Numbers that look random, from a seed: splitmix64 (Steele, Lea, Flood 2014). Any thread.
#pragma once

#include <cstdint>

namespace wick {

// Number `index` of the sequence that `seed` begins.
constexpr std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t index) noexcept {
  std::uint64_t x = seed + index * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

}  // namespace wick
