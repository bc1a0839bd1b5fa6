// Small fields in bytes, for the encoders.
#pragma once

#include <cstdint>

namespace wick {

// low and high are 0..15.
constexpr std::uint8_t pack_nibbles(int low, int high) noexcept {
  return static_cast<std::uint8_t>(low | high << 4);
}

// Ors `value` into `byte` from bit `shift` upwards; the field was zero before.
constexpr void set_bits(std::uint8_t& byte, int value, int shift) noexcept {
  byte = static_cast<std::uint8_t>(byte | value << shift);
}

}  // namespace wick
