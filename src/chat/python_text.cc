#include "chat/python_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/hex.h"
#include "base/strings.h"
#include "chat/memory.h"
#include "unicode/python_str.h"

namespace wick {

namespace {

template <class String>
void append_json_escape(String& out, char32_t unit) {
  out += "\\u";
  append_hex(out, unit, 4);
}

}  // namespace

std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const double size = std::fabs(value);
  const bool is_fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value,
                    is_fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string out(buffer, end.ptr);
  if (is_fixed && out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::string json_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return python_float(value);
}

template <class String>
void append_json_escaped(String& out, std::string_view text, bool ascii_only) {
  enum Plain : std::uint8_t { kNever, kUnlessAsciiOnly, kAlways };

  static constexpr auto kPlain = [] {
    std::array<Plain, 256> plain{};
    for (std::size_t byte = 0x20; byte < plain.size(); ++byte) {
      const bool is_special = byte == '"' || byte == '\\';
      plain[byte] = is_special ? kNever : byte < 0x7F ? kAlways : kUnlessAsciiOnly;
    }
    return plain;
  }();
  const Plain wanted = ascii_only ? kAlways : kUnlessAsciiOnly;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    while (at < text.size() && kPlain[static_cast<unsigned char>(text[at])] >= wanted) {
      ++at;
    }
    out += text.substr(begin, at - begin);
    if (at == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[at++];
    } else if (byte < 0x20) {
      constexpr std::string_view kShort = "\n\r\t\b\f";
      const std::size_t which = kShort.find(text[at++]);
      if (which == std::string_view::npos) {
        append_json_escape(out, byte);
      } else {
        out += '\\';
        out += "nrtbf"[which];
      }
    } else {
      const CodePoint c = code_point(text, at);
      if (c.value >= kInvalidByte) {
        out += text.substr(at, c.size);
      } else if (c.value < 0x10000) {
        append_json_escape(out, c.value);
      } else {
        append_json_escape(out, 0xD800 + ((c.value - 0x10000) >> 10));
        append_json_escape(out, 0xDC00 + (c.value & 0x3FF));
      }
      at += c.size;
    }
  }
}

template <class String>
void append_escape(String& out, char32_t code) {
  const int digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
  out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  append_hex(out, code, digits);
}

template <class String>
void append_repr_escaped(String& out, std::string_view text, char quote) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point(text, at);
    if (c.value == static_cast<char32_t>(quote) || c.value == '\\') {
      out += '\\';
      out += text[at];
    } else if (c.value == '\n' || c.value == '\r' || c.value == '\t') {
      out += c.value == '\n' ? "\\n" : c.value == '\r' ? "\\r" : "\\t";
    } else if (c.value >= kInvalidByte || (c.value >= 0x20 && c.value < 0x7F)) {
      out += text.substr(at, c.size);
    } else if (is_printable(c.value)) {
      out += text.substr(at, c.size);
    } else {
      append_escape(out, c.value);
    }
    at += c.size;
  }
}

template void append_json_escaped(std::string&, std::string_view, bool);
template void append_json_escaped(jinja::String&, std::string_view, bool);
template void append_escape(jinja::String&, char32_t);
template void append_repr_escaped(std::string&, std::string_view, char);
template void append_repr_escaped(jinja::String&, std::string_view, char);

// Most texts are short and plain: these are appended at once.
void append_json_string(std::string& out, std::string_view text, bool ascii_only) {
  char piece[48];
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
  if (text.size() + 2 <= sizeof(piece) && std::all_of(text.begin(), text.end(), is_plain)) {
    piece[0] = '"';
    *std::copy(text.begin(), text.end(), piece + 1) = '"';
    out.append(piece, text.size() + 2);
    return;
  }
  out += '"';
  append_json_escaped(out, text, ascii_only);
  out += '"';
}

char repr_quote(std::string_view text) noexcept {
  const bool has_single = text.find('\'') != std::string_view::npos;
  return has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
}

void append_python_repr(std::string& out, std::string_view text) {
  const char quote = repr_quote(text);
  out += quote;
  append_repr_escaped(out, text, quote);
  out += quote;
}

}  // namespace wick

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
