// Filters over sequences. Those that are generators in Python are iterators here: they do their
// work when an item is asked for, are always true and can be walked once.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/objects.h"
#include "chat/operators.h"
#include "chat/text_ops.h"

namespace wick::jinja {
namespace filters {
namespace {

// map('filter', …), select('test', …) and their kin. Nothing is looked at before the first item is
// asked for, and nothing at all where the value is false.
enum class Use : std::uint8_t { kMap, kSelect, kReject };

class Mapping final : public Iterator {
 public:
  Mapping(Run& run, Use use, bool by_attribute, const Value& value, const Arguments& given)
      : use_(use),
        by_attribute_(by_attribute),
        value_(value),
        given_{run.keep(given.positional), run.keep(given.named)} {}

  bool next(Run& run, Value& out) override {
    const DataLevel level(run);  // generators of generators
    if (items_ == nullptr) {
      const bool has_items = is_true(run, value_);
      if (has_items) prepare(run);
      items_ = &run.iterate(has_items ? value_ : run.undefined(""));
    }
    Value item;
    while (items_->next(run, item)) {
      const Value part = path_.get(run, item, otherwise_);
      if (missing_) run.fail(cat("no ", what(), " named '", printable(*missing_, 60), "'"));
      const Value result = builtin_ == nullptr ? part : call_builtin(run, *builtin_, part, args_);
      const bool is_mapped = use_ == Use::kMap;
      if (!is_mapped && is_true(run, result) != (use_ == Use::kSelect)) continue;
      out = is_mapped ? result : item;
      return true;
    }
    return false;
  }

 private:
  const char* what() const noexcept { return use_ == Use::kMap ? "filter" : "test"; }

  void prepare(Run& run) {
    std::span<const Value> names = given_.positional;
    if (use_ == Use::kMap && names.empty()) return prepare_attribute(run);
    if (by_attribute_) {
      if (names.empty()) run.fail("the name of an attribute is missing");
      path_ = AttributePath(run, names[0]);
      names = names.subspan(1);
    }
    if (names.empty()) return;
    if (!names[0].is_string()) run.fail_type(cat("the name of a ", what()), names[0]);
    const std::string_view name = names[0].bytes();
    builtin_ = use_ == Use::kMap ? find_filter(name) : find_in(kTests, name);
    if (builtin_ == nullptr) missing_ = name;
    args_ = {names.subspan(1), given_.named};
  }

  // map(attribute=…, default=…)
  void prepare_attribute(Run& run) {
    Value attribute;
    for (const auto& [name, value, key] : given_.named) {
      if (name == "attribute") {
        attribute = value;
      } else if (name == "default") {
        otherwise_ = value;
      } else {
        run.fail(cat("map takes no argument named '", printable(name, 60), "'"));
      }
    }
    if (attribute.is_missing()) run.fail("map needs the name of a filter");
    path_ = AttributePath(run, attribute);
  }

  Use use_;
  bool by_attribute_;
  Value value_;
  Arguments given_;  // in the run's arena
  // Of prepare():
  Iterator* items_ = nullptr;
  const Builtin* builtin_ = nullptr;  // null: the part itself
  Arguments args_ = {};
  AttributePath path_ = {};  // to the part of an item that is mapped or tested
  Value otherwise_ = {};
  std::optional<std::string_view> missing_ = {};  // no filter or test has that name
};

template <Use use, bool by_attribute = false>
Value mapping(Run& run, const Value& value, const Arguments& args) {
  return Value::of(run.make<Mapping>(run, use, by_attribute, value, args));
}

Value no_item(Run& run, std::string_view which) {
  return run.undefined(cat("there is no ", which, " item, the sequence is empty"));
}

// Gives a row once it has the first item of the next one.
class Batch final : public Iterator {
 public:
  Batch(Iterator& items, const Value& size, const Value& filler)
      : items_(items), size_(size), filler_(filler) {
    if (size.is_integral()) n_ = size.as_int();
    if (size.kind == Kind::kFloat && size.real == std::floor(size.real) &&
        std::fabs(size.real) < 1e15) {
      n_ = static_cast<std::int64_t>(size.real);
    }
  }

  bool next(Run& run, Value& out) override {
    Value item;
    while (items_.next(run, item)) {
      const bool is_full = static_cast<std::int64_t>(n_row_) == n_;
      if (is_full) out = give(run);
      push(run, item);
      if (is_full) return true;
    }
    if (n_row_ == 0) return false;
    fill(run);
    out = give(run);
    return true;
  }

 private:
  void push(Run& run, const Value& item) {
    if (n_row_ == kMaxItems) run.fail_too_many_items();
    if (n_row_ == room_) {
      room_ = std::max<std::size_t>(4, room_ * 2);
      Value* const larger = run.array<Value>(room_);
      run.charge(n_row_ / 4);
      std::uninitialized_copy_n(row_, n_row_, larger);
      row_ = larger;
    }
    ::new (row_ + n_row_++) Value(item);
  }

  Value give(Run& run) { return run.list({row_, std::exchange(n_row_, 0)}); }

