#include <algorithm>
#include <array>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/format.h"
#include "chat/operators.h"
#include "chat/text_ops.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace filters {
namespace {

constexpr std::size_t kUsualJson = 1024;  // bytes
constexpr std::size_t kMaxIndent = 1000;  // of tojson

// tojson's `separators`: a list or tuple of two texts.
void take_separators(Run& run, const Value& arg, JsonStyle& style) {
  if (arg.is_missing() || arg.is_none()) {
    if (style.indent) style.item_separator = ",";
    return;
  }
  const Vector<Value> both = run.collect(arg);
  if (both.size() != 2 || !both[0].is_string() || !both[1].is_string()) {
    run.fail("separators of tojson must be two texts");
  }
  style.item_separator = both[0].bytes();
  style.key_separator = both[1].bytes();
  style.is_trusted = style.is_trusted && !is_tainted(both[0]) && !is_tainted(both[1]);
}

void take_indent(Run& run, const Value& arg, JsonStyle& style) {
  if (arg.is_missing() || arg.is_none()) return;
  if (arg.is_string()) {
    style.indent = arg.bytes();
    style.is_trusted = !is_tainted(arg);
    return;
  }
  const std::int64_t n = take_int(run, arg, "the indent of tojson", 0);
  if (n > static_cast<std::int64_t>(kMaxIndent)) run.fail("the indent of tojson is too wide");
  style.is_blank = true;
  static constexpr auto kBlanks = [] {
    std::array<char, kMaxIndent> blanks{};
    blanks.fill(' ');
    return blanks;
  }();
  style.indent =
      std::string_view(kBlanks.data(), static_cast<std::size_t>(std::max<std::int64_t>(n, 0)));
}

bool is_url_safe(char c, bool slash) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '~' || (slash && c == '/');
}

void append_url(Run& run, TextBuilder& out, const Value& value, bool in_query) {
  const Text& text = to_text(run, value);
  TrustCursor trust(text);
  in_slices(run, text.bytes, Rate::kDecode, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      const char c = text.bytes[at];
      const auto byte = static_cast<unsigned char>(c);
      const char escaped[] = {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
      const std::string_view piece = is_url_safe(c, !in_query) ? std::string_view(&c, 1)
                                     : in_query && c == ' '    ? "+"
                                                               : std::string_view(escaped, 3);
      out.append(piece, trust.is_trusted(at, at + 1));
    }
  });
}

Value center(Run& run, const Value& value, Args args) {
  const Text& text = to_text(run, value);
  const std::int64_t width = take_int(run, args[0], "a width", 80);
  return justify(run, text, '^', width, {" ", Trust::kAll});
}

Value escape(Run& run, const Value& value, Args) {
  return jinja::escape(run, value);
}

Value force_escape(Run& run, const Value& value, Args) {
  Text plain = to_text(run, value);
  plain.is_markup = false;
  return jinja::escape(run, Value::of(&plain));
}

Value safe(Run& run, const Value& value, Args) {
  Text* made = run.make<Text>(to_text(run, value));
  made->is_markup = true;
  return Value::of(made);
}

Value format(Run& run, const Value& value, const Arguments& args) {
  const Text& text = to_text(run, value);
  if (!args.named.empty() && !args.positional.empty()) {
    run.fail("format takes positional or named arguments, not both");
  }
  if (args.named.empty()) return percent_format(run, text, run.list(args.positional, Kind::kTuple));
  Vector<Entry> entries(run.memory());
  for (const NamedArgument& argument : args.named)
    entries.push_back({name_of(run, argument), argument.value});
  return percent_format(run, text, run.dict(entries));
}

Value indent(Run& run, const Value& value, Args args) {
  const bool first = take_bool(run, args[1]), blank = take_bool(run, args[2]);
  Value by = args[0];
  if (!by.is_string()) {
    const std::int64_t width = take_int(run, by, "a width", 4);
    by = pad(run, Text{{}, Trust::kAll}, 0, width, " ", true);
  }
  if (!value.is_string()) run.fail_type("indented", value);
  const Value newline = run.text("\n", Trust::kAll, value.text->is_markup);
  const Value whole = concat(run, *value.text, *newline.text);
  const Value lines = split_lines(run, *whole.text, false);
  TextBuilder out(run);
  if (first) out.append(*by.text);
  for (std::size_t i = 0; i < lines.list->size; ++i) {
    const Text& line = *lines.list->items[i].text;
    if (i > 0) out.append("\n", true);
    if (i > 0 && (blank || !line.bytes.empty())) out.append(*by.text);
    out.append(line);
  }
  return run.text(std::move(out), value.text->is_markup);
}

Value replace(Run& run, const Value& value, Args args) {
  Text plain = to_text(run, value);  // str(value) is no markup
  plain.is_markup = false;
  const Text &from = to_text(run, args[0]), &to = to_text(run, args[1]);
  const std::int64_t count = args[2].is_none() ? -1 : take_int(run, args[2], "a count", -1);
  const Value out = jinja::replace(run, plain, from, to, count);
  return out.text != &plain ? out : run.cut(plain, 0, plain.bytes.size());
}

Value string(Run& run, const Value& value, Args) {
  return Value::of(&to_text(run, value));
}

