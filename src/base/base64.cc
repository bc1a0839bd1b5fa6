#include "base/base64.h"

#include <array>
#include <cstdint>

namespace wick {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 0xFF;

constexpr auto kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

}  // namespace

void append_base64(std::string& out, std::span<const std::byte> bytes) {
  const auto at = [&](std::size_t i) {
    return i < bytes.size() ? std::to_integer<unsigned>(bytes[i]) : 0U;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    out += kDigits[group >> 18];
    out += kDigits[group >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[group & 63] : '=';
  }
}

bool append_from_base64(std::string& out, std::string_view text) {
  if (text.size() % 4 != 0) return false;
  const std::size_t before = out.size();
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::uint32_t bits = 0;
  unsigned n_bits = 0;
  for (const char c : text) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kNone) {
      out.resize(before);
      return false;
    }
    bits = (bits << 6U) | value;
    n_bits += 6;
    if (n_bits < 8) continue;
    n_bits -= 8;
    out += static_cast<char>(static_cast<unsigned char>((bits >> n_bits) & 0xFFU));
  }
  return true;
}

}  // namespace wick
