#include <algorithm>
#include <array>

#include "base/strings.h"
#include "chat/filters.h"
#include "chat/operators.h"
#include "chat/printf_format.h"
#include "chat/text_ops.h"
#include "unicode/python_str.h"

namespace wick::jinja::filters {
namespace {

constexpr std::size_t kUsualJson = 1024;  // bytes
constexpr std::size_t kMaxIndent = 1000;  // of tojson

Value with_case(Run& run, const Value& value, Case to) {
  const Text* text = soft_text(run, value);
  return text == nullptr ? Value::failure() : change_case(run, *text, to);
}

// tojson's `separators`: a list or tuple of two texts.
bool take_separators(Run& run, const Value& arg, JsonStyle& style) {
  if (arg.is_missing() || arg.is_none()) {
    if (style.indent) style.item_separator = ",";
    return true;
  }
  Vector<Value> both(run.memory());
  if (!run.collect(arg, both)) return false;
  if (both.size() != 2 || !both[0].is_string() || !both[1].is_string()) {
    return !run.fail("separators of tojson must be two texts").failed();
  }
  style.item_separator = both[0].bytes();
  style.key_separator = both[1].bytes();
  style.is_trusted = style.is_trusted && !is_tainted(both[0]) && !is_tainted(both[1]);
  return true;
}

bool take_indent(Run& run, const Value& arg, JsonStyle& style) {
  if (arg.is_missing() || arg.is_none()) return true;
  if (arg.is_string()) {
    style.indent = arg.bytes();
    style.is_trusted = !is_tainted(arg);
    return true;
  }
  std::int64_t n = 0;
  if (!take_int(run, arg, "the indent of tojson", n)) return false;
  if (n > static_cast<std::int64_t>(kMaxIndent))
    return !run.fail("the indent of tojson is too wide").failed();
  style.is_blank = true;
  static constexpr auto kBlanks = [] {
    std::array<char, kMaxIndent> blanks{};
    blanks.fill(' ');
    return blanks;
  }();
  style.indent =
      std::string_view(kBlanks.data(), static_cast<std::size_t>(std::max<std::int64_t>(n, 0)));
  return true;
}

bool is_url_safe(char c, bool slash) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '~' || (slash && c == '/');
}

bool append_url(Run& run, TextBuilder& out, const Value& value, bool in_query) {
  const Text* text = to_text(run, value);
  if (text == nullptr) return false;
  TrustCursor trust(*text);
  return in_slices(run, text->bytes, Rate::kDecode, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end && !run.failed(); ++at) {
      const char c = text->bytes[at];
      const auto byte = static_cast<unsigned char>(c);
      const char escaped[] = {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
      const std::string_view piece = is_url_safe(c, !in_query) ? std::string_view(&c, 1)
                                     : in_query && c == ' '    ? "+"
                                                               : std::string_view(escaped, 3);
      out.append(piece, trust.is_trusted(at, at + 1));
    }
  });
}

}  // namespace

Value capitalize(Run& run, const Value& value, Args) {
  return with_case(run, value, Case::kCapitalize);
}

Value lower(Run& run, const Value& value, Args) {
  return with_case(run, value, Case::kLower);
}

Value upper(Run& run, const Value& value, Args) {
  return with_case(run, value, Case::kUpper);
}

Value center(Run& run, const Value& value, Args args) {
  std::int64_t width = 80;
  const Text* text = soft_text(run, value);
  if (text == nullptr || !take_int(run, args[0], "a width", width)) return Value::failure();
  const auto size = static_cast<std::int64_t>(run.n_chars(Value::of(text)));
  if (width <= size) return Value::of(text);
  const std::int64_t room = width - size;
  const std::int64_t left = room / 2 + (room & width & 1);
  return pad(run, *text, left, room - left, " ", true);
}

Value escape(Run& run, const Value& value, Args) {
  return jinja::escape(run, value);
}

Value force_escape(Run& run, const Value& value, Args) {
  const Text* text = to_text(run, value);
  if (text == nullptr) return Value::failure();
  Text plain = *text;
  plain.is_markup = false;
  return jinja::escape(run, Value::of(&plain));
}

Value safe(Run& run, const Value& value, Args) {
  const Text* text = to_text(run, value);
  Text* made = text == nullptr ? nullptr : run.make<Text>(*text);
  if (made == nullptr) return Value::failure();
  made->is_markup = true;
  return Value::of(made);
}

