// UTF-8, one character at a time, for text that may hold any bytes at all. Pure functions, any
// thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wick {

struct Utf8Char {
  char32_t code = 0;
  int length = 0;         // bytes; of an invalid sequence: its maximal subpart, at least 1
  bool is_valid = false;  // false: these bytes are no character (surrogates and overlong forms too)
};

// The same as decode_utf8, for every case (Unicode 15, §3.9, table 3-7).
Utf8Char decode_any_utf8(std::string_view text) noexcept;

// The first character of `text`, which is not empty.
inline Utf8Char decode_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {.code = lead, .length = 1, .is_valid = true};
  // Most of what is not ASCII has three bytes, and a lead byte without special cases.
  if (lead > 0xE0 && lead < 0xED && text.size() >= 3) {
    const unsigned second = byte(1) ^ 0x80U;
    const unsigned third = byte(2) ^ 0x80U;
    if ((second | third) < 0x40U) {
      return {
          .code = ((lead & 0x0FU) << 12U) | (second << 6U) | third, .length = 3, .is_valid = true};
    }
  }
  return decode_any_utf8(text);
}

// The length of the sequence at the start of `text`, which is not empty; 0 if it may still become
// whole, and minus the length of its maximal invalid part otherwise.
int utf8_sequence(std::string_view text) noexcept;

// Characters of `text`; a byte that is not UTF-8 may count for none.
std::size_t count_characters(std::string_view text) noexcept;

// Length of the longest prefix of `text` that is valid UTF-8.
std::size_t valid_utf8_prefix(std::string_view text) noexcept;

// Appends `text` with each maximal invalid part replaced by U+FFFD: at most 3 bytes for each byte.
void append_repaired(std::string& out, std::string_view text);

inline constexpr std::string_view kReplacementChar = "\xEF\xBF\xBD";

}  // namespace wick
