// str.format: "{0.name!r:>{width}}" as jinja2's sandboxed formatter resolves it.
#include <algorithm>

#include "base/strings.h"
#include "chat/number_format.h"
#include "chat/operators.h"
#include "chat/printf_format.h"
#include "chat/python_text.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

constexpr std::size_t kMaxWidth = 100'000;

// [[fill]align][sign][#][0][width][grouping][.precision][type]
struct Spec {
  std::string fill = " ";
  bool is_trusted = true;  // whether the template wrote all of it
  char align = '\0';
  bool zero = false;
  std::size_t width = 0;
  NumberFormat number = {.type = '\0'};
};

bool is_align(char c) noexcept {
  return c == '<' || c == '>' || c == '^' || c == '=';
}

class Brace {
 public:
  Brace(Run& run, const Arguments& args, bool is_markup)
      : run_(run), args_(args), is_markup_(is_markup) {}

  bool format(const Text& text, TextBuilder& out, int depth) {
    const std::string_view bytes = text.bytes;
    if (!run_.charge(bytes.size(), Rate::kDecode)) return false;
    std::size_t at = 0;
    while (at < bytes.size()) {
      const std::size_t brace = bytes.find_first_of("{}", at);
      if (!out.append(text, at, std::min(brace, bytes.size()))) return false;
      if (brace == std::string_view::npos) break;
      if (brace + 1 < bytes.size() && bytes[brace + 1] == bytes[brace]) {
        if (!out.append(text, brace, brace + 1)) return false;
        at = brace + 2;
        continue;
      }
      if (bytes[brace] == '}') return fail("a single '}' stands in a format");
      std::size_t end = brace + 1;
      for (int open = 1; end < bytes.size(); ++end) {
        if (bytes[end] == '{') ++open;
        if (bytes[end] == '}' && --open == 0) break;
      }
      if (end >= bytes.size()) return fail("a '{' in a format is not closed");
      if (!run_.charge(8) || !field(text, brace + 1, end, out, depth)) return false;
      at = end + 1;
    }
    return true;
  }

 private:
  bool fail(std::string_view what) {
    run_.fail(what);
    return false;
  }

  bool field(const Text& text, std::size_t begin, std::size_t end, TextBuilder& out, int depth) {
    if (depth > 1) return fail("a format is nested too deeply");
    const std::string_view bytes = text.bytes.substr(0, end);
    std::size_t name_end = begin;
    for (int open = 0; name_end < end; ++name_end) {
      const char c = bytes[name_end];
      open += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (open <= 0 && (c == '!' || c == ':')) break;
    }
    Value value;
    if (!lookup(text, begin, name_end, value)) return false;
    std::size_t at = name_end;
    if (at < end && bytes[at] == '!') {
      const char conversion = at + 1 < end ? bytes[at + 1] : '\0';
      if (!convert(conversion, value)) return false;
      at += 2;
      if (at < end && bytes[at] != ':')
        return fail("expected ':' behind the conversion of a format");
    }
    TextBuilder spec(run_);
    if (at < end) {
      const Value inner = run_.cut(text, at + 1, end);
      if (inner.failed() || !format(*inner.text, spec, depth + 1)) return false;
    }
    return is_markup_ ? put_escaped(value, spec, out) : put(value, spec, out);
  }

  bool convert(char conversion, Value& value) {
    if (conversion == 's') {
      const Text* text = to_text(run_, value);
      if (text != nullptr) value = Value::of(text);
      return text != nullptr;
    }
    if (conversion != 'r' && conversion != 'a') return fail("unknown conversion in a format");
    value = repr_of(run_, value, conversion == 'a');
    return !value.failed();
  }

