// Mixed bits: splitmix64 (Steele, Lea, Flood 2014), and a step of a hash. Any thread.
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

// Appends `value` to the hash `h` of the values before it.
constexpr std::uint64_t mix_hash(std::uint64_t h, std::uint64_t value) noexcept {
  h = (h ^ value) * 0x9E3779B97F4A7C15U;
  return h ^ (h >> 29U);
}

}  // namespace wick
