// Hexadecimal digits; what is written is in lower case. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace wick {

// The last `n_digits` digits of `value`, at most 16: append_hex(out, 0xAB, 4) appends "00ab".
template <class String>
void append_hex(String& out, std::uint64_t value, int n_digits) {
  char digits[16];
  char* at = digits;
  for (int shift = 4 * (n_digits - 1); shift >= 0; shift -= 4)
    *at++ = "0123456789abcdef"[value >> shift & 15];
  out += std::string_view(digits, static_cast<std::size_t>(at - digits));
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
