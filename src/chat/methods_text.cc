// The methods of str that cut, search and build; those that ask about characters are in
// methods_case.cc.
#include <algorithm>

#include "base/strings.h"
#include "chat/filters.h"
#include "chat/methods.h"
#include "chat/operators.h"
#include "chat/printf_format.h"
#include "chat/text_ops.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

constexpr std::size_t npos = std::string_view::npos;

// A part of a text by characters [start, stop), clipped as slices are; bytes in `begin`, `end`.
// False if failed; `empty_beyond` tells a start behind the text's end.
struct Part {
  std::size_t begin = 0, end = 0;
  bool beyond = false;
};

bool take_bound(Run& run, const Value& arg, std::int64_t size, std::int64_t& out) {
  if (arg.is_none() || arg.is_missing()) return true;
  if (!take_int(run, arg, "a position", out)) return false;
  if (out < 0) out = out < -size ? 0 : out + size;
  return true;
}

bool take_part(Run& run, const Value& self, const Value& start, const Value& stop, Part& out) {
  const auto size = static_cast<std::int64_t>(run.n_chars(self));
  std::int64_t from = 0, to = size;
  if (!take_bound(run, start, size, from) || !take_bound(run, stop, size, to)) return false;
  out.beyond = from > size;
  from = std::min(from, size);
  to = std::min(to, size);
  const bool is_ascii = static_cast<std::size_t>(size) == self.bytes().size();
  const auto byte_at = [&](std::int64_t place) {
    const auto index = static_cast<std::size_t>(place);
    return is_ascii        ? index
           : place == size ? self.bytes().size()
                           : run.byte_of(self.bytes(), index);
  };
  out.begin = byte_at(from);
  out.end = to <= from ? out.begin : byte_at(to);
  if (to < from) out.beyond = true;
  return !run.failed();
}

const Text* need_text(Run& run, const Value& arg, std::string_view what) {
  const Text* out = nullptr;
  if (!take_text(run, arg, what, out)) return nullptr;
  if (out == nullptr) run.fail(cat(what, " is missing"));
  return out;
}

enum class Search : std::uint8_t { kFind, kIndex, kFindLast, kIndexLast, kCount };

template <Search search>
Value find_text(Run& run, const Value& self, Args args) {
  const Text* wanted = need_text(run, args[0], "a text to search");
  Part part;
  if (wanted == nullptr || !take_part(run, self, args[1], args[2], part)) return Value::failure();
  const std::string_view hay = self.bytes().substr(0, part.end);
  if (search == Search::kCount) {
    if (part.beyond) return Value::of(std::int64_t{0});
    if (wanted->bytes.empty()) {
      return Value::of(run.count_chars(hay.substr(part.begin)) + 1);
    }
    std::int64_t n = 0;
    for (std::size_t at = part.begin;
         (at = find_forward(run, hay, wanted->bytes, at)) != npos && !run.failed(); ++n) {
      at += wanted->bytes.size();
    }
    return run.failed() ? Value::failure() : Value::of(n);
  }
  const bool from_end = search == Search::kFindLast || search == Search::kIndexLast;
  std::size_t at = npos;
  if (!part.beyond) {
    at = from_end ? find_backward(run, hay, wanted->bytes, part.end)
                  : find_forward(run, hay, wanted->bytes, part.begin);
  }
  if (run.failed()) return Value::failure();
  if (at != npos && at >= part.begin) return Value::of(run.count_chars(hay.substr(0, at)));
  if (search == Search::kFind || search == Search::kFindLast) return Value::of(std::int64_t{-1});
  return run.fail("the text that index() looks for is not there");
}

template <bool at_end>
Value has_affix(Run& run, const Value& self, Args args) {
  Part part;
  if (!take_part(run, self, args[1], args[2], part)) return Value::failure();
  const std::string_view text = self.bytes().substr(part.begin, part.end - part.begin);
  const std::span<const Value> choices =
      args[0].kind == Kind::kTuple ? args[0].list->span() : args.subspan(0, 1);
  for (const Value& choice : choices) {
    const Text* affix = need_text(run, choice, "a text to compare with");
    if (affix == nullptr) return Value::failure();
    const std::size_t size = affix->bytes.size();
    if (!run.charge(1 + size / 64)) return Value::failure();
    if (size > text.size() || (part.beyond && size == 0) || part.beyond) continue;
    if (text.substr(at_end ? text.size() - size : 0, size) == affix->bytes) return Value::of(true);
  }
  return Value::of(false);
}

template <bool left, bool right>
Value strip_text(Run& run, const Value& self, Args args) {
  const Text* chars = nullptr;
  if (!args[0].is_none() && !take_text(run, args[0], "characters to strip", chars))
    return Value::failure();
  return strip(run, *self.text, chars, left, right);
}

