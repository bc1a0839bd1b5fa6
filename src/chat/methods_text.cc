// The methods of str.
#include <algorithm>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/format.h"
#include "chat/operators.h"
#include "chat/text_ops.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

constexpr std::size_t npos = std::string_view::npos;

// A part of a text by characters [start, stop), clipped as slices are; bytes in `begin`, `end`.
// `beyond` tells a start after the text's end or after the stop.
struct Part {
  std::size_t begin = 0, end = 0;
  bool beyond = false;
};

std::int64_t take_bound(Run& run, const Value& arg, std::int64_t size, std::int64_t otherwise) {
  if (arg.is_none() || arg.is_missing()) return otherwise;
  const std::int64_t at = take_int(run, arg, "a position", 0);
  return at >= 0 ? at : at < -size ? 0 : at + size;
}

Part take_part(Run& run, const Value& self, const Value& start, const Value& stop) {
  const auto size = static_cast<std::int64_t>(run.n_chars(self));
  std::int64_t from = take_bound(run, start, size, 0), to = take_bound(run, stop, size, size);
  Part out;
  out.beyond = from > size;
  from = std::min(from, size);
  to = std::min(to, size);
  out.begin = run.byte_of(self, static_cast<std::size_t>(from));
  out.end = to <= from ? out.begin : run.byte_of(self, static_cast<std::size_t>(to));
  out.beyond = out.beyond || to < from;
  return out;
}

const Text& need_text(Run& run, const Value& arg, std::string_view what) {
  const Text* out = take_text(run, arg, what);
  if (out == nullptr) run.fail(cat(what, " is missing"));
  return *out;
}

enum class Search : std::uint8_t { kFind, kIndex, kFindLast, kIndexLast, kCount };

template <Search search>
Value find_text(Run& run, const Value& self, Args args) {
  const std::string_view wanted = need_text(run, args[0], "a text to search").bytes;
  const Part part = take_part(run, self, args[1], args[2]);
  const std::string_view hay = self.bytes().substr(0, part.end);
  if (search == Search::kCount) {
    if (part.beyond) return Value::of(std::int64_t{0});
    if (wanted.empty()) {
      return Value::of(run.count_chars(hay.substr(part.begin)) + 1);
    }
    std::int64_t n = 0;
    for (std::size_t at = part.begin; (at = find_forward(run, hay, wanted, at)) != npos; ++n) {
      at += wanted.size();
    }
    return Value::of(n);
  }
  const bool from_end = search == Search::kFindLast || search == Search::kIndexLast;
  std::size_t at = npos;
  if (!part.beyond) {
    at = from_end ? find_backward(run, hay, wanted, part.end)
                  : find_forward(run, hay, wanted, part.begin);
  }
  if (at != npos && at >= part.begin) return Value::of(run.count_chars(hay.substr(0, at)));
  if (search == Search::kFind || search == Search::kFindLast) return Value::of(std::int64_t{-1});
  run.fail("the text that index() looks for is not there");
}

template <bool at_end>
Value has_affix(Run& run, const Value& self, Args args) {
  const Part part = take_part(run, self, args[1], args[2]);
  const std::string_view text = self.bytes().substr(part.begin, part.end - part.begin);
  const std::span<const Value> choices =
      args[0].kind == Kind::kTuple ? args[0].list->span() : args.subspan(0, 1);
  for (const Value& choice : choices) {
    const std::string_view affix = need_text(run, choice, "a text to compare with").bytes;
    const std::size_t size = affix.size();
    run.charge(1 + size / 64);
    if (part.beyond) continue;
    if (at_end ? text.ends_with(affix) : text.starts_with(affix)) return Value::of(true);
  }
  return Value::of(false);
}

template <bool left, bool right>
Value strip_text(Run& run, const Value& self, Args args) {
  const Text* chars = args[0].is_none() ? nullptr : take_text(run, args[0], "characters to strip");
  return strip(run, *self.text, chars, left, right);
}

template <bool from_right>
Value split_text(Run& run, const Value& self, Args args) {
  const Text* separator = args[0].is_none() ? nullptr : take_text(run, args[0], "a separator");
  const std::int64_t max = take_int(run, args[1], "a number of cuts", -1);
  return split(run, *self.text, separator, max, from_right);
}

