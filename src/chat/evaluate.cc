// Expressions and calls.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "chat/interpreter.h"
#include "chat/limits.h"
#include "chat/operators.h"

namespace wick::jinja {

void Interpreter::fail_at(const Expr& expr, std::string_view what) {
  at_ = expr.at;
  run_.fail(what);
}

Value Interpreter::eval(const Expr& expr, Frame& frame) {
  const std::uint32_t around = std::exchange(at_, expr.at);
  Value value;
  run_.charge(1);
  // What cannot fail or go deeper, which is half of all.
  if (expr.constant != nullptr) {
    value = Value::of(expr.constant);
  } else if (expr.kind == ExprKind::kName) {
    value = eval_name(expr, frame);
  } else {
    run_.check_depth();
    ++run_.depth;
    value = eval_kind(expr, frame);
    --run_.depth;
  }
  at_ = around;
  return value;
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
    case ExprKind::kGetItem:
      return eval_get(expr, frame);
    case ExprKind::kSlice:
      fail_at(expr, "a slice stands outside of a subscript");
    case ExprKind::kCall:
      return eval_call(expr, frame, nullptr);
    case ExprKind::kFilter:
    case ExprKind::kTest:
      return eval_filter(expr, nullptr, frame);
    case ExprKind::kNot:
      return Value::of(!is_true(run_, eval(*expr.items[0], frame)));
    case ExprKind::kNegative:
    case ExprKind::kPositive:
      return negative(run_, eval(*expr.items[0], frame), expr.kind == ExprKind::kNegative);
    case ExprKind::kBinary: {
      const Value left = eval(*expr.items[0], frame);
      return arithmetic(run_, expr.op, left, eval(*expr.items[1], frame));
    }
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      const Value left = eval(*expr.items[0], frame);
      if (is_true(run_, left) == (expr.kind == ExprKind::kOr)) return left;
      return eval(*expr.items[1], frame);
    }
    case ExprKind::kCompare:
      return eval_compare(expr, frame);
    case ExprKind::kConcat:
      return eval_concat(expr, frame);
    case ExprKind::kCondition:
      return eval_condition(expr, frame);
  }
  return {};
}

Value Interpreter::eval_name(const Expr& expr, Frame& frame) {
  run_.charge(static_cast<std::size_t>(expr.ref.hops));
  const Value& value = slot(expr.ref, frame);
  return value.is_missing() ? run_.undefined(Undefined{.name = expr.text}) : value;
}

Value Interpreter::eval_items(const Expr& expr, Frame& frame, Kind kind) {
  Vector<Value> items(run_.memory());
  items.reserve(expr.items.size());
  for (const Expr* item : expr.items)
    items.push_back(eval(*item, frame));
  return run_.list(items, kind);
}

Value Interpreter::eval_dict(const Expr& expr, Frame& frame) {
  Vector<Entry> entries(run_.memory());
  entries.reserve(expr.items.size() / 2);
  for (std::size_t i = 0; i < expr.items.size(); i += 2) {
    const Value key = eval(*expr.items[i], frame);
    entries.push_back({key, eval(*expr.items[i + 1], frame)});
  }
  return run_.dict(entries);
}

Value Interpreter::eval_get(const Expr& expr, Frame& frame) {
  const Value object = eval(*expr.items[0], frame);
  if (object.kind == Kind::kDict && expr.key != nullptr) {
    return get_key(run_, *object.dict, *expr.key);
  }
  if (expr.kind == ExprKind::kGetAttr) return get_attribute(run_, object, expr.attr);
  const Expr& key = *expr.items[1];
  if (key.kind != ExprKind::kSlice) return get_item(run_, object, eval(key, frame));
  Value bounds[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (key.items[i] != nullptr) bounds[i] = eval(*key.items[i], frame);
  }
  return get_slice(run_, object, bounds[0], bounds[1], bounds[2]);
}

