// What may stand behind `is`.
#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/operators.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

using Args = std::span<const Value>;

Value remainder_is(Run& run, const Value& value, const Value& by, std::int64_t wanted) {
  const Value rest = arithmetic(run, Op::kMod, value, by);
  return rest.failed() ? rest : Value::of(equal(run, rest, Value::of(wanted)));
}

Value odd(Run& run, const Value& value, Args) {
  return remainder_is(run, value, Value::of(std::int64_t{2}), 1);
}

Value even(Run& run, const Value& value, Args) {
  return remainder_is(run, value, Value::of(std::int64_t{2}), 0);
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

Value is_false(Run&, const Value& value, Args) {
  return Value::of(value.kind == Kind::kBool && !value.truth);
}

Value is_yes(Run&, const Value& value, Args) {
  return Value::of(value.kind == Kind::kBool && value.truth);
}

Value number(Run&, const Value& value, Args) {
  return Value::of(value.is_number());
}

Value sequence(Run&, const Value& value, Args) {
  return Value::of(value.is_string() || value.is_sequence() || value.kind == Kind::kDict ||
                 value.kind == Kind::kRange || value.is_undefined());
}

Value iterable(Run&, const Value& value, Args) {
  switch (value.kind) {
    case Kind::kUndefined:
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kView:
    case Kind::kRange:
    case Kind::kIterator:
    case Kind::kLoop:
      return Value::of(true);
    default:
      return Value::of(false);
  }
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

Value in(Run& run, const Value& value, Args args) {
  return compare(run, Op::kIn, value, args[0]);
}

// The name of a row; what is no text names none, and what cannot be looked up is an error.
Value is_name(Run& run, const Value& value, const Builtin* (*find_row)(std::string_view) noexcept) {
  std::size_t ignored = 0;
  if (!value.is_string() && !hash_of(run, value, ignored)) return Value::failure();
  return Value::of(value.is_string() && find_row(value.bytes()) != nullptr);
}

Value is_a_filter(Run& run, const Value& value, Args) {
  return is_name(run, value, find_filter);
}

Value is_a_test(Run& run, const Value& value, Args) {
  return is_name(run, value, find_test);
}

// str.islower and str.isupper: a cased character, and none of the other case.
Value has_case(Run& run, const Value& value, bool upper) {
  const Text* text = to_text(run, value);
  if (text == nullptr) return Value::failure();
  bool cased = false;
  in_slices(run, text->bytes, Rate::kTables, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end;) {
      const CodePoint c = code_point(text->bytes, at);
      const bool is_other = is_title(c.value) || (upper ? is_lower(c.value) : is_upper(c.value));
      if (is_other) return cased = false;
      cased = cased || (upper ? is_upper(c.value) : is_lower(c.value));
      at += c.size;
    }
    return true;
  });
  return run.failed() ? Value::failure() : Value::of(cased);
}

Value lower(Run& run, const Value& value, Args) {
  return has_case(run, value, false);
}

Value upper(Run& run, const Value& value, Args) {
  return has_case(run, value, true);
}

constexpr Builtin one(std::string_view name, Native call) {
  return {.name = name, .params = "other", .n_required = 1, .call = call};
}

constexpr Builtin kTests[] = {
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
    {.name = "even", .call = even},
    {.name = "false", .call = is_false},
    {.name = "filter", .call = is_a_filter},
    {.name = "float", .call = is_kind<Kind::kFloat>},
    one("ge", comparison<Op::kGe>),
    one("greaterthan", comparison<Op::kGt>),
    one("gt", comparison<Op::kGt>),
    {.name = "in", .params = "seq", .n_required = 1, .call = in},
    {.name = "integer", .call = is_kind<Kind::kInt>},
    {.name = "iterable", .call = iterable},
    one("le", comparison<Op::kLe>),
    one("lessthan", comparison<Op::kLt>),
    {.name = "lower", .call = lower},
    one("lt", comparison<Op::kLt>),
    {.name = "mapping", .call = is_kind<Kind::kDict>},
    one("ne", comparison<Op::kNe>),
    {.name = "none", .call = is_kind<Kind::kNone>},
    {.name = "number", .call = number},
    {.name = "odd", .call = odd},
    {.name = "sameas", .params = "other", .n_required = 1, .call = same_as},
    {.name = "sequence", .call = sequence},
    {.name = "string", .call = is_kind<Kind::kString>},
    {.name = "test", .call = is_a_test},
    {.name = "true", .call = is_yes},
    {.name = "undefined", .call = is_kind<Kind::kUndefined>},
    {.name = "upper", .call = upper},
};

}  // namespace

std::span<const Builtin> all_tests() noexcept {
  return kTests;
}

const Builtin* find_test(std::string_view name) noexcept {
  return find_in(kTests, name);
}

}  // namespace wick::jinja
