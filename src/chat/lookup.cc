// Finding keys, items and attributes, as Python's dict, obj[key] and getattr() find them.
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/objects.h"
#include "chat/operators.h"
#include "chat/text_builder.h"
#include "chat/text_ops.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

std::size_t mix(std::size_t seed, std::size_t hash) noexcept {
  return (seed ^ hash) * 0x9E3779B97F4A7C15ULL + (seed >> 7);
}

constexpr std::string_view kDictChanges[] = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr std::string_view kUnbuiltTextMethods[] = {"encode", "maketrans", "translate"};
constexpr std::string_view kListChanges[] = {"append", "clear",  "extend",  "insert",
                                             "pop",    "remove", "reverse", "sort"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Value unsafe(Run& run, const Value& object, std::string_view name) {
  return run.undefined(cat("access to attribute '", printable(name, 60), "' of a value of type ",
                           type_name(object), " is unsafe"));
}

Value range_attribute(Run& run, const Value& value, std::string_view name) {
  const Range& range = *value.range;
  if (name == "start") return Value::of(range.start).with_taint(range.tainted);
  if (name == "stop") return Value::of(range.stop).with_taint(range.tainted);
  if (name == "step") return Value::of(range.step).with_taint(range.tainted);
  return method_of(run, find_in(kRangeMethods, name), value);
}

Value number_attribute(Run& run, const Value& value, std::string_view name) {
  const bool is_real = value.kind == Kind::kFloat;
  const auto taken = [&](const Value& part) { return part.with_taint(value.tainted); };
  if (name == "real") return is_real ? value : taken(Value::of(value.as_int()));
  if (name == "imag") return is_real ? Value::of(0.0) : Value::of(std::int64_t{0});
  if (!is_real && name == "numerator") return taken(Value::of(value.as_int()));
  if (!is_real && name == "denominator") return Value::of(std::int64_t{1});
  return method_of(run, find_in(kNumberMethods, name), value);
}

Value macro_attribute(Run& run, const Callable& callable, std::string_view name) {
  if (callable.macro == nullptr) {
    const bool is_dict = callable.builtin == find_in(kGlobals, "dict") && name == "fromkeys";
    return is_dict ? method_of(run, find_in(kDictMethods, name), {}) : Value();
  }
  const Function& function = callable.macro->function;
  if (name == "name") {
    return callable.macro->target == nullptr ? Value::none()
                                             : run.text(callable.macro->target->text, Trust::kAll);
  }
  if (name == "catch_kwargs") return Value::of(function.kwargs_slot >= 0);
  if (name == "catch_varargs") return Value::of(function.varargs_slot >= 0);
  if (name == "caller") return Value::of(function.caller_slot >= 0 || function.explicit_caller);
  if (name != "arguments") return {};
  Vector<Value> names(run.memory());
  for (const Expr* param : function.params)
    names.push_back(run.text(param->text, Trust::kAll));
  return run.list(names, Kind::kTuple);
}

// getattr(object, name): kMissing where Python raises AttributeError.
Value find_attribute(Run& run, const Value& object, std::string_view name) {
  if (name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__") {
    return object.kind == Kind::kNamespace ? Value() : unsafe(run, object, name);
  }
  switch (object.kind) {
    case Kind::kUndefined:
      run.fail_undefined(object);
    case Kind::kString:
      if (is_one_of(kUnbuiltTextMethods, name)) run.fail(cat("str.", name, "() is not built"));
      return method_of(run, find_in(kStringMethods, name), object);
    case Kind::kDict:
      if (is_one_of(kDictChanges, name)) return unsafe(run, object, name);
      return method_of(run, find_in(kDictMethods, name), object);
    case Kind::kList:
      if (is_one_of(kListChanges, name)) return unsafe(run, object, name);
      return method_of(run, find_in(kListMethods, name), object);
    case Kind::kTuple:
      if (object.list->is_group && name == "grouper") return object.list->items[0];
      if (object.list->is_group && name == "list") return object.list->items[1];
      return name == "copy" ? Value() : method_of(run, find_in(kListMethods, name), object);
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      return number_attribute(run, object, name);
    case Kind::kRange:
      return range_attribute(run, object, name);
    case Kind::kNamespace: {
      const Entry* entry = find(run, object.space->dict, name);
      return entry != nullptr ? entry->value : Value();
    }
    case Kind::kCallable:
      return macro_attribute(run, *object.callable, name);
    case Kind::kLoop:
      return loop_attribute(run, object, name);
    case Kind::kCycler:
      return cycler_attribute(run, object, name);
    default:
      return {};
  }
}

// object[key]: kMissing where Python raises TypeError or LookupError.
Value find_item(Run& run, const Value& object, const Value& key) {
  if (object.is_undefined()) run.fail_undefined(object);
  if (object.kind == Kind::kDict) {
    if (key.kind == Kind::kList || key.kind == Kind::kDict) return {};
    const Entry* entry = find(run, *object.dict, key);
    return entry != nullptr ? entry->value : Value();
  }
  const bool has_places = object.is_string() || object.is_sequence() || object.kind == Kind::kRange;
  if (!has_places || !key.is_integral()) return {};
  const std::int64_t size = run.length(object);
  std::int64_t at = key.as_int();
  if (at < 0) at += size;
  if (at < 0 || at >= size) return {};
  if (object.is_sequence()) return object.list->items[at];
  if (object.kind == Kind::kRange) {
    return Value::of(object.range->at(at)).with_taint(object.range->tainted);
  }
  const std::size_t begin = run.byte_of(object, static_cast<std::size_t>(at));
  return run.cut(*object.text, begin, begin + code_point(object.bytes(), begin).size);
}

// One bound of a slice of `size` items with the sign of its step, as Python clips it.
std::int64_t clip(const Value& bound, std::int64_t otherwise, std::int64_t size, bool backward) {
  if (!bound.is_integral()) return otherwise;
  std::int64_t at = bound.as_int();
  if (at < 0) at = at < -size ? -1 : at + size;
  if (at < 0) return backward ? -1 : 0;
  return std::min(at, backward ? size - 1 : size);
}

Value slice_text(Run& run, const Value& object, const Range& places) {
  const std::string_view bytes = object.bytes();
  const bool is_ascii = run.n_chars(object) == bytes.size();
  if (places.step == 1) {
    const auto first = static_cast<std::size_t>(places.start);
    const auto n = static_cast<std::size_t>(places.size);
    const std::size_t begin = is_ascii ? first : run.byte_of(bytes, first);
    const std::size_t size = is_ascii ? n : run.byte_of(bytes.substr(begin), n);
    return run.cut(*object.text, begin, begin + size);
  }
  Vector<std::size_t> starts(run.memory());  // of each character, and the end; ASCII needs none
  if (!is_ascii) {
    starts.reserve(run.n_chars(object) + 1);
    each_character(run, bytes, Rate::kDecode,
                   [&](CodePoint, std::size_t at) { starts.push_back(at); });
    starts.push_back(bytes.size());
  }
  TextBuilder out(run);
  for (std::int64_t i = 0; i < places.size; ++i) {
    const auto at = static_cast<std::size_t>(places.at(i));
    out.append(*object.text, is_ascii ? at : starts[at], is_ascii ? at + 1 : starts[at + 1]);
  }
  return run.text(std::move(out), object.text->is_markup);
}

}  // namespace

