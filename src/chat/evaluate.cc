#include "base/strings.h"
#include "chat/interpreter.h"
#include "chat/limits.h"
#include "chat/operators.h"

namespace wick::jinja {

Value Interpreter::fail_at(const Expr& expr, std::string_view what) {
  run_.fail(what);
  note_place(expr.at);
  return Value::failure();
}

Value Interpreter::eval(const Expr& expr, Frame& frame) {
  // What cannot fail or go deeper, which is half of all.
  if (expr.constant != nullptr && run_.charge(1)) return Value::of(expr.constant);
  if (expr.kind == ExprKind::kName && run_.charge(1 + static_cast<std::size_t>(expr.ref.hops))) {
    const Value& value = slot(expr.ref, frame);
    if (!value.is_missing()) return value;
  }
  if (run_.is_too_deep()) return Value::failure();
  if (!run_.charge(1)) return Value::failure();
  ++run_.depth;
  const Value value = eval_kind(expr, frame);
  --run_.depth;
  if (!run_.failed()) return value;
  note_place(expr.at);
  return Value::failure();
}

Value Interpreter::eval_kind(const Expr& expr, Frame& frame) {
  switch (expr.kind) {
    case ExprKind::kNone:
      return Value::none();
    case ExprKind::kTrue:
      return Value::of(true);
    case ExprKind::kFalse:
      return Value::of(false);
    case ExprKind::kInteger:
      return Value::of(expr.integer);
    case ExprKind::kFloat:
      return Value::of(expr.real);
    case ExprKind::kString:
    case ExprKind::kData:
      return Value::of(expr.constant);
    case ExprKind::kName:
    case ExprKind::kNsAttr:
      return eval_name(expr, frame);
    case ExprKind::kTuple:
      return eval_items(expr, frame, Kind::kTuple);
    case ExprKind::kList:
      return eval_items(expr, frame, Kind::kList);
    case ExprKind::kDict:
      return eval_dict(expr, frame);
    case ExprKind::kGetAttr:
      return eval_get_attr(expr, frame);
    case ExprKind::kGetItem:
      return eval_get_item(expr, frame);
    case ExprKind::kSlice:
      return fail_at(expr, "a slice stands outside of a subscript");
    case ExprKind::kCall:
      return eval_call(expr, frame, nullptr);
    case ExprKind::kFilter:
      return eval_filter(expr, nullptr, frame);
    case ExprKind::kTest:
      return eval_test(expr, frame);
    case ExprKind::kNot: {
      const Value value = eval(*expr.items[0], frame);
      return value.failed() ? value : Value::of(!is_true(run_, value));
    }
    case ExprKind::kNegative:
    case ExprKind::kPositive: {
      const Value value = eval(*expr.items[0], frame);
      return value.failed() ? value : negative(run_, value, expr.kind == ExprKind::kNegative);
    }
    case ExprKind::kBinary: {
      const Value left = eval(*expr.items[0], frame);
      if (left.failed()) return left;
      const Value right = eval(*expr.items[1], frame);
      return right.failed() ? right : arithmetic(run_, expr.op, left, right);
    }
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      const Value left = eval(*expr.items[0], frame);
      if (left.failed() || is_true(run_, left) == (expr.kind == ExprKind::kOr)) return left;
      return eval(*expr.items[1], frame);
    }
    case ExprKind::kCompare:
      return eval_compare(expr, frame);
    case ExprKind::kConcat:
      return eval_concat(expr, frame);
    case ExprKind::kCondition:
      return eval_condition(expr, frame);
  }
  return Value::failure();
}

Value Interpreter::eval_get_attr(const Expr& expr, Frame& frame) {
  const Value object = eval(*expr.items[0], frame);
  if (object.kind == Kind::kDict && expr.key != nullptr) {
    return get_key(run_, *object.dict, *expr.key);
  }
  return object.failed() ? object : get_attribute(run_, object, expr.attr);
}

Value Interpreter::eval_name(const Expr& expr, Frame& frame) {
  const Value& value = slot(expr.ref, frame);
  return value.is_missing() ? run_.undefined_name(expr.text) : value;
}

Value Interpreter::eval_items(const Expr& expr, Frame& frame, Kind kind) {
  Vector<Value> items(run_.memory());
  items.reserve(expr.items.size());
  for (const Expr* item : expr.items) {
    items.push_back(eval(*item, frame));
    if (items.back().failed()) return Value::failure();
  }
  return run_.list(items, kind);
}

Value Interpreter::eval_dict(const Expr& expr, Frame& frame) {
  Vector<Entry> entries(run_.memory());
  entries.reserve(expr.items.size() / 2);
  for (std::size_t i = 0; i < expr.items.size(); i += 2) {
    const Value key = eval(*expr.items[i], frame);
    const Value value = key.failed() ? key : eval(*expr.items[i + 1], frame);
    if (value.failed()) return value;
    entries.push_back({key, value});
  }
  return run_.dict(entries);
}

