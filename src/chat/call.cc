// Calling things: built-ins with their arguments put in order, macros, recursive loops.
#include <algorithm>

#include "base/strings.h"
#include "chat/interpreter.h"
#include "chat/operators.h"

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
  if (!run.charge(1 + named.size() / 4)) return nullptr;
  for (const NamedArgument& argument : named) {
    if (argument.name == name) return &argument.value;
  }
  return nullptr;
}

Value name_of(Run& run, const NamedArgument& argument) {
  return argument.key != nullptr ? Value::of(argument.key) : run.text(argument.name, Trust::kAll);
}

Value call_builtin(Run& run, const Builtin& builtin, const Value& self, const Arguments& args) {
  if (!run.charge(2)) return Value::failure();
  if (builtin.call_open != nullptr) return builtin.call_open(run, self, args);
  Value bound[kMaxParams];
  const std::size_t n = n_params(builtin);
  if (args.positional.size() > n) {
    return run.fail(cat("'", builtin.name, "' takes at most ", n, " arguments, it got ",
                        args.positional.size()));
  }
  std::copy(args.positional.begin(), args.positional.end(), bound);
  for (const auto& [name, value, key] : args.named) {
    const int at = builtin.positional_only ? -1 : parameter(builtin.params, name);
    if (at < 0)
      return run.fail(
          cat("'", builtin.name, "' takes no argument named '", printable(name, 60), "'"));
    if (!bound[at].is_missing()) {
      return run.fail(cat("'", builtin.name, "' got the argument '", name, "' twice"));
    }
    bound[at] = value;
  }
  for (int i = 0; i < builtin.n_required; ++i) {
    if (bound[i].is_missing()) {
      return run.fail(cat("'", builtin.name, "' needs ", builtin.n_required, " arguments"));
    }
  }
  return builtin.call(run, self, {bound, n});
}

Value Interpreter::call(const Value& callee, const Arguments& args) {
  if (callee.kind == Kind::kLoop) return call_loop(*callee.loop, args);
  if (callee.kind == Kind::kJoiner) {
    if (!callee.joiner->used) {
      callee.joiner->used = true;
      return run_.text("", Trust::kAll);
    }
    return Value::of(callee.joiner->separator);
  }
  if (callee.kind != Kind::kCallable) return run_.fail_type("called", callee);
  if (callee.callable->macro != nullptr) return call_macro(*callee.callable, args);
  return call_builtin(run_, *callee.callable->builtin, callee.callable->self, args);
}

Value Interpreter::call_macro(const Callable& callable, const Arguments& args) {
  Frame* frame = new_frame(callable.macro->function, *callable.frame);
  if (frame == nullptr || !bind_macro(callable, args, *frame)) return Value::failure();
  Value text;
  return capture(callable.macro->body, *frame, text) == Flow::kNext ? text : Value::failure();
}

bool Interpreter::bind_macro(const Callable& callable, const Arguments& args, Frame& frame) {
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
  if (!bind_named(callable, args, frame)) return false;
  if (function.varargs_slot >= 0) {
    frame.slots[function.varargs_slot] = run_.list(args.positional.subspan(n_given), Kind::kTuple);
  } else if (args.positional.size() > n) {
    run_.fail(cat("the macro takes at most ", n, " arguments, it got ", args.positional.size()));
    return false;
  }
  return run_.charge(n) && enter(function.scope, frame) && bind_defaults(function, frame);
}

// Named arguments to the parameters that no position filled, the rest to kwargs.
bool Interpreter::bind_named(const Callable& callable, const Arguments& args, Frame& frame) {
  const Function& function = callable.macro->function;
  const std::size_t n_given = std::min(function.params.size(), args.positional.size());
  const auto open = std::span(function.params).subspan(n_given);
  Vector<Entry> rest(run_.memory());
  for (const NamedArgument& argument : args.named) {
    if (!run_.charge(1 + open.size() / 4)) return false;
    if (function.caller_slot >= 0 && argument.name == "caller") continue;
    const auto param = std::find_if(open.begin(), open.end(),
                                    [&](const Expr* one) { return one->text == argument.name; });
    if (param != open.end()) {
      slot((*param)->ref, frame) = argument.value;
    } else if (function.kwargs_slot >= 0) {
      rest.push_back({name_of(run_, argument), argument.value});
    } else {
      run_.fail(cat("the macro takes no argument named '", printable(argument.name, 60), "'"));
      return false;
    }
  }
  if (function.kwargs_slot >= 0) frame.slots[function.kwargs_slot] = run_.dict(rest);
  return !run_.failed();
}

bool Interpreter::bind_defaults(const Function& function, Frame& frame) {
  const std::size_t n = function.params.size();
  const std::size_t first_default = n - function.defaults.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Expr& param = *function.params[i];
    Value& value = slot(param.ref, frame);
    if (!value.is_missing()) continue;
    value = i >= first_default
                ? eval(*function.defaults[i - first_default], frame)
                : run_.undefined(cat("parameter '", param.text, "' was not provided"));
    if (value.failed()) return false;
  }
  return true;
}

Value Interpreter::call_loop(Loop& loop, const Arguments& args) {
  if (loop.stmt == nullptr) return run_.fail("only a loop marked 'recursive' can be called");
  if (args.positional.size() != 1 || !args.named.empty()) {
    return run_.fail("a recursive loop is called with one thing to iterate over");
  }
  Frame* frame = new_frame(loop.stmt->function, *loop.frame);
  if (frame == nullptr) return Value::failure();
  TextBuilder* const before = out_;
  BorrowedText own(spare_texts_);
  out_ = &*own;
  const Flow flow = run_loop(*loop.stmt, args.positional[0], loop.depth0 + 1, *loop.frame, *frame);
  out_ = before;
  return flow == Flow::kFailed ? Value::failure() : run_.text(std::move(*own));
}

}  // namespace wick::jinja
