#include "chat/objects.h"

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/limits.h"
#include "chat/operators.h"
#include "chat/run.h"
#include "unicode/python_str.h"

namespace wick::jinja {

namespace {

Value loop_cycle(Run& run, const Value& self, const Arguments& args) {
  if (args.positional.empty()) run.fail("loop.cycle() needs something to cycle through");
  const auto n = static_cast<std::int64_t>(args.positional.size());
  return args.positional[static_cast<std::size_t>(self.loop->index0 % n)];
}

Value loop_changed(Run& run, const Value& self, const Arguments& args) {
  const Value now = run.list(args.positional, Kind::kTuple);
  const bool same =
      !self.loop->last_changed.is_missing() && equal(run, self.loop->last_changed, now);
  self.loop->last_changed = now;
  return Value::of(!same);
}

Value cycler_next(Run&, const Value& self, std::span<const Value>) {
  Cycler& cycler = *self.cycler;
  const Value now = cycler.items->items[cycler.at];
  cycler.at = (cycler.at + 1) % cycler.items->size;
  return now;
}

Value cycler_reset(Run&, const Value& self, std::span<const Value>) {
  self.cycler->at = 0;
  return Value::none();
}

constexpr Builtin kCycle = {.name = "cycle", .call_open = loop_cycle};
constexpr Builtin kChanged = {.name = "changed", .call_open = loop_changed};
constexpr Builtin kNext = {.name = "next", .call = cycler_next};
constexpr Builtin kReset = {.name = "reset", .call = cycler_reset};

}  // namespace

bool Loop::advance(Run& run) {
  Value next = after;
  if (!has_after && !items->next(run, next)) return false;
  has_after = false;
  ++index0;
  before = current;
  current = next;
  return true;
}

bool Loop::peek(Run& run) {
  if (!has_after) has_after = items->next(run, after);
  return has_after;
}

std::int64_t Loop::count(Run& run) {
  if (length >= 0) return length;
  Vector<Value> rest(run.memory());
  Value each;
  while (items->next(run, each))
    rest.push_back(each);
  items = &run.iterate(run.list(rest));
  length = static_cast<std::int64_t>(rest.size()) + index0 + 1 + (has_after ? 1 : 0);
  return length;
}

Value loop_attribute(Run& run, const Value& self, std::string_view name) {
  Loop& loop = *self.loop;
  if (name == "index0") return Value::of(loop.index0);
  if (name == "index") return Value::of(loop.index0 + 1);
  if (name == "first") return Value::of(loop.index0 == 0);
  if (name == "last") return Value::of(!loop.peek(run));
  if (name == "length") return Value::of(loop.count(run));
  if (name == "revindex0") return Value::of(loop.count(run) - loop.index0 - 1);
  if (name == "revindex") return Value::of(loop.count(run) - loop.index0);
  if (name == "depth0") return Value::of(loop.depth0);
  if (name == "depth") return Value::of(loop.depth0 + 1);
  if (name == "previtem") {
    return loop.index0 == 0 ? run.undefined("there is no previous item") : loop.before;
  }
  if (name == "nextitem") {
    return loop.peek(run) ? loop.after : run.undefined("there is no next item");
  }
  if (name == "cycle") return method_of(run, &kCycle, self);
  if (name == "changed") return method_of(run, &kChanged, self);
  return {};
}

Value cycler_attribute(Run& run, const Value& self, std::string_view name) {
  if (name == "current") return self.cycler->items->items[self.cycler->at];
  if (name == "next") return method_of(run, &kNext, self);
  if (name == "reset") return method_of(run, &kReset, self);
  return {};
}

// Going through values one by one.

namespace {

// `n` items, of which `item(run, at)` gives one; it may move `at` on by more than one.
template <class Item>
Iterator& places(Run& run, std::size_t n, const Item& item) {
  return generator(run, [n, item, at = std::size_t{0}](Run& in, Value& out) mutable {
    if (at >= n) return false;
    in.charge(1);
    out = item(in, at);
    ++at;
    return true;
  });
}

Iterator& characters(Run& run, Text text) {
  text.is_markup = false;
  return places(run, text.bytes.size(), [text](Run& in, std::size_t& at) {
    const std::size_t begin = at;
    at += code_point(text.bytes, begin).size - 1;
    return in.cut(text, begin, at + 1);
  });
}

Iterator& entries(Run& run, const Dict& dict, ViewKind kind) {
  return places(run, dict.size, [&dict, kind](Run& in, std::size_t at) {
    const Entry& entry = dict.entries[at];
    return kind == ViewKind::kKeys     ? entry.key
           : kind == ViewKind::kValues ? entry.value
                                       : in.tuple({entry.key, entry.value});
  });
}

}  // namespace

Iterator& Run::iterate(const Value& value) {
  switch (value.kind) {
    case Kind::kUndefined:
      return places(*this, 0, [](Run&, std::size_t) { return Value(); });
    case Kind::kString:
      return characters(*this, *value.text);
    case Kind::kList:
    case Kind::kTuple:
      return places(*this, value.list->size,
                    [items = value.list->items](Run&, std::size_t at) { return items[at]; });
    case Kind::kDict:
      return entries(*this, *value.dict, ViewKind::kKeys);
    case Kind::kView:
      return entries(*this, *value.view->dict, value.view->kind);
    case Kind::kRange:
      return places(
          *this, static_cast<std::size_t>(value.range->size),
          [range = *value.range](Run&, std::size_t at) {
            return Value::of(range.at(static_cast<std::int64_t>(at))).with_taint(range.tainted);
          });
    case Kind::kIterator:
      return *value.iterator;
    default:
      fail_type("iterated over", value);
  }
}

Vector<Value> Run::collect(const Value& value) {
  Vector<Value> out(memory());
  if (value.is_sequence()) {
    charge(value.list->size / 4);
    out.assign(value.list->begin(), value.list->end());
    return out;
  }
  Iterator& all = iterate(value);
  Value each;
  while (all.next(*this, each)) {
    if (out.size() >= kMaxItems) fail_too_many_items();
    out.push_back(each);
  }
  return out;
}

}  // namespace wick::jinja
