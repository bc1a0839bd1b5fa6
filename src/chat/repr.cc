// Values as text: str(), repr(), json.dumps(), HTML escapes.
#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/merge_sort.h"
#include "chat/objects.h"
#include "chat/operators.h"
#include "chat/python_text.h"
#include "chat/text_ops.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

constexpr std::size_t kFloatWork = 16;  // the shortest digits of a double

// Appends text of any length.
void put(Run& run, Written& out, std::string_view text) {
  out.text += text;
  run.charge(text.size(), Rate::kCopy);
}

std::string_view view_name(const View& view) noexcept {
  return view.kind == ViewKind::kItems  ? "dict_items"
         : view.kind == ViewKind::kKeys ? "dict_keys"
                                        : "dict_values";
}

void write_items(Run& run, Written& out, std::span<const Value> items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.text += ", ";
    write_repr(run, out, items[i]);
  }
}

void write_dict(Run& run, Written& out, const Dict& dict) {
  out.text += '{';
  for (std::size_t i = 0; i < dict.size; ++i) {
    if (i > 0) out.text += ", ";
    write_repr(run, out, dict.entries[i].key);
    out.text += ": ";
    write_repr(run, out, dict.entries[i].value);
  }
  out.text += '}';
}

void write_view(Run& run, Written& out, const Value& view) {
  out.text += cat(view_name(*view.view), "([");
  write_items(run, out, run.collect(view));
  out.text += "])";
}

void write_text(Run& run, Written& out, const Text& text) {
  if (text.trust != Trust::kAll) out.is_trusted = false;
  if (text.is_markup) out.text += "Markup(";
  const char quote = repr_quote(text.bytes);
  out.text += quote;
  in_slices(run, text.bytes, Rate::kDecode, [&](std::size_t begin, std::size_t end) {
    const std::size_t before = out.text.size();
    append_repr_escaped(out.text, text.bytes.substr(begin, end - begin), quote);
    // What is not ASCII is looked up, and what does not print grows.
    run.charge((out.text.size() - before) / 2);
  });
  out.text += quote;
  if (text.is_markup) out.text += ')';
}

void write_json_text(Run& run, Written& out, const Text& text, bool ascii_only) {
  if (text.trust != Trust::kAll) out.is_trusted = false;
  out.text += '"';
  in_slices(run, text.bytes, Rate::kCopy, [&](std::size_t begin, std::size_t end) {
    const std::size_t before = out.text.size();
    append_json_escaped(out.text, text.bytes.substr(begin, end - begin), ascii_only);
    run.charge(out.text.size() - before, Rate::kScan);
  });
  out.text += '"';
}

std::string callable_text(const Callable& callable) {
  if (callable.macro == nullptr) return cat("<built-in method ", callable.builtin->name, ">");
  if (callable.macro->kind != StmtKind::kMacro) return "<Macro anonymous>";
  std::string out = "<Macro ";
  append_python_repr(out, callable.macro->target->text);
  return out + '>';
}

std::string range_text(const Range& range) {
  std::string out = cat("range(", range.start, ", ", range.stop);
  return range.step == 1 ? out + ')' : cat(out, ", ", range.step, ')');
}

void write_object(Run& run, Written& out, const Value& value) {
  const DataLevel level(run);
  switch (value.kind) {
    case Kind::kList:
      out.text += '[';
      write_items(run, out, value.list->span());
      out.text += ']';
      break;
    case Kind::kTuple:
      out.text += '(';
      write_items(run, out, value.list->span());
      out.text += value.list->size == 1 ? ",)" : ")";
      break;
    case Kind::kDict:
      write_dict(run, out, *value.dict);
      break;
    case Kind::kView:
      write_view(run, out, value);
      break;
    case Kind::kNamespace:
      out.text += "<Namespace ";
      write_dict(run, out, value.space->dict);
      out.text += '>';
      break;
    case Kind::kRange:
      if (value.range->tainted) out.is_trusted = false;
      out.text += range_text(*value.range);
      break;
    case Kind::kCallable:
      out.text += callable_text(*value.callable);
      break;
    case Kind::kLoop:
      out.text += cat("<LoopContext ", value.loop->index0 + 1, "/", value.loop->count(run), ">");
      break;
    default:
      out.text += cat("<", type_name(value), " object>");
  }
}

