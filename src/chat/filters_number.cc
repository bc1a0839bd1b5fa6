// Filters that make or change numbers.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/format.h"
#include "chat/operators.h"
#include "chat/python_text.h"
#include "chat/text_ops.h"

namespace wick::jinja {
namespace filters {
namespace {

// The text without blanks around it and without the underscores that Python allows between digits;
// nullopt where one stands elsewhere.
std::optional<std::string> digits_of(Run& run, const Text& text) {
  const Value bare = strip(run, text, nullptr, true, true);
  if (bare.bytes().size() > 400) return std::nullopt;
  run.charge(8 + bare.bytes().size());
  std::string out;
  const std::string_view bytes = bare.bytes();
  const auto is_digit = [&](std::size_t at) {
    return at < bytes.size() && std::isalnum(static_cast<unsigned char>(bytes[at])) != 0;
  };
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] != '_') {
      out += bytes[at];
    } else if (at == 0 || !is_digit(at - 1) || !is_digit(at + 1)) {
      return std::nullopt;
    }
  }
  return out;
}

struct ParsedInt {
  std::optional<std::int64_t> value = {};
  bool overflows = false;
};

ParsedInt parse_int(std::string text, std::int64_t base) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.erase(0, 1);
  if (text.size() > 2 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    const int named = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (named != 0 && (base == 0 || base == named)) {
      text.erase(0, 2);
      base = named;
    }
  }
  if (base == 0) base = 10;
  if (text.empty() || text[0] == '-') return {};
  std::int64_t value = 0;
  if (negative) text.insert(0, 1, '-');
  const auto end =
      std::from_chars(text.data(), text.data() + text.size(), value, static_cast<int>(base));
  if (end.ptr != text.data() + text.size()) return {};
  if (end.ec == std::errc::result_out_of_range) return {{}, true};
  return end.ec == std::errc{} ? ParsedInt{value} : ParsedInt{};
}

// `text` is not empty.
std::optional<double> parse_real(std::string_view text) {
  const double sign = text[0] == '-' ? -1 : 1;
  if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
  // C reads another sign, and nan(…), too.
  if (text.starts_with('-') || text.find('(') != std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec == std::errc::invalid_argument || end.ptr != text.data() + text.size())
    return std::nullopt;
  return sign * (end.ec == std::errc{} ? value : parse_double(text));
}

// float(value), nullopt where Python raises TypeError or ValueError.
std::optional<double> to_real(Run& run, const Value& value) {
  if (value.is_number()) return value.as_real();
  if (value.is_undefined()) run.fail_undefined(value);
  if (!value.is_string()) return std::nullopt;
  const auto digits = digits_of(run, *value.text);
  return digits && !digits->empty() ? parse_real(*digits) : std::nullopt;
}