Value Interpreter::eval_compare(const Expr& expr, Frame& frame) {
  Value left = eval(*expr.items[0], frame);
  Value result = left;
  for (std::size_t i = 0; i < expr.ops.size(); ++i) {
    const Value right = eval(*expr.items[i + 1], frame);
    result = compare(run_, expr.ops[i], left, right);
    if (!is_true(run_, result)) return result;
    left = right;
  }
  return result;
}

Value Interpreter::eval_concat(const Expr& expr, Frame& frame) {
  BorrowedText out(spare_texts_);
  const Value first = eval(*expr.items[0], frame);
  const bool is_long = first.is_string() && first.bytes().size() >= GrowingTexts::kLeast;
  if (!is_long) append_text(run_, *out, first);
  for (std::size_t i = 1; i < expr.items.size(); ++i)
    append_text(run_, *out, eval(*expr.items[i], frame));
  return is_long ? run_.joined(*first.text, out->view(), false) : run_.text(std::move(*out));
}

Value Interpreter::eval_condition(const Expr& expr, Frame& frame) {
  if (is_true(run_, eval(*expr.items[0], frame))) return eval(*expr.items[1], frame);
  if (expr.items[2] != nullptr) return eval(*expr.items[2], frame);
  return run_.undefined("an inline if without else was false");
}

// A filter or test. `captured` is the text that the innermost filter of a filter block works on.
Value Interpreter::eval_filter(const Expr& expr, const Value* captured, Frame& frame) {
  const Expr* below = expr.items[0];
  const Value value = below == nullptr      ? *captured
                      : captured != nullptr ? eval_filter(*below, captured, frame)
                                            : eval(*below, frame);
  BorrowedArguments args(spare_arguments_);
  eval_arguments(expr.args, frame, *args);
  if (expr.builtin == nullptr) {
    const char* const what = expr.kind == ExprKind::kTest ? "test" : "filter";
    fail_at(expr, cat("no ", what, " named '", expr.attr, "'"));
  }
  return call_builtin(run_, *expr.builtin, value, args->view());
}

Value Interpreter::eval_call(const Expr& expr, Frame& frame, const Value* caller) {
  const Value callee = eval(*expr.items[0], frame);
  BorrowedArguments args(spare_arguments_);
  eval_arguments(expr.args, frame, *args);
  if (caller != nullptr) args->named.push_back({"caller", *caller});
  return call(callee, args->view());
}

void Interpreter::eval_arguments(const CallArguments& args, Frame& frame, ArgumentBuffer& out) {
  for (const Expr* arg : args.positional)
    out.positional.push_back(eval(*arg, frame));
  for (const auto& [name, arg] : args.named)
    out.named.push_back({name, eval(*arg, frame)});
  if (args.star != nullptr) {
    const Vector<Value> more = run_.collect(eval(*args.star, frame));
    out.positional.insert(out.positional.end(), more.begin(), more.end());
  }
  if (args.star_star == nullptr) return;
  const Value value = eval(*args.star_star, frame);
  if (value.kind != Kind::kDict) run_.fail_type("given as **arguments", value);
  const std::size_t n_written = out.named.size();  // a dict's keys differ from each other
  for (const Entry& entry : *value.dict) {
    if (!entry.key.is_string()) run_.fail("names of arguments must be text");
    run_.charge(1 + n_written / 4);
    for (std::size_t i = 0; i < n_written; ++i) {
      if (out.named[i].name == entry.key.bytes()) run_.fail("an argument is given twice");
    }
    out.named.push_back({entry.key.bytes(), entry.value, entry.key.text});
  }
}

// --- Calls: built-ins, macros, recursive loops --------------------------------------------------

