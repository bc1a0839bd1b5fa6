// UTF-8, one character at a time, for text that may hold any bytes at all. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wick {

struct Utf8Char {
  char32_t code = 0;
  int length = 0;         // bytes; of a bad sequence: its maximal subpart, at least 1
  bool is_valid = false;  // false: these bytes are no character (surrogates and overlong forms too)
};

// The first character of `text`, which is not empty.
Utf8Char decode_utf8(std::string_view text) noexcept;

// Length of the longest prefix of `text` that is valid UTF-8.
std::size_t valid_utf8_prefix(std::string_view text) noexcept;

// Appends `text` with each maximal invalid part replaced by U+FFFD: at most 3 bytes for each byte.
void append_repaired(std::string& out, std::string_view text);

inline constexpr std::string_view kReplacementChar = "\xEF\xBF\xBD";

}  // namespace wick