Value Interpreter::eval_get_item(const Expr& expr, Frame& frame) {
  const Value object = eval(*expr.items[0], frame);
  if (object.failed()) return object;
  if (object.kind == Kind::kDict && expr.key != nullptr) {
    return get_key(run_, *object.dict, *expr.key);
  }
  const Expr& key = *expr.items[1];
  if (key.kind != ExprKind::kSlice) {
    const Value value = eval(key, frame);
    return value.failed() ? value : get_item(run_, object, value);
  }
  Value bounds[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (key.items[i] == nullptr) continue;
    bounds[i] = eval(*key.items[i], frame);
    if (bounds[i].failed()) return Value::failure();
  }
  return get_slice(run_, object, bounds[0], bounds[1], bounds[2]);
}

Value Interpreter::eval_compare(const Expr& expr, Frame& frame) {
  Value left = eval(*expr.items[0], frame);
  Value result = left;
  for (std::size_t i = 0; i < expr.ops.size() && !left.failed(); ++i) {
    const Value right = eval(*expr.items[i + 1], frame);
    if (right.failed()) return right;
    result = compare(run_, expr.ops[i], left, right);
    if (result.failed() || !is_true(run_, result)) return result;
    left = right;
  }
  return result;
}

Value Interpreter::eval_concat(const Expr& expr, Frame& frame) {
  BorrowedText out(spare_texts_);
  const Value first = eval(*expr.items[0], frame);
  const bool is_long = first.is_string() && first.bytes().size() >= GrowingTexts::kLeast;
  if (first.failed() || (!is_long && !append_text(run_, *out, first))) return Value::failure();
  for (std::size_t i = 1; i < expr.items.size(); ++i) {
    const Value value = eval(*expr.items[i], frame);
    if (value.failed() || !append_text(run_, *out, value)) return Value::failure();
  }
  return is_long ? run_.joined(*first.text, out->view(), false) : run_.text(std::move(*out));
}

Value Interpreter::eval_condition(const Expr& expr, Frame& frame) {
  const Value test = eval(*expr.items[0], frame);
  if (test.failed()) return test;
  if (is_true(run_, test)) return eval(*expr.items[1], frame);
  if (expr.items[2] != nullptr) return eval(*expr.items[2], frame);
  return run_.undefined("an inline if without else was false");
}

// `captured` is the text that the innermost filter of a filter block works on.
Value Interpreter::eval_filter(const Expr& expr, const Value* captured, Frame& frame) {
  const Expr* below = expr.items[0];
  Value value;
  if (below == nullptr) {
    value = *captured;
  } else if (captured != nullptr) {
    value = eval_filter(*below, captured, frame);
  } else {
    value = eval(*below, frame);
  }
  if (value.failed()) return value;
  BorrowedArguments args(spare_arguments_);
  if (!eval_arguments(expr.args, frame, *args)) return Value::failure();
  if (expr.builtin == nullptr) return fail_at(expr, cat("no filter named '", expr.attr, "'"));
  return call_builtin(run_, *expr.builtin, value, args->view());
}

Value Interpreter::eval_test(const Expr& expr, Frame& frame) {
  const Value value = eval(*expr.items[0], frame);
  if (value.failed()) return value;
  BorrowedArguments args(spare_arguments_);
  if (!eval_arguments(expr.args, frame, *args)) return Value::failure();
  if (expr.builtin == nullptr) return fail_at(expr, cat("no test named '", expr.attr, "'"));
  return call_builtin(run_, *expr.builtin, value, args->view());
}

Value Interpreter::eval_call(const Expr& expr, Frame& frame, const Value* caller) {
  const Value callee = eval(*expr.items[0], frame);
  if (callee.failed()) return callee;
  BorrowedArguments args(spare_arguments_);
  if (!eval_arguments(expr.args, frame, *args)) return Value::failure();
  if (caller != nullptr) args->named.push_back({"caller", *caller});
  return call(callee, args->view());
}

bool Interpreter::eval_arguments(const CallArguments& args, Frame& frame, ArgumentBuffer& out) {
  for (const Expr* arg : args.positional) {
    out.positional.push_back(eval(*arg, frame));
    if (out.positional.back().failed()) return false;
  }
  for (const auto& [name, arg] : args.named) {
    out.named.push_back({name, eval(*arg, frame)});
    if (out.named.back().value.failed()) return false;
  }
  if (args.star != nullptr) {
    const Value value = eval(*args.star, frame);
    Vector<Value> more(run_.memory());
    if (value.failed() || !run_.collect(value, more)) return false;
    out.positional.insert(out.positional.end(), more.begin(), more.end());
  }
  if (args.star_star == nullptr) return true;
  const Value value = eval(*args.star_star, frame);
  if (value.failed()) return false;
  if (value.kind != Kind::kDict) return !run_.fail_type("given as **arguments", value).failed();
  const std::size_t n_written = out.named.size();  // a dict's keys differ from each other
  for (const Entry& entry : *value.dict) {
    if (!entry.key.is_string()) return !run_.fail("names of arguments must be text").failed();
    if (!run_.charge(1 + n_written / 4)) return false;
    for (std::size_t i = 0; i < n_written; ++i) {
      if (out.named[i].name == entry.key.bytes())
        return !run_.fail("an argument is given twice").failed();
    }
    out.named.push_back({entry.key.bytes(), entry.value, entry.key.text});
  }
  return true;
}

}  // namespace wick::jinja
