// Filters over sequences. Those that are generators in Python are iterators here: they do their
// work when an item is asked for, are always true and can be walked once.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/operators.h"
#include "chat/text_ops.h"

namespace wick::jinja {
namespace filters {
namespace {

// map('filter', …), select('test', …) and their kin. Nothing is looked at before the first item is
// asked for, and nothing at all where the value is false.
struct Mapping {
  Value value = {};
  Arguments given = {};  // in the run's arena
  bool negated = false, by_attribute = false;
  // Of prepare():
  Iterator* items = nullptr;
  const Builtin* builtin = nullptr;  // null: the item itself
  Arguments args = {};
  AttributePath path = {};  // the attribute that is mapped or tested
  Value otherwise = {};
  std::optional<std::string_view> missing = {};  // no filter or test has that name
  bool maps_attribute = false;

  Mapping(Run& run, const Value& mapped, const Arguments& arguments)
      : value(mapped), given{run.keep(arguments.positional), run.keep(arguments.named)} {}

  template <class Prepare>
  void start(Run& run, const Prepare& prepare) {
    if (items != nullptr) return;
    const bool has_items = is_true(run, value);
    if (has_items) prepare();
    items = &run.iterate(has_items ? value : run.undefined(""));
  }

  void take_rest(std::size_t used) { args = {given.positional.subspan(used), given.named}; }
};

class Map final : public Iterator {
 public:
  explicit Map(Mapping& mapping) : mapping_(mapping) {}

  bool next(Run& run, Value& out) override {
    const DataLevel level(run);  // generators of generators
    mapping_.start(run, [&] { prepare(run); });
    Value item;
    if (!mapping_.items->next(run, item)) return false;
    if (mapping_.maps_attribute) {
      out = mapping_.path.get(run, item, mapping_.otherwise);
    } else if (mapping_.builtin == nullptr) {
      run.fail(cat("no filter named '", printable(*mapping_.missing, 60), "'"));
    } else {
      out = call_builtin(run, *mapping_.builtin, item, mapping_.args);
    }
    return true;
  }

 private:
  void prepare(Run& run) {
    const Arguments& given = mapping_.given;
    if (!given.positional.empty()) {
      const Value& name = given.positional[0];
      if (!name.is_string()) run.fail_type("the name of a filter", name);
      mapping_.builtin = find_filter(name.bytes());
      mapping_.missing = name.bytes();
      mapping_.take_rest(1);
      return;
    }
    Value attribute;
    for (const auto& [name, value, key] : given.named) {
      if (name == "attribute") {
        attribute = value;
      } else if (name == "default") {
        mapping_.otherwise = value;
      } else {
        run.fail(cat("map takes no argument named '", printable(name, 60), "'"));
      }
    }
    if (attribute.is_missing()) run.fail("map needs the name of a filter");
    mapping_.maps_attribute = true;
    mapping_.path = AttributePath(run, attribute);
  }

  Mapping& mapping_;
};

class Selection final : public Iterator {
 public:
  explicit Selection(Mapping& mapping) : mapping_(mapping) {}

  bool next(Run& run, Value& out) override {
    const DataLevel level(run);
    mapping_.start(run, [&] { prepare(run); });
    while (mapping_.items->next(run, out)) {
      const Value looked_at = mapping_.path.get(run, out);
      if (mapping_.missing) {
        run.fail(cat("no test named '", printable(*mapping_.missing, 60), "'"));
      }
      const Value holds = mapping_.builtin == nullptr
                              ? looked_at
                              : call_builtin(run, *mapping_.builtin, looked_at, mapping_.args);
      if (is_true(run, holds) != mapping_.negated) return true;
    }
    return false;
  }

 private:
  void prepare(Run& run) {
    const std::span<const Value> given = mapping_.given.positional;
    std::size_t used = 0;
    if (mapping_.by_attribute) {
      if (given.empty()) run.fail("the name of an attribute is missing");
      mapping_.path = AttributePath(run, given[used++]);
    }
    if (used == given.size()) return;
    const Value& name = given[used++];
    if (!name.is_string()) run.fail_type("the name of a test", name);
    mapping_.builtin = find_in(kTests, name.bytes());
    if (mapping_.builtin == nullptr) mapping_.missing = name.bytes();
    mapping_.take_rest(used);
  }

