// Filters over sequences. Those that are generators in Python are iterators here: they do their
// work when an item is asked for, are always true and can be walked once.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/strings.h"
#include "chat/filters.h"
#include "chat/operators.h"
#include "chat/text_ops.h"

namespace wick::jinja::filters {
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
  AttributePath path = {};  // what is mapped, or looked at
  Value otherwise = {};
  std::optional<std::string_view> missing = {};  // no filter or test has that name
  bool maps_attribute = false;

  Mapping(Run& run, const Value& mapped, const Arguments& arguments)
      : value(mapped), given{run.keep(arguments.positional), run.keep(arguments.named)} {}

  // Whether there are items; false and failed() if the arguments are wrong.
  template <class Prepare>
  bool start(Run& run, const Prepare& prepare) {
    if (items != nullptr) return true;
    if (is_true(run, value) && (run.failed() || !prepare())) return false;
    items = run.iterate(is_true(run, value) ? value : run.undefined(""));
    return items != nullptr;
  }

  void take_rest(std::size_t used) { args = {given.positional.subspan(used), given.named}; }
};

class Map final : public Iterator {
 public:
  explicit Map(Mapping& mapping) : mapping_(mapping) {}

  bool next(Run& run, Value& out) override {
    DataLevel level(run);  // generators of generators
    Value item;
    if (level.too_deep() || !mapping_.start(run, [&] { return prepare(run); }) ||
        !mapping_.items->next(run, item)) {
      return false;
    }
    if (mapping_.maps_attribute) {
      out = mapping_.path.get(run, item, mapping_.otherwise);
    } else if (mapping_.builtin == nullptr) {
      out = run.fail(cat("no filter named '", printable(*mapping_.missing, 60), "'"));
    } else {
      out = call_builtin(run, *mapping_.builtin, item, mapping_.args);
    }
    return !out.failed();
  }

 private:
  bool prepare(Run& run) {
    const Arguments& given = mapping_.given;
    if (!given.positional.empty()) {
      const Value& name = given.positional[0];
      if (!name.is_string()) return !run.fail_type("the name of a filter", name).failed();
      mapping_.builtin = find_filter(name.bytes());
      mapping_.missing = name.bytes();
      mapping_.take_rest(1);
      return true;
    }
    Value attribute;
    for (const auto& [name, value, key] : given.named) {
      if (name == "attribute") {
        attribute = value;
      } else if (name == "default") {
        mapping_.otherwise = value;
      } else {
        return !run.fail(cat("map takes no argument named '", printable(name, 60), "'")).failed();
      }
    }
    if (attribute.is_missing()) return !run.fail("map needs the name of a filter").failed();
    mapping_.maps_attribute = true;
    return mapping_.path.parse(run, attribute);
  }

  Mapping& mapping_;
};

class Selection final : public Iterator {
 public:
  explicit Selection(Mapping& mapping) : mapping_(mapping) {}

  bool next(Run& run, Value& out) override {
    DataLevel level(run);
    if (level.too_deep() || !mapping_.start(run, [&] { return prepare(run); })) return false;
    while (mapping_.items->next(run, out)) {
      const Value looked_at = mapping_.path.get(run, out);
      if (looked_at.failed()) return false;
      if (mapping_.missing) {
        run.fail(cat("no test named '", printable(*mapping_.missing, 60), "'"));
        return false;
      }
      const Value holds = mapping_.builtin == nullptr
                            ? looked_at
                            : call_builtin(run, *mapping_.builtin, looked_at, mapping_.args);
      if (holds.failed()) return false;
      if (is_true(run, holds) != mapping_.negated) return true;
    }
    return false;
  }

 private:
  bool prepare(Run& run) {
    const std::span<const Value> given = mapping_.given.positional;
    std::size_t used = 0;
    if (mapping_.by_attribute) {
      if (given.empty()) return !run.fail("the name of an attribute is missing").failed();
      if (!mapping_.path.parse(run, given[used++])) return false;
    }
    if (used == given.size()) return true;
    const Value& name = given[used++];
    if (!name.is_string()) return !run.fail_type("the name of a test", name).failed();
    mapping_.builtin = find_test(name.bytes());
    if (mapping_.builtin == nullptr) mapping_.missing = name.bytes();
    mapping_.take_rest(used);
    return true;
  }

  Mapping& mapping_;
};