Value splitlines(Run& run, const Value& self, Args args) {
  return split_lines(run, *self.text, take_flag(run, args[0]));
}

template <bool last>
Value partition(Run& run, const Value& self, Args args) {
  const std::string_view separator = need_text(run, args[0], "a separator").bytes;
  if (separator.empty()) run.fail("text cannot be split at an empty separator");
  const std::string_view bytes = self.bytes();
  const std::size_t at = last ? find_backward(run, bytes, separator, bytes.size())
                              : find_forward(run, bytes, separator, 0);
  const Value none = run.cut(*self.text, 0, 0);
  if (at == npos) return last ? run.tuple({none, none, self}) : run.tuple({self, none, none});
  const std::size_t behind = at + separator.size();
  return run.tuple({run.cut(*self.text, 0, at), run.cut(*self.text, at, behind),
                    run.cut(*self.text, behind, bytes.size())});
}

Value join_text(Run& run, const Value& self, Args args) {
  const Vector<Value> all = run.collect(args[0]);
  Vector<const Text*> parts(run.memory());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].is_string()) {
      run.fail(cat("join() takes texts only, item ", i, " is of type ", type_name(all[i])));
    }
    parts.push_back((self.text->is_markup ? escape(run, all[i]) : all[i]).text);
  }
  return join(run, *self.text, parts);
}

Value replace_text(Run& run, const Value& self, Args args) {
  const Text& from = need_text(run, args[0], "a text to replace");
  const Text* to = &need_text(run, args[1], "a replacement");
  const std::int64_t count = take_int(run, args[2], "a count", -1);
  if (self.text->is_markup) to = escape(run, args[1]).text;
  return replace(run, *self.text, from, *to, count);
}

template <bool suffix>
Value remove_affix(Run& run, const Value& self, Args args) {
  const std::string_view affix = need_text(run, args[0], "a text to remove").bytes;
  const std::string_view bytes = self.bytes();
  const std::size_t size = affix.size();
  if (size == 0 || size > bytes.size()) return self;
  run.charge(size, Rate::kCopy);
  const std::size_t at = suffix ? bytes.size() - size : 0;
  if (bytes.substr(at, size) != affix) return self;
  return suffix ? run.cut(*self.text, 0, at) : run.cut(*self.text, size, bytes.size());
}

template <char align>
Value justify(Run& run, const Value& self, Args args) {
  const std::int64_t width = take_int(run, args[0], "a width", 0);
  const Text blank = {" ", Trust::kAll};
  const Text* fill = take_text(run, args[1], "a filling", &blank);
  if (count_code_points(fill->bytes.substr(0, 8)) != 1)
    run.fail("the filling must be one character");
  return jinja::justify(run, *self.text, align, width, *fill);
}

Value zfill(Run& run, const Value& self, Args args) {
  const std::int64_t width = take_int(run, args[0], "a width", 0);
  const auto size = static_cast<std::int64_t>(run.n_chars(self));
  if (width <= size) return self;
  const std::string_view bytes = self.bytes();
  const std::size_t head = !bytes.empty() && (bytes[0] == '-' || bytes[0] == '+') ? 1 : 0;
  const Value body = run.cut(*self.text, head, bytes.size()), sign = run.cut(*self.text, 0, head);
  const Value padded = pad(run, *body.text, width - size, 0, "0", true);
  return head == 0 ? padded : concat(run, *sign.text, *padded.text);
}

Value expandtabs(Run& run, const Value& self, Args args) {
  const std::int64_t size = take_int(run, args[0], "a tab size", 8);
  if (size > 1000) run.fail("the tab size is too large");
  const std::string_view bytes = self.bytes();
  TextBuilder out(run);
  std::int64_t column = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = code_point(bytes, at);
    run.charge(1);
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
  if (args[0].kind != Kind::kDict) run.fail_type("used as a mapping", args[0]);
  run.charge(args[0].dict->size);
  Vector<NamedArgument> named(run.memory());
  for (const Entry& entry : *args[0].dict) {
    if (entry.key.is_string()) named.push_back({entry.key.bytes(), entry.value, entry.key.text});
  }
  return brace_format(run, *self.text, {{}, named});
}