  // The last row.
  void fill(Run& run) {
    if (filler_.is_missing() || filler_.is_none()) return;
    const bool is_filled_up = size_.kind == Kind::kFloat ? static_cast<double>(n_row_) >= size_.real
                                                         : size_.is_integral();
    if (!is_filled_up) run.fail_type("the size of a batch", size_);
    if (n_ > 100'000) run.fail_limit("a batch is too large");
    while (static_cast<std::int64_t>(n_row_) < n_) {
      run.charge(1);
      push(run, filler_);
    }
  }

  Iterator& items_;
  Value size_, filler_;
  std::int64_t n_ = -1;   // items of a row; -1 if it is not an integer: no row has this length
  Value* row_ = nullptr;  // that one in the making
  std::size_t n_row_ = 0, room_ = 0;
};

Value batch_now(Run& run, const Value& value, Args args) {
  return Value::of(run.make<Batch>(run.iterate(value), args[0], args[1]));
}

Value slice_now(Run& run, const Value& value, Args args) {
  const std::int64_t slices = take_int(run, args[0], "a number of slices", 0);
  const Vector<Value> all = run.collect(value);
  if (slices == 0) run.fail("integer division or modulo by zero");
  if (slices > 100'000) run.fail_limit("too many slices");
  const auto n = static_cast<std::int64_t>(all.size());
  Vector<Value> row(run.memory()), out(run.memory());
  for (std::int64_t i = 0, from = 0; i < slices; ++i) {
    const bool extra = i < n % slices;
    const auto size = static_cast<std::size_t>(n / slices + (extra ? 1 : 0));
    const std::span<const Value> part(all.data() + from, size);
    row.assign(part.begin(), part.end());
    if (!extra && !args[1].is_missing() && !args[1].is_none()) row.push_back(args[1]);
    out.push_back(run.list(row));
    from += static_cast<std::int64_t>(size);
  }
  return run.list(out);
}

Value items_now(Run& run, const Value& value, Args) {
  if (value.kind != Kind::kDict && !value.is_undefined()) {
    run.fail_type("taken apart into items", value);
  }
  return Value::of(
      &run.iterate(value.is_undefined() ? value : run.view(value.dict, ViewKind::kItems)));
}

Value first(Run& run, const Value& value, Args) {
  Value item;
  return run.iterate(value).next(run, item) ? item : no_item(run, "first");
}

Value last(Run& run, const Value& value, Args) {
  if (value.kind == Kind::kIterator) run.fail_type("reversed", value);
  if (value.is_string() && !value.bytes().empty())
    return get_item(run, value, Value::of(std::int64_t{-1}));
  const Vector<Value> all = run.collect(value);
  return all.empty() ? no_item(run, "last") : all.back();
}

Value join(Run& run, const Value& value, Args args) {
  Text separator = args[0].is_missing() ? Text{{}, Trust::kAll} : to_text(run, args[0]);
  separator.is_markup = false;  // str(separator) is none
  const AttributePath path(run, args[1]);
  Vector<const Text*> parts(run.memory());
  Iterator& all = run.iterate(value);
  Value item;
  while (all.next(run, item))
    parts.push_back(&to_text(run, path.get(run, item)));
  return jinja::join(run, separator, parts);
}

Value length(Run& run, const Value& value, Args) {
  const std::int64_t n = value.kind == Kind::kLoop ? -1 : run.length(value);
  if (n < 0) run.fail_type("asked for its length", value);
  return Value::of(n);
}

Value list(Run& run, const Value& value, Args) {
  return run.list(run.collect(value));
}

Value reverse(Run& run, const Value& value, Args) {
  if (value.is_string()) return get_slice(run, value, {}, {}, Value::of(std::int64_t{-1}));
  Vector<Value> all = run.collect(value);
  std::reverse(all.begin(), all.end());
  // A generator has no order to reverse: Python makes a list of it.
  const Value backward = run.list(all);
  return value.kind == Kind::kIterator ? backward : Value::of(&run.iterate(backward));
}

Value attr(Run& run, const Value& value, Args args) {
  if (!args[0].is_string()) run.fail_type("the name of an attribute", args[0]);
  if (value.kind == Kind::kDict) {  // unlike a point, |attr never looks at keys
    const Builtin* method = find_in(kDictMethods, args[0].bytes());
    if (method == nullptr) return run.no_attribute(value, args[0]);
  }
  return get_attribute(run, value, args[0].bytes());
}

Value default_value(Run& run, const Value& value, Args args) {
  const bool any_false = take_bool(run, args[1]);
  if (!value.is_undefined() && !(any_false && !is_true(run, value))) return value;
  return args[0].is_missing() ? run.text("", Trust::kAll) : args[0];
}

constexpr Builtin kListRows[] = {
    {.name = "attr", .params = "name", .n_required = 1, .call = attr},
    {.name = "batch", .params = "linecount fill_with", .n_required = 1, .call = late<batch_now>},
    {.name = "count", .call = length},
    {.name = "d", .params = "default_value boolean", .call = default_value},
    {.name = "default", .params = "default_value boolean", .call = default_value},
    {.name = "first", .call = first},
    {.name = "items", .call = late<items_now>},
    {.name = "join", .params = "d attribute", .call = join},
    {.name = "last", .call = last},
    {.name = "length", .call = length},
    {.name = "list", .call = list},
    {.name = "map", .call_open = mapping<Use::kMap>},
    {.name = "reject", .call_open = mapping<Use::kReject>},
    {.name = "rejectattr", .call_open = mapping<Use::kReject, true>},
    {.name = "reverse", .call = reverse},
    {.name = "select", .call_open = mapping<Use::kSelect>},
    {.name = "selectattr", .call_open = mapping<Use::kSelect, true>},
    {.name = "slice", .params = "slices fill_with", .n_required = 1, .call = late<slice_now>},
};

}  // namespace
}  // namespace filters

const std::span<const Builtin> kListFilters = filters::kListRows;

Value run_late(Run& run, Native filter, const Value& value, Args args) {
  const Value kept = run.list(args);
  Iterator* items = nullptr;
  return Value::of(&generator(run, [=](Run& in, Value& out) mutable {
    const DataLevel level(in);
    if (items == nullptr) items = &in.iterate(filter(in, value, kept.list->span()));
    return items->next(in, out);
  }));
}

}  // namespace wick::jinja
