// The methods of dicts, lists, tuples and numbers that change nothing.
#include <cmath>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/operators.h"

namespace wick::jinja {
namespace {

using Args = std::span<const Value>;

Value dict_get(Run& run, const Value& self, Args args) {
  const Entry* entry = find(run, *self.dict, args[0]);
  if (run.failed()) return Value::failure();
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
  Vector<Value> keys(run.memory());
  Vector<Entry> entries(run.memory());
  if (!run.collect(args[0], keys)) return Value::failure();
  for (const Value& key : keys)
    entries.push_back({key, args[1].is_missing() ? Value::none() : args[1]});
  return run.dict(entries);
}

Value list_count(Run& run, const Value& self, Args args) {
  std::int64_t n = 0;
  for (const Value& item : self.list->span()) {
    if (equal(run, item, args[0])) ++n;
    if (!run.charge(1)) return Value::failure();
  }
  return Value::of(n);
}

Value list_index(Run& run, const Value& self, Args args) {
  const auto size = static_cast<std::int64_t>(self.list->size);
  std::int64_t bounds[2] = {0, size};
  for (std::size_t i = 0; i < 2; ++i) {
    const Value& arg = args[i + 1];
    if (arg.is_missing()) continue;
    if (!arg.is_integral()) return run.fail_type("a position", arg);
    bounds[i] = arg.as_int() < 0 ? std::max<std::int64_t>(arg.as_int() + size, 0) : arg.as_int();
  }
  for (std::int64_t i = bounds[0]; i < std::min(bounds[1], size); ++i) {
    if (!run.charge(1)) return Value::failure();
    if (equal(run, self.list->items[i], args[0])) return Value::of(i);
  }
  return run.fail("the item that index() looks for is not in the list");
}

// The first place of args[0] in the range; its size if there is none.
std::int64_t place_in(Run& run, const Range& range, const Value& wanted) {
  std::int64_t at = 0;
  while (at < range.size && run.charge(1) && !equal(run, Value::of(range.at(at)), wanted))
    ++at;
  return at;
}

Value range_count(Run& run, const Value& self, Args args) {
  const std::int64_t at = place_in(run, *self.range, args[0]);
  return run.failed() ? Value::failure() : Value::of(std::int64_t{at < self.range->size ? 1 : 0});
}

Value range_index(Run& run, const Value& self, Args args) {
  const std::int64_t at = place_in(run, *self.range, args[0]);
  if (run.failed()) return Value::failure();
  if (at < self.range->size) return Value::of(at);
  return run.fail("the item that index() looks for is not in the range");
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
  if (self.kind != Kind::kFloat) return run.fail("only floats have is_integer()");
  return Value::of(std::isfinite(self.real) && self.real == std::floor(self.real));
}

constexpr Builtin kDictMethods[] = {
    {.name = "copy", .call = same},
    {.name = "fromkeys",
     .params = "keys value",
     .n_required = 1,
     .call = from_keys,
     .positional_only = true},
    {.name = "get",
     .params = "key default",
     .n_required = 1,
     .call = dict_get,
     .positional_only = true},
    {.name = "items", .call = dict_view<ViewKind::kItems>},
    {.name = "keys", .call = dict_view<ViewKind::kKeys>},
    {.name = "values", .call = dict_view<ViewKind::kValues>},
};

constexpr Builtin kListMethods[] = {
    {.name = "copy", .call = same},
    {.name = "count",
     .params = "value",
     .n_required = 1,
     .call = list_count,
     .positional_only = true},
    {.name = "index",
     .params = "value start stop",
     .n_required = 1,
     .call = list_index,
     .positional_only = true},
};

constexpr Builtin kRangeMethods[] = {
    {.name = "count",
     .params = "value",
     .n_required = 1,
     .call = range_count,
     .positional_only = true},
    {.name = "index",
     .params = "value",
     .n_required = 1,
     .call = range_index,
     .positional_only = true},
};

constexpr Builtin kNumberMethods[] = {
    {.name = "bit_length", .call = bit_length},
    {.name = "conjugate", .call = same},
    {.name = "is_integer", .call = is_integer},
};

}  // namespace

std::span<const Builtin> all_dict_methods() noexcept {
  return kDictMethods;
}

const Builtin* find_dict_method(std::string_view name) noexcept {
  return find_in(kDictMethods, name);
}

std::span<const Builtin> all_list_methods() noexcept {
  return kListMethods;
}

const Builtin* find_list_method(std::string_view name) noexcept {
  return find_in(kListMethods, name);
}

std::span<const Builtin> all_range_methods() noexcept {
  return kRangeMethods;
}

const Builtin* find_range_method(std::string_view name) noexcept {
  return find_in(kRangeMethods, name);
}

std::span<const Builtin> all_number_methods() noexcept {
  return kNumberMethods;
}

const Builtin* find_number_method(std::string_view name) noexcept {
  return find_in(kNumberMethods, name);
}

}  // namespace wick::jinja
