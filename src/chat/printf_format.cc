#include "chat/printf_format.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "chat/limits.h"
#include "chat/number_format.h"
#include "chat/operators.h"
#include "chat/unicode.h"

namespace wick::jinja {
namespace {

constexpr std::int64_t kMaxWidth = 100'000;

// One %… of a format.
struct Directive {
  bool left = false, zero = false;
  std::int64_t width = 0;
  NumberFormat number = {};
};

class Percent {
 public:
  Percent(Run& run, const Text& format, const Val& values)
      : run_(run), format_(format), bytes_(format.bytes), values_(values) {}

  Val result() {
    std::size_t done = 0;
    while ((at_ = bytes_.find('%', done)) != std::string_view::npos) {
      append(out_, format_, done, at_);
      ++at_;
      if (!directive()) return Val::failure();
      done = at_;
      if (!run_.spend_bytes(64) || out_.text.size() > kMaxTextBytes) {
        return run_.fail("a text grows too large", "template_limit");
      }
    }
    append(out_, format_, done, bytes_.size());
    const bool list = values_.kind == Kind::kTuple;
    const bool may_rest = values_.kind == Kind::kDict || values_.kind == Kind::kList ||
                          values_.kind == Kind::kRange || values_.is_undefined();
    if (list ? used_ < values_.list->size : used_ == 0 && !may_rest) {
      return run_.fail("not all arguments are used by the format");
    }
    return run_.text(std::move(out_), format_.is_markup);
  }

 private:
  bool fail(std::string_view what) {
    run_.fail(what);
    return false;
  }

  bool next_value(Val& out) {
    const bool list = values_.kind == Kind::kTuple;
    if (list ? used_ >= values_.list->size : used_ >= 1)
      return fail("the format wants more arguments");
    out = list ? values_.list->items[used_] : values_;
    ++used_;
    return true;
  }

  char now() const noexcept { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }

  bool take_number(std::int64_t& out) {
    if (now() == '*') {
      ++at_;
      Val value;
      if (!next_value(value)) return false;
      if (!value.is_integral()) return fail("a * in a format wants an integer");
      out = value.as_int();
    } else {
      for (out = 0; now() >= '0' && now() <= '9' && out <= kMaxWidth; ++at_)
        out = out * 10 + (now() - '0');
    }
    return (out <= kMaxWidth && out >= -kMaxWidth) || fail("a width in a format is too large");
  }

  bool take_key(Val& value) {
    const std::size_t end = bytes_.find(')', at_);
    if (values_.kind != Kind::kDict) return fail("a format with names wants a dict");
    if (end == std::string_view::npos) return fail("a name in a format is not closed");
    const Entry* entry = find(run_, *values_.dict, bytes_.substr(at_ + 1, end - at_ - 1));
    if (entry == nullptr) return fail("a name in a format is not in the dict");
    value = entry->value;
    at_ = end + 1;
    used_ = 1;
    return true;
  }

  bool directive() {
    if (now() == '%') {
      out_.append("%", is_trusted(format_, at_, at_ + 1));
      ++at_;
      return true;
    }
    Val value;
    if (now() == '(' && !take_key(value)) return false;
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
    if (!take_number(d.width)) return false;
    if (d.width < 0) {
      d.left = true;
      d.width = -d.width;
    }
    if (now() == '.') {
      ++at_;
      std::int64_t precision = 0;
      if (!take_number(precision)) return false;
      d.number.precision = static_cast<int>(std::max<std::int64_t>(precision, 0));
    }
    while (now() == 'l' || now() == 'h' || now() == 'L')
      ++at_;
    d.number.type = now();
    if (at_ >= bytes_.size()) return fail("the format ends inside of a %");
    ++at_;
    if (value.is_missing() && !next_value(value)) return false;
    return convert(d, value);
  }

  bool convert(Directive& d, const Val& value) {
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
        if (!value.is_number()) return fail("a format wants a number");
        if (d.number.precision > 500) return fail("a precision in a format is too large");
        put_number(d, format_real(value.as_real(), d.number), value.tainted);
        return true;
      default:
        return fail(cat("unknown conversion '%", d.number.type, "' in a format"));
    }
  }

  bool put_int(const Directive& d, const Val& value) {
    std::int64_t number = 0;
    if (value.kind == Kind::kFloat && d.number.type == 'd') {
      if (!(std::fabs(value.real) < 0x1p63)) return fail("a format wants a smaller number");
      number = static_cast<std::int64_t>(value.real);
    } else if (value.is_integral()) {
      number = value.as_int();
    } else {
      return fail("a format wants an integer");
    }
    if (d.number.precision > 1000) return fail("a precision in a format is too large");
    put_number(d, format_int(number, d.number), value.tainted);
    return true;
  }

  void put_number(const Directive& d, const std::string& digits, bool tainted) {
    const char align = d.left ? '<' : d.zero ? '=' : '>';
    const bool zero = d.zero && !d.left;
    out_.append(
        aligned(digits, digits.size(), static_cast<std::size_t>(d.width), align, zero ? "0" : " "),
        !tainted);
  }

  bool put_char(const Directive& d, const Val& value) {
    if (value.is_string() && run_.n_chars(value) == 1) return put_text(d, value);
    if (!value.is_integral() || value.as_int() < 0 || value.as_int() > 0x10FFFF) {
      return fail("%c wants one character");
    }
    std::string text;
    append_code(text, static_cast<char32_t>(value.as_int()));
    pad_around(d, 1, [&] { out_.append(text, !value.tainted); });
    return true;
  }

  template <class Put>
  void pad_around(const Directive& d, std::size_t n_chars, const Put& put) {
    const auto width = static_cast<std::size_t>(d.width);
    const std::string blanks(width > n_chars ? width - n_chars : 0, ' ');
    if (!d.left) out_.append(blanks, true);
    put();
    if (d.left) out_.append(blanks, true);
  }

  bool put_text(const Directive& d, const Val& value) {
    const Text* text = nullptr;
    if (d.number.type == 's' || d.number.type == 'c') {
      text = to_text(run_, value);
    } else {
      const Val made = repr_of(run_, value, d.number.type == 'a');
      text = made.failed() ? nullptr : made.text;
    }
    if (text != nullptr && format_.is_markup) {
      const Val safe = escape(run_, Val::of(text));
      text = safe.failed() ? nullptr : safe.text;
    }
    if (text == nullptr) return false;
    std::size_t end = text->bytes.size();
    if (d.number.precision >= 0)
      end = byte_of(text->bytes, static_cast<std::size_t>(d.number.precision));
    const std::size_t n = d.width > 0 ? count_code_points(text->bytes.substr(0, end)) : 0;
    pad_around(d, n, [&] { append(out_, *text, 0, end); });
    return run_.spend_bytes(text->bytes.size());
  }

  Run& run_;
  const Text& format_;
  std::string_view bytes_;
  const Val& values_;
  MarkedText out_ = {};
  std::size_t at_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

Val percent_format(Run& run, const Text& format, const Val& values) {
  if (values.failed()) return values;
  return Percent(run, format, values).result();
}

}  // namespace wick::jinja