Value Interpreter::call(const Value& callee, const Arguments& args) {
  if (callee.kind == Kind::kLoop) return call_loop(*callee.loop, args);
  if (callee.kind == Kind::kJoiner) {
    const bool is_first = !std::exchange(callee.joiner->used, true);
    return is_first ? run_.text("", Trust::kAll) : Value::of(callee.joiner->separator);
  }
  if (callee.kind != Kind::kCallable) run_.fail_type("called", callee);
  if (callee.callable->macro != nullptr) return call_macro(*callee.callable, args);
  return call_builtin(run_, *callee.callable->builtin, callee.callable->self, args);
}

Value Interpreter::call_macro(const Callable& callable, const Arguments& args) {
  Frame& frame = new_frame(callable.macro->function, *callable.frame);
  bind_macro(callable, args, frame);
  Value text;
  capture(callable.macro->body, frame, text);
  return text;
}

void Interpreter::bind_macro(const Callable& callable, const Arguments& args, Frame& frame) {
  const Function& function = callable.macro->function;
  const std::size_t n = function.params.size();
  const std::size_t n_given = std::min(n, args.positional.size());
  for (std::size_t i = 0; i < n_given; ++i)
    slot(function.params[i]->ref, frame) = args.positional[i];
  if (function.caller_slot >= 0) {
    const Value* const caller = args.find(run_, "caller");
    frame.slots[function.caller_slot] =
        caller == nullptr || caller->is_none() ? run_.undefined("no caller is defined") : *caller;
  }
  bind_named(callable, args, frame);
  if (function.varargs_slot >= 0) {
    frame.slots[function.varargs_slot] = run_.list(args.positional.subspan(n_given), Kind::kTuple);
  } else if (args.positional.size() > n) {
    run_.fail(cat("the macro takes at most ", n, " arguments, it got ", args.positional.size()));
  }
  run_.charge(n);
  enter(function.scope, frame);
  bind_defaults(function, frame);
}

// Named arguments to the parameters that no position filled, the rest to kwargs.
void Interpreter::bind_named(const Callable& callable, const Arguments& args, Frame& frame) {
  const Function& function = callable.macro->function;
  const std::size_t n_given = std::min(function.params.size(), args.positional.size());
  const auto open = std::span(function.params).subspan(n_given);
  Vector<Entry> rest(run_.memory());
  for (const NamedArgument& argument : args.named) {
    run_.charge(1 + open.size() / 4);
    if (function.caller_slot >= 0 && argument.name == "caller") continue;
    const auto param = std::find_if(open.begin(), open.end(),
                                    [&](const Expr* one) { return one->text == argument.name; });
    if (param != open.end()) {
      slot((*param)->ref, frame) = argument.value;
    } else if (function.kwargs_slot >= 0) {
      rest.push_back({name_of(run_, argument), argument.value});
    } else {
      run_.fail(cat("the macro takes no argument named '", printable(argument.name, 60), "'"));
    }
  }
  if (function.kwargs_slot >= 0) frame.slots[function.kwargs_slot] = run_.dict(rest);
}

void Interpreter::bind_defaults(const Function& function, Frame& frame) {
  const std::size_t n = function.params.size();
  const std::size_t first_default = n - function.defaults.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Expr& param = *function.params[i];
    Value& value = slot(param.ref, frame);
    if (!value.is_missing()) continue;
    value = i >= first_default
                ? eval(*function.defaults[i - first_default], frame)
                : run_.undefined(cat("parameter '", param.text, "' was not provided"));
  }
}

Value Interpreter::call_loop(Loop& loop, const Arguments& args) {
  if (loop.stmt == nullptr) run_.fail("only a loop marked 'recursive' can be called");
  if (args.positional.size() != 1 || !args.named.empty()) {
    run_.fail("a recursive loop is called with one thing to iterate over");
  }
  Frame& frame = new_frame(loop.stmt->function, *loop.frame);
  BorrowedText own(spare_texts_);
  TextBuilder* const before = std::exchange(out_, &*own);
  run_loop(*loop.stmt, args.positional[0], loop.depth0 + 1, *loop.frame, frame);
  out_ = before;
  return run_.text(std::move(*own));
}

}  // namespace wick::jinja
