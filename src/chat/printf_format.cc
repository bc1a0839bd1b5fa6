#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "chat/format.h"
#include "chat/operators.h"
#include "chat/text_builder.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

constexpr std::int64_t kMaxWidth = 100'000;

// One %… of a format.
struct Directive {
  bool left = false, zero = false;
  std::int64_t width = 0;
  NumberFormat number = {};
  bool is_trusted = true;  // whether the template wrote it
};

class Percent {
 public:
  Percent(Run& run, const Text& format, const Value& values)
      : run_(run), format_(format), bytes_(format.bytes), values_(values), out_(run) {}

  Value result() {
    std::size_t done = 0;
    run_.charge(bytes_.size(), Rate::kScan);
    while ((at_ = bytes_.find('%', done)) != std::string_view::npos) {
      out_.append(format_, done, at_);
      ++at_;
      directive();
      run_.charge(4);
      done = at_;
    }
    out_.append(format_, done, bytes_.size());
    const bool list = values_.kind == Kind::kTuple;
    const bool may_rest = values_.kind == Kind::kDict || values_.kind == Kind::kList ||
                          values_.kind == Kind::kRange || values_.is_undefined();
    if (list ? used_ < values_.list->size : used_ == 0 && !may_rest) {
      run_.fail("not all arguments are used by the format");
    }
    return run_.text(std::move(out_), format_.is_markup);
  }

 private:
  Value next_value() {
    const bool list = values_.kind == Kind::kTuple;
    if (list ? used_ >= values_.list->size : used_ >= 1)
      run_.fail("the format wants more arguments");
    const std::size_t at = used_++;
    return list ? values_.list->items[at] : values_;
  }

  char now() const noexcept { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }

  std::int64_t take_number() {
    std::int64_t out = 0;
    if (now() == '*') {
      ++at_;
      const Value value = next_value();
      if (!value.is_integral()) run_.fail("a * in a format wants an integer");
      out = value.as_int();
    } else {
      for (; now() >= '0' && now() <= '9' && out <= kMaxWidth; ++at_)
        out = out * 10 + (now() - '0');
    }
    if (out > kMaxWidth || out < -kMaxWidth) run_.fail("a width in a format is too large");
    return out;
  }

  Value take_key() {
    const std::size_t end = bytes_.find(')', at_);
    if (values_.kind != Kind::kDict) run_.fail("a format with names wants a dict");
    if (end == std::string_view::npos) run_.fail("a name in a format is not closed");
    const Entry* entry = find(run_, *values_.dict, bytes_.substr(at_ + 1, end - at_ - 1));
    if (entry == nullptr) run_.fail("a name in a format is not in the dict");
    at_ = end + 1;
    used_ = 1;
    return entry->value;
  }

  void directive() {
    const std::size_t begin = at_ - 1;
    if (now() == '%') {
      out_.append("%", is_trusted(format_, at_, at_ + 1));
      ++at_;
      return;
    }
    Value value;
    if (now() == '(') value = take_key();
    Directive d;
    for (;; ++at_) {
      const char c = now();
      if (c == '-')
        d.left = true;
      else if (c == '0')
        d.zero = true;
      else if (c == '#')
        d.number.alternate = true;
      else if (c == '+')
        d.number.sign = '+';
      else if (c == ' ')
        d.number.sign = d.number.sign == '+' ? '+' : ' ';
      else
        break;
    }
    d.width = take_number();
    if (d.width < 0) {
      d.left = true;
      d.width = -d.width;
    }
    if (now() == '.') {
      ++at_;
      d.number.precision = static_cast<int>(std::max<std::int64_t>(take_number(), 0));
    }
    while (now() == 'l' || now() == 'h' || now() == 'L')
      ++at_;
    d.number.type = now();
    if (at_ >= bytes_.size()) run_.fail("the format ends inside of a %");
    ++at_;
    d.is_trusted = is_trusted(format_, begin, at_);
    if (value.is_missing()) value = next_value();
    convert(d, value);
  }