Value format(Run& run, const Value& value, const Arguments& args) {
  const Text* text = soft_text(run, value);
  if (text == nullptr) return Value::failure();
  if (!args.named.empty() && !args.positional.empty()) {
    return run.fail("format takes positional or named arguments, not both");
  }
  if (args.named.empty())
    return percent_format(run, *text, run.list(args.positional, Kind::kTuple));
  Vector<Entry> entries(run.memory());
  for (const NamedArgument& argument : args.named)
    entries.push_back({name_of(run, argument), argument.value});
  if (run.failed()) return Value::failure();
  const Value dict = run.dict(entries);
  return dict.failed() ? dict : percent_format(run, *text, dict);
}

Value indent(Run& run, const Value& value, Args args) {
  bool first = false, blank = false;
  if (!take_bool(run, args[1], first) || !take_bool(run, args[2], blank)) return Value::failure();
  Value by = args[0];
  if (!by.is_string()) {
    std::int64_t width = 4;
    if (!take_int(run, by, "a width", width)) return Value::failure();
    by = pad(run, Text{{}, Trust::kAll}, 0, width, " ", true);
  }
  if (by.failed()) return by;
  if (!value.is_string()) return run.fail_type("indented", value);
  const Value newline = run.text("\n", Trust::kAll, value.text->is_markup);
  const Value whole = concat(run, *value.text, *newline.text);
  const Value lines = whole.failed() ? whole : split_lines(run, *whole.text, false);
  if (lines.failed()) return lines;
  TextBuilder out(run);
  if (first) out.append(*by.text);
  for (std::size_t i = 0; i < lines.list->size; ++i) {
    const Text& line = *lines.list->items[i].text;
    if (i > 0) out.append("\n", true);
    if (i > 0 && (blank || !line.bytes.empty())) out.append(*by.text);
    if (!out.append(line)) return Value::failure();
  }
  return run.text(std::move(out), value.text->is_markup);
}

Value replace(Run& run, const Value& value, Args args) {
  std::int64_t count = -1;
  const Text* text = to_text(run, value);
  const Text* from = text == nullptr ? nullptr : to_text(run, args[0]);
  const Text* to = from == nullptr ? nullptr : to_text(run, args[1]);
  if (to == nullptr || (!args[2].is_none() && !take_int(run, args[2], "a count", count))) {
    return Value::failure();
  }
  Text plain = *text;  // str(value) is no markup
  plain.is_markup = false;
  const Value out = jinja::replace(run, plain, *from, *to, count);
  return out.failed() || out.text != &plain ? out : run.cut(plain, 0, plain.bytes.size());
}

Value string(Run& run, const Value& value, Args) {
  const Text* text = soft_text(run, value);
  return text == nullptr ? Value::failure() : Value::of(text);
}

// Tags and comments go, runs of whitespace become one blank; entities that |escape writes are read.
Value striptags(Run& run, const Value& value, Args) {
  const Text* text = to_text(run, value);
  if (text == nullptr || !run.charge(text->bytes.size(), Rate::kScan)) return Value::failure();
  const std::string_view bytes = text->bytes;
  TextBuilder out(run);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t open = std::min(bytes.find('<', at), bytes.size());
    if (open == bytes.size()) break;
    const bool comment = bytes.substr(open, 4) == "<!--";
    const std::size_t close = comment ? bytes.find("-->", open + 4) : bytes.find('>', open);
    if (close == std::string_view::npos) break;
    if (!run.charge(6) || !out.append(*text, at, open)) return Value::failure();
    at = close + (comment ? 3 : 1);
  }
  out.append(*text, at, bytes.size());
  const Value bare = run.text(std::move(out));
  const Value words = bare.failed() ? bare : split(run, *bare.text, nullptr, -1, false);
  if (words.failed()) return words;
  Vector<const Text*> parts(run.memory());
  for (const Value& word : words.list->span())
    parts.push_back(word.text);
  const Text blank = {" ", Trust::kAll};
  Value joined = jinja::join(run, blank, parts);
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"},    {"&gt;", ">"},  {"&#34;", "\""},
      {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, plain] : kEntities) {
    if (joined.failed()) return joined;
    joined =
        jinja::replace(run, *joined.text, Text{entity, Trust::kAll}, Text{plain, Trust::kNone}, -1);
  }
  return joined;
}

Value title(Run& run, const Value& value, Args) {
  return with_case(run, value, Case::kWords);
}