std::size_t hash_of(Run& run, const Value& key) {
  switch (key.kind) {
    case Kind::kString:
      run.charge(key.bytes().size(), Rate::kScan);
      return std::hash<std::string_view>{}(key.bytes());
    case Kind::kBool:
    case Kind::kInt:
      return std::hash<double>{}(static_cast<double>(key.as_int()));
    case Kind::kFloat:
      return std::hash<double>{}(key.real);
    case Kind::kTuple: {
      const DataLevel level(run);
      std::size_t out = 0x345678;
      for (const Value& item : key.list->span())
        out = mix(out, hash_of(run, item));
      return out;
    }
    case Kind::kList:
    case Kind::kDict:
    case Kind::kMissing:
      run.fail_type("a key", key);
    case Kind::kView:
      if (key.view->kind == ViewKind::kValues) return std::hash<const void*>{}(key.view);
      run.fail_type("a key", key);
    case Kind::kUndefined:
    case Kind::kNone:
      return static_cast<std::size_t>(key.kind);
    default:
      return std::hash<const void*>{}(key.undefined);
  }
}

const Entry* find(Run& run, const Dict& dict, const Value& key) {
  if (dict.index == nullptr && key.is_string()) {
    run.charge(1 + key.bytes().size() / 16);
    for (const Entry& entry : dict) {
      if (entry.key.is_string() && is_same(entry.key.bytes(), key.bytes())) return &entry;
    }
    return nullptr;
  }
  const std::size_t hash = hash_of(run, key);
  if (dict.index == nullptr) {
    for (const Entry& entry : dict) {
      if (equal(run, entry.key, key)) return &entry;
    }
    return nullptr;
  }
  for (std::size_t at = hash & dict.mask; dict.index[at] != 0; at = (at + 1) & dict.mask) {
    const Entry& entry = dict.entries[dict.index[at] - 1];
    run.charge(1);
    if (equal(run, entry.key, key)) return &entry;
  }
  return nullptr;
}