  void convert(Directive& d, const Value& value) {
    switch (d.number.type) {
      case 's':
      case 'r':
      case 'a':
        return put_text(d, value);
      case 'c':
        return put_char(d, value);
      case 'i':
      case 'u':
        d.number.type = 'd';
        [[fallthrough]];
      case 'd':
      case 'x':
      case 'X':
      case 'o':
        return put_int(d, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (!value.is_number()) run_.fail("a format wants a number");
        if (d.number.precision > 500) run_.fail("a precision in a format is too large");
        run_.charge(kDigitsWork);
        return put_number(d, format_real(value.as_real(), d.number), value.tainted);
      default:
        run_.fail(cat("unknown conversion '%", d.number.type, "' in a format"));
    }
  }

  void put_int(const Directive& d, const Value& value) {
    std::int64_t number = 0;
    if (value.kind == Kind::kFloat && d.number.type == 'd') {
      if (!(std::fabs(value.real) < 0x1p63)) run_.fail("a format wants a smaller number");
      number = static_cast<std::int64_t>(value.real);
    } else if (value.is_integral()) {
      number = value.as_int();
    } else {
      run_.fail("a format wants an integer");
    }
    if (d.number.precision > 1000) run_.fail("a precision in a format is too large");
    const auto n_zeros = static_cast<std::size_t>(std::max(d.number.precision, 0));
    run_.charge(4 + n_zeros / 16);
    put_number(d, format_int(number, d.number), value.tainted);
  }

  void put_number(const Directive& d, std::string_view digits, bool tainted) {
    append_filled(out_, digits,
                  {.fill = d.zero && !d.left ? "0" : " ",
                   .align = d.left   ? '<'
                            : d.zero ? '='
                                     : '>',
                   .width = static_cast<std::size_t>(d.width),
                   .is_trusted = d.is_trusted && !tainted});
  }

  void put_char(const Directive& d, const Value& value) {
    if (value.is_string() && run_.n_chars(value) == 1) return put_text(d, value);
    if (!value.is_integral() || !is_character(value.as_int())) run_.fail("%c wants one character");
    std::string text;
    append_code(text, static_cast<char32_t>(value.as_int()));
    const bool is_trusted = d.is_trusted && !value.tainted;
    put_filled(d, {text, is_trusted ? Trust::kAll : Trust::kNone}, -1);
  }

  void put_text(const Directive& d, const Value& value) {
    const bool is_plain = d.number.type == 's' || d.number.type == 'c';
    const Text* text =
        is_plain ? &to_text(run_, value) : repr_of(run_, value, d.number.type == 'a').text;
    if (format_.is_markup) text = escape(run_, Value::of(text)).text;
    put_filled(d, *text, d.number.precision);
  }

  void put_filled(const Directive& d, const Text& text, int precision) {
    append_filled(run_, out_, text, precision,
                  {.align = d.left ? '<' : '>',
                   .width = static_cast<std::size_t>(d.width),
                   .is_trusted = d.is_trusted});
  }

  Run& run_;
  const Text& format_;
  std::string_view bytes_;
  const Value& values_;
  TextBuilder out_;
  std::size_t at_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

Value percent_format(Run& run, const Text& format, const Value& values) {
  return Percent(run, format, values).result();
}

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

// C's %g; `keeps_zeros`: its %#g.
std::string general(double value, int precision, bool keeps_zeros) {
  const auto n_wanted = static_cast<std::size_t>(std::max(precision, 1));
  std::string out = digits_of(value, std::chars_format::general, std::max(precision, 1));
  if (!keeps_zeros) return out;
  const std::size_t end = std::min(out.find('e'), out.size());
  const std::string_view digits = std::string_view(out).substr(0, end);
  const bool has_point = digits.find('.') != std::string_view::npos;
  const std::size_t first = std::min(digits.find_first_not_of("0."), digits.size() - 1);
  const std::string_view counted = digits.substr(first);
  const std::size_t n = counted.size() - (counted.find('.') != std::string_view::npos ? 1 : 0);
  out.insert(end, (has_point ? "" : ".") + std::string(n_wanted - std::min(n, n_wanted), '0'));
  return out;
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

void append_filled(Run& run, TextBuilder& out, const Text& text, int precision,
                   const Filling& filling) {
  std::size_t end = text.bytes.size();
  if (precision >= 0) end = run.byte_of(text.bytes, static_cast<std::size_t>(precision));
  const std::size_t n = filling.width > 0 ? run.count_chars(text.bytes.substr(0, end)) : 0;
  const std::size_t room = filling.width > n ? filling.width - n : 0;
  const std::size_t left = filling.align == '>' ? room : filling.align == '^' ? room / 2 : 0;
  out.append_repeated(filling.fill, left, filling.is_trusted);
  out.append(text, 0, end);
  out.append_repeated(filling.fill, room - left, filling.is_trusted);
}

}  // namespace wick::jinja