// Tags and comments go, runs of whitespace become one blank; entities that |escape writes are read.
Value striptags(Run& run, const Value& value, Args) {
  const Text& text = to_text(run, value);
  const std::string_view bytes = text.bytes;
  run.charge(bytes.size(), Rate::kScan);
  TextBuilder out(run);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t open = std::min(bytes.find('<', at), bytes.size());
    if (open == bytes.size()) break;
    const bool comment = bytes.substr(open, 4) == "<!--";
    const std::size_t close = comment ? bytes.find("-->", open + 4) : bytes.find('>', open);
    if (close == std::string_view::npos) break;
    run.charge(6);
    out.append(text, at, open);
    at = close + (comment ? 3 : 1);
  }
  out.append(text, at, bytes.size());
  const Value bare = run.text(std::move(out));
  const Value words = split(run, *bare.text, nullptr, -1, false);
  Vector<const Text*> parts(run.memory());
  for (const Value& word : words.list->span())
    parts.push_back(word.text);
  const Text blank = {" ", Trust::kAll};
  Value joined = jinja::join(run, blank, parts);
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"},    {"&gt;", ">"},  {"&#34;", "\""},
      {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, plain] : kEntities) {
    joined =
        jinja::replace(run, *joined.text, Text{entity, Trust::kAll}, Text{plain, Trust::kNone}, -1);
  }
  return joined;
}

Value tojson(Run& run, const Value& value, Args args) {
  JsonStyle style = {.ascii_only = take_bool(run, args[0])};
  // json.dumps writes a text before it looks at the indent.
  if (!value.is_string()) take_indent(run, args[1], style);
  take_separators(run, args[2], style);
  style.sort_keys = take_bool(run, args[3]);
  Written out(run);
  out.text.reserve(kUsualJson);
  write_json(run, out, value, style);
  return run.text_copy(out.text, out.is_trusted);
}

Value trim(Run& run, const Value& value, Args args) {
  const Text& text = to_text(run, value);
  const Text* chars = args[0].is_none() ? nullptr : take_text(run, args[0], "characters to trim");
  return strip(run, text, chars, true, true);
}

// A number that is only compared: jinja2 does not ask whether it is a whole one.
double take_extent(Run& run, const Value& value, const char* what, std::int64_t otherwise) {
  if (value.kind == Kind::kFloat) return value.real;
  return static_cast<double>(take_int(run, value, what, otherwise));
}

Value truncate(Run& run, const Value& value, Args args) {
  const double length = take_extent(run, args[0], "a length", 255);
  const bool kill_words = take_bool(run, args[1]);
  const double leeway = args[3].is_none() ? 5 : take_extent(run, args[3], "a leeway", 5);
  const std::int64_t size = run.length(value);
  if (size < 0) run.fail_type("truncated", value);
  // The end is asked for its length, and only a text that is cut needs it to be one.
  const std::int64_t n_end = args[2].is_missing() ? 3 : run.length(args[2]);
  if (n_end < 0) run.fail_type("asked for its length", args[2]);
  if (!(length >= static_cast<double>(n_end)) || !(leeway >= 0))
    run.fail(cat("truncate needs a length of at least ", n_end));
  if (static_cast<double>(size) <= length + leeway) return value;
  if (!value.is_string()) run.fail_type("truncated", value);
  if (args[0].kind == Kind::kFloat) run.fail_type("a length to cut at", args[0]);
  const Text dots = {"...", Trust::kAll};
  const Text* end = take_text(run, args[2], "an end", &dots);
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
    append_url(run, out, value, false);
    return run.text(std::move(out));
  }
  const Value all = value.kind == Kind::kDict ? run.view(value.dict, ViewKind::kItems) : value;
  const Vector<Value> pairs = run.collect(all);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Vector<Value> pair = run.collect(pairs[i]);
    if (pair.size() != 2) run.fail("urlencode needs pairs of name and value");
    if (i > 0) out.append("&", true);
    append_url(run, out, pair[0], true);
    out.append("=", true);
    append_url(run, out, pair[1], true);
  }
  return run.text(std::move(out));
}

Value wordcount(Run& run, const Value& value, Args) {
  const Text& text = to_text(run, value);
  std::int64_t n = 0;
  bool in_word = false;
  each_character(run, text.bytes, Rate::kTables, [&](CodePoint c, std::size_t) {
    const bool word = is_word(c.value);
    if (word && !in_word) ++n;
    in_word = word;
  });
  return Value::of(n);
}

constexpr Builtin kTextRows[] = {
    {.name = "capitalize", .call = in_case<Case::kCapitalize>},
    {.name = "center", .params = "width", .call = center},
    {.name = "e", .call = escape},
    {.name = "escape", .call = escape},
    {.name = "forceescape", .call = force_escape},
    {.name = "format", .call_open = format},
    {.name = "indent", .params = "width first blank", .call = indent},
    {.name = "lower", .call = in_case<Case::kLower>},
    {.name = "replace", .params = "old new count", .n_required = 2, .call = replace},
    {.name = "safe", .call = safe},
    {.name = "string", .call = string},
    {.name = "striptags", .call = striptags},
    {.name = "title", .call = in_case<Case::kWords>},
    {.name = "tojson", .params = "ensure_ascii indent separators sort_keys", .call = tojson},
    {.name = "trim", .params = "chars", .call = trim},
    {.name = "truncate", .params = "length killwords end leeway", .call = truncate},
    {.name = "upper", .call = in_case<Case::kUpper>},
    {.name = "urlencode", .call = urlencode},
    {.name = "wordcount", .call = wordcount},
};

}  // namespace
}  // namespace filters

const std::span<const Builtin> kTextFilters = filters::kTextRows;

}  // namespace wick::jinja