template <class T>
Value lazily(Run& run, Mapping& mapping) {
  return Value::of(static_cast<Iterator*>(run.make<T>(mapping)));
}

// A filter that does its work when the first item is asked for.
class LateFilter final : public Iterator {
 public:
  LateFilter(Native filter, const Value& value, Args args)
      : filter_(filter), value_(value), args_(args) {}

  bool next(Run& run, Value& out) override {
    DataLevel level(run);
    if (level.too_deep()) return false;
    if (items_ == nullptr) {
      const Value all = filter_(run, value_, args_);
      items_ = all.failed() ? nullptr : run.iterate(all);
    }
    return items_ != nullptr && items_->next(run, out);
  }

 private:
  Native filter_;
  Value value_;
  Args args_;
  Iterator* items_ = nullptr;
};

Value choose(Run& run, const Value& value, const Arguments& args, bool negated, bool by_attribute) {
  Mapping& mapping = *run.make<Mapping>(run, value, args);
  mapping.negated = negated;
  mapping.by_attribute = by_attribute;
  return lazily<Selection>(run, mapping);
}

Value no_item(Run& run, std::string_view which) {
  return run.undefined(cat("there is no ", which, " item, the sequence is empty"));
}

struct Rows {
  Iterator* items = nullptr;
  Value size = {}, filler = {};
  std::int64_t n = -1;  // items of a row; what is no whole number is the length of none
  Value* row = nullptr;   // that one in the making
  std::size_t n_row = 0, room = 0;

  bool push(Run& run, const Value& item) {
    if (n_row == kMaxItems) return !run.too_many_items().failed();
    if (n_row == room) {
      room = std::max<std::size_t>(4, room * 2);
      Value* const larger = run.array<Value>(room);
      if (!run.charge(n_row / 4)) return false;
      std::uninitialized_copy_n(row, n_row, larger);
      row = larger;
    }
    ::new (row + n_row++) Value(item);
    return true;
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
      if (!rows_.push(run, item)) return false;
      if (is_full) return !out.failed();
    }
    if (run.failed() || rows_.n_row == 0 || !fill(run)) return false;
    out = rows_.give(run);
    return !out.failed();
  }

 private:
  // The last row; false if failed.
  bool fill(Run& run) {
    const Value& size = rows_.size;
    if (rows_.filler.is_missing() || rows_.filler.is_none()) return true;
    const bool is_filled_up = size.kind == Kind::kFloat
                                  ? static_cast<double>(rows_.n_row) >= size.real
                                  : size.is_integral();
    if (!is_filled_up) return !run.fail_type("the size of a batch", size).failed();
    if (rows_.n > 100'000) return !run.fail_limit("a batch is too large").failed();
    while (static_cast<std::int64_t>(rows_.n_row) < rows_.n) {
      if (!run.charge(1) || !rows_.push(run, rows_.filler)) return false;
    }
    return true;
  }

  Rows& rows_;
};

Value batch_now(Run& run, const Value& value, Args args) {
  Rows& rows = *run.make<Rows>();
  rows.items = run.iterate(value);
  if (rows.items == nullptr) return Value::failure();
  rows.size = args[0];
  rows.filler = args[1];
  if (args[0].is_integral()) rows.n = args[0].as_int();
  if (args[0].kind == Kind::kFloat && args[0].real == std::floor(args[0].real) &&
      std::fabs(args[0].real) < 1e15) {
    rows.n = static_cast<std::int64_t>(args[0].real);
  }
  return Value::of(static_cast<Iterator*>(run.make<Batch>(rows)));
}

Value slice_now(Run& run, const Value& value, Args args) {
  std::int64_t slices = 0;
  Vector<Value> all(run.memory()), out(run.memory());
  if (!take_int(run, args[0], "a number of slices", slices) || !run.collect(value, all)) {
    return Value::failure();
  }
  if (slices == 0) return run.fail("integer division or modulo by zero");
  if (slices > 100'000) return run.fail_limit("too many slices");
  const auto n = static_cast<std::int64_t>(all.size());
  Vector<Value> row(run.memory());
  for (std::int64_t i = 0, from = 0; i < slices; ++i) {
    const bool extra = i < n % slices;
    const auto size = static_cast<std::size_t>(n / slices + (extra ? 1 : 0));
    const std::span<const Value> part(all.data() + from, size);
    row.assign(part.begin(), part.end());
    if (!extra && !args[1].is_missing() && !args[1].is_none()) row.push_back(args[1]);
    out.push_back(run.list(row));
    if (out.back().failed()) return Value::failure();
    from += static_cast<std::int64_t>(size);
  }
  return run.failed() ? Value::failure() : run.list(out);
}

Value items_now(Run& run, const Value& value, Args) {
  if (value.kind != Kind::kDict && !value.is_undefined()) {
    return run.fail_type("taken apart into items", value);
  }
  Iterator* made =
      run.iterate(value.is_undefined() ? value : run.view(value.dict, ViewKind::kItems));
  return made == nullptr ? Value::failure() : Value::of(made);
}

}  // namespace