Value tojson(Run& run, const Value& value, Args args) {
  JsonStyle style;
  // json.dumps writes a text before it looks at the indent.
  if (!take_bool(run, args[0], style.ascii_only) ||
      (!value.is_string() && !take_indent(run, args[1], style)) ||
      !take_separators(run, args[2], style) || !take_bool(run, args[3], style.sort_keys)) {
    return Value::failure();
  }
  Written out(run);
  out.text.reserve(kUsualJson);
  if (!write_json(run, out, value, style)) return Value::failure();
  return run.text_copy(out.text, out.is_trusted);
}

Value trim(Run& run, const Value& value, Args args) {
  const Text* text = soft_text(run, value);
  const Text* chars = nullptr;
  if (text == nullptr) return Value::failure();
  if (!args[0].is_none() && !take_text(run, args[0], "characters to trim", chars))
    return Value::failure();
  return strip(run, *text, chars, true, true);
}

namespace {

// A number that is only compared: jinja2 does not ask whether it is a whole one.
bool take_extent(Run& run, const Value& value, const char* what, double& extent) {
  if (value.kind == Kind::kFloat) {
    extent = value.real;
    return true;
  }
  auto whole = static_cast<std::int64_t>(extent);
  if (!take_int(run, value, what, whole)) return false;
  extent = static_cast<double>(whole);
  return true;
}

}  // namespace

Value truncate(Run& run, const Value& value, Args args) {
  double length = 255, leeway = 5;
  bool kill_words = false;
  const Text dots = {"...", Trust::kAll};
  const Text* end = &dots;
  if (!take_extent(run, args[0], "a length", length) || !take_bool(run, args[1], kill_words) ||
      (!args[3].is_none() && !take_extent(run, args[3], "a leeway", leeway))) {
    return Value::failure();
  }
  const std::int64_t size = run.length(value);
  if (size < 0) return run.fail_type("truncated", value);
  // The end is asked for its length, and only a text that is cut needs it to be one.
  const std::int64_t n_end = args[2].is_missing() ? 3 : run.length(args[2]);
  if (n_end < 0) return run.fail_type("asked for its length", args[2]);
  if (!(length >= static_cast<double>(n_end)) || !(leeway >= 0))
    return run.fail(cat("truncate needs a length of at least ", n_end));
  if (static_cast<double>(size) <= length + leeway) return value;
  if (!value.is_string()) return run.fail_type("truncated", value);
  if (args[0].kind == Kind::kFloat) return run.fail_type("a length to cut at", args[0]);
  if (!take_text(run, args[2], "an end", end)) return Value::failure();
  std::size_t cut = run.byte_of(value.bytes(),
                                static_cast<std::size_t>(length) - static_cast<std::size_t>(n_end));
  if (!kill_words) {
    const std::size_t blank = find_backward(run, value.bytes(), " ", cut);
    if (blank != std::string_view::npos) cut = blank;
  }
  TextBuilder out(run);
  out.append(*value.text, 0, cut);
  out.append(*end);
  return run.text(std::move(out), value.text->is_markup);
}

Value urlencode(Run& run, const Value& value, Args) {
  TextBuilder out(run);
  const bool is_one = value.is_string() || value.is_none() || value.is_number() ||
                      value.kind == Kind::kCallable || value.kind == Kind::kNamespace;
  if (is_one) {
    if (!append_url(run, out, value, false)) return Value::failure();
    return run.text(std::move(out));
  }
  const Value all = value.kind == Kind::kDict ? run.view(value.dict, ViewKind::kItems) : value;
  Vector<Value> pairs(run.memory()), pair(run.memory());
  if (!run.collect(all, pairs)) return Value::failure();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pair.clear();
    if (!run.collect(pairs[i], pair)) return Value::failure();
    if (pair.size() != 2) return run.fail("urlencode needs pairs of name and value");
    if (i > 0) out.append("&", true);
    if (!append_url(run, out, pair[0], true)) return Value::failure();
    out.append("=", true);
    if (!append_url(run, out, pair[1], true)) return Value::failure();
  }
  return run.text(std::move(out));
}

Value wordcount(Run& run, const Value& value, Args) {
  const Text* text = soft_text(run, value);
  if (text == nullptr) return Value::failure();
  std::int64_t n = 0;
  bool in_word = false;
  in_slices(run, text->bytes, Rate::kTables, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end;) {
      const CodePoint c = code_point(text->bytes, at);
      const bool word = is_word(c.value);
      if (word && !in_word) ++n;
      in_word = word;
      at += c.size;
    }
  });
  return run.failed() ? Value::failure() : Value::of(n);
}

}  // namespace wick::jinja::filters
