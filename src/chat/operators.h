// Python's operators and str() for template values. Free functions over a Run, which has memory,
// limits and the error.
#pragma once

#include <optional>
#include <string_view>

#include "chat/ast.h"
#include "chat/run.h"
#include "chat/text_builder.h"

namespace wick::jinja {

std::string_view type_name(const Value& value) noexcept;  // "int", "str", "dict_items", …

bool is_true(Run& run, const Value& value);

// a == b. Fails for depth alone.
bool equal(Run& run, const Value& a, const Value& b);

// −1, 0, 1, or 2 if an operand is NaN; fails for types without an order.
int order(Run& run, const Value& a, const Value& b);

bool contains(Run& run, const Value& container, const Value& item);  // item in container

Value compare(Run& run, Op op, const Value& a, const Value& b);
Value arithmetic(Run& run, Op op, const Value& a, const Value& b);
Value negative(Run& run, const Value& value, bool negate);  // −value or +value

std::size_t hash_of(Run& run, const Value& key);  // fails for what cannot be a key
const Entry* find(Run& run, const Dict& dict, const Value& key);
const Entry* find(Run& run, const Dict& dict, std::string_view key);

// str(value). A container is trusted if all in it is.
const Text& to_text(Run& run, const Value& value);

// Appends str(value).
void append_text(Run& run, TextBuilder& out, const Value& value);

// The output of repr and JSON: text that is trusted as a whole or not at all.
struct Written {
  explicit Written(Run& run) : text(run.memory()) {}

  String text;
  bool is_trusted = true;
};

// Appends repr(value).
void write_repr(Run& run, Written& out, const Value& value);

// repr(value), or ascii(value), as a text.
Value repr_of(Run& run, const Value& value, bool ascii_only);

struct JsonStyle {
  bool ascii_only = false;
  bool sort_keys = false;
  std::optional<std::string_view> indent = {};  // one level's; none: all on one line
  std::string_view item_separator = ", ";
  std::string_view key_separator = ": ";
  bool is_blank = false;   // of the indent: blanks only, as a number asks for
  bool is_trusted = true;  // whether the template wrote the indent and the separators
};

// Appends json.dumps(value).
void write_json(Run& run, Written& out, const Value& value, const JsonStyle& style);

// object.name and object[key], as jinja2's environment finds them: undefined if there is none.
Value get_attribute(Run& run, const Value& object, std::string_view name);
Value get_item(Run& run, const Value& object, const Value& key);
// Both for a dict and a name that is_only_a_key: no dict has an attribute of it.
Value get_key(Run& run, const Dict& dict, const Text& name);
bool is_only_a_key(std::string_view name) noexcept;
Value get_slice(Run& run, const Value& object, const Value& start, const Value& stop,
                const Value& step);

// The HTML-escaped text of |escape.
Value escape(Run& run, const Value& value);

// a + b for strings; the one that is not markup is escaped if the other is.
Value concat(Run& run, const Text& a, const Text& b);

}  // namespace wick::jinja