template <bool from_right>
Value split_text(Run& run, const Value& self, Args args) {
  const Text* separator = nullptr;
  std::int64_t max = -1;
  if ((!args[0].is_none() && !take_text(run, args[0], "a separator", separator)) ||
      !take_int(run, args[1], "a number of cuts", max)) {
    return Value::failure();
  }
  return split(run, *self.text, separator, max, from_right);
}

Value splitlines(Run& run, const Value& self, Args args) {
  bool keep_ends = false;
  if (!take_flag(run, args[0], keep_ends)) return Value::failure();
  return split_lines(run, *self.text, keep_ends);
}

template <bool last>
Value partition(Run& run, const Value& self, Args args) {
  const Text* separator = need_text(run, args[0], "a separator");
  if (separator == nullptr) return Value::failure();
  if (separator->bytes.empty()) return run.fail("text cannot be split at an empty separator");
  const std::string_view bytes = self.bytes();
  const std::size_t at = last ? find_backward(run, bytes, separator->bytes, bytes.size())
                              : find_forward(run, bytes, separator->bytes, 0);
  const Value none = run.cut(*self.text, 0, 0);
  if (run.failed()) return Value::failure();
  if (at == npos) return last ? run.tuple({none, none, self}) : run.tuple({self, none, none});
  const std::size_t behind = at + separator->bytes.size();
  const Value head = run.cut(*self.text, 0, at), tail = run.cut(*self.text, behind, bytes.size());
  const Value middle = run.cut(*self.text, at, behind);
  return run.failed() ? Value::failure() : run.tuple({head, middle, tail});
}

Value join_text(Run& run, const Value& self, Args args) {
  Vector<Value> all(run.memory());
  if (!run.collect(args[0], all)) return Value::failure();
  Vector<const Text*> parts(run.memory());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].is_string()) {
      return run.fail(cat("join() takes texts only, item ", i, " is of type ", type_name(all[i])));
    }
    const Value part = self.text->is_markup ? escape(run, all[i]) : all[i];
    if (part.failed()) return part;
    parts.push_back(part.text);
  }
  return join(run, *self.text, parts);
}

Value replace_text(Run& run, const Value& self, Args args) {
  std::int64_t count = -1;
  const Text* from = need_text(run, args[0], "a text to replace");
  const Text* to = from == nullptr ? nullptr : need_text(run, args[1], "a replacement");
  if (to == nullptr || !take_int(run, args[2], "a count", count)) return Value::failure();
  if (self.text->is_markup) {
    const Value safe = escape(run, args[1]);
    if (safe.failed()) return safe;
    to = safe.text;
  }
  return replace(run, *self.text, *from, *to, count);
}

template <bool suffix>
Value remove_affix(Run& run, const Value& self, Args args) {
  const Text* affix = need_text(run, args[0], "a text to remove");
  if (affix == nullptr) return Value::failure();
  const std::string_view bytes = self.bytes();
  const std::size_t size = affix->bytes.size();
  if (size == 0 || size > bytes.size()) return self;
  if (!run.charge(size, Rate::kCopy)) return Value::failure();
  const std::size_t at = suffix ? bytes.size() - size : 0;
  if (bytes.substr(at, size) != affix->bytes) return self;
  return suffix ? run.cut(*self.text, 0, at) : run.cut(*self.text, size, bytes.size());
}

template <char align>
Value justify(Run& run, const Value& self, Args args) {
  std::int64_t width = 0;
  const Text blank = {" ", Trust::kAll};
  const Text* fill = &blank;
  if (!take_int(run, args[0], "a width", width) || !take_text(run, args[1], "a filling", fill)) {
    return Value::failure();
  }
  if (count_code_points(fill->bytes.substr(0, 8)) != 1)
    return run.fail("the filling must be one character");
  const auto size = static_cast<std::int64_t>(run.n_chars(self));
  if (width <= size) return self;
  const std::int64_t room = width - size;
  const std::int64_t left = align == '<' ? 0 : align == '>' ? room : room / 2 + (room & width & 1);
  return pad(run, *self.text, left, room - left, fill->bytes, fill->trust == Trust::kAll);
}

Value zfill(Run& run, const Value& self, Args args) {
  std::int64_t width = 0;
  if (!take_int(run, args[0], "a width", width)) return Value::failure();
  const auto size = static_cast<std::int64_t>(run.n_chars(self));
  if (width <= size) return self;
  const std::string_view bytes = self.bytes();
  const std::size_t head = !bytes.empty() && (bytes[0] == '-' || bytes[0] == '+') ? 1 : 0;
  const Value body = run.cut(*self.text, head, bytes.size()), sign = run.cut(*self.text, 0, head);
  if (run.failed()) return Value::failure();
  const Value padded = pad(run, *body.text, width - size, 0, "0", true);
  return padded.failed() || head == 0 ? padded : concat(run, *sign.text, *padded.text);
}

