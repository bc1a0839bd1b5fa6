#include "chat/builtin.h"

#include <locale.h>

#include <algorithm>
#include <ctime>

#include "base/strings.h"
#include "chat/limits.h"
#include "chat/objects.h"
#include "chat/operators.h"
#include "chat/text_ops.h"

namespace wick::jinja {
namespace {

// The place of parameter `name` in "width first blank", −1 if there is none of that name.
int parameter(std::string_view params, std::string_view name) noexcept {
  for (int i = 0; !params.empty(); ++i) {
    const std::size_t end = std::min(params.find(' '), params.size());
    if (params.substr(0, end) == name) return i;
    params.remove_prefix(std::min(end + 1, params.size()));
  }
  return -1;
}

std::size_t n_params(const Builtin& builtin) noexcept {
  if (builtin.params.empty()) return 0;
  return static_cast<std::size_t>(std::count(builtin.params.begin(), builtin.params.end(), ' ')) +
         1;
}

}  // namespace

const Value* Arguments::find(Run& run, std::string_view name) const {
  run.charge(1 + named.size() / 4);
  for (const NamedArgument& argument : named) {
    if (argument.name == name) return &argument.value;
  }
  return nullptr;
}

Value name_of(Run& run, const NamedArgument& argument) {
  return argument.key != nullptr ? Value::of(argument.key) : run.text(argument.name, Trust::kAll);
}

Value method_of(Run& run, const Builtin* method, const Value& self) {
  if (method == nullptr) return {};
  return Value::of(run.make<const Callable>(method, nullptr, nullptr, self));
}

Value call_builtin(Run& run, const Builtin& builtin, const Value& self, const Arguments& args) {
  run.charge(2);
  if (builtin.call_open != nullptr) return builtin.call_open(run, self, args);
  Value bound[kMaxParams];
  const std::size_t n = n_params(builtin);
  if (args.positional.size() > n) {
    run.fail(cat("'", builtin.name, "' takes at most ", n, " arguments, it got ",
                 args.positional.size()));
  }
  std::copy(args.positional.begin(), args.positional.end(), bound);
  for (const auto& [name, value, key] : args.named) {
    const int at = builtin.positional_only ? -1 : parameter(builtin.params, name);
    if (at < 0) {
      run.fail(cat("'", builtin.name, "' takes no argument named '", printable(name, 60), "'"));
    }
    if (!bound[at].is_missing()) {
      run.fail(cat("'", builtin.name, "' got the argument '", name, "' twice"));
    }
    bound[at] = value;
  }
  for (int i = 0; i < builtin.n_required; ++i) {
    if (bound[i].is_missing()) {
      run.fail(cat("'", builtin.name, "' needs ", builtin.n_required, " arguments"));
    }
  }
  return builtin.call(run, self, {bound, n});
}

// --- Finding and reading ------------------------------------------------------------------------

std::int64_t take_int(Run& run, const Value& arg, std::string_view what, std::int64_t otherwise) {
  if (arg.is_missing()) return otherwise;
  if (!arg.is_integral()) run.fail_type(cat("given as ", what), arg);
  return arg.as_int();
}

bool take_bool(Run& run, const Value& arg) {
  return !arg.is_missing() && is_true(run, arg);
}

bool take_flag(Run& run, const Value& arg) {
  return take_int(run, arg, "a direction", 0) != 0;
}

const Text* take_text(Run& run, const Value& arg, std::string_view what, const Text* otherwise) {
  if (arg.is_missing()) return otherwise;
  if (!arg.is_string()) run.fail_type(cat("given as ", what), arg);
  return arg.text;
}

Value ignore_case(Run& run, const Value& value) {
  return value.is_string() ? change_case(run, *value.text, Case::kLower) : value;
}

AttributePath::AttributePath(Run& run, const Value& attribute) {
  if (attribute.is_missing() || attribute.is_none()) return;
  if (!attribute.is_string()) {
    parts_ = run.keep(std::span(&attribute, 1));
    return;
  }
  const std::string_view path = attribute.bytes();
  Vector<Value> parts(run.memory());
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('.', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    const bool is_number =
        !part.empty() && part.size() < 18 &&
        std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    parts.push_back(is_number ? Value::of(static_cast<std::int64_t>(std::stoll(std::string(part))))
                              : run.cut(*attribute.text, at, end));
    run.charge(2 + part.size() / 16);
    at = end + 1;
  }
  parts_ = run.keep(std::span<const Value>(parts));
}

Value AttributePath::get(Run& run, const Value& item, const Value& otherwise) const {
  Value at = item;
  for (const Value& part : parts_) {
    at = get_item(run, at, part);
    if (at.is_undefined() && !otherwise.is_missing() && !otherwise.is_none()) at = otherwise;
  }
  return at;
}

const Builtin* find_in(std::span<const Builtin> table, std::string_view name) noexcept {
  const auto at = std::lower_bound(
      table.begin(), table.end(), name,
      [](const Builtin& row, std::string_view wanted) { return row.name < wanted; });
  return at != table.end() && at->name == name ? &*at : nullptr;
}

const Builtin* find_filter(std::string_view name) noexcept {
  for (const std::span<const Builtin>* table : kFilterTables) {
    if (const Builtin* row = find_in(*table, name)) return row;
  }
  return nullptr;
}

bool is_unbuilt_filter(std::string_view name) noexcept {
  constexpr std::string_view kUnbuilt[] = {"pprint", "random", "urlize", "wordwrap", "xmlattr"};
  return std::find(std::begin(kUnbuilt), std::end(kUnbuilt), name) != std::end(kUnbuilt);
}

// What may stand behind `is`.

namespace {

Value remainder_is(Run& run, const Value& value, const Value& by, std::int64_t wanted) {
  return Value::of(equal(run, arithmetic(run, Op::kMod, value, by), Value::of(wanted)));
}

template <std::int64_t wanted>
Value is_mod_2(Run& run, const Value& value, Args) {
  return remainder_is(run, value, Value::of(std::int64_t{2}), wanted);
}

Value divisible_by(Run& run, const Value& value, Args args) {
  return remainder_is(run, value, args[0], 0);
}

template <Op op>
Value comparison(Run& run, const Value& value, Args args) {
  return compare(run, op, value, args[0]);
}

template <Kind kind>
Value is_kind(Run&, const Value& value, Args) {
  return Value::of(value.kind == kind);
}

Value defined(Run&, const Value& value, Args) {
  return Value::of(!value.is_undefined());
}

template <bool truth>
Value is_truth(Run&, const Value& value, Args) {
  return Value::of(value.kind == Kind::kBool && value.truth == truth);
}

Value number(Run&, const Value& value, Args) {
  return Value::of(value.is_number());
}

Value sequence(Run&, const Value& value, Args) {
  return Value::of(value.is_string() || value.is_sequence() || value.kind == Kind::kDict ||
                   value.kind == Kind::kRange || value.is_undefined());
}

Value iterable(Run&, const Value& value, Args) {
  const bool is_object = value.kind == Kind::kNamespace || value.kind == Kind::kCallable ||
                         value.kind == Kind::kCycler || value.kind == Kind::kJoiner;
  return Value::of(!is_object && !value.is_missing() && !value.is_none() && !value.is_number());
}

Value callable(Run&, const Value& value, Args) {
  return Value::of(value.kind == Kind::kCallable || value.kind == Kind::kLoop ||
                   value.kind == Kind::kJoiner || value.kind == Kind::kUndefined);
}

Value same_as(Run& run, const Value& value, Args args) {
  const Value& other = args[0];
  if (value.kind != other.kind) return Value::of(false);
  if (value.is_number() || value.is_string()) return Value::of(equal(run, value, other));
  return Value::of(value.is_none() || value.undefined == other.undefined);
}

Value escaped(Run&, const Value& value, Args) {
  return Value::of(value.is_string() && value.text->is_markup);
}

// Whether a row has that name; what is no text names none, and what cannot be looked up is an
// error.
template <class Find>
Value is_name(Run& run, const Value& value, const Find& find_row) {
  if (!value.is_string()) hash_of(run, value);
  return Value::of(value.is_string() && find_row(value.bytes()) != nullptr);
}

Value is_a_filter(Run& run, const Value& value, Args) {
  return is_name(run, value, find_filter);
}

Value is_a_test(Run& run, const Value& value, Args) {
  return is_name(run, value, [](std::string_view name) { return find_in(kTests, name); });
}

constexpr Builtin one(std::string_view name, Native call) {
  return {.name = name, .params = "other", .n_required = 1, .call = call};
}

constexpr Builtin kTestRows[] = {
    one("!=", comparison<Op::kNe>),
    one("<", comparison<Op::kLt>),
    one("<=", comparison<Op::kLe>),
    one("==", comparison<Op::kEq>),
    one(">", comparison<Op::kGt>),
    one(">=", comparison<Op::kGe>),
    {.name = "boolean", .call = is_kind<Kind::kBool>},
    {.name = "callable", .call = callable},
    {.name = "defined", .call = defined},
    {.name = "divisibleby", .params = "num", .n_required = 1, .call = divisible_by},
    one("eq", comparison<Op::kEq>),
    one("equalto", comparison<Op::kEq>),
    {.name = "escaped", .call = escaped},
    {.name = "even", .call = is_mod_2<0>},
    {.name = "false", .call = is_truth<false>},
    {.name = "filter", .call = is_a_filter},
    {.name = "float", .call = is_kind<Kind::kFloat>},
    one("ge", comparison<Op::kGe>),
    one("greaterthan", comparison<Op::kGt>),
    one("gt", comparison<Op::kGt>),
    {.name = "in", .params = "seq", .n_required = 1, .call = comparison<Op::kIn>},
    {.name = "integer", .call = is_kind<Kind::kInt>},
    {.name = "iterable", .call = iterable},
    one("le", comparison<Op::kLe>),
    one("lessthan", comparison<Op::kLt>),
    {.name = "lower", .call = is_in_case<false>},
    one("lt", comparison<Op::kLt>),
    {.name = "mapping", .call = is_kind<Kind::kDict>},
    one("ne", comparison<Op::kNe>),
    {.name = "none", .call = is_kind<Kind::kNone>},
    {.name = "number", .call = number},
    {.name = "odd", .call = is_mod_2<1>},
    {.name = "sameas", .params = "other", .n_required = 1, .call = same_as},
    {.name = "sequence", .call = sequence},
    {.name = "string", .call = is_kind<Kind::kString>},
    {.name = "test", .call = is_a_test},
    {.name = "true", .call = is_truth<true>},
    {.name = "undefined", .call = is_kind<Kind::kUndefined>},
    {.name = "upper", .call = is_in_case<true>},
};

}  // namespace

const std::span<const Builtin> kTests = kTestRows;

// The functions that every template may call.

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

constexpr Builtin kGlobalRows[] = {
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

const std::span<const Builtin> kGlobals = kGlobalRows;

}  // namespace wick::jinja
