// Hexadecimal digits; what is written is in lower case. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace wick {

// The last `n_digits` digits of `value`: append_hex(out, 0xAB, 4) appends "00ab".
template <class String>
void append_hex(String& out, std::uint64_t value, int n_digits) {
  for (int shift = 4 * (n_digits - 1); shift >= 0; shift -= 4)
    out += "0123456789abcdef"[value >> shift & 15];
}

// The value of a digit of either case, -1 if it is none.
constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Two digits for each byte.
inline std::string to_hex(std::span<const unsigned char> bytes) {
  std::string out;
  for (const unsigned char byte : bytes)
    append_hex(out, byte, 2);
  return out;
}

}  // namespace wick
