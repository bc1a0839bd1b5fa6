#include "chat/filters.h"

#include <algorithm>

#include "base/strings.h"
#include "chat/operators.h"
#include "chat/string_literal.h"
#include "chat/text_ops.h"
#include "unicode/python_str.h"

namespace wick::jinja {

bool take_int(Run& run, const Value& arg, std::string_view what, std::int64_t& out) {
  if (arg.is_missing()) return true;
  if (!arg.is_integral()) return !run.fail_type(cat("given as ", what), arg).failed();
  out = arg.as_int();
  return true;
}

bool take_bool(Run& run, const Value& arg, bool& out) {
  if (!arg.is_missing()) out = is_true(run, arg);
  return !run.failed();
}

bool take_flag(Run& run, const Value& arg, bool& out) {
  std::int64_t number = out ? 1 : 0;
  if (!take_int(run, arg, "a direction", number)) return false;
  out = number != 0;
  return true;
}

bool take_text(Run& run, const Value& arg, std::string_view what, const Text*& out) {
  if (arg.is_missing()) return true;
  if (!arg.is_string()) return !run.fail_type(cat("given as ", what), arg).failed();
  out = arg.text;
  return true;
}

const Text* soft_text(Run& run, const Value& value) {
  return to_text(run, value);
}

Value ignore_case(Run& run, const Value& value) {
  return value.is_string() ? change_case(run, *value.text, Case::kLower) : value;
}

bool AttributePath::parse(Run& run, const Value& attribute) {
  if (attribute.is_missing() || attribute.is_none()) return true;
  if (!attribute.is_string()) {
    parts_ = run.keep(std::span(&attribute, 1));
    return true;
  }
  const std::string_view path = attribute.bytes();
  Vector<Value> parts(run.memory());
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('.', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    const bool is_number =
        !part.empty() && part.size() < 18 &&
        std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    parts.push_back(is_number ? Value::of(static_cast<std::int64_t>(std::stoll(std::string(part))))
                              : run.cut(*attribute.text, at, end));
    if (!run.charge(2 + part.size() / 16)) return false;
    at = end + 1;
  }
  parts_ = run.keep(std::span<const Value>(parts));
  return !run.failed();
}

Value AttributePath::get(Run& run, const Value& item, const Value& otherwise) const {
  Value at = item;
  for (const Value& part : parts_) {
    at = get_item(run, at, part);
    if (at.failed()) return at;
    if (at.is_undefined() && !otherwise.is_missing() && !otherwise.is_none()) at = otherwise;
  }
  return at;
}

namespace filters {

Value attr(Run& run, const Value& value, Args args) {
  if (!args[0].is_string()) return run.fail_type("the name of an attribute", args[0]);
  if (value.kind == Kind::kDict) {  // unlike a point, |attr never looks at keys
    const Builtin* method = find_dict_method(args[0].bytes());
    if (method == nullptr) return run.no_attribute(value, args[0]);
  }
  return get_attribute(run, value, args[0].bytes());
}

Value default_value(Run& run, const Value& value, Args args) {
  bool any_false = false;
  if (!take_bool(run, args[1], any_false)) return Value::failure();
  if (!value.is_undefined() && !(any_false && !is_true(run, value))) return value;
  return args[0].is_missing() ? run.text("", Trust::kAll) : args[0];
}

}  // namespace filters

namespace {

constexpr Builtin kFilters[] = {
    {.name = "abs", .call = filters::abs},
    {.name = "attr", .params = "name", .n_required = 1, .call = filters::attr},
    {.name = "batch", .params = "linecount fill_with", .n_required = 1, .call = filters::batch},
    {.name = "capitalize", .call = filters::capitalize},
    {.name = "center", .params = "width", .call = filters::center},
    {.name = "count", .call = filters::length},
    {.name = "d", .params = "default_value boolean", .call = filters::default_value},
    {.name = "default", .params = "default_value boolean", .call = filters::default_value},
    {.name = "dictsort", .params = "case_sensitive by reverse", .call = filters::dictsort},
    {.name = "e", .call = filters::escape},
    {.name = "escape", .call = filters::escape},
    {.name = "filesizeformat", .params = "binary", .call = filters::filesizeformat},
    {.name = "first", .call = filters::first},
    {.name = "float", .params = "default", .call = filters::real},
    {.name = "forceescape", .call = filters::force_escape},
    {.name = "format", .call_open = filters::format},
    {.name = "groupby",
     .params = "attribute default case_sensitive",
     .n_required = 1,
     .call = filters::groupby},
    {.name = "indent", .params = "width first blank", .call = filters::indent},
    {.name = "int", .params = "default base", .call = filters::integer},
    {.name = "items", .call = filters::items},
    {.name = "join", .params = "d attribute", .call = filters::join},
    {.name = "last", .call = filters::last},
    {.name = "length", .call = filters::length},
    {.name = "list", .call = filters::list},
    {.name = "lower", .call = filters::lower},
    {.name = "map", .call_open = filters::map},
    {.name = "max", .params = "case_sensitive attribute", .call = filters::max},
    {.name = "min", .params = "case_sensitive attribute", .call = filters::min},
    {.name = "reject", .call_open = filters::reject},
    {.name = "rejectattr", .call_open = filters::rejectattr},
    {.name = "replace", .params = "old new count", .n_required = 2, .call = filters::replace},
    {.name = "reverse", .call = filters::reverse},
    {.name = "round", .params = "precision method", .call = filters::round},
    {.name = "safe", .call = filters::safe},
    {.name = "select", .call_open = filters::select},
    {.name = "selectattr", .call_open = filters::selectattr},
    {.name = "slice", .params = "slices fill_with", .n_required = 1, .call = filters::slice},
    {.name = "sort", .params = "reverse case_sensitive attribute", .call = filters::sort},
    {.name = "string", .call = filters::string},
    {.name = "striptags", .call = filters::striptags},
    {.name = "sum", .params = "attribute start", .call = filters::sum},
    {.name = "title", .call = filters::title},
    {.name = "tojson",
     .params = "ensure_ascii indent separators sort_keys",
     .call = filters::tojson},
    {.name = "trim", .params = "chars", .call = filters::trim},
    {.name = "truncate", .params = "length killwords end leeway", .call = filters::truncate},
    {.name = "unique", .params = "case_sensitive attribute", .call = filters::unique},
    {.name = "upper", .call = filters::upper},
    {.name = "urlencode", .call = filters::urlencode},
    {.name = "wordcount", .call = filters::wordcount},
};

}  // namespace

std::span<const Builtin> all_filters() noexcept {
  return kFilters;
}

const Builtin* find_filter(std::string_view name) noexcept {
  return find_in(kFilters, name);
}

bool is_unbuilt_filter(std::string_view name) noexcept {
  constexpr std::string_view kUnbuilt[] = {"pprint", "random", "urlize", "wordwrap", "xmlattr"};
  return std::find(std::begin(kUnbuilt), std::end(kUnbuilt), name) != std::end(kUnbuilt);
}

}  // namespace wick::jinja
