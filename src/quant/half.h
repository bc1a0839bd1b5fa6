// IEEE half (f16) and bfloat16 to and from float, in portable scalar code: the definition that
// every faster conversion is tested against. Widening is exact. Narrowing rounds to nearest even,
// keeps signed zeros, infinities and subnormals, overflows to infinity, and turns every NaN quiet
// (sign and leading payload bits stay), as F16C and NEON do. Any thread; no floating-point state is
// read. Per-ISA kernel files use intrinsics instead (docs/ARCHITECTURE.md, "ISA dispatch").
//
//   const float scale = f16_to_f32(block.d_f16);
#pragma once

#include <bit>
#include <cstdint>

namespace wick {

constexpr float f16_to_f32(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  std::uint32_t bits = 0;
  if (magnitude >= 0x7c00u) {  // infinity, or NaN made quiet
    bits = 0x7f800000u | (magnitude & 0x3ffu) << 13 | (magnitude > 0x7c00u ? 0x400000u : 0u);
  } else if (magnitude >= 0x400u) {
    bits = (magnitude << 13) + ((127u - 15u) << 23);
  } else {  // subnormal: a whole number of 2^-24, which a float holds exactly
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  }
  return std::bit_cast<float>(sign | bits);
}

constexpr std::uint16_t f32_to_f16(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520, halfway between the largest half and 2^16
    half = 0x7c00u;
  } else {
    // Below 2^-14 the last place of a half is 2^-24 whatever the value, above it is 13 bits up from
    // a float's. Drop those bits; half the last place, less one if the result is even, rounds.
    const std::uint32_t exponent = magnitude >> 23;
    const bool is_normal = exponent >= 113u;
    const std::uint32_t drop = is_normal ? 13u : 126u - exponent;
    const std::uint32_t significand =
        is_normal ? magnitude - (112u << 23) : (magnitude & 0x7fffffu) | 0x800000u;
    if (drop <= 24u) {  // beyond, the value is under 2^-25 and rounds to zero
      const std::uint32_t odd = significand >> drop & 1u;
      half = (significand + (1u << (drop - 1u)) - 1u + odd) >> drop;
    }
  }
  return static_cast<std::uint16_t>(sign | half);
}

constexpr float bf16_to_f32(std::uint16_t half) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

constexpr std::uint16_t f32_to_bf16(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {  // rounding could carry a NaN into infinity
    return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// Conversion for the KV cache: finite values stay finite (a value that is too large becomes the
// largest one), infinities stay, and every NaN becomes the same one.
constexpr std::uint16_t saturated(float value, std::uint16_t rounded, std::uint16_t infinity,
                                  std::uint16_t nan) noexcept {
  if ((rounded & 0x7fffu) < infinity) return rounded;
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return nan;
  return static_cast<std::uint16_t>(magnitude < 0x7f800000u ? rounded - 1u : rounded);
}

constexpr std::uint16_t f32_to_f16_saturated(float value) noexcept {
  return saturated(value, f32_to_f16(value), 0x7c00u, 0x7e00u);
}

constexpr std::uint16_t f32_to_bf16_saturated(float value) noexcept {
  return saturated(value, f32_to_bf16(value), 0x7f80u, 0x7fc0u);
}

inline constexpr float kLargestF16 = 65504.0f;

}  // namespace wick
