// Values as text: str(), repr(), json.dumps(), HTML escapes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/merge_sort.h"
#include "chat/objects.h"
#include "chat/operators.h"
#include "chat/python_text.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

constexpr std::size_t kFloatWork = 16;  // the shortest digits of a double

// Appends text of any length.
bool put(Run& run, Written& out, std::string_view text) {
  out.text += text;
  return run.charge(text.size(), Rate::kCopy);
}

std::string_view view_name(const View& view) noexcept {
  return view.kind == ViewKind::kItems  ? "dict_items"
         : view.kind == ViewKind::kKeys ? "dict_keys"
                                        : "dict_values";
}

bool write_items(Run& run, Written& out, std::span<const Value> items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.text += ", ";
    if (!write_repr(run, out, items[i])) return false;
  }
  return true;
}

bool write_dict(Run& run, Written& out, const Dict& dict) {
  out.text += '{';
  for (std::size_t i = 0; i < dict.size; ++i) {
    if (i > 0) out.text += ", ";
    if (!write_repr(run, out, dict.entries[i].key)) return false;
    out.text += ": ";
    if (!write_repr(run, out, dict.entries[i].value)) return false;
  }
  out.text += '}';
  return true;
}

bool write_view(Run& run, Written& out, const View& view) {
  out.text += cat(view_name(view), "([");
  for (std::size_t i = 0; i < view.dict->size; ++i) {
    if (i > 0) out.text += ", ";
    const Entry& entry = view.dict->entries[i];
    const bool pair = view.kind == ViewKind::kItems;
    if (pair) out.text += '(';
    if (view.kind != ViewKind::kValues && !write_repr(run, out, entry.key)) return false;
    if (pair) out.text += ", ";
    if (view.kind != ViewKind::kKeys && !write_repr(run, out, entry.value)) return false;
    if (pair) out.text += ')';
  }
  out.text += "])";
  return true;
}

bool write_text(Run& run, Written& out, const Text& text) {
  if (text.trust != Trust::kAll) out.is_trusted = false;
  if (text.is_markup) out.text += "Markup(";
  const char quote = repr_quote(text.bytes);
  out.text += quote;
  const bool is_done =
      in_slices(run, text.bytes, Rate::kDecode, [&](std::size_t begin, std::size_t end) {
        const std::size_t before = out.text.size();
        append_repr_escaped(out.text, text.bytes.substr(begin, end - begin), quote);
        // What is not ASCII is looked up, and what does not print grows.
        run.charge((out.text.size() - before) / 2);
      });
  out.text += quote;
  if (text.is_markup) out.text += ')';
  return is_done;
}

