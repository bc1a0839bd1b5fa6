// Filters that compare items: sorting, grouping, extremes, sums.
#include <algorithm>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/merge_sort.h"
#include "chat/objects.h"
#include "chat/operators.h"

namespace wick::jinja {
namespace filters {
namespace {

struct Keyed {
  Value key, item;
};

Value key_of(Run& run, const AttributePath& path, const Value& item, bool exact,
             const Value& otherwise = {}) {
  const Value key = path.get(run, item, otherwise);
  return exact ? key : ignore_case(run, key);
}

Vector<Keyed> keyed_items(Run& run, const Value& value, const AttributePath& path, bool exact,
                          const Value& otherwise = {}) {
  Vector<Keyed> out(run.memory());
  Iterator& all = run.iterate(value);
  Value item;
  while (all.next(run, item)) {
    out.push_back({key_of(run, path, item, exact, otherwise), item});
    run.charge(3);
  }
  return out;
}

// As Python's sorted(). Once two keys have no order the render fails.
void sort_keyed(Run& run, Vector<Keyed>& items, bool reverse) {
  merge_sort(run, items, [&run, reverse](const Keyed& a, const Keyed& b) {
    return order(run, reverse ? b.key : a.key, reverse ? a.key : b.key) == -1;
  });
}

Value items_of(Run& run, const Vector<Keyed>& keyed) {
  Vector<Value> items(run.memory());
  for (const Keyed& each : keyed)
    items.push_back(each.item);
  return run.list(items);
}

template <int wanted>
Value extreme(Run& run, const Value& value, Args args) {
  const bool exact = take_bool(run, args[0]);
  const Vector<Keyed> items = keyed_items(run, value, AttributePath(run, args[1]), exact);
  if (items.empty()) return run.undefined("there is no item, the sequence is empty");
  const Keyed* best = &items[0];
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (order(run, items[i].key, best->key) == wanted) best = &items[i];
  }
  return best->item;
}

Value sort(Run& run, const Value& value, Args args) {
  const bool reverse = take_flag(run, args[0]), exact = take_bool(run, args[1]);
  // "age,name" sorts by both; the key is always a list, as jinja2's is.
  Vector<AttributePath> paths(run.memory());
  if (args[2].is_string()) {
    const Text& text = *args[2].text;
    for (std::size_t at = 0; at <= text.bytes.size();) {
      const std::size_t end = std::min(text.bytes.find(',', at), text.bytes.size());
      paths.emplace_back(run, run.cut(text, at, end));
      at = end + 1;
    }
  } else {
    paths.emplace_back(run, args[2]);
  }
  Vector<Keyed> items(run.memory());
  Iterator& all = run.iterate(value);
  Value item;
  while (all.next(run, item)) {
    Vector<Value> keys(run.memory());
    for (const AttributePath& path : paths)
      keys.push_back(key_of(run, path, item, exact));
    items.push_back({run.list(keys), item});
  }
  sort_keyed(run, items, reverse);
  return items_of(run, items);
}

Value dictsort(Run& run, const Value& value, Args args) {
  const bool exact = take_bool(run, args[0]);
  const Text key = {"key", Trust::kAll};
  const std::string_view by = take_text(run, args[1], "what to sort by", &key)->bytes;
  const bool reverse = take_flag(run, args[2]);
  if (by != "key" && by != "value") run.fail("dictsort sorts by either 'key' or 'value'");
  if (value.kind != Kind::kDict) run.fail_type("sorted as a dict", value);
  Vector<Keyed> items(run.memory());
  for (const Entry& entry : *value.dict) {
    const Value& sorted = by == "key" ? entry.key : entry.value;
    items.push_back(
        {exact ? sorted : ignore_case(run, sorted), run.tuple({entry.key, entry.value})});
  }
  sort_keyed(run, items, reverse);
  return items_of(run, items);
}

Value groupby(Run& run, const Value& value, Args args) {
  const AttributePath path(run, args[0]);
  const bool exact = take_bool(run, args[2]);
  Vector<Keyed> items = keyed_items(run, value, path, exact, args[1]);
  sort_keyed(run, items, false);
  Vector<Value> groups(run.memory());
  for (std::size_t from = 0; from < items.size();) {
    std::size_t to = from;
    Vector<Value> members(run.memory());
    while (to < items.size() && equal(run, items[to].key, items[from].key)) {
      members.push_back(items[to++].item);
    }
    to = std::max(to, from + 1);  // NaN equals nothing
    if (members.empty()) members.push_back(items[from].item);
    const Value grouper = path.get(run, items[from].item, args[1]);
    List* named = run.make<List>(*run.tuple({grouper, run.list(members)}).list);
    named->is_group = true;
    groups.push_back(Value::of(named, Kind::kTuple));
    from = to;
  }
  return run.list(groups);
}

Value sum(Run& run, const Value& value, Args args) {
  const AttributePath path(run, args[0]);
  Value total = args[1].is_missing() ? Value::of(std::int64_t{0}) : args[1];
  if (total.is_string()) run.fail("sum cannot add texts; use join");
  Iterator& all = run.iterate(value);
  Value item;
  while (all.next(run, item))
    total = arithmetic(run, Op::kAdd, total, path.get(run, item));
  return total;
}

// Gives an item before it looks at the next, which may not be fit to be a key.
Value unique_now(Run& run, const Value& value, Args args) {
  const bool exact = take_bool(run, args[0]);
  const AttributePath path(run, args[1]);
  Iterator& items = run.iterate(value);
  return Value::of(
      &generator(run, [&items, path, exact, seen = GrowingDict()](Run& in, Value& out) mutable {
        while (items.next(in, out)) {
          const std::size_t n = seen.dict.size;
          in.insert(seen, key_of(in, path, out, exact), {});
          if (seen.dict.size > n) return true;
        }
        return false;
      }));
}

constexpr Builtin kOrderRows[] = {
    {.name = "dictsort", .params = "case_sensitive by reverse", .call = dictsort},
    {.name = "groupby",
     .params = "attribute default case_sensitive",
     .n_required = 1,
     .call = groupby},
    {.name = "max", .params = "case_sensitive attribute", .call = extreme<1>},
    {.name = "min", .params = "case_sensitive attribute", .call = extreme<-1>},
    {.name = "sort", .params = "reverse case_sensitive attribute", .call = sort},
    {.name = "sum", .params = "attribute start", .call = sum},
    {.name = "unique", .params = "case_sensitive attribute", .call = late<unique_now>},
};

}  // namespace
}  // namespace filters

const std::span<const Builtin> kOrderFilters = filters::kOrderRows;

}  // namespace wick::jinja
