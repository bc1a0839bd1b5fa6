// Numbers by a format: what '%5.2f' % x and '{:>8,}'.format(n) have in common. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wick::jinja {

// Units of work (chat/run.h) to write a double in full, which may have 800 digits.
inline constexpr std::size_t kDigitsWork = 128;

struct NumberFormat {
  char type = 's';         // d x X o b c, f F e E g G %, s
  char sign = '-';         // '+': always, ' ': a blank for positive, '-': only minus
  bool alternate = false;  // 0x, 0o, 0b
  char grouping = '\0';    // ',' or '_' between thousands
  int precision = -1;
};

// "-0x1f" and the like: sign, prefix and digits of an integer.
std::string format_int(std::int64_t value, const NumberFormat& format);

// A float in style f, e, g or %, precision 6 unless given.
std::string format_real(double value, const NumberFormat& format);

// Where filling goes that brings a number to its width.
struct Filling {
  std::size_t head = 0;   // bytes of the number in front of it: sign and prefix, if align is '='
  std::size_t left = 0;   // fillings behind these
  std::size_t right = 0;  // fillings behind the number
};

Filling filling(std::string_view digits, std::size_t n_chars, std::size_t width, char align);

}  // namespace wick::jinja