bool write_json_text(Run& run, Written& out, const Text& text, bool ascii_only) {
  if (text.trust != Trust::kAll) out.is_trusted = false;
  out.text += '"';
  const bool is_done =
      in_slices(run, text.bytes, Rate::kCopy, [&](std::size_t begin, std::size_t end) {
        const std::size_t before = out.text.size();
        append_json_escaped(out.text, text.bytes.substr(begin, end - begin), ascii_only);
        run.charge(out.text.size() - before, Rate::kScan);
      });
  out.text += '"';
  return is_done;
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

// Containers and objects; false if failed.
bool write_object(Run& run, Written& out, const Value& value) {
  DataLevel level(run);
  if (level.too_deep()) return false;
  switch (value.kind) {
    case Kind::kList:
      out.text += '[';
      if (!write_items(run, out, value.list->span())) return false;
      out.text += ']';
      return true;
    case Kind::kTuple:
      out.text += '(';
      if (!write_items(run, out, value.list->span())) return false;
      out.text += value.list->size == 1 ? ",)" : ")";
      return true;
    case Kind::kDict:
      return write_dict(run, out, *value.dict);
    case Kind::kView:
      return write_view(run, out, *value.view);
    case Kind::kNamespace:
      out.text += "<Namespace ";
      if (!write_dict(run, out, value.space->dict)) return false;
      out.text += '>';
      return true;
    case Kind::kRange:
      if (value.range->tainted) out.is_trusted = false;
      out.text += range_text(*value.range);
      return true;
    case Kind::kCallable:
      out.text += callable_text(*value.callable);
      return true;
    case Kind::kLoop:
      out.text += cat("<LoopContext ", value.loop->index0 + 1, "/", value.loop->count(run), ">");
      return !run.failed();
    default:
      out.text += cat("<", type_name(value), " object>");
      return true;
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

bool new_line(Run& run, Written& out, const JsonStyle& style, int depth) {
  if (!style.indent) return true;
  out.text += '\n';
  const auto n = static_cast<std::size_t>(depth);
  if (style.is_blank) {
    out.text.append(n * style.indent->size(), ' ');
  } else {
    for (std::size_t i = 0; i < n; ++i)
      out.text += *style.indent;
  }
  return run.charge(1 + n * (style.indent->size() + 16) / 64);
}

bool json_key(Run& run, Written& out, const Value& key, const JsonStyle& style) {
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
    return false;
  }
  return true;
}

bool json_value(Run& run, Written& out, const Value& value, const JsonStyle& style, int depth);

bool json_list(Run& run, Written& out, const List& list, const JsonStyle& style, int depth) {
  out.text += '[';
  for (std::size_t i = 0; i < list.size; ++i) {
    if ((i > 0 && !put(run, out, style.item_separator)) || !new_line(run, out, style, depth + 1) ||
        !json_value(run, out, list.items[i], style, depth + 1)) {
      return false;
    }
  }
  if (list.size > 0 && !new_line(run, out, style, depth)) return false;
  out.text += ']';
  return true;
}

bool json_dict(Run& run, Written& out, const Dict& dict, const JsonStyle& style, int depth) {
  Vector<Entry> sorted(run.memory());
  if (style.sort_keys) {
    if (!run.charge(1 + dict.size / 4)) return false;
    sorted.assign(dict.begin(), dict.end());
    const auto is_before = [&run](const Entry& a, const Entry& b) {
      return order(run, a.key, b.key) == -1;
    };
    if (!merge_sort(run, sorted, is_before)) return false;
  }
  out.text += '{';
  for (std::size_t i = 0; i < dict.size; ++i) {
    const Entry& entry = style.sort_keys ? sorted[i] : dict.entries[i];
    if ((i > 0 && !put(run, out, style.item_separator)) || !new_line(run, out, style, depth + 1) ||
        !json_key(run, out, entry.key, style) || !put(run, out, style.key_separator) ||
        !json_value(run, out, entry.value, style, depth + 1)) {
      return false;
    }
  }
  if (dict.size > 0 && !new_line(run, out, style, depth)) return false;
  out.text += '}';
  return true;
}

bool json_value(Run& run, Written& out, const Value& value, const JsonStyle& style, int depth) {
  if (value.tainted) out.is_trusted = false;
  DataLevel level(run);
  if (level.too_deep() || !run.charge(2)) return false;
  switch (value.kind) {
    case Kind::kNone:
      out.text += "null";
      return true;
    case Kind::kBool:
      out.text += value.truth ? "true" : "false";
      return true;
    case Kind::kInt:
      out.text += std::to_string(value.integer);
      return true;
    case Kind::kFloat:
      out.text += json_float(value.real);
      return run.charge(kFloatWork);
    case Kind::kString:
      return write_json_text(run, out, *value.text, style.ascii_only);
    case Kind::kList:
    case Kind::kTuple:
      return json_list(run, out, *value.list, style, depth);
    case Kind::kDict:
      return json_dict(run, out, *value.dict, style, depth);
    default:
      run.fail(cat("a value of type ", type_name(value), " cannot be written as JSON"));
      return false;
  }
}

}  // namespace

std::string_view type_name(const Value& value) noexcept {
  switch (value.kind) {
    case Kind::kFailed:
    case Kind::kMissing:
      return "missing";
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return value.text->is_markup ? "Markup" : "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kView:
      return view_name(*value.view);
    case Kind::kRange:
      return "range";
    case Kind::kIterator:
      return "generator";
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kCallable:
      return "function";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kCycler:
      return "Cycler";
    case Kind::kJoiner:
      return "Joiner";
  }
  return "";
}

bool write_repr(Run& run, Written& out, const Value& value) {
  if (value.tainted) out.is_trusted = false;
  if (is_plain(value)) {
    out.text += plain_text(value);
    if (value.kind == Kind::kFloat) run.charge(kFloatWork);
  } else if (value.is_string()) {
    if (!write_text(run, out, *value.text)) return false;
  } else if (value.is_undefined()) {
    out.text += "Undefined";
  } else {
    return write_object(run, out, value);
  }
  return run.charge(2);
}

Value repr_of(Run& run, const Value& value, bool ascii_only) {
  Written written(run);
  if (!write_repr(run, written, value)) return Value::failure();
  if (!ascii_only) return run.text_copy(written.text, written.is_trusted);
  const std::string_view text = written.text;
  TextBuilder ascii(run);
  const bool is_done = in_slices(run, text, Rate::kDecode, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end && !run.failed();) {
      const CodePoint c = code_point(text, at);
      if (c.value < 0x80 || c.value >= kInvalidByte) {
        ascii.append(text.substr(at, c.size), written.is_trusted);
      } else {
        std::array<char, 16> escaped = {};
        const char* const form = c.value < 0x100     ? "\\x%02x"
                                 : c.value < 0x10000 ? "\\u%04x"
                                                     : "\\U%08x";
        std::snprintf(escaped.data(), escaped.size(), form, static_cast<unsigned>(c.value));
        ascii.append(escaped.data(), written.is_trusted);
        run.charge(8);
      }
      at += c.size;
    }
  });
  return is_done ? run.text(std::move(ascii)) : Value::failure();
}