const Entry* find(Run& run, const Dict& dict, std::string_view key) {
  const Text text = {key, Trust::kAll};
  return find(run, dict, Value::of(&text));
}

Value get_attribute(Run& run, const Value& object, std::string_view name) {
  run.charge(1);
  Value found = find_attribute(run, object, name);
  if (!found.is_missing()) return found;
  const Text text = {name, Trust::kAll};
  const Value key = Value::of(&text);
  found = find_item(run, object, key);
  return found.is_missing() ? run.no_attribute(object, key) : found;
}

bool is_only_a_key(std::string_view name) noexcept {
  const bool is_private = name.starts_with("__") && name.ends_with("__");
  return !is_private && !is_one_of(kDictChanges, name) && find_in(kDictMethods, name) == nullptr;
}

Value get_key(Run& run, const Dict& dict, const Text& name) {
  const Value key = Value::of(&name);
  const Entry* entry = find(run, dict, key);
  return entry != nullptr ? entry->value : run.no_attribute(Value::of(&dict), key);
}

Value get_item(Run& run, const Value& object, const Value& key) {
  run.charge(1);
  Value found = find_item(run, object, key);
  if (found.is_missing() && key.is_string()) found = find_attribute(run, object, key.bytes());
  return found.is_missing() ? run.no_attribute(object, key) : found;
}

Value get_slice(Run& run, const Value& object, const Value& start, const Value& stop,
                const Value& step) {
  if (object.is_undefined()) run.fail_undefined(object);
  const bool has_places = object.is_string() || object.is_sequence() || object.kind == Kind::kRange;
  const auto is_bound = [](const Value& v) {
    return v.is_none() || v.is_missing() || v.is_integral();
  };
  if (!has_places || !is_bound(start) || !is_bound(stop) || !is_bound(step)) {
    run.fail(cat("a value of type ", type_name(object), " cannot be sliced like this"));
  }
  const std::int64_t by = step.is_integral() ? step.as_int() : 1;
  if (by == 0) run.fail("the step of a slice cannot be zero");
  const bool backward = by < 0;
  const std::int64_t size = run.length(object);
  const std::int64_t from = clip(start, backward ? size - 1 : 0, size, backward);
  const std::int64_t to = clip(stop, backward ? -1 : size, size, backward);
  Range places = {from, to, by, 0};
  if (backward ? to < from : from < to) {
    const std::int64_t distance = backward ? from - to - 1 : to - from - 1;
    places.size = by == INT64_MIN ? 1 : 1 + distance / (backward ? -by : by);
  }
  if (object.is_string()) return slice_text(run, object, places);
  if (object.kind == Kind::kRange) {
    const Range& range = *object.range;
    std::int64_t wide = 0;
    if (__builtin_mul_overflow(range.step, by, &wide)) wide = range.step;
    return run.range({range.at(from), range.at(to), wide, places.size, range.tainted});
  }
  if (by == 1) {
    return Value::of(
        run.make<List>(object.list->items + places.start, static_cast<std::size_t>(places.size)),
        object.kind);
  }
  run.charge(static_cast<std::size_t>(places.size));
  Vector<Value> items(run.memory());
  for (std::int64_t i = 0; i < places.size; ++i)
    items.push_back(object.list->items[places.at(i)]);
  return run.list(items, object.kind);
}

}  // namespace wick::jinja
