#include "chat/operators.h"

#include <cmath>
#include <cstring>
#include <string>

#include "base/strings.h"
#include "chat/format.h"
#include "chat/limits.h"
#include "chat/text_ops.h"

namespace wick::jinja {
namespace {

int sign_of(int order) noexcept {
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// Exact for int against float, as Python is.
int order_numbers(const Value& a, const Value& b) noexcept {
  if (a.kind != Kind::kFloat && b.kind != Kind::kFloat) {
    return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int() ? 1 : 0;
  }
  if (a.kind == Kind::kFloat && b.kind == Kind::kFloat) {
    if (std::isnan(a.real) || std::isnan(b.real)) return 2;
    return a.real < b.real ? -1 : a.real > b.real ? 1 : 0;
  }
  if (b.kind != Kind::kFloat) {
    const int inverse = order_numbers(b, a);
    return inverse == 2 ? 2 : -inverse;
  }
  if (std::isnan(b.real)) return 2;
  if (b.real >= 0x1p63) return -1;
  if (b.real < -0x1p63) return 1;
  const double whole = std::floor(b.real);
  const auto integer = static_cast<std::int64_t>(whole);
  if (a.as_int() != integer) return a.as_int() < integer ? -1 : 1;
  return whole < b.real ? -1 : 0;
}

bool equal_dicts(Run& run, const Dict& a, const Dict& b) {
  if (a.size != b.size) return false;
  for (const Entry& entry : a) {
    const Entry* other = find(run, b, entry.key);
    if (other == nullptr || !equal(run, entry.value, other->value)) return false;
  }
  return true;
}

bool equal_lists(Run& run, const List& a, const List& b) {
  if (a.size != b.size) return false;
  for (std::size_t i = 0; i < a.size; ++i) {
    run.charge(1);
    if (!equal(run, a.items[i], b.items[i])) return false;
  }
  return true;
}

// The items of d.keys() or d.items() are a set to == and its kin.
bool is_set(const Value& value) noexcept {
  return value.kind == Kind::kView && value.view->kind != ViewKind::kValues;
}

bool is_subset(Run& run, const Value& a, const Value& b) {
  Iterator& all = run.iterate(a);
  Value each;
  while (all.next(run, each)) {
    if (!contains(run, b, each)) return false;
  }
  return true;
}

// 2: neither is part of the other.
int order_sets(Run& run, const Value& a, const Value& b) {
  const std::size_t n = a.view->dict->size, m = b.view->dict->size;
  if (n > m) return is_subset(run, b, a) ? 1 : 2;
  if (!is_subset(run, a, b)) return 2;
  return n < m ? -1 : 0;
}

bool has_order(const Value& a, const Value& b) noexcept {
  return (a.is_number() && b.is_number()) || (a.is_string() && b.is_string()) ||
         (a.is_sequence() && a.kind == b.kind) || (is_set(a) && is_set(b));
}

[[noreturn]] void overflow(Run& run) {
  run.fail("an integer leaves the range of 64 bits, which is all this interpreter knows");
}

[[noreturn]] void divide_by_zero(Run& run) {
  run.fail("division by zero");
}

[[noreturn]] void wrong_types(Run& run, std::string_view op, const Value& a, const Value& b) {
  if (a.is_undefined()) run.fail_undefined(a);
  if (op == "-" && (is_set(a) || is_set(b))) {
    run.fail("the difference of dict views is a set, which has no order and is not known");
  }
  if (b.is_undefined()) run.fail_undefined(b);
  run.fail(cat("the operator ", op, " does not take ", type_name(a), " and ", type_name(b)));
}

double floor_mod(double a, double b) noexcept {
  double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  if ((b < 0) != (rest < 0)) rest += b;
  return rest;
}

// Python's: floor((a − rest) / b), put right where the division rounded.
double floor_div(double a, double b) noexcept {
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

Value power_int(Run& run, std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow(run);
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) overflow(run);
  }
  return Value::of(result);
}

Value power_real(Run& run, double base, double exponent) {
  if (base == 0 && exponent < 0) run.fail("zero cannot be raised to a negative power");
  if (base < 0 && std::isfinite(exponent) && exponent != std::floor(exponent)) {
    run.fail("a negative number cannot be raised to a fraction");
  }
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) {
    run.fail("the result of ** is too large");
  }
  return Value::of(result);
}

Value int_arithmetic(Run& run, Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Op::kAdd:
      if (__builtin_add_overflow(a, b, &result)) overflow(run);
      return Value::of(result);
    case Op::kSub:
      if (__builtin_sub_overflow(a, b, &result)) overflow(run);
      return Value::of(result);
    case Op::kMul:
      if (__builtin_mul_overflow(a, b, &result)) overflow(run);
      return Value::of(result);
    case Op::kDiv:
      if (b == 0) divide_by_zero(run);
      return Value::of(static_cast<double>(a) / static_cast<double>(b));
    case Op::kFloorDiv:
    case Op::kMod: {
      if (b == 0) divide_by_zero(run);
      if (b == -1)
        return op == Op::kMod ? Value::of(std::int64_t{0}) : int_arithmetic(run, Op::kSub, 0, a);
      const std::int64_t rest = a % b;
      const bool below = rest != 0 && (rest < 0) != (b < 0);
      if (op == Op::kMod) return Value::of(below ? rest + b : rest);
      return Value::of(below ? a / b - 1 : a / b);
    }
    default:
      if (b >= 0) return power_int(run, a, b);
      return power_real(run, static_cast<double>(a), static_cast<double>(b));
  }
}