Value expandtabs(Run& run, const Value& self, Args args) {
  std::int64_t size = 8;
  if (!take_int(run, args[0], "a tab size", size)) return Value::failure();
  if (size > 1000) return run.fail("the tab size is too large");
  const std::string_view bytes = self.bytes();
  TextBuilder out(run);
  std::int64_t column = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = code_point(bytes, at);
    if (!run.charge(1)) return Value::failure();
    if (c.value == '\t') {
      const std::int64_t n = size > 0 ? size - column % size : 0;
      out.append_repeated(" ", static_cast<std::size_t>(n), is_trusted(*self.text, at, at + 1));
      column += n;
    } else {
      out.append(*self.text, at, at + c.size);
      column = c.value == '\n' || c.value == '\r' ? 0 : column + 1;
    }
    at += c.size;
  }
  return run.text(std::move(out), self.text->is_markup);
}

Value format_text(Run& run, const Value& self, const Arguments& args) {
  return brace_format(run, *self.text, args);
}

Value format_map(Run& run, const Value& self, Args args) {
  if (args[0].kind != Kind::kDict) return run.fail_type("used as a mapping", args[0]);
  if (!run.charge(args[0].dict->size)) return Value::failure();
  Vector<NamedArgument> named(run.memory());
  for (const Entry& entry : *args[0].dict) {
    if (entry.key.is_string()) named.push_back({entry.key.bytes(), entry.value, entry.key.text});
  }
  return brace_format(run, *self.text, {{}, named});
}

// A row whose parameters Python takes by position only.
constexpr Builtin row(std::string_view name, std::string_view params, int n_required, Native call) {
  return {name, params, n_required, call, nullptr, true};
}

constexpr Builtin kMethods[] = {
    row("capitalize", "", 0, methods::capitalize),
    row("casefold", "", 0, methods::casefold),
    row("center", "width fillchar", 1, justify<'^'>),
    row("count", "sub start end", 1, find_text<Search::kCount>),
    row("endswith", "suffix start end", 1, has_affix<true>),
    {.name = "expandtabs", .params = "tabsize", .call = expandtabs},
    row("find", "sub start end", 1, find_text<Search::kFind>),
    {.name = "format", .call_open = format_text},
    row("format_map", "mapping", 1, format_map),
    row("index", "sub start end", 1, find_text<Search::kIndex>),
    row("isalnum", "", 0, methods::isalnum),
    row("isalpha", "", 0, methods::isalpha),
    row("isascii", "", 0, methods::isascii),
    row("isdecimal", "", 0, methods::isdecimal),
    row("isdigit", "", 0, methods::isdigit),
    row("isidentifier", "", 0, methods::isidentifier),
    row("islower", "", 0, methods::islower),
    row("isnumeric", "", 0, methods::isnumeric),
    row("isprintable", "", 0, methods::isprintable),
    row("isspace", "", 0, methods::isspace),
    row("istitle", "", 0, methods::istitle),
    row("isupper", "", 0, methods::isupper),
    row("join", "iterable", 1, join_text),
    row("ljust", "width fillchar", 1, justify<'<'>),
    row("lower", "", 0, methods::lower),
    row("lstrip", "chars", 0, strip_text<true, false>),
    row("partition", "sep", 1, partition<false>),
    row("removeprefix", "prefix", 1, remove_affix<false>),
    row("removesuffix", "suffix", 1, remove_affix<true>),
    row("replace", "old new count", 2, replace_text),
    row("rfind", "sub start end", 1, find_text<Search::kFindLast>),
    row("rindex", "sub start end", 1, find_text<Search::kIndexLast>),
    row("rjust", "width fillchar", 1, justify<'>'>),
    row("rpartition", "sep", 1, partition<true>),
    {.name = "rsplit", .params = "sep maxsplit", .call = split_text<true>},
    row("rstrip", "chars", 0, strip_text<false, true>),
    {.name = "split", .params = "sep maxsplit", .call = split_text<false>},
    {.name = "splitlines", .params = "keepends", .call = splitlines},
    row("startswith", "prefix start end", 1, has_affix<false>),
    row("strip", "chars", 0, strip_text<true, true>),
    row("swapcase", "", 0, methods::swapcase),
    row("title", "", 0, methods::title),
    row("upper", "", 0, methods::upper),
    row("zfill", "width", 1, zfill),
};

}  // namespace

std::span<const Builtin> all_string_methods() noexcept {
  return kMethods;
}

const Builtin* find_string_method(std::string_view name) noexcept {
  return find_in(kMethods, name);
}

}  // namespace wick::jinja