// Undefined, None and numbers as str() and repr() both write them.
std::string plain_text(const Value& value) {
  switch (value.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return value.truth ? "True" : "False";
    case Kind::kInt:
      return std::to_string(value.integer);
    case Kind::kFloat:
      return python_float(value.real);
    default:
      return {};
  }
}

bool is_plain(const Value& value) noexcept {
  return value.is_none() || value.is_number();
}

void new_line(Run& run, Written& out, const JsonStyle& style, int depth) {
  if (!style.indent) return;
  out.text += '\n';
  const auto n = static_cast<std::size_t>(depth);
  if (style.is_blank) {
    out.text.append(n * style.indent->size(), ' ');
  } else {
    for (std::size_t i = 0; i < n; ++i)
      out.text += *style.indent;
  }
  run.charge(1 + n * (style.indent->size() + 16) / 64);
}

void json_key(Run& run, Written& out, const Value& key, const JsonStyle& style) {
  if (key.is_string()) return write_json_text(run, out, *key.text, style.ascii_only);
  if (key.tainted) out.is_trusted = false;
  if (key.is_none()) {
    out.text += "\"null\"";
  } else if (key.kind == Kind::kBool) {
    out.text += key.truth ? "\"true\"" : "\"false\"";
  } else if (key.kind == Kind::kInt) {
    out.text += cat('"', key.integer, '"');
  } else if (key.kind == Kind::kFloat) {
    out.text += cat('"', json_float(key.real), '"');
  } else {
    run.fail(cat("JSON keys must be text or numbers, not ", type_name(key)));
  }
}

void json_value(Run& run, Written& out, const Value& value, const JsonStyle& style, int depth);

void json_list(Run& run, Written& out, const List& list, const JsonStyle& style, int depth) {
  out.text += '[';
  for (std::size_t i = 0; i < list.size; ++i) {
    if (i > 0) put(run, out, style.item_separator);
    new_line(run, out, style, depth + 1);
    json_value(run, out, list.items[i], style, depth + 1);
  }
  if (list.size > 0) new_line(run, out, style, depth);
  out.text += ']';
}

void json_dict(Run& run, Written& out, const Dict& dict, const JsonStyle& style, int depth) {
  Vector<Entry> sorted(run.memory());
  if (style.sort_keys) {
    run.charge(1 + dict.size / 4);
    sorted.assign(dict.begin(), dict.end());
    merge_sort(run, sorted,
               [&run](const Entry& a, const Entry& b) { return order(run, a.key, b.key) == -1; });
  }
  out.text += '{';
  for (std::size_t i = 0; i < dict.size; ++i) {
    const Entry& entry = style.sort_keys ? sorted[i] : dict.entries[i];
    if (i > 0) put(run, out, style.item_separator);
    new_line(run, out, style, depth + 1);
    json_key(run, out, entry.key, style);
    put(run, out, style.key_separator);
    json_value(run, out, entry.value, style, depth + 1);
  }
  if (dict.size > 0) new_line(run, out, style, depth);
  out.text += '}';
}

void json_value(Run& run, Written& out, const Value& value, const JsonStyle& style, int depth) {
  if (value.tainted) out.is_trusted = false;
  const DataLevel level(run);
  run.charge(2);
  switch (value.kind) {
    case Kind::kNone:
      out.text += "null";
      break;
    case Kind::kBool:
      out.text += value.truth ? "true" : "false";
      break;
    case Kind::kInt:
      out.text += std::to_string(value.integer);
      break;
    case Kind::kFloat:
      out.text += json_float(value.real);
      run.charge(kFloatWork);
      break;
    case Kind::kString:
      write_json_text(run, out, *value.text, style.ascii_only);
      break;
    case Kind::kList:
    case Kind::kTuple:
      json_list(run, out, *value.list, style, depth);
      break;
    case Kind::kDict:
      json_dict(run, out, *value.dict, style, depth);
      break;
    default:
      run.fail(cat("a value of type ", type_name(value), " cannot be written as JSON"));
  }
}

}  // namespace