Value real_arithmetic(Run& run, Op op, double a, double b) {
  switch (op) {
    case Op::kAdd:
      return Value::of(a + b);
    case Op::kSub:
      return Value::of(a - b);
    case Op::kMul:
      return Value::of(a * b);
    case Op::kPow:
      return power_real(run, a, b);
    default:
      break;
  }
  if (b == 0) divide_by_zero(run);
  return Value::of(op == Op::kDiv ? a / b : op == Op::kMod ? floor_mod(a, b) : floor_div(a, b));
}

Value repeat(Run& run, const Value& what, std::int64_t times) {
  const bool is_string = what.is_string();
  const std::size_t size = is_string ? what.bytes().size() : what.list->size;
  const std::size_t n = times > 0 && size > 0 ? static_cast<std::size_t>(times) : 0;
  if (is_string) {
    TextBuilder out(run);
    if (what.text->trust != Trust::kMixed) {
      out.append_repeated(what.bytes(), n, what.text->trust == Trust::kAll);
    } else {
      run.need_room(n, size);
      out.reserve(n * size);
      for (std::size_t i = 0; i < n; ++i)
        out.append(*what.text);
    }
    return run.text(std::move(out), what.text->is_markup);
  }
  if (size > 0 && n > kMaxItems / size) run.fail_too_many_items();
  run.charge(1 + n + n * size / 4);
  Vector<Value> items(run.memory());
  items.reserve(n * size);
  for (std::size_t i = 0; i < n; ++i)
    items.insert(items.end(), what.list->begin(), what.list->end());
  return run.list(items, what.kind);
}

Value join_lists(Run& run, const Value& a, const Value& b) {
  run.charge(1 + (a.list->size + b.list->size) / 4);
  Vector<Value> items(run.memory());
  items.reserve(a.list->size + b.list->size);
  items.insert(items.end(), a.list->begin(), a.list->end());
  items.insert(items.end(), b.list->begin(), b.list->end());
  return run.list(items, a.kind);
}

constexpr std::string_view kSpellings[] = {
    "+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "in", "not in"};

std::string_view spelling(Op op) {
  return kSpellings[static_cast<std::size_t>(op)];
}

}  // namespace

bool is_true(Run& run, const Value& value) {
  switch (value.kind) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
      return value.truth;
    case Kind::kInt:
      return value.integer != 0;
    case Kind::kFloat:
      return value.real != 0;
    case Kind::kString:
      return !value.bytes().empty();
    default:
      return run.length(value) != 0;
  }
}

bool equal(Run& run, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return order_numbers(a, b) == 0;
  if (a.kind != b.kind) return false;
  if (a.is_string()) {
    run.charge(std::min(a.bytes().size(), b.bytes().size()), Rate::kCopy);
    return is_same(a.bytes(), b.bytes());
  }
  const DataLevel level(run);
  switch (a.kind) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kList:
    case Kind::kTuple:
      return equal_lists(run, *a.list, *b.list);
    case Kind::kDict:
      return equal_dicts(run, *a.dict, *b.dict);
    case Kind::kRange:
      return a.range->size == b.range->size &&
             (a.range->size == 0 || (a.range->start == b.range->start &&
                                     (a.range->size == 1 || a.range->step == b.range->step)));
    case Kind::kView:
      if (is_set(a) && is_set(b)) {
        return a.view->dict->size == b.view->dict->size && is_subset(run, a, b);
      }
      return a.view == b.view;
    default:
      return a.undefined == b.undefined;  // the same object
  }
}

