#include "base/strings.h"
#include "chat/interpreter.h"
#include "chat/limits.h"
#include "chat/operators.h"

namespace wick::jinja {

Val Interpreter::fail_at(const Expr& expr, std::string_view what) {
  run_.fail(what);
  note_place(expr.at);
  return Val::failure();
}

Val Interpreter::eval(const Expr& expr, Frame& frame) {
  // What cannot fail or go deeper, which is half of all.
  if (expr.constant != nullptr && run_.spend(1)) return Val::of(expr.constant);
  if (expr.kind == ExprKind::kName && run_.spend(1)) {
    const Val& value = slot(expr.ref, frame);
    if (!value.is_missing()) return value;
  }
  if (run_.depth >= kMaxCallDepth) {
    run_.fail("the template calls itself too deeply", "template_limit");
    return Val::failure();
  }
  if (!run_.spend(1)) return Val::failure();
  ++run_.depth;
  const Val value = eval_kind(expr, frame);
  --run_.depth;
  if (!run_.failed()) return value;
  note_place(expr.at);
  return Val::failure();
}

Val Interpreter::eval_kind(const Expr& expr, Frame& frame) {
  switch (expr.kind) {
    case ExprKind::kNone:
      return Val::none();
    case ExprKind::kTrue:
      return Val::of(true);
    case ExprKind::kFalse:
      return Val::of(false);
    case ExprKind::kInteger:
      return Val::of(expr.integer);
    case ExprKind::kFloat:
      return Val::of(expr.real);
    case ExprKind::kString:
    case ExprKind::kData:
      return Val::of(expr.constant);
    case ExprKind::kName:
    case ExprKind::kNsAttr:
      return eval_name(expr, frame);
    case ExprKind::kTuple:
      return eval_items(expr, frame, Kind::kTuple);
    case ExprKind::kList:
      return eval_items(expr, frame, Kind::kList);
    case ExprKind::kDict:
      return eval_dict(expr, frame);
    case ExprKind::kGetAttr: {
      const Val object = eval(*expr.items[0], frame);
      if (object.kind == Kind::kDict && expr.key != nullptr) {
        return get_key(run_, *object.dict, *expr.key);
      }
      return object.failed() ? object : get_attribute(run_, object, expr.attr);
    }
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
      const Val value = eval(*expr.items[0], frame);
      return value.failed() ? value : Val::of(!is_true(run_, value));
    }
    case ExprKind::kNegative:
    case ExprKind::kPositive: {
      const Val value = eval(*expr.items[0], frame);
      return value.failed() ? value : negative(run_, value, expr.kind == ExprKind::kNegative);
    }
    case ExprKind::kBinary: {
      const Val left = eval(*expr.items[0], frame);
      if (left.failed()) return left;
      const Val right = eval(*expr.items[1], frame);
      return right.failed() ? right : arithmetic(run_, expr.op, left, right);
    }
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      const Val left = eval(*expr.items[0], frame);
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
  return Val::failure();
}

Val Interpreter::eval_name(const Expr& expr, Frame& frame) {
  const Val& value = slot(expr.ref, frame);
  return value.is_missing() ? run_.undefined_name(expr.text) : value;
}

Val Interpreter::eval_items(const Expr& expr, Frame& frame, Kind kind) {
  std::vector<Val> items;
  items.reserve(expr.items.size());
  for (const Expr* item : expr.items) {
    items.push_back(eval(*item, frame));
    if (items.back().failed()) return Val::failure();
  }
  return run_.list(items, kind);
}

Val Interpreter::eval_dict(const Expr& expr, Frame& frame) {
  std::vector<Entry> entries;
  entries.reserve(expr.items.size() / 2);
  for (std::size_t i = 0; i < expr.items.size(); i += 2) {
    const Val key = eval(*expr.items[i], frame);
    const Val value = key.failed() ? key : eval(*expr.items[i + 1], frame);
    if (value.failed()) return value;
    entries.push_back({key, value});
  }
  return run_.dict(entries);
}

Val Interpreter::eval_get_item(const Expr& expr, Frame& frame) {
  const Val object = eval(*expr.items[0], frame);
  if (object.failed()) return object;
  if (object.kind == Kind::kDict && expr.key != nullptr) {
    return get_key(run_, *object.dict, *expr.key);
  }
  const Expr& key = *expr.items[1];
  if (key.kind != ExprKind::kSlice) {
    const Val value = eval(key, frame);
    return value.failed() ? value : get_item(run_, object, value);
  }
  Val bounds[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (key.items[i] == nullptr) continue;
    bounds[i] = eval(*key.items[i], frame);
    if (bounds[i].failed()) return Val::failure();
  }
  return get_slice(run_, object, bounds[0], bounds[1], bounds[2]);
}

Val Interpreter::eval_compare(const Expr& expr, Frame& frame) {
  Val left = eval(*expr.items[0], frame);
  Val result = left;
  for (std::size_t i = 0; i < expr.ops.size() && !left.failed(); ++i) {
    const Val right = eval(*expr.items[i + 1], frame);
    if (right.failed()) return right;
    result = compare(run_, expr.ops[i], left, right);
    if (result.failed() || !is_true(run_, result)) return result;
    left = right;
  }
  return result;
}

Val Interpreter::eval_concat(const Expr& expr, Frame& frame) {
  Borrowed<MarkedText> out(spare_texts_);
  for (const Expr* item : expr.items) {
    const Val value = eval(*item, frame);
    if (value.failed() || !append_text(run_, *out, value)) return Val::failure();
    if (out->text.size() > kMaxTextBytes)
      return run_.fail("a text grows too large", "template_limit");
  }
  return run_.text(std::move(*out));
}

Val Interpreter::eval_condition(const Expr& expr, Frame& frame) {
  const Val test = eval(*expr.items[0], frame);
  if (test.failed()) return test;
  if (is_true(run_, test)) return eval(*expr.items[1], frame);
  if (expr.items[2] != nullptr) return eval(*expr.items[2], frame);
  return run_.undefined("an inline if without else was false");
}

// `captured` is the text that the innermost filter of a filter block works on.
Val Interpreter::eval_filter(const Expr& expr, const Val* captured, Frame& frame) {
  const Expr* below = expr.items[0];
  Val value;
  if (below == nullptr) {
    value = *captured;
  } else if (captured != nullptr) {
    value = eval_filter(*below, captured, frame);
  } else {
    value = eval(*below, frame);
  }
  if (value.failed()) return value;
  Borrowed<Arguments> args(spare_arguments_);
  if (!eval_arguments(expr.args, frame, *args)) return Val::failure();
  if (expr.builtin == nullptr) return fail_at(expr, cat("no filter named '", expr.attr, "'"));
  return call_builtin(run_, *expr.builtin, value, *args);
}

Val Interpreter::eval_test(const Expr& expr, Frame& frame) {
  const Val value = eval(*expr.items[0], frame);
  if (value.failed()) return value;
  Borrowed<Arguments> args(spare_arguments_);
  if (!eval_arguments(expr.args, frame, *args)) return Val::failure();
  if (expr.builtin == nullptr) return fail_at(expr, cat("no test named '", expr.attr, "'"));
  return call_builtin(run_, *expr.builtin, value, *args);
}

Val Interpreter::eval_call(const Expr& expr, Frame& frame, const Val* caller) {
  const Val callee = eval(*expr.items[0], frame);
  if (callee.failed()) return callee;
  Borrowed<Arguments> args(spare_arguments_);
  if (!eval_arguments(expr.args, frame, *args)) return Val::failure();
  if (caller != nullptr) args->named.emplace_back("caller", *caller);
  return call(callee, *args);
}

bool Interpreter::eval_arguments(const CallArguments& args, Frame& frame, Arguments& out) {
  for (const Expr* arg : args.positional) {
    out.positional.push_back(eval(*arg, frame));
    if (out.positional.back().failed()) return false;
  }
  for (const auto& [name, arg] : args.named) {
    out.named.emplace_back(name, eval(*arg, frame));
    if (out.named.back().second.failed()) return false;
  }
  if (args.star != nullptr) {
    std::vector<Val> more;
    const Val value = eval(*args.star, frame);
    if (value.failed() || !run_.collect(value, more)) return false;
    out.positional.insert(out.positional.end(), more.begin(), more.end());
  }
  if (args.star_star != nullptr) {
    const Val value = eval(*args.star_star, frame);
    if (value.failed()) return false;
    if (value.kind != Kind::kDict) return !run_.fail_type("given as **arguments", value).failed();
    for (const Entry& entry : *value.dict) {
      if (!entry.key.is_string()) return !run_.fail("names of arguments must be text").failed();
      for (const auto& [name, other] : out.named) {
        if (name == entry.key.bytes()) return !run_.fail("an argument is given twice").failed();
      }
      out.named.emplace_back(entry.key.bytes(), entry.value);
    }
  }
  return true;
}

}  // namespace wick::jinja