Value late(Run& run, Native filter, const Value& value, Args args) {
  const Value kept = run.list(args);
  if (kept.failed()) return kept;
  return Value::of(static_cast<Iterator*>(run.make<LateFilter>(filter, value, kept.list->span())));
}

Value batch(Run& run, const Value& value, Args args) {
  return late(run, batch_now, value, args);
}

Value slice(Run& run, const Value& value, Args args) {
  return late(run, slice_now, value, args);
}

Value items(Run& run, const Value& value, Args args) {
  return late(run, items_now, value, args);
}

Value map(Run& run, const Value& value, const Arguments& args) {
  return lazily<Map>(run, *run.make<Mapping>(run, value, args));
}

Value select(Run& run, const Value& value, const Arguments& args) {
  return choose(run, value, args, false, false);
}

Value reject(Run& run, const Value& value, const Arguments& args) {
  return choose(run, value, args, true, false);
}

Value selectattr(Run& run, const Value& value, const Arguments& args) {
  return choose(run, value, args, false, true);
}

Value rejectattr(Run& run, const Value& value, const Arguments& args) {
  return choose(run, value, args, true, true);
}

Value first(Run& run, const Value& value, Args) {
  Iterator* items = run.iterate(value);
  Value item;
  if (items != nullptr && items->next(run, item)) return item;
  return run.failed() ? Value::failure() : no_item(run, "first");
}

Value last(Run& run, const Value& value, Args) {
  if (value.kind == Kind::kIterator) return run.fail_type("reversed", value);
  Vector<Value> all(run.memory());
  if (value.is_string() && !value.bytes().empty())
    return get_item(run, value, Value::of(std::int64_t{-1}));
  if (!run.collect(value, all)) return Value::failure();
  return all.empty() ? no_item(run, "last") : all.back();
}

Value join(Run& run, const Value& value, Args args) {
  const Text none = {{}, Trust::kAll};
  const Text* separator = args[0].is_missing() ? &none : to_text(run, args[0]);
  AttributePath path;
  if (separator == nullptr || !path.parse(run, args[1])) return Value::failure();
  Vector<const Text*> parts(run.memory());
  Iterator* all = run.iterate(value);
  Value item;
  while (all != nullptr && all->next(run, item)) {
    const Value part = path.get(run, item);
    const Text* text = part.failed() ? nullptr : to_text(run, part);
    if (text == nullptr) return Value::failure();
    parts.push_back(text);
  }
  if (run.failed()) return Value::failure();
  Text plain = *separator;  // str(separator) is no markup
  plain.is_markup = false;
  return jinja::join(run, plain, parts);
}

Value length(Run& run, const Value& value, Args) {
  const std::int64_t n = value.kind == Kind::kLoop ? -1 : run.length(value);
  if (n < 0) return run.fail_type("asked for its length", value);
  return run.failed() ? Value::failure() : Value::of(n);
}

Value list(Run& run, const Value& value, Args) {
  Vector<Value> all(run.memory());
  return run.collect(value, all) ? run.list(all) : Value::failure();
}

Value reverse(Run& run, const Value& value, Args) {
  const Value back = Value::of(std::int64_t{-1});
  if (value.is_string()) return get_slice(run, value, {}, {}, back);
  Vector<Value> all(run.memory());
  if (!run.collect(value, all)) return Value::failure();
  std::reverse(all.begin(), all.end());
  // A generator has no order to reverse: Python makes a list of it.
  const Value backward = run.list(all);
  Iterator* made = backward.failed() ? nullptr : run.iterate(backward);
  if (made == nullptr || value.kind == Kind::kIterator) return backward;
  return Value::of(made);
}

}  // namespace wick::jinja::filters
