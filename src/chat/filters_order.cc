// Filters that compare items: sorting, grouping, extremes, sums.
#include <algorithm>

#include "base/strings.h"
#include "chat/filters.h"
#include "chat/merge_sort.h"
#include "chat/operators.h"

namespace wick::jinja::filters {
namespace {

struct Keyed {
  Value key, item;
};

Value key_of(Run& run, const AttributePath& path, const Value& item, bool exact,
           const Value& otherwise = {}) {
  const Value key = path.get(run, item, otherwise);
  return key.failed() || exact ? key : ignore_case(run, key);
}

// The items with their keys; false if failed.
bool keyed_items(Run& run, const Value& value, const AttributePath& path, bool exact,
                 Vector<Keyed>& out) {
  Iterator* all = run.iterate(value);
  Value item;
  while (all != nullptr && all->next(run, item)) {
    out.push_back({key_of(run, path, item, exact), item});
    if (out.back().key.failed() || !run.charge(3)) return false;
  }
  return !run.failed();
}

// As Python's sorted(). Once two keys have no order the sort ends.
bool sort_keyed(Run& run, Vector<Keyed>& items, bool reverse) {
  return merge_sort(run, items, [&run, reverse](const Keyed& a, const Keyed& b) {
    return order(run, reverse ? b.key : a.key, reverse ? a.key : b.key) == -1;
  });
}

Value items_of(Run& run, const Vector<Keyed>& keyed) {
  Vector<Value> items(run.memory());
  for (const Keyed& each : keyed)
    items.push_back(each.item);
  return run.list(items);
}

Value extreme(Run& run, const Value& value, Args args, int wanted) {
  bool exact = false;
  AttributePath path;
  Vector<Keyed> items(run.memory());
  if (!take_bool(run, args[0], exact) || !path.parse(run, args[1]) ||
      !keyed_items(run, value, path, exact, items)) {
    return Value::failure();
  }
  if (items.empty()) return run.undefined("there is no item, the sequence is empty");
  const Keyed* best = &items[0];
  for (std::size_t i = 1; i < items.size(); ++i) {
    const std::optional<int> way = order(run, items[i].key, best->key);
    if (!way) return Value::failure();
    if (*way == wanted) best = &items[i];
  }
  return best->item;
}

}  // namespace

Value max(Run& run, const Value& value, Args args) {
  return extreme(run, value, args, 1);
}

Value min(Run& run, const Value& value, Args args) {
  return extreme(run, value, args, -1);
}

Value sort(Run& run, const Value& value, Args args) {
  bool reverse = false, exact = false;
  if (!take_flag(run, args[0], reverse) || !take_bool(run, args[1], exact)) return Value::failure();
  // "age,name" sorts by both; the key is always a list, as jinja2's is.
  Vector<AttributePath> paths(1, AttributePath(), run.memory());
  if (args[2].is_string()) {
    const Text& text = *args[2].text;
    paths.clear();
    for (std::size_t at = 0; at <= text.bytes.size();) {
      const std::size_t end = std::min(text.bytes.find(',', at), text.bytes.size());
      if (!paths.emplace_back().parse(run, run.cut(text, at, end))) return Value::failure();
      at = end + 1;
    }
  } else if (!paths[0].parse(run, args[2])) {
    return Value::failure();
  }
  Vector<Keyed> items(run.memory());
  Iterator* all = run.iterate(value);
  Value item;
  while (all != nullptr && all->next(run, item)) {
    Vector<Value> keys(run.memory());
    for (const AttributePath& path : paths)
      keys.push_back(key_of(run, path, item, exact));
    if (run.failed()) return Value::failure();
    items.push_back({run.list(keys), item});
  }
  if (run.failed() || !sort_keyed(run, items, reverse)) return Value::failure();
  return items_of(run, items);
}

Value dictsort(Run& run, const Value& value, Args args) {
  bool exact = false, reverse = false;
  const Text key = {"key", Trust::kAll};
  const Text* by = &key;
  if (!take_bool(run, args[0], exact) || !take_text(run, args[1], "what to sort by", by) ||
      !take_flag(run, args[2], reverse)) {
    return Value::failure();
  }
  if (by->bytes != "key" && by->bytes != "value") {
    return run.fail("dictsort sorts by either 'key' or 'value'");
  }
  if (value.kind != Kind::kDict) return run.fail_type("sorted as a dict", value);
  Vector<Keyed> items(run.memory());
  for (const Entry& entry : *value.dict) {
    const Value& sorted = by->bytes == "key" ? entry.key : entry.value;
    items.push_back(
        {exact ? sorted : ignore_case(run, sorted), run.tuple({entry.key, entry.value})});
  }
  if (run.failed() || !sort_keyed(run, items, reverse)) return Value::failure();
  return items_of(run, items);
}

Value groupby(Run& run, const Value& value, Args args) {
  bool exact = false;
  AttributePath path;
  if (!path.parse(run, args[0]) || !take_bool(run, args[2], exact)) return Value::failure();
  Vector<Keyed> items(run.memory());
  Iterator* all = run.iterate(value);
  Value item;
  while (all != nullptr && all->next(run, item)) {
    items.push_back({key_of(run, path, item, exact, args[1]), item});
    if (run.failed()) return Value::failure();
  }
  if (run.failed() || !sort_keyed(run, items, false)) return Value::failure();
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
    const Value list = run.list(members);
    Value group = run.failed() ? Value::failure() : run.tuple({grouper, list});
    if (group.failed()) return group;
    List* named = run.make<List>(*group.list);
    named->is_group = true;
    groups.push_back(Value::of(named, Kind::kTuple));
    from = to;
  }
  return run.list(groups);
}

Value sum(Run& run, const Value& value, Args args) {
  AttributePath path;
  Value total = args[1].is_missing() ? Value::of(std::int64_t{0}) : args[1];
  if (!path.parse(run, args[0])) return Value::failure();
  if (total.is_string()) return run.fail("sum cannot add texts; use join");
  Iterator* all = run.iterate(value);
  Value item;
  while (all != nullptr && all->next(run, item)) {
    const Value next = path.get(run, item);
    total = next.failed() ? next : arithmetic(run, Op::kAdd, total, next);
    if (total.failed()) return total;
  }
  return run.failed() ? Value::failure() : total;
}

namespace {

// Gives an item before it looks at the next, which may not be fit to be a key.
class Unique final : public Iterator {
 public:
  Unique(Iterator& items, const AttributePath& path, bool exact)
      : items_(items), path_(path), exact_(exact) {}

  bool next(Run& run, Value& out) override {
    while (items_.next(run, out)) {
      const Value key = key_of(run, path_, out, exact_);
      if (key.failed()) return false;
      const std::size_t n = seen_.dict.size;
      if (!run.insert(seen_, key, {})) return false;
      if (seen_.dict.size > n) return true;
    }
    return false;
  }

 private:
  Iterator& items_;
  AttributePath path_;
  bool exact_;
  GrowingDict seen_ = {};  // its keys
};

Value unique_now(Run& run, const Value& value, Args args) {
  bool exact = false;
  AttributePath path;
  if (!take_bool(run, args[0], exact) || !path.parse(run, args[1])) return Value::failure();
  Iterator* const items = run.iterate(value);
  if (items == nullptr) return Value::failure();
  return Value::of(static_cast<Iterator*>(run.make<Unique>(*items, path, exact)));
}

}  // namespace

Value unique(Run& run, const Value& value, Args args) {
  return late(run, unique_now, value, args);
}

}  // namespace wick::jinja::filters
