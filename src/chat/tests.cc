// What may stand behind `is`.
#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/operators.h"
#include "chat/text_ops.h"

namespace wick::jinja {
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

template <bool upper>
Value is_in_case(Run& run, const Value& value, Args) {
  return Value::of(has_one_case(run, to_text(run, value).bytes, upper));
}

constexpr Builtin one(std::string_view name, Native call) {
  return {.name = name, .params = "other", .n_required = 1, .call = call};
}

constexpr Builtin kRows[] = {
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

const std::span<const Builtin> kTests = kRows;

}  // namespace wick::jinja
