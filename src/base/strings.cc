#include "base/strings.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/utf8.h"

namespace wick {

namespace internal {
void append(std::string& out, double part) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), part);
  out.append(text.data(), end.ptr);
}
}  // namespace internal

double as_written(float value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  double out = 0;
  std::from_chars(digits.data(), end.ptr, out);
  return out;
}

// Eight bytes at once, then the others. Bit 7 of a byte of `is_upper` says that it is from A to Z.
std::string ascii_lower(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = 0x8080808080808080;
  std::string out(text);
  std::size_t at = 0;
  for (; at + 8 <= out.size(); at += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, out.data() + at, sizeof(bytes));
    const std::uint64_t low = bytes & ~kHigh;
    const std::uint64_t from_a = low + kOnes * (0x80 - 'A'), above_z = low + kOnes * (0x7F - 'Z');
    const std::uint64_t is_upper = from_a & ~above_z & ~bytes & kHigh;
    bytes |= is_upper >> 2;
    std::memcpy(out.data() + at, &bytes, sizeof(bytes));
  }
  for (; at < out.size(); ++at) {
    if (out[at] >= 'A' && out[at] <= 'Z') out[at] = static_cast<char>(out[at] + 32);
  }
  return out;
}

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  static constexpr std::array kUnits = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), value < 99.95 ? "%.1f %s" : "%.0f %s", value,
                kUnits[unit]);
  return text.data();
}

std::size_t complete_utf8(std::string_view text) noexcept {
  // Only the last three bytes can belong to an unfinished character.
  const std::size_t from = text.size() > 3 ? text.size() - 3 : 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0xC2 && byte <= 0xF4 && utf8_sequence(text.substr(i)) == 0) return i;
  }
  return text.size();
}

void append_utf8(std::string& out, char32_t code) {
  const auto put = [&](char32_t bits) {
    out += static_cast<char>(static_cast<unsigned char>(bits));
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

std::string repair_utf8(std::string_view text) {
  std::string out;
  append_repaired(out, text);
  return out;
}

}  // namespace wick