  Mapping& mapping_;
};

// A filter that does its work when the first item is asked for.
class LateFilter final : public Iterator {
 public:
  LateFilter(Native filter, const Value& value, Args args)
      : filter_(filter), value_(value), args_(args) {}

  bool next(Run& run, Value& out) override {
    const DataLevel level(run);
    if (items_ == nullptr) items_ = &run.iterate(filter_(run, value_, args_));
    return items_->next(run, out);
  }

 private:
  Native filter_;
  Value value_;
  Args args_;
  Iterator* items_ = nullptr;
};

template <bool negated, bool by_attribute>
Value choose(Run& run, const Value& value, const Arguments& args) {
  Mapping& mapping = *run.make<Mapping>(run, value, args);
  mapping.negated = negated;
  mapping.by_attribute = by_attribute;
  return Value::of(run.make<Selection>(mapping));
}

Value no_item(Run& run, std::string_view which) {
  return run.undefined(cat("there is no ", which, " item, the sequence is empty"));
}

struct Rows {
  Iterator* items = nullptr;
  Value size = {}, filler = {};
  std::int64_t n = -1;   // items of a row; -1 if it is not an integer: no row has this length
  Value* row = nullptr;  // that one in the making
  std::size_t n_row = 0, room = 0;

  void push(Run& run, const Value& item) {
    if (n_row == kMaxItems) run.fail_too_many_items();
    if (n_row == room) {
      room = std::max<std::size_t>(4, room * 2);
      Value* const larger = run.array<Value>(room);
      run.charge(n_row / 4);
      std::uninitialized_copy_n(row, n_row, larger);
      row = larger;
    }
    ::new (row + n_row++) Value(item);
  }

  Value give(Run& run) {
    const Value list = run.list({row, n_row});
    n_row = 0;
    return list;
  }
};

// Gives a row once it has the first item of the next one.
class Batch final : public Iterator {
 public:
  explicit Batch(Rows& rows) : rows_(rows) {}

  bool next(Run& run, Value& out) override {
    Value item;
    while (rows_.items->next(run, item)) {
      const bool is_full = static_cast<std::int64_t>(rows_.n_row) == rows_.n;
      if (is_full) out = rows_.give(run);
      rows_.push(run, item);
      if (is_full) return true;
    }
    if (rows_.n_row == 0) return false;
    fill(run);
    out = rows_.give(run);
    return true;
  }

 private:
  // The last row.
  void fill(Run& run) {
    const Value& size = rows_.size;
    if (rows_.filler.is_missing() || rows_.filler.is_none()) return;
    const bool is_filled_up = size.kind == Kind::kFloat
                                  ? static_cast<double>(rows_.n_row) >= size.real
                                  : size.is_integral();
    if (!is_filled_up) run.fail_type("the size of a batch", size);
    if (rows_.n > 100'000) run.fail_limit("a batch is too large");
    while (static_cast<std::int64_t>(rows_.n_row) < rows_.n) {
      run.charge(1);
      rows_.push(run, rows_.filler);
    }
  }

  Rows& rows_;
};

Value batch_now(Run& run, const Value& value, Args args) {
  Rows& rows = *run.make<Rows>();
  rows.items = &run.iterate(value);
  rows.size = args[0];
  rows.filler = args[1];
  if (args[0].is_integral()) rows.n = args[0].as_int();
  if (args[0].kind == Kind::kFloat && args[0].real == std::floor(args[0].real) &&
      std::fabs(args[0].real) < 1e15) {
    rows.n = static_cast<std::int64_t>(args[0].real);
  }
  return Value::of(run.make<Batch>(rows));
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

Value map(Run& run, const Value& value, const Arguments& args) {
  return Value::of(run.make<Map>(*run.make<Mapping>(run, value, args)));
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
    {.name = "map", .call_open = map},
    {.name = "reject", .call_open = choose<true, false>},
    {.name = "rejectattr", .call_open = choose<true, true>},
    {.name = "reverse", .call = reverse},
    {.name = "select", .call_open = choose<false, false>},
    {.name = "selectattr", .call_open = choose<false, true>},
    {.name = "slice", .params = "slices fill_with", .n_required = 1, .call = late<slice_now>},
};

}  // namespace
}  // namespace filters

const std::span<const Builtin> kListFilters = filters::kListRows;

Value run_late(Run& run, Native filter, const Value& value, Args args) {
  const Value kept = run.list(args);
  return Value::of(run.make<filters::LateFilter>(filter, value, kept.list->span()));
}

}  // namespace wick::jinja
