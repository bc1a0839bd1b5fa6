#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "chat/format.h"
#include "chat/text_builder.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

std::string with_sign(bool negative, char sign, std::string digits) {
  if (negative) return cat('-', digits);
  return sign == '-' ? digits : cat(sign, digits);
}

// "1234567.5" → "1,234,567.5"; `every` digits counted from the point.
std::string grouped(const std::string& digits, char mark, std::size_t every) {
  if (mark == '\0') return digits;
  const std::size_t whole = std::min(digits.find_first_of(".e%"), digits.size());
  std::string out;
  for (std::size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % every == 0) out += mark;
    out += digits[i];
  }
  return out + digits.substr(whole);
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

std::string digits_of(double value, std::chars_format style, int precision) {
  char buffer[1600];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, style, precision);
  return {buffer, end.ptr};
}

// C's %g: the shorter of e and f for `precision` significant digits, no zeros at the end.
std::string general(double value, int precision, bool keep_zeros) {
  const int p = std::max(precision, 1);
  std::string e = digits_of(value, std::chars_format::scientific, p - 1);
  const std::size_t at = e.find('e');
  int exponent = 0;
  std::from_chars(e.data() + at + (e[at + 1] == '+' ? 2 : 1), e.data() + e.size(), exponent);
  std::string tail;
  if (exponent < -4 || exponent >= p) {
    tail = e.substr(at);
    e.resize(at);
  } else {
    e = digits_of(value, std::chars_format::fixed, p - 1 - exponent);
  }
  if (!keep_zeros && e.find('.') != std::string::npos) {
    while (e.back() == '0')
      e.pop_back();
    if (e.back() == '.') e.pop_back();
  }
  return e + tail;
}

}  // namespace

std::string format_int(std::int64_t value, const NumberFormat& format) {
  const int base = format.type == 'x' || format.type == 'X' ? 16
                   : format.type == 'o'                     ? 8
                   : format.type == 'b'                     ? 2
                                                            : 10;
  const bool negative = value < 0;
  const std::uint64_t size =
      negative ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  char buffer[80];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, size, base);
  std::string digits(buffer, end.ptr);
  if (format.precision > static_cast<int>(digits.size())) {
    digits.insert(0, static_cast<std::size_t>(format.precision) - digits.size(), '0');
  }
  digits = grouped(digits, format.grouping, base == 10 ? 3 : 4);
  if (format.alternate && base != 10) digits = cat('0', format.type, digits);
  if (format.type == 'X') digits = upper(digits);
  return with_sign(negative, format.sign, digits);
}

std::string format_real(double value, const NumberFormat& format) {
  const char low = static_cast<char>(format.type | 0x20);
  const bool percent = format.type == '%';
  const int precision = format.precision < 0 ? 6 : format.precision;
  const double size = std::fabs(percent ? value * 100 : value);
  std::string digits;
  if (!std::isfinite(size)) {
    digits = std::isnan(size) ? "nan" : "inf";
  } else if (low == 'f' || percent) {
    digits = digits_of(size, std::chars_format::fixed, precision);
  } else if (low == 'e') {
    digits = digits_of(size, std::chars_format::scientific, precision);
  } else {
    digits = general(size, precision, format.alternate);
  }
  digits = grouped(digits, format.grouping, 3);
  if (percent) digits += '%';
  if (format.type >= 'A' && format.type <= 'Z') digits = upper(digits);
  return with_sign(std::signbit(value) && !std::isnan(value), format.sign, digits);
}

void append_filled(TextBuilder& out, std::string_view digits, const Filling& filling) {
  const std::size_t n_chars = count_code_points(digits);
  const std::size_t room = filling.width > n_chars ? filling.width - n_chars : 0;
  const char align = filling.align;
  std::size_t head = 0;  // sign and prefix, which stand before the filling
  if (align == '=') {
    if (!digits.empty() && std::string_view("-+ ").find(digits[0]) != std::string_view::npos) {
      head = 1;
    }
    if (digits.size() >= head + 2 && digits[head] == '0' &&
        std::string_view("xXob").find(digits[head + 1]) != std::string_view::npos) {
      head += 2;
    }
  }
  const std::size_t left = align == '<' ? 0 : align == '^' ? room / 2 : room;
  out.append(digits.substr(0, head), filling.is_trusted);
  out.append_repeated(filling.fill, left, filling.is_trusted);
  out.append(digits.substr(head), filling.is_trusted);
  out.append_repeated(filling.fill, room - left, filling.is_trusted);
}

}  // namespace wick::jinja
