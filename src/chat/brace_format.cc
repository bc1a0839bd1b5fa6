// str.format: "{0.name!r:>{width}}" as jinja2's sandboxed formatter resolves it.
#include <algorithm>

#include "base/strings.h"
#include "chat/format.h"
#include "chat/operators.h"
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

  void format(const Text& text, TextBuilder& out, int depth) {
    const std::string_view bytes = text.bytes;
    run_.charge(bytes.size(), Rate::kDecode);
    std::size_t at = 0;
    while (at < bytes.size()) {
      const std::size_t brace = bytes.find_first_of("{}", at);
      out.append(text, at, std::min(brace, bytes.size()));
      if (brace == std::string_view::npos) break;
      if (brace + 1 < bytes.size() && bytes[brace + 1] == bytes[brace]) {
        out.append(text, brace, brace + 1);
        at = brace + 2;
        continue;
      }
      if (bytes[brace] == '}') run_.fail("a single '}' stands in a format");
      std::size_t end = brace + 1;
      for (int open = 1; end < bytes.size(); ++end) {
        if (bytes[end] == '{') ++open;
        if (bytes[end] == '}' && --open == 0) break;
      }
      if (end >= bytes.size()) run_.fail("a '{' in a format is not closed");
      run_.charge(8);
      field(text, brace + 1, end, out, depth);
      at = end + 1;
    }
  }

 private:
  void field(const Text& text, std::size_t begin, std::size_t end, TextBuilder& out, int depth) {
    if (depth > 1) run_.fail("a format is nested too deeply");
    const std::string_view bytes = text.bytes.substr(0, end);
    std::size_t name_end = begin;
    for (int open = 0; name_end < end; ++name_end) {
      const char c = bytes[name_end];
      open += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (open <= 0 && (c == '!' || c == ':')) break;
    }
    Value value = lookup(text, begin, name_end);
    std::size_t at = name_end;
    if (at < end && bytes[at] == '!') {
      const char conversion = at + 1 < end ? bytes[at + 1] : '\0';
      value = convert(conversion, value);
      at += 2;
      if (at < end && bytes[at] != ':') run_.fail("expected ':' behind the conversion of a format");
    }
    TextBuilder spec(run_);
    if (at < end) {
      format(*run_.cut(text, at + 1, end).text, spec, depth + 1);
    }
    is_markup_ ? put_escaped(value, spec, out) : put(value, spec, out);
  }

  Value convert(char conversion, const Value& value) {
    if (conversion == 's') return Value::of(&to_text(run_, value));
    if (conversion != 'r' && conversion != 'a') run_.fail("unknown conversion in a format");
    return repr_of(run_, value, conversion == 'a');
  }

  Value lookup(const Text& text, std::size_t begin, std::size_t end) {
    const std::string_view bytes = text.bytes.substr(0, end);
    std::size_t at = std::min(bytes.find_first_of(".[", begin), end);
    Value out = first(bytes.substr(begin, at - begin));
    while (at < end) {
      if (bytes[at] == '.') {
        const std::size_t next = std::min(bytes.find_first_of(".[", at + 1), end);
        out = get_attribute(run_, out, bytes.substr(at + 1, next - at - 1));
        at = next;
      } else {
        const std::size_t close = bytes.find(']', at);
        if (bytes[at] != '[' || close == std::string_view::npos)
          run_.fail("a '[' in a format is not closed");
        const std::string_view key = bytes.substr(at + 1, close - at - 1);
        std::int64_t number = 0;
        out = get_item(run_, out,
                       as_number(key, number) ? Value::of(number) : run_.cut(text, at + 1, close));
        at = close + 1;
      }
    }
    return out;
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

  Value first(std::string_view name) {
    std::int64_t number = 0;
    const bool is_number = as_number(name, number);
    if (name.empty() || is_number) {
      if (name.empty() ? manual_ : next_ > 0)
        run_.fail("a format mixes automatic and given numbers");
      if (name.empty()) number = next_++;
      manual_ = manual_ || is_number;
      if (number >= static_cast<std::int64_t>(args_.positional.size())) {
        run_.fail(
            cat("the format wants argument ", number, ", there are ", args_.positional.size()));
      }
      return args_.positional[static_cast<std::size_t>(number)];
    }
    if (const Value* const found = args_.find(run_, name)) return *found;
    run_.fail(cat("the format wants an argument named '", printable(name, 60), "'"));
  }

  void parse(std::string_view text, Spec& out) {
    std::size_t at = 0;
    bool has_fill = false;
    if (!text.empty()) {
      const CodePoint c = code_point(text, 0);
      if (c.size < text.size() && is_align(text[c.size])) {
        out.fill = text.substr(0, c.size);
        has_fill = true;
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
      if (!(now() >= '0' && now() <= '9')) run_.fail("a precision is missing in a format");
      for (out.number.precision = 0; now() >= '0' && now() <= '9' && out.number.precision <= 1000;
           ++at) {
        out.number.precision = out.number.precision * 10 + (now() - '0');
      }
    }
    if (at < text.size()) out.number.type = text[at++];
    if (at < text.size()) run_.fail("invalid format specifier");
    if (out.width > kMaxWidth || out.number.precision > 500)
      run_.fail("a width in a format is too large");
    if (out.zero && !has_fill) out.fill = "0";
  }

  // Into markup goes markup as it is, and the text of all else escaped.
  void put_escaped(const Value& value, const TextBuilder& spec, TextBuilder& out) {
    if (value.is_string() && value.text->is_markup) {
      if (spec.size() > 0) run_.fail("markup takes no format");
      return append_text(run_, out, value);
    }
    TextBuilder plain(run_);
    put(value, spec, plain);
    append_text(run_, out, escape(run_, run_.text(std::move(plain))));
  }

  void put(const Value& value, const TextBuilder& spec_text, TextBuilder& out) {
    if (spec_text.size() == 0) return append_text(run_, out, value);
    Spec spec{.is_trusted = is_trusted(spec_text)};
    parse(spec_text.text(), spec);
    if (value.is_string()) return put_text(*value.text, spec, out);
    if (!value.is_number())
      run_.fail(cat("a value of type ", type_name(value), " takes no format"));
    const char type = spec.number.type;
    std::string digits;
    if (type != '\0' && std::string_view("eEfFgG%").find(type) != std::string_view::npos) {
      run_.charge(kDigitsWork);
      digits = format_real(value.as_real(), spec.number);
    } else if (value.kind == Kind::kFloat) {
      if (type != '\0') run_.fail("unknown format code for a float");
      run_.charge(kDigitsWork);
      digits = plain_real(value.real, spec.number);
    } else if (type == 'c') {
      if (!is_character(value.as_int())) run_.fail("no character has that number");
      append_code(digits, static_cast<char32_t>(value.as_int()));
    } else if (type == '\0' || std::string_view("dxXobn").find(type) != std::string_view::npos) {
      if (spec.number.precision >= 0) run_.fail("an integer takes no precision");
      digits = format_int(value.as_int(), spec.number);
    } else {
      run_.fail("unknown format code for an integer");
    }
    append_filled(out, digits,
                  {.fill = spec.fill,
                   .align = spec.align != '\0' ? spec.align
                            : spec.zero        ? '='
                                               : '>',
                   .width = spec.width,
                   .is_trusted = spec.is_trusted && !value.tainted});
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

  void put_text(const Text& text, const Spec& spec, TextBuilder& out) {
    if ((spec.number.type != '\0' && spec.number.type != 's') || spec.align == '=' ||
        spec.number.sign != '-' || spec.number.grouping != '\0') {
      run_.fail("this format does not fit a text");
    }
    append_filled(run_, out, text, spec.number.precision,
                  {spec.fill, spec.align, spec.width, spec.is_trusted});
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
  Brace(run, args, format.is_markup).format(format, out, 0);
  return run.text(std::move(out), format.is_markup);
}

}  // namespace wick::jinja