int order(Run& run, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return order_numbers(a, b);
  if (a.is_string() && b.is_string()) {
    run.charge(std::min(a.bytes().size(), b.bytes().size()), Rate::kCopy);
    return sign_of(a.bytes().compare(b.bytes()));  // UTF-8 sorts as its characters do
  }
  const DataLevel level(run);
  if (!has_order(a, b)) wrong_types(run, "<", a, b);
  if (is_set(a)) return order_sets(run, a, b);
  const std::size_t n = std::min(a.list->size, b.list->size);
  for (std::size_t i = 0; i < n; ++i) {
    run.charge(1);
    if (!equal(run, a.list->items[i], b.list->items[i])) {
      return order(run, a.list->items[i], b.list->items[i]);
    }
  }
  return a.list->size < b.list->size ? -1 : a.list->size > b.list->size ? 1 : 0;
}

bool contains(Run& run, const Value& container, const Value& item) {
  if (container.is_string()) {
    if (!item.is_string()) wrong_types(run, "in", item, container);
    return find_forward(run, container.bytes(), item.bytes(), 0) != std::string_view::npos;
  }
  const bool is_keys = container.kind == Kind::kView && container.view->kind == ViewKind::kKeys;
  if (container.kind == Kind::kDict || is_keys) {
    return find(run, is_keys ? *container.view->dict : *container.dict, item) != nullptr;
  }
  if (is_set(container)) {
    if (item.kind != Kind::kTuple || item.list->size != 2) return false;
    const Entry* entry = find(run, *container.view->dict, item.list->items[0]);
    return entry != nullptr && equal(run, entry->value, item.list->items[1]);
  }
  Iterator& all = run.iterate(container);
  Value each;
  while (all.next(run, each)) {
    if (equal(run, each, item)) return true;
  }
  return false;
}

Value compare(Run& run, Op op, const Value& a, const Value& b) {
  if (op == Op::kEq || op == Op::kNe) return Value::of(equal(run, a, b) == (op == Op::kEq));
  if (op == Op::kIn || op == Op::kNotIn) return Value::of(contains(run, b, a) == (op == Op::kIn));
  if (!has_order(a, b)) wrong_types(run, spelling(op), a, b);
  const int way = order(run, a, b);
  switch (op) {
    case Op::kLt:
      return Value::of(way == -1);
    case Op::kLe:
      return Value::of(way == -1 || way == 0);
    case Op::kGt:
      return Value::of(way == 1);
    default:
      return Value::of(way == 1 || way == 0);
  }
}

Value arithmetic(Run& run, Op op, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    const Value result = a.kind == Kind::kFloat || b.kind == Kind::kFloat
                             ? real_arithmetic(run, op, a.as_real(), b.as_real())
                             : int_arithmetic(run, op, a.as_int(), b.as_int());
    return result.with_taint(a.tainted || b.tainted);
  }
  if (op == Op::kAdd) {
    if (a.is_string() && b.is_string()) return concat(run, *a.text, *b.text);
    if (a.is_sequence() && a.kind == b.kind) return join_lists(run, a, b);
  }
  if (op == Op::kMul) {
    if ((a.is_string() || a.is_sequence()) && b.is_integral()) return repeat(run, a, b.as_int());
    if ((b.is_string() || b.is_sequence()) && a.is_integral()) return repeat(run, b, a.as_int());
  }
  if (op == Op::kMod && a.is_string()) return percent_format(run, *a.text, b);
  wrong_types(run, spelling(op), a, b);
}

Value negative(Run& run, const Value& value, bool negate) {
  if (value.kind == Kind::kFloat)
    return negate ? Value::of(-value.real).with_taint(value.tainted) : value;
  if (!value.is_integral()) run.fail_type(negate ? "negated" : "taken as a number", value);
  const Value zero = Value::of(std::int64_t{0});
  return arithmetic(run, negate ? Op::kSub : Op::kAdd, zero, value);
}

Value concat(Run& run, const Text& a, const Text& b) {
  if (a.is_markup != b.is_markup) {
    const Value safe_a = escape(run, Value::of(&a)), safe_b = escape(run, Value::of(&b));
    return concat(run, *safe_a.text, *safe_b.text);
  }
  return run.joined(a, b, a.is_markup);
}

}  // namespace wick::jinja