  bool lookup(const Text& text, std::size_t begin, std::size_t end, Value& out) {
    const std::string_view bytes = text.bytes.substr(0, end);
    std::size_t at = std::min(bytes.find_first_of(".[", begin), end);
    if (!first(bytes.substr(begin, at - begin), out)) return false;
    while (at < end) {
      if (bytes[at] == '.') {
        const std::size_t next = std::min(bytes.find_first_of(".[", at + 1), end);
        out = get_attribute(run_, out, bytes.substr(at + 1, next - at - 1));
        at = next;
      } else {
        const std::size_t close = bytes.find(']', at);
        if (bytes[at] != '[' || close == std::string_view::npos)
          return fail("a '[' in a format is not closed");
        const std::string_view key = bytes.substr(at + 1, close - at - 1);
        std::int64_t number = 0;
        out = get_item(run_, out,
                       as_number(key, number) ? Value::of(number) : run_.cut(text, at + 1, close));
        at = close + 1;
      }
      if (out.failed()) return false;
    }
    return true;
  }

  static bool as_number(std::string_view digits, std::int64_t& out) {
    if (digits.empty() || digits.size() > 17) return false;
    out = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return false;
      out = out * 10 + (c - '0');
    }
    return true;
  }

  bool first(std::string_view name, Value& out) {
    std::int64_t number = 0;
    const bool is_number = as_number(name, number);
    if (name.empty() || is_number) {
      if (name.empty() ? manual_ : next_ > 0)
        return fail("a format mixes automatic and given numbers");
      if (name.empty()) number = next_++;
      manual_ = manual_ || is_number;
      if (number >= static_cast<std::int64_t>(args_.positional.size())) {
        return fail(
            cat("the format wants argument ", number, ", there are ", args_.positional.size()));
      }
      out = args_.positional[static_cast<std::size_t>(number)];
      return true;
    }
    if (const Value* const found = args_.find(run_, name)) {
      out = *found;
      return true;
    }
    return fail(cat("the format wants an argument named '", printable(name, 60), "'"));
  }

  bool parse(std::string_view text, Spec& out) {
    std::size_t at = 0;
    if (!text.empty()) {
      const CodePoint c = code_point(text, 0);
      if (c.size < text.size() && is_align(text[c.size])) {
        out.fill = text.substr(0, c.size);
        out.align = text[c.size];
        at = c.size + 1;
      } else if (is_align(text[0])) {
        out.align = text[at++];
      }
    }
    const auto now = [&] { return at < text.size() ? text[at] : '\0'; };
    if (now() == '+' || now() == '-' || now() == ' ') out.number.sign = text[at++];
    if (now() == '#') out.number.alternate = ++at > 0;
    if (now() == '0') out.zero = ++at > 0;
    for (; now() >= '0' && now() <= '9' && out.width <= kMaxWidth; ++at) {
      out.width = out.width * 10 + static_cast<std::size_t>(now() - '0');
    }
    if (now() == ',' || now() == '_') out.number.grouping = text[at++];
    if (now() == '.') {
      ++at;
      if (!(now() >= '0' && now() <= '9')) return fail("a precision is missing in a format");
      for (out.number.precision = 0; now() >= '0' && now() <= '9' && out.number.precision <= 1000;
           ++at) {
        out.number.precision = out.number.precision * 10 + (now() - '0');
      }
    }
    if (at < text.size()) out.number.type = text[at++];
    if (at < text.size()) return fail("invalid format specifier");
    if (out.width > kMaxWidth || out.number.precision > 500)
      return fail("a width in a format is too large");
    if (out.zero && out.align == '\0') {
      out.align = '=';
      out.fill = "0";
    }
    return true;
  }

  // Into markup goes markup as it is, and the text of all else escaped.
  bool put_escaped(const Value& value, const TextBuilder& spec, TextBuilder& out) {
    if (value.is_string() && value.text->is_markup) {
      if (spec.size() > 0) return fail("markup takes no format");
      return append_text(run_, out, value);
    }
    TextBuilder plain(run_);
    if (!put(value, spec, plain)) return false;
    const Value made = run_.text(std::move(plain));
    const Value safe = made.failed() ? made : escape(run_, made);
    return !safe.failed() && append_text(run_, out, safe);
  }

  bool put(const Value& value, const TextBuilder& spec_text, TextBuilder& out) {
    if (spec_text.size() == 0) return append_text(run_, out, value);
    Spec spec{.is_trusted = is_trusted(spec_text)};
    if (!parse(spec_text.text(), spec)) return false;
    if (value.is_string()) return put_text(*value.text, spec, out);
    if (!value.is_number())
      return fail(cat("a value of type ", type_name(value), " takes no format"));
    const char type = spec.number.type;
    std::string digits;
    if (type != '\0' && std::string_view("eEfFgG%").find(type) != std::string_view::npos) {
      if (!run_.charge(kDigitsWork)) return false;
      digits = format_real(value.as_real(), spec.number);
    } else if (value.kind == Kind::kFloat) {
      if (type != '\0') return fail("unknown format code for a float");
      if (!run_.charge(kDigitsWork)) return false;
      digits = plain_real(value.real, spec.number);
    } else if (type == 'c') {
      if (value.as_int() < 0 || value.as_int() > 0x10FFFF)
        return fail("no character has that number");
      append_code(digits, static_cast<char32_t>(value.as_int()));
    } else if (type == '\0' || std::string_view("dxXobn").find(type) != std::string_view::npos) {
      if (spec.number.precision >= 0) return fail("an integer takes no precision");
      digits = format_int(value.as_int(), spec.number);
    } else {
      return fail("unknown format code for an integer");
    }
    const char align = spec.align == '\0' ? '>' : spec.align;
    const bool trusted = spec.is_trusted && !value.tainted;
    const Filling f = filling(digits, count_code_points(digits), spec.width, align);
    const std::string_view number = digits;
    return out.append(number.substr(0, f.head), trusted) &&
           out.append_repeated(spec.fill, f.left, trusted) &&
           out.append(number.substr(f.head), trusted) &&
           out.append_repeated(spec.fill, f.right, trusted);
  }

  // A float without a type: as str() if no precision is given, else like g with a point.
  static std::string plain_real(double value, NumberFormat number) {
    if (number.precision >= 0) {
      number.type = 'g';
      return format_real(value, number);
    }
    std::string shortest = python_float(value);
    if (shortest[0] != '-' && number.sign != '-') shortest.insert(0, 1, number.sign);
    return shortest;
  }

  bool put_text(const Text& text, const Spec& spec, TextBuilder& out) {
    const bool implied =
        spec.zero && spec.align == '=';  // a 0 before the width aligns numbers only
    if ((spec.number.type != '\0' && spec.number.type != 's') || (spec.align == '=' && !implied) ||
        spec.number.sign != '-' || spec.number.grouping != '\0') {
      return fail("this format does not fit a text");
    }
    std::size_t end = text.bytes.size();
    if (spec.number.precision >= 0)
      end = run_.byte_of(text.bytes, static_cast<std::size_t>(spec.number.precision));
    const std::size_t n = spec.width > 0 ? run_.count_chars(text.bytes.substr(0, end)) : 0;
    const std::size_t room = spec.width > n ? spec.width - n : 0;
    const std::size_t left = spec.align == '>' ? room : spec.align == '^' ? room / 2 : 0;
    return out.append_repeated(spec.fill, left, spec.is_trusted) && out.append(text, 0, end) &&
           out.append_repeated(spec.fill, room - left, spec.is_trusted);
  }

  Run& run_;
  const Arguments args_;
  bool is_markup_ = false;
  std::int64_t next_ = 0;
  bool manual_ = false;
};

}  // namespace

Value brace_format(Run& run, const Text& format, const Arguments& args) {
  TextBuilder out(run);
  if (!Brace(run, args, format.is_markup).format(format, out, 0)) return Value::failure();
  return run.text(std::move(out), format.is_markup);
}

}  // namespace wick::jinja
