// The methods of dicts, lists, tuples and numbers that change nothing.
#include <cmath>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/operators.h"

namespace wick::jinja {
namespace {

Value dict_get(Run& run, const Value& self, Args args) {
  const Entry* entry = find(run, *self.dict, args[0]);
  if (entry != nullptr) return entry->value;
  return args[1].is_missing() ? Value::none() : args[1];
}

template <ViewKind kind>
Value dict_view(Run& run, const Value& self, Args) {
  return run.view(self.dict, kind);
}

Value same(Run&, const Value& self, Args) {
  return self;
}  // a copy of what never changes

Value from_keys(Run& run, const Value&, Args args) {
  Vector<Entry> entries(run.memory());
  for (const Value& key : run.collect(args[0]))
    entries.push_back({key, args[1].is_missing() ? Value::none() : args[1]});
  return run.dict(entries);
}

Value list_count(Run& run, const Value& self, Args args) {
  std::int64_t n = 0;
  for (const Value& item : self.list->span()) {
    if (equal(run, item, args[0])) ++n;
    run.charge(1);
  }
  return Value::of(n);
}

Value list_index(Run& run, const Value& self, Args args) {
  const auto size = static_cast<std::int64_t>(self.list->size);
  std::int64_t bounds[2] = {0, size};
  for (std::size_t i = 0; i < 2; ++i) {
    const Value& arg = args[i + 1];
    if (arg.is_missing()) continue;
    if (!arg.is_integral()) run.fail_type("a position", arg);
    bounds[i] = arg.as_int() < 0 ? std::max<std::int64_t>(arg.as_int() + size, 0) : arg.as_int();
  }
  for (std::int64_t i = bounds[0]; i < std::min(bounds[1], size); ++i) {
    run.charge(1);
    if (equal(run, self.list->items[i], args[0])) return Value::of(i);
  }
  run.fail("the item that index() looks for is not in the list");
}

// The first place of args[0] in the range; its size if there is none.
std::int64_t place_in(Run& run, const Range& range, const Value& wanted) {
  std::int64_t at = 0;
  for (; at < range.size && !equal(run, Value::of(range.at(at)), wanted); ++at)
    run.charge(1);
  return at;
}

Value range_count(Run& run, const Value& self, Args args) {
  const std::int64_t at = place_in(run, *self.range, args[0]);
  return Value::of(std::int64_t{at < self.range->size ? 1 : 0});
}

Value range_index(Run& run, const Value& self, Args args) {
  const std::int64_t at = place_in(run, *self.range, args[0]);
  if (at < self.range->size) return Value::of(at);
  run.fail("the item that index() looks for is not in the range");
}

Value bit_length(Run&, const Value& self, Args) {
  std::int64_t bits = 0;
  for (auto rest =
           static_cast<std::uint64_t>(self.as_int() < 0 ? -(self.as_int() + 1) : self.as_int());
       rest != 0; rest >>= 1) {
    ++bits;
  }
  const bool is_power = self.as_int() < 0 && ((-(self.as_int() + 1)) & -self.as_int()) == 0;
  return Value::of(is_power ? bits + 1 : bits).with_taint(self.tainted);
}

Value is_integer(Run& run, const Value& self, Args) {
  if (self.kind != Kind::kFloat) run.fail("only floats have is_integer()");
  return Value::of(std::isfinite(self.real) && self.real == std::floor(self.real));
}

constexpr Builtin kDictRows[] = {
    {.name = "copy", .call = same},
    by_place("fromkeys", "keys value", 1, from_keys),
    by_place("get", "key default", 1, dict_get),
    {.name = "items", .call = dict_view<ViewKind::kItems>},
    {.name = "keys", .call = dict_view<ViewKind::kKeys>},
    {.name = "values", .call = dict_view<ViewKind::kValues>},
};

constexpr Builtin kListRows[] = {
    {.name = "copy", .call = same},
    by_place("count", "value", 1, list_count),
    by_place("index", "value start stop", 1, list_index),
};

constexpr Builtin kRangeRows[] = {
    by_place("count", "value", 1, range_count),
    by_place("index", "value", 1, range_index),
};

constexpr Builtin kNumberRows[] = {
    {.name = "bit_length", .call = bit_length},
    {.name = "conjugate", .call = same},
    {.name = "is_integer", .call = is_integer},
};

}  // namespace

const std::span<const Builtin> kDictMethods = kDictRows;
const std::span<const Builtin> kListMethods = kListRows;
const std::span<const Builtin> kRangeMethods = kRangeRows;
const std::span<const Builtin> kNumberMethods = kNumberRows;

}  // namespace wick::jinja
