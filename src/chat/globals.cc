// The functions that every template may call.
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
    if (!arg.is_missing() && !arg.is_integral()) run.fail_type("an argument of range()", arg);
  }
  const bool one = args[1].is_missing();
  const std::int64_t start = one ? 0 : args[0].as_int();
  const std::int64_t stop = one ? args[0].as_int() : args[1].as_int();
  const std::int64_t step = args[2].is_missing() ? 1 : args[2].as_int();
  if (step == 0) run.fail("the step of range() cannot be zero");
  std::int64_t distance = 0;
  const bool backward = step < 0;
  const bool wide =
      __builtin_sub_overflow(backward ? start : stop, backward ? stop : start, &distance);
  const bool tainted = args[0].tainted || args[1].tainted || args[2].tainted;
  std::int64_t size = 0;
  if (distance > 0 || wide) {
    if (wide || step == INT64_MIN) run.fail("the range is too big");
    size = (distance - 1) / (backward ? -step : step) + 1;
  }
  if (size > kMaxRange) run.fail(cat("the range has ", size, " items, the limit is ", kMaxRange));
  return run.range({start, stop, step, size, tainted});
}

// dict(mapping or pairs, name=value …) as entries.
Vector<Entry> dict_entries(Run& run, const Arguments& args) {
  Vector<Entry> out(run.memory());
  if (args.positional.size() > 1) run.fail("dict takes at most one argument");
  if (!args.positional.empty()) {
    const Value& from = args.positional[0];
    if (from.is_undefined()) run.fail_undefined(from);
    if (from.kind == Kind::kDict) {
      run.charge(from.dict->size / 2);
      out.assign(from.dict->begin(), from.dict->end());
    } else {
      for (const Value& each : run.collect(from)) {
        const Vector<Value> pair = run.collect(each);
        if (pair.size() != 2) run.fail("dict needs pairs of key and value");
        out.push_back({pair[0], pair[1]});
      }
    }
  }
  run.charge(args.named.size());
  for (const NamedArgument& argument : args.named)
    out.push_back({name_of(run, argument), argument.value});
  return out;
}

Value dict(Run& run, const Value&, const Arguments& args) {
  return run.dict(dict_entries(run, args));
}

Value name_space(Run& run, const Value&, const Arguments& args) {
  GrowingDict* out = run.make<GrowingDict>();
  for (const Entry& entry : dict_entries(run, args)) {
    if (!entry.key.is_string()) run.fail("names of a namespace must be text");
    if (entry.key.bytes().starts_with('_')) {
      run.fail("attributes of a namespace must not start with an underscore");
    }
    run.insert(*out, entry.key, entry.value);
  }
  return Value::of(out);
}

Value raise_exception(Run& run, const Value&, std::span<const Value> args) {
  run.raise(to_text(run, args[0]).bytes);
}

// strftime in UTC and the C locale, as the C library does it but for what Python answers itself:
// %f is the microseconds, %z and %Z are empty.
Value strftime_now(Run& run, const Value&, std::span<const Value> args) {
  constexpr std::size_t kMostResult = 16 << 10;
  if (!args[0].is_string()) run.fail_type("a format of strftime_now()", args[0]);
  std::string format;
  const std::string_view given = args[0].bytes();
  if (given.size() > 1000) run.fail("the format of strftime_now() is too long");
  // A directive of two bytes may take a microsecond, one of five write a thousand bytes.
  run.charge(kMostResult / 16 + given.size() * 32);
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
  if (args.positional.empty()) run.fail("cycler() needs at least one item");
  return Value::of(run.make<Cycler>(run.list(args.positional).list));
}

Value joiner(Run& run, const Value&, std::span<const Value> args) {
  const Value separator = args[0].is_missing() ? run.text(", ", Trust::kAll) : args[0];
  return Value::of(run.make<Joiner>(&to_text(run, separator)));
}

constexpr Builtin kRows[] = {
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

const std::span<const Builtin> kGlobals = kRows;

}  // namespace wick::jinja
