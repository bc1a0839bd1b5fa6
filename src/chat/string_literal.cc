#include "chat/string_literal.h"

#include <charconv>
#include <limits>

#include "base/hex.h"
#include "base/strings.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

// `n` hexadecimal digits at text[at]; nullopt if there are fewer.
std::optional<char32_t> hex(std::string_view text, std::size_t at, int n) noexcept {
  char32_t value = 0;
  for (int i = 0; i < n; ++i, ++at) {
    const int digit = at < text.size() ? hex_value(text[at]) : -1;
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<char32_t>(digit);
  }
  return value;
}

}  // namespace

std::optional<std::string> unescape(std::string_view literal, std::string& out) {
  constexpr std::string_view kLetters = "\\'\"abfnrtv";
  constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
  for (std::size_t at = 0; at < literal.size();) {
    if (literal[at] != '\\' || at + 1 == literal.size()) {
      out += literal[at++];
      continue;
    }
    const char c = literal[at + 1];
    at += 2;
    if (const std::size_t which = kLetters.find(c); which != std::string_view::npos) {
      out += kMeanings[which];
    } else if (c == '\n') {
      continue;  // an escaped line end is none
    } else if (c >= '0' && c <= '7') {
      char32_t value = static_cast<char32_t>(c - '0');
      for (int i = 0; i < 2 && at < literal.size() && literal[at] >= '0' && literal[at] <= '7';
           ++i) {
        value = value * 8 + static_cast<char32_t>(literal[at++] - '0');
      }
      append_code(out, value);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const int digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      const auto value = hex(literal, at, digits);
      if (!value) return cat("\\", c, " needs ", digits, " hexadecimal digits");
      if (*value > 0x10FFFF) return cat("\\", c, " names a character beyond U+10FFFF");
      if (*value >= 0xD800 && *value < 0xE000) return cat("\\", c, " names half a surrogate pair");
      append_code(out, *value);
      at += static_cast<std::size_t>(digits);
    } else if (c == 'N') {
      return "\\N{…} names are not known here; write \\u and the number";
    } else {
      out += '\\';  // an unknown escape stays as it is
      out += c;
    }
  }
  return std::nullopt;
}

double parse_double(std::string_view digits) {
  double value = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end.ec != std::errc::result_out_of_range) return value;
  // Out of range leaves `value` alone; the exponent's sign tells zero from infinity.
  const std::size_t e = digits.find_first_of("eE");
  const bool tiny = e != std::string_view::npos ? digits[e + 1] == '-' : digits[0] == '0';
  const double size = tiny ? 0 : std::numeric_limits<double>::infinity();
  return !digits.empty() && digits[0] == '-' ? -size : size;
}

}  // namespace wick::jinja
