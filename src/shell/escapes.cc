#include "shell/escapes.h"

#include <cstdint>

#include "base/hex.h"
#include "base/strings.h"
#include "shell/limits.h"

namespace wick::shell {

namespace {

bool is_octal(char c) noexcept {
  return c >= '0' && c <= '7';
}

// Reads up to `most` digits at `at`; -1 if there are none.
long read_digits(std::string_view text, std::size_t& at, int most, bool is_hex) {
  long value = 0;
  int n = 0;
  while (n < most && at < text.size() && (is_hex ? hex_value(text[at]) >= 0 : is_octal(text[at]))) {
    value = value * (is_hex ? 16 : 8) + hex_value(text[at++]);
    ++n;
  }
  return n == 0 ? -1 : value;
}

char simple_escape(char c) noexcept {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'e':
    case 'E':
      return '\x1b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '\\':
      return '\\';
    default:
      return '\0';
  }
}

}  // namespace

std::string decode_ansi(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i++];
      continue;
    }
    const char c = text[i + 1];
    i += 2;
    if (const char plain = simple_escape(c); plain != '\0') {
      out += plain;
    } else if (c == '\'' || c == '"' || c == '?') {
      out += c;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const long code = read_digits(text, i, c == 'x' ? 2 : c == 'u' ? 4 : 8, true);
      if (code == 0) return out;
      if (code < 0) {
        out += '\\';
        out += c;
      } else if (c == 'x' || code < 0x80) {
        out += static_cast<char>(code);
      } else if (code < 0x110000 && (code < 0xD800 || code > 0xDFFF)) {
        append_utf8(out, static_cast<char32_t>(code));
      }
    } else if (is_octal(c)) {
      --i;
      const long code = read_digits(text, i, 3, false) & 0xFF;
      if (code == 0) return out;
      out += static_cast<char>(code);
    } else if (c == 'c' && i < text.size()) {
      const char control = static_cast<char>(text[i++] & 0x1F);
      if (control == '\0') return out;
      out += control;
    } else {
      out += '\\';
      out += c;
    }
  }
  return out;
}

std::string decode_escapes(std::string_view text, bool* has_code) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i++];
      continue;
    }
    const char c = text[i + 1];
    i += 2;
    if (const char plain = simple_escape(c); plain != '\0') {
      out += plain;
      continue;
    }
    if (c == 'c') return out;
    if (c == 'x' || c == 'u' || c == 'U') {
      const long code = read_digits(text, i, c == 'x' ? 2 : c == 'u' ? 4 : 8, true);
      if (code < 0) {
        out += '\\';
        out += c;
      } else if (code < 0x80 || c == 'x') {
        *has_code = true;
        out += static_cast<char>(code);
      } else if (code < 0x110000 && (code < 0xD800 || code > 0xDFFF)) {
        *has_code = true;
        append_utf8(out, static_cast<char32_t>(code));
      }
    } else if (is_octal(c)) {
      if (c != '0' || (i < text.size() && is_octal(text[i]))) {
        if (c != '0') --i;
        const long code = read_digits(text, i, 3, false);
        *has_code = true;
        out += static_cast<char>(code & 0xFF);
      } else {
        out += '\0';
      }
    } else {
      out += '\\';
      out += c;
    }
  }
  return out;
}

namespace {

std::optional<std::string> decode_bits(std::string_view text, std::string_view alphabet, int bits) {
  std::string out;
  std::uint32_t buffer = 0;
  int have = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ') continue;
    if (c == '=') break;
    const std::size_t value = alphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    buffer = buffer << bits | static_cast<std::uint32_t>(value);
    have += bits;
    if (have >= 8) {
      have -= 8;
      out += static_cast<char>(buffer >> have & 0xFF);
    }
  }
  return out;
}

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  return decode_bits(text, kBase64, 6);
}

std::optional<std::string> decode_base32(std::string_view text) {
  return decode_bits(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5);
}