std::optional<std::int64_t> truncated(double value) noexcept {
  if (!(value > -0x1p63 && value < 0x1p63)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// Python's round(x, n): the nearest decimal of n digits, correctly, ties to even of the exact
// value.
double round_decimal(double value, int digits) {
  if (!std::isfinite(value) || value == 0 || digits > 340) return value;
  if (digits < -310) return std::copysign(0.0, value);
  if (digits >= 0) {
    char buffer[800];
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits);
    return parse_double({buffer, static_cast<std::size_t>(end.ptr - buffer)});
  }
  const double unit = std::pow(10.0, -digits);
  const double scaled = value / unit;
  double whole = std::nearbyint(scaled);
  return whole * unit;
}

std::int64_t round_int(std::int64_t value, std::int64_t digits) {
  if (digits >= 0) return value;
  if (digits < -18) return 0;
  std::int64_t unit = 1;
  for (std::int64_t i = 0; i > digits; --i)
    unit *= 10;
  const std::int64_t rest = value % unit;  // towards zero
  std::int64_t out = value - rest;
  const std::int64_t size = std::abs(rest);
  const bool up = size * 2 > unit || (size * 2 == unit && (out / unit) % 2 != 0);
  if (up && __builtin_add_overflow(out, value < 0 ? -unit : unit, &out)) return value;
  return out;
}

Value abs(Run& run, const Value& value, Args) {
  if (value.kind == Kind::kFloat) return Value::of(std::fabs(value.real)).with_taint(value.tainted);
  if (!value.is_integral()) run.fail_type("given to abs", value);
  return value.as_int() < 0 ? negative(run, value, true)
                            : Value::of(value.as_int()).with_taint(value.tainted);
}

Value integer(Run& run, const Value& value, Args args) {
  // A base that Python's int() refuses leaves the text to float().
  const Value& wanted = args[1];
  const bool is_base = wanted.is_missing() || wanted.is_integral();
  const std::int64_t base = wanted.is_integral() ? wanted.as_int() : is_base ? 10 : -1;
  const Value otherwise = args[0].is_missing() ? Value::of(std::int64_t{0}) : args[0];
  const bool taint = is_tainted(value);
  if (value.is_string()) {
    const auto digits = digits_of(run, *value.text);
    if (!digits) return otherwise;
    if (base == 0 || (base >= 2 && base <= 36)) {
      const ParsedInt parsed = parse_int(*digits, base);
      if (parsed.value) return Value::of(*parsed.value).with_taint(taint);
      if (parsed.overflows) run.fail("an integer does not fit into 64 bits");
    }
  } else if (value.is_integral()) {
    return Value::of(value.as_int()).with_taint(taint);
  }
  const std::optional<double> real = to_real(run, value);
  if (!real || !std::isfinite(*real)) return otherwise;
  const auto whole = truncated(*real);
  if (!whole) run.fail("an integer does not fit into 64 bits");
  return Value::of(*whole).with_taint(taint);
}

Value real(Run& run, const Value& value, Args args) {
  const std::optional<double> parsed = to_real(run, value);
  const bool taint = is_tainted(value);
  if (parsed) return Value::of(*parsed).with_taint(taint);
  return args[0].is_missing() ? Value::of(0.0) : args[0];
}

Value round(Run& run, const Value& value, Args args) {
  const Text common = {"common", Trust::kAll};
  const std::string_view how = take_text(run, args[1], "a method", &common)->bytes;
  if (args[0].is_none() && how == "common" && value.is_number()) {  // round(x): an integer
    const auto whole =
        value.is_integral() ? std::optional(value.as_int()) : truncated(std::nearbyint(value.real));
    if (!whole) run.fail("an integer does not fit into 64 bits");
    return Value::of(*whole).with_taint(value.tainted);
  }
  const std::int64_t precision = take_int(run, args[0], "a precision", 0);
  if (how != "common" && how != "ceil" && how != "floor") {
    run.fail("the method of round is 'common', 'ceil' or 'floor'");
  }
  if (!value.is_number()) run.fail_type("rounded", value);
  run.charge(kDigitsWork);
  const auto digits = static_cast<int>(std::clamp<std::int64_t>(precision, -400, 400));
  if (how == "common") {
    if (value.is_integral())
      return Value::of(round_int(value.as_int(), digits)).with_taint(value.tainted);
    return Value::of(round_decimal(value.real, digits)).with_taint(value.tainted);
  }
  // math.ceil(value * 10**precision) / 10**precision; ceil gives an integer, / a float.
  const double scale = std::pow(10.0, digits);
  const double scaled = value.as_real() * scale;
  if (!std::isfinite(scaled)) run.fail("the number cannot be rounded");
  const double whole = how == "ceil" ? std::ceil(scaled) : std::floor(scaled);
  return Value::of(whole / scale + 0.0).with_taint(value.tainted);
}

Value filesizeformat(Run& run, const Value& value, Args args) {
  const std::optional<double> bytes = to_real(run, value);
  const bool binary = take_bool(run, args[0]);
  if (!bytes) run.fail_type("formatted as a file size", value);
  run.charge(kDigitsWork);
  const double base = binary ? 1024 : 1000;
  std::string text;
  if (*bytes == 1) {
    text = "1 Byte";
  } else if (*bytes < base) {
    const auto whole = truncated(*bytes);
    if (!whole) run.fail_type("formatted as a file size", value);
    text = cat(*whole, " Bytes");
  } else {
    double unit = base * base;
    std::size_t prefix = 0;
    while (prefix + 1 < 8 && !(*bytes < unit)) {
      unit *= base;
      ++prefix;
    }
    text = cat(format_real(base * *bytes / unit, {.type = 'f', .precision = 1}), ' ',
               binary ? "KMGTPEZY"[prefix] : "kMGTPEZY"[prefix], binary ? "iB" : "B");
  }
  return run.text_copy(text, !is_tainted(value));
}

constexpr Builtin kNumberRows[] = {
    {.name = "abs", .call = abs},
    {.name = "filesizeformat", .params = "binary", .call = filesizeformat},
    {.name = "float", .params = "default", .call = real},
    {.name = "int", .params = "default base", .call = integer},
    {.name = "round", .params = "precision method", .call = round},
};

}  // namespace
}  // namespace filters

const std::span<const Builtin> kNumberFilters = filters::kNumberRows;

}  // namespace wick::jinja
