#include "chat/objects.h"

#include "chat/builtin.h"
#include "chat/operators.h"

namespace wick::jinja {
namespace {

Value loop_cycle(Run& run, const Value& self, const Arguments& args) {
  if (args.positional.empty()) return run.fail("loop.cycle() needs something to cycle through");
  const auto n = static_cast<std::int64_t>(args.positional.size());
  return args.positional[static_cast<std::size_t>(self.loop->index0 % n)];
}

Value loop_changed(Run& run, const Value& self, const Arguments& args) {
  const Value now = run.list(args.positional, Kind::kTuple);
  if (now.failed()) return now;
  const bool same =
      !self.loop->last_changed.is_missing() && equal(run, self.loop->last_changed, now);
  self.loop->last_changed = now;
  return run.failed() ? Value::failure() : Value::of(!same);
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

Value method(Run& run, const Builtin& builtin, const Value& self) {
  const Callable* made = run.make<Callable>(&builtin, nullptr, nullptr, self);
  Value out = Value::of(Kind::kCallable);
  out.callable = made;
  return out;
}

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
  const Value all = run.list(rest);
  if (all.failed() || (items = run.iterate(all)) == nullptr) return 0;
  length = static_cast<std::int64_t>(rest.size()) + index0 + 1 + (has_after ? 1 : 0);
  return length;
}

Value loop_attribute(Run& run, const Value& self, std::string_view name) {
  Loop& loop = *self.loop;
  const auto checked = [&run](const Value& value) {
    return run.failed() ? Value::failure() : value;
  };
  if (name == "index0") return Value::of(loop.index0);
  if (name == "index") return Value::of(loop.index0 + 1);
  if (name == "first") return Value::of(loop.index0 == 0);
  if (name == "last") return checked(Value::of(!loop.peek(run)));
  if (name == "length") return checked(Value::of(loop.count(run)));
  if (name == "revindex0") return checked(Value::of(loop.count(run) - loop.index0 - 1));
  if (name == "revindex") return checked(Value::of(loop.count(run) - loop.index0));
  if (name == "depth0") return Value::of(loop.depth0);
  if (name == "depth") return Value::of(loop.depth0 + 1);
  if (name == "previtem") {
    return loop.index0 == 0 ? run.undefined("there is no previous item") : loop.before;
  }
  if (name == "nextitem") {
    return checked(loop.peek(run) ? loop.after : run.undefined("there is no next item"));
  }
  if (name == "cycle") return method(run, kCycle, self);
  if (name == "changed") return method(run, kChanged, self);
  return {};
}

Value cycler_attribute(Run& run, const Value& self, std::string_view name) {
  if (name == "current") return self.cycler->items->items[self.cycler->at];
  if (name == "next") return method(run, kNext, self);
  if (name == "reset") return method(run, kReset, self);
  return {};
}

}  // namespace wick::jinja
