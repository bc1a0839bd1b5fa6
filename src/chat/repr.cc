// Values as text: str(), repr(), json.dumps(), HTML escapes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/limits.h"
#include "chat/objects.h"
#include "chat/operators.h"
#include "chat/python_text.h"
#include "chat/unicode.h"

namespace wick::jinja {
namespace {

bool fits(Run& run, const Written& out) {
  if (out.text.size() <= kMaxTextBytes) return true;
  return !run.fail("a text grows too large", "template_limit").failed();
}

std::string_view view_name(const View& view) noexcept {
  return view.kind == ViewKind::kItems  ? "dict_items"
         : view.kind == ViewKind::kKeys ? "dict_keys"
                                        : "dict_values";
}

bool write_items(Run& run, Written& out, std::span<const Val> items) {
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

bool write_space(Run& run, Written& out, const Namespace& space) {
  out.text += "<Namespace {";
  for (std::size_t i = 0; i < space.items.size(); ++i) {
    if (i > 0) out.text += ", ";
    append_python_repr(out.text, space.items[i].first);
    out.text += ": ";
    if (!write_repr(run, out, space.items[i].second)) return false;
  }
  out.text += "}>";
  return true;
}

void write_text(Run& run, Written& out, const Text& text) {
  run.spend_bytes(text.bytes.size());
  if (text.trust != Trust::kAll) out.is_trusted = false;
  if (text.is_markup) out.text += "Markup(";
  append_python_repr(out.text, text.bytes);
  if (text.is_markup) out.text += ')';
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
bool write_object(Run& run, Written& out, const Val& value) {
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
      return write_space(run, out, *value.space);
    case Kind::kRange:
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
std::string plain_text(const Val& value) {
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

bool is_plain(const Val& value) noexcept {
  return value.is_none() || value.is_number();
}

void new_line(Written& out, const JsonStyle& style, int depth) {
  if (!style.indent) return;
  out.text += '\n';
  for (int i = 0; i < depth; ++i)
    out.text += *style.indent;
}

bool json_key(Run& run, Written& out, const Val& key, const JsonStyle& style) {
  if (key.is_string()) {
    if (key.text->trust != Trust::kAll) out.is_trusted = false;
    append_json_string(out.text, key.bytes(), style.ascii_only);
    return true;
  }
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

bool json_value(Run& run, Written& out, const Val& value, const JsonStyle& style, int depth);

bool json_list(Run& run, Written& out, const List& list, const JsonStyle& style, int depth) {
  out.text += '[';
  for (std::size_t i = 0; i < list.size; ++i) {
    if (i > 0) out.text += style.item_separator;
    new_line(out, style, depth + 1);
    if (!json_value(run, out, list.items[i], style, depth + 1)) return false;
  }
  if (list.size > 0) new_line(out, style, depth);
  out.text += ']';
  return true;
}

bool json_dict(Run& run, Written& out, const Dict& dict, const JsonStyle& style, int depth) {
  std::vector<const Entry*> entries;
  if (style.sort_keys) {
    for (const Entry& entry : dict)
      entries.push_back(&entry);
    std::stable_sort(entries.begin(), entries.end(), [&run](const Entry* a, const Entry* b) {
      return !run.failed() && order(run, a->key, b->key) == -1;
    });
    if (run.failed()) return false;
  }
  out.text += '{';
  for (std::size_t i = 0; i < dict.size; ++i) {
    const Entry& entry = style.sort_keys ? *entries[i] : dict.entries[i];
    if (i > 0) out.text += style.item_separator;
    new_line(out, style, depth + 1);
    if (!json_key(run, out, entry.key, style)) return false;
    out.text += style.key_separator;
    if (!json_value(run, out, entry.value, style, depth + 1)) return false;
  }
  if (dict.size > 0) new_line(out, style, depth);
  out.text += '}';
  return true;
}

bool json_value(Run& run, Written& out, const Val& value, const JsonStyle& style, int depth) {
  if (!fits(run, out)) return false;
  if (value.tainted) out.is_trusted = false;
  DataLevel level(run);
  if (level.too_deep()) return false;
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
      return true;
    case Kind::kString:
      if (value.text->trust != Trust::kAll) out.is_trusted = false;
      append_json_string(out.text, value.bytes(), style.ascii_only);
      return run.spend_bytes(value.bytes().size());
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

std::string_view type_name(const Val& value) noexcept {
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

bool write_repr(Run& run, Written& out, const Val& value) {
  if (!fits(run, out)) return false;
  if (value.tainted) out.is_trusted = false;
  if (is_plain(value)) {
    out.text += plain_text(value);
  } else if (value.is_string()) {
    write_text(run, out, *value.text);
  } else if (value.is_undefined()) {
    out.text += "Undefined";
  } else {
    return write_object(run, out, value);
  }
  return run.spend(1);
}

Val repr_of(Run& run, const Val& value, bool ascii_only) {
  Written written;
  if (!write_repr(run, written, value)) return Val::failure();
  if (!ascii_only) return run.text_copy(written.text, written.is_trusted);
  std::string ascii;
  for (std::size_t at = 0; at < written.text.size();) {
    const CodePoint c = code_point(written.text, at);
    if (c.value < 0x80 || c.value >= kInvalidByte) {
      ascii.append(written.text, at, c.size);
    } else {
      std::array<char, 16> escaped = {};
      const char* const form = c.value < 0x100     ? "\\x%02x"
                               : c.value < 0x10000 ? "\\u%04x"
                                                   : "\\U%08x";
      std::snprintf(escaped.data(), escaped.size(), form, static_cast<unsigned>(c.value));
      ascii += escaped.data();
    }
    at += c.size;
  }
  return run.text_copy(ascii, written.is_trusted);
}

bool write_json(Run& run, Written& out, const Val& value, const JsonStyle& style) {
  return json_value(run, out, value, style, 0);
}

bool append_text(Run& run, MarkedText& out, const Val& value) {
  if (value.is_string()) {
    append(out, *value.text);
    return run.spend_bytes(value.bytes().size());
  }
  if (value.is_undefined()) return true;
  if (is_plain(value)) {
    out.append(plain_text(value), !value.tainted);
    return true;
  }
  Written written;
  if (!write_repr(run, written, value)) return false;
  out.append(written.text, written.is_trusted);
  return true;
}

const Text* to_text(Run& run, const Val& value) {
  if (value.is_string()) return value.text;
  MarkedText out;
  if (!append_text(run, out, value)) return nullptr;
  const Val made = run.text(std::move(out));
  return made.failed() ? nullptr : made.text;
}

Val escape(Run& run, const Val& value) {
  if (value.is_string() && value.text->is_markup) return value;
  const Text* text = to_text(run, value);
  if (text == nullptr || !run.spend_bytes(text->bytes.size())) return Val::failure();
  MarkedText out;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text->bytes.size(); ++at) {
    const char c = text->bytes[at];
    const std::string_view entity = c == '&'    ? "&amp;"
                                    : c == '<'  ? "&lt;"
                                    : c == '>'  ? "&gt;"
                                    : c == '"'  ? "&#34;"
                                    : c == '\'' ? "&#39;"
                                                : "";
    if (entity.empty()) continue;
    append(out, *text, done, at);
    out.append(entity, is_trusted(*text, at, at + 1));
    done = at + 1;
  }
  append(out, *text, done, text->bytes.size());
  return run.text(std::move(out), true);
}

}  // namespace wick::jinja