bool write_json(Run& run, Written& out, const Value& value, const JsonStyle& style) {
  if (!style.is_trusted) out.is_trusted = false;
  return json_value(run, out, value, style, 0);
}

bool append_text(Run& run, TextBuilder& out, const Value& value) {
  if (value.is_string()) return out.append(*value.text);
  if (value.is_undefined()) return true;
  if (is_plain(value)) {
    if (value.kind == Kind::kFloat) run.charge(kFloatWork);
    return out.append(plain_text(value), !value.tainted);
  }
  Written written(run);
  return write_repr(run, written, value) && out.append(written.text, written.is_trusted);
}

const Text* to_text(Run& run, const Value& value) {
  if (value.is_string()) return value.text;
  TextBuilder out(run);
  if (!append_text(run, out, value)) return nullptr;
  const Value made = run.text(std::move(out));
  return made.failed() ? nullptr : made.text;
}

Value escape(Run& run, const Value& value) {
  if (value.is_string() && value.text->is_markup) return value;
  const Text* text = to_text(run, value);
  if (text == nullptr) return Value::failure();
  TextBuilder out(run);
  TrustCursor trust(*text);
  std::size_t done = 0;
  in_slices(run, text->bytes, Rate::kScan, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end && !run.failed(); ++at) {
      const char c = text->bytes[at];
      const std::string_view entity = c == '&'    ? "&amp;"
                                      : c == '<'  ? "&lt;"
                                      : c == '>'  ? "&gt;"
                                      : c == '"'  ? "&#34;"
                                      : c == '\'' ? "&#39;"
                                                  : "";
      if (entity.empty()) continue;
      out.append(*text, done, at);
      out.append(entity, trust.is_trusted(at, at + 1));
      done = at + 1;
    }
  });
  out.append(*text, done, text->bytes.size());
  return run.text(std::move(out), true);
}

}  // namespace wick::jinja
