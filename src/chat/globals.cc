// The functions that every template may call, and how rows are found by name.
#include <locale.h>

#include <algorithm>
#include <ctime>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/limits.h"
#include "chat/objects.h"
#include "chat/operators.h"

namespace wick::jinja {
namespace {

Value range(Run& run, const Value&, std::span<const Value> args) {
  for (const Value& arg : args) {
    if (!arg.is_missing() && !arg.is_integral())
      return run.fail_type("an argument of range()", arg);
  }
  const bool one = args[1].is_missing();
  const std::int64_t start = one ? 0 : args[0].as_int();
  const std::int64_t stop = one ? args[0].as_int() : args[1].as_int();
  const std::int64_t step = args[2].is_missing() ? 1 : args[2].as_int();
  if (step == 0) return run.fail("the step of range() cannot be zero");
  std::int64_t distance = 0;
  const bool backward = step < 0;
  const bool wide =
      __builtin_sub_overflow(backward ? start : stop, backward ? stop : start, &distance);
  const bool tainted = args[0].tainted || args[1].tainted || args[2].tainted;
  std::int64_t size = 0;
  if (distance > 0 || wide) {
    if (wide || step == INT64_MIN) return run.fail("the range is too big");
    size = (distance - 1) / (backward ? -step : step) + 1;
  }
  if (size > kMaxRange)
    return run.fail(cat("the range has ", size, " items, the limit is ", kMaxRange));
  return run.range({start, stop, step, size, tainted});
}

// dict(mapping or pairs, name=value …) as entries.
bool dict_entries(Run& run, const Arguments& args, Vector<Entry>& out) {
  if (args.positional.size() > 1) return !run.fail("dict takes at most one argument").failed();
  if (!args.positional.empty()) {
    const Value& from = args.positional[0];
    if (from.is_undefined()) return !run.fail_undefined(from).failed();
    if (from.kind == Kind::kDict) {
      if (!run.charge(from.dict->size / 2)) return false;
      out.assign(from.dict->begin(), from.dict->end());
    } else {
      Vector<Value> pairs(run.memory()), pair(run.memory());
      if (!run.collect(from, pairs)) return false;
      for (const Value& each : pairs) {
        pair.clear();
        if (!run.collect(each, pair)) return false;
        if (pair.size() != 2) return !run.fail("dict needs pairs of key and value").failed();
        out.push_back({pair[0], pair[1]});
      }
    }
  }
  if (!run.charge(args.named.size())) return false;
  for (const NamedArgument& argument : args.named)
    out.push_back({name_of(run, argument), argument.value});
  return !run.failed();
}

Value dict(Run& run, const Value&, const Arguments& args) {
  Vector<Entry> entries(run.memory());
  return dict_entries(run, args, entries) ? run.dict(entries) : Value::failure();
}

Value name_space(Run& run, const Value&, const Arguments& args) {
  Vector<Entry> entries(run.memory());
  if (!dict_entries(run, args, entries)) return Value::failure();
  Value out = Value::of(Kind::kNamespace);
  out.space = run.make<GrowingDict>();
  for (const Entry& entry : entries) {
    if (!entry.key.is_string()) return run.fail("names of a namespace must be text");
    if (entry.key.bytes().substr(0, 1) == "_") {
      return run.fail("attributes of a namespace must not start with an underscore");
    }
    if (!run.insert(*out.space, entry.key, entry.value)) return Value::failure();
  }
  return out;
}

Value raise_exception(Run& run, const Value&, std::span<const Value> args) {
  const Text* message = to_text(run, args[0]);
  if (message == nullptr) return Value::failure();
  return run.raise(message->bytes);
}

// strftime in UTC and the C locale, as the C library does it but for what Python answers itself:
// %f is the microseconds, %z and %Z are empty.
Value strftime_now(Run& run, const Value&, std::span<const Value> args) {
  constexpr std::size_t kMostResult = 16 << 10;
  if (!args[0].is_string()) return run.fail_type("a format of strftime_now()", args[0]);
  std::string format;
  const std::string_view given = args[0].bytes();
  if (given.size() > 1000) return run.fail("the format of strftime_now() is too long");
  // A directive of two bytes may take a microsecond, one of five write a thousand bytes.
  if (!run.charge(kMostResult / 16 + given.size() * 32)) return Value::failure();
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char next = given[i] == '%' && i + 1 < given.size() ? given[i + 1] : '\0';
    if (next == 'f' || next == 'z' || next == 'Z') {
      if (next == 'f') format += "000000";
      ++i;
    } else {
      format += given[i];
      if (next != '\0') format += given[++i];
    }
  }
  const std::time_t now = run.now_seconds();
  std::tm parts = {};
  gmtime_r(&now, &parts);
  const locale_t plain = newlocale(LC_ALL_MASK, "C", locale_t{});
  std::string out(kMostResult, '\0');
  out.resize(strftime_l(out.data(), out.size(), (format + ' ').c_str(), &parts, plain));
  if (plain != locale_t{}) freelocale(plain);
  if (!out.empty()) out.pop_back();  // the blank that tells an empty result from one too long
  return run.text_copy(out, args[0].text->trust == Trust::kAll);
}

Value cycler(Run& run, const Value&, const Arguments& args) {
  if (args.positional.empty()) return run.fail("cycler() needs at least one item");
  const Value items = run.list(args.positional);
  Value out = Value::of(Kind::kCycler);
  if (items.failed()) return items;
  out.cycler = run.make<Cycler>(items.list);
  return out;
}

Value joiner(Run& run, const Value&, std::span<const Value> args) {
  const Value separator = args[0].is_missing() ? run.text(", ", Trust::kAll) : args[0];
  const Text* text = separator.failed() ? nullptr : to_text(run, separator);
  if (text == nullptr) return Value::failure();
  Value out = Value::of(Kind::kJoiner);
  out.joiner = run.make<Joiner>(text);
  return out;
}

constexpr Builtin kGlobals[] = {
    {.name = "cycler", .call_open = cycler},
    {.name = "dict", .call_open = dict},
    {.name = "joiner", .params = "sep", .call = joiner},
    {.name = "namespace", .call_open = name_space},
    {.name = "raise_exception", .params = "message", .n_required = 1, .call = raise_exception},
    {.name = "range",
     .params = "start stop step",
     .n_required = 1,
     .call = range,
     .positional_only = true},
    {.name = "strftime_now", .params = "format", .n_required = 1, .call = strftime_now},
};

}  // namespace

const Builtin* find_in(std::span<const Builtin> table, std::string_view name) noexcept {
  const auto at = std::lower_bound(
      table.begin(), table.end(), name,
      [](const Builtin& row, std::string_view wanted) { return row.name < wanted; });
  return at != table.end() && at->name == name ? &*at : nullptr;
}

std::span<const Builtin> all_globals() noexcept {
  return kGlobals;
}

const Builtin* find_global(std::string_view name) noexcept {
  return find_in(kGlobals, name);
}

}  // namespace wick::jinja