std::string_view type_name(const Value& value) noexcept {
  if (value.kind == Kind::kView) return view_name(*value.view);
  if (value.is_string() && value.text->is_markup) return "Markup";
  constexpr std::string_view kNames[] = {
      "missing",  "Undefined",   "NoneType", "bool",  "int",   "float",     "str",
      "list",     "tuple",       "dict",     "view",  "range", "generator", "Namespace",
      "function", "LoopContext", "Cycler",   "Joiner"};  // in the order of Kind
  static_assert(std::size(kNames) == static_cast<std::size_t>(Kind::kJoiner) + 1);
  return kNames[static_cast<std::size_t>(value.kind)];
}

void write_repr(Run& run, Written& out, const Value& value) {
  if (value.tainted) out.is_trusted = false;
  run.charge(2);
  if (is_plain(value)) {
    out.text += plain_text(value);
    if (value.kind == Kind::kFloat) run.charge(kFloatWork);
  } else if (value.is_string()) {
    write_text(run, out, *value.text);
  } else if (value.is_undefined()) {
    out.text += "Undefined";
  } else {
    write_object(run, out, value);
  }
}

Value repr_of(Run& run, const Value& value, bool ascii_only) {
  Written written(run);
  write_repr(run, written, value);
  if (!ascii_only) return run.text_copy(written.text, written.is_trusted);
  const std::string_view text = written.text;
  String ascii(run.memory());
  each_character(run, text, Rate::kDecode, [&](CodePoint c, std::size_t at) {
    if (c.value < 0x80 || c.value >= kInvalidByte) {
      ascii += text.substr(at, c.size);
    } else {
      append_escape(ascii, c.value);
      run.charge(8);
    }
  });
  return run.text_copy(ascii, written.is_trusted);
}

void write_json(Run& run, Written& out, const Value& value, const JsonStyle& style) {
  if (!style.is_trusted) out.is_trusted = false;
  json_value(run, out, value, style, 0);
}

void append_text(Run& run, TextBuilder& out, const Value& value) {
  if (value.is_string()) return out.append(*value.text);
  if (value.is_undefined()) return;
  if (is_plain(value)) {
    if (value.kind == Kind::kFloat) run.charge(kFloatWork);
    return out.append(plain_text(value), !value.tainted);
  }
  Written written(run);
  write_repr(run, written, value);
  out.append(written.text, written.is_trusted);
}

const Text& to_text(Run& run, const Value& value) {
  if (value.is_string()) return *value.text;
  TextBuilder out(run);
  append_text(run, out, value);
  return *run.text(std::move(out)).text;
}

Value escape(Run& run, const Value& value) {
  if (value.is_string() && value.text->is_markup) return value;
  const Text& text = to_text(run, value);
  TextBuilder out(run);
  TrustCursor trust(text);
  std::size_t done = 0;
  in_slices(run, text.bytes, Rate::kScan, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      const char c = text.bytes[at];
      const std::string_view entity = c == '&'    ? "&amp;"
                                      : c == '<'  ? "&lt;"
                                      : c == '>'  ? "&gt;"
                                      : c == '"'  ? "&#34;"
                                      : c == '\'' ? "&#39;"
                                                  : "";
      if (entity.empty()) continue;
      out.append(text, done, at);
      out.append(entity, trust.is_trusted(at, at + 1));
      done = at + 1;
    }
  });
  out.append(text, done, text.bytes.size());
  return run.text(std::move(out), true);
}

}  // namespace wick::jinja