template <bool (*holds)(char32_t) noexcept, bool if_empty = false>
Value is_all(Run& run, const Value& self, Args) {
  return Value::of(all_of(run, self.bytes(), holds, if_empty));
}

bool is_ascii(char32_t c) noexcept {
  return c < 0x80;
}

bool is_alpha_or_numeric(char32_t c) noexcept {
  return is_alpha(c) || is_numeric(c);
}

Value istitle(Run& run, const Value& self, Args) {
  bool cased = false, in_word = false;
  const bool holds = all_of(run, self.bytes(), [&](char32_t c) {
    const bool raised = is_upper(c) || is_title(c);
    if (raised ? in_word : (is_lower(c) && !in_word)) return false;
    in_word = raised || is_lower(c);
    cased = cased || in_word;
    return true;
  });
  return Value::of(holds && cased);
}

Value isidentifier(Run& run, const Value& self, Args) {
  // Names are ASCII or short: the whole is charged at once.
  run.charge(self.bytes().size(), Rate::kTables);
  return Value::of(is_identifier(self.bytes()));
}

constexpr Builtin kMethods[] = {
    by_place("capitalize", "", 0, in_case<Case::kCapitalize>),
    by_place("casefold", "", 0, in_case<Case::kFold>),
    by_place("center", "width fillchar", 1, justify<'^'>),
    by_place("count", "sub start end", 1, find_text<Search::kCount>),
    by_place("endswith", "suffix start end", 1, has_affix<true>),
    {.name = "expandtabs", .params = "tabsize", .call = expandtabs},
    by_place("find", "sub start end", 1, find_text<Search::kFind>),
    {.name = "format", .call_open = format_text},
    by_place("format_map", "mapping", 1, format_map),
    by_place("index", "sub start end", 1, find_text<Search::kIndex>),
    by_place("isalnum", "", 0, is_all<is_alpha_or_numeric>),
    by_place("isalpha", "", 0, is_all<is_alpha>),
    by_place("isascii", "", 0, is_all<is_ascii, true>),
    by_place("isdecimal", "", 0, is_all<is_decimal>),
    by_place("isdigit", "", 0, is_all<is_digit>),
    by_place("isidentifier", "", 0, isidentifier),
    by_place("islower", "", 0, is_in_case<false>),
    by_place("isnumeric", "", 0, is_all<is_numeric>),
    by_place("isprintable", "", 0, is_all<is_printable, true>),
    by_place("isspace", "", 0, is_all<is_space>),
    by_place("istitle", "", 0, istitle),
    by_place("isupper", "", 0, is_in_case<true>),
    by_place("join", "iterable", 1, join_text),
    by_place("ljust", "width fillchar", 1, justify<'<'>),
    by_place("lower", "", 0, in_case<Case::kLower>),
    by_place("lstrip", "chars", 0, strip_text<true, false>),
    by_place("partition", "sep", 1, partition<false>),
    by_place("removeprefix", "prefix", 1, remove_affix<false>),
    by_place("removesuffix", "suffix", 1, remove_affix<true>),
    by_place("replace", "old new count", 2, replace_text),
    by_place("rfind", "sub start end", 1, find_text<Search::kFindLast>),
    by_place("rindex", "sub start end", 1, find_text<Search::kIndexLast>),
    by_place("rjust", "width fillchar", 1, justify<'>'>),
    by_place("rpartition", "sep", 1, partition<true>),
    {.name = "rsplit", .params = "sep maxsplit", .call = split_text<true>},
    by_place("rstrip", "chars", 0, strip_text<false, true>),
    {.name = "split", .params = "sep maxsplit", .call = split_text<false>},
    {.name = "splitlines", .params = "keepends", .call = splitlines},
    by_place("startswith", "prefix start end", 1, has_affix<false>),
    by_place("strip", "chars", 0, strip_text<true, true>),
    by_place("swapcase", "", 0, in_case<Case::kSwap>),
    by_place("title", "", 0, in_case<Case::kTitle>),
    by_place("upper", "", 0, in_case<Case::kUpper>),
    by_place("zfill", "width", 1, zfill),
};

}  // namespace

const std::span<const Builtin> kStringMethods = kMethods;

}  // namespace wick::jinja
