#include "base/strings.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace wick {

namespace {

// How a UTF-8 sequence at the start of `text` stands: its length if whole, 0 if it may still become
// whole, and minus the length of its maximal invalid part otherwise (Unicode 15, §3.9, table 3-7).
int utf8_sequence(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return -1;
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (int i = 1; i < length; ++i) {
    if (static_cast<std::size_t>(i) >= text.size()) return 0;
    unsigned char low = 0x80, high = 0xBF;
    if (i == 1) {
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    }
    const unsigned char byte = at(static_cast<std::size_t>(i));
    if (byte < low || byte > high) return -i;
  }
  return length;
}

}  // namespace

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

std::string ascii_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
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

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    if (out.size() >= limit) return out + "…";
    const int length = utf8_sequence(text.substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c1 =
        byte == 0xC2 && length == 2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (length <= 0 || byte < 0x20 || byte == 0x7F || is_c1) {
      std::array<char, 8> hex;
      std::snprintf(hex.data(), hex.size(), "\\x%02X", byte);
      out += hex.data();
      ++i;
      continue;
    }
    out.append(text, i, static_cast<std::size_t>(length));
    i += static_cast<std::size_t>(length);
  }
  return out;
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
  std::size_t i = 0;
  while (i < text.size()) {
    const int length = utf8_sequence(text.substr(i));
    if (length > 0) {
      out.append(text, i, static_cast<std::size_t>(length));
      i += static_cast<std::size_t>(length);
    } else {
      out += "\xEF\xBF\xBD";
      i += length == 0 ? text.size() - i : static_cast<std::size_t>(-length);
    }
  }
  return out;
}

}  // namespace wick
