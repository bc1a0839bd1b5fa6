// The ways in which a template formats text, '%5.2f' % x and '{:>8,}'.format(n), and the number
// formats that both share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "chat/builtin.h"
#include "chat/run.h"

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

// How a number or text is brought to its width: `fill` before it ('>'), after it ('<'), on both
// sides
// ('^'), or behind its sign and prefix ('=').
struct Filling {
  std::string_view fill = " ";
  char align = '>';
  std::size_t width = 0;
  bool is_trusted = true;  // the filling, and a number
};

void append_filled(TextBuilder& out, std::string_view digits, const Filling& filling);

// The same for a text, whose trust is its own: its first `precision` characters, −1: all.
void append_filled(Run& run, TextBuilder& out, const Text& text, int precision,
                   const Filling& filling);

// format % values.
Value percent_format(Run& run, const Text& format, const Value& values);

// format.format(*positional, **named).
Value brace_format(Run& run, const Text& format, const Arguments& args);

}  // namespace wick::jinja