std::string encode_base64(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > text.size() ? '=' : kBase64[bits >> (18 - 6 * k) & 63];
  }
  return out;
}

std::optional<std::string> decode_hex(std::string_view text) {
  std::string out;
  int high = -1;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\t') continue;
    const int value = hex_value(c);
    if (value < 0) return std::nullopt;
    if (high < 0) {
      high = value;
    } else {
      out += static_cast<char>(high << 4 | value);
      high = -1;
    }
  }
  return out;
}

namespace {

// One conversion at `at` (behind %); false if it is not known.
bool convert(std::string_view format, std::size_t& at, const std::string& argument,
             std::string& out, bool* has_code, bool& uses) {
  const std::size_t begin = at;
  while (at < format.size() &&
         std::string_view("0123456789.-+ #").find(format[at]) != std::string_view::npos)
    ++at;
  if (at >= format.size()) return false;
  const bool has_width = at > begin;
  const char c = format[at++];
  uses = true;
  if (c == '%') {
    uses = false;
    out += '%';
    return !has_width;
  }
  if (has_width) return false;
  if (c == 's') {
    out += argument;
  } else if (c == 'b') {
    out += decode_escapes(argument, has_code);
  } else if (c == 'c') {
    if (!argument.empty()) out += argument[0];
  } else if (c == 'd' || c == 'i' || c == 'u') {
    const bool is_plain = argument.find_first_not_of("0123456789") == std::string::npos &&
                          argument.size() < 18 && !(argument.size() > 1 && argument[0] == '0');
    if (!is_plain) return false;
    out += argument.empty() ? "0" : argument;
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> format_printf(std::string_view format,
                                         const std::vector<std::string>& arguments,
                                         bool* has_code) {
  std::string out;
  std::size_t next = 0;
  do {
    const std::size_t begin = next;
    for (std::size_t i = 0; i < format.size();) {
      if (format[i] == '\\') {
        std::size_t end = i + 2;
        while (end < format.size() && end < i + 10 && hex_value(format[end]) >= 0)
          ++end;
        // The escape alone: as many digits as it takes are decoded, the rest follows.
        const std::string_view escape = format.substr(i, end - i);
        out += decode_escapes(escape, has_code);
        i = std::min(end, format.size());
        continue;
      }
      if (format[i] != '%') {
        out += format[i++];
        continue;
      }
      ++i;
      bool uses = false;
      const std::string argument = next < arguments.size() ? arguments[next] : "";
      if (!convert(format, i, argument, out, has_code, uses)) return std::nullopt;
      if (uses) ++next;
      if (out.size() > kMaxText) return std::nullopt;
    }
    if (next == begin) break;  // a format without conversions is printed once
  } while (next < arguments.size());
  return out;
}

namespace {

bool expand_set(std::string_view set, std::string& out) {
  std::string plain;
  bool ignored = false;
  if (set.find('[') != std::string_view::npos) return false;
  plain = decode_escapes(set, &ignored);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (i + 2 < plain.size() && plain[i + 1] == '-' && plain[i] <= plain[i + 2]) {
      for (int c = static_cast<unsigned char>(plain[i]);
           c <= static_cast<unsigned char>(plain[i + 2]); ++c)
        out += static_cast<char>(c);
      i += 2;
    } else {
      out += plain[i];
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> translate(std::string_view text, std::string_view from,
                                     std::string_view to, bool deletes) {
  std::string a;
  std::string b;
  if (!expand_set(from, a) || !expand_set(to, b) || (b.empty() && !deletes)) return std::nullopt;
  std::string out;
  for (const char c : text) {
    const std::size_t at = a.rfind(c);
    if (at == std::string::npos) {
      out += c;
    } else if (!deletes) {
      out += b[std::min(at, b.size() - 1)];
    }
  }
  return out;
}

}  // namespace wick::shell
