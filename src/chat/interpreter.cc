#include "chat/interpreter.h"

#include <utility>

#include "base/strings.h"
#include "chat/lexer.h"
#include "chat/limits.h"
#include "chat/operators.h"

namespace wick::jinja {
Value& Interpreter::slot(const VarRef& ref, Frame& frame) {
  Frame* at = &frame;
  for (int i = 0; i < ref.hops; ++i)
    at = at->parent;
  return at->slots[ref.slot];
}

void Interpreter::note_place() {
  std::optional<Error>& error = run_.error();
  if (error->id == "template_raised") return;
  error->message = cat("chat template, ", position(ast_.source, at_), ": ", error->message);
}

Frame& Interpreter::new_frame(const Function& function, Frame& parent) {
  const auto n = static_cast<std::size_t>(function.n_slots);
  run_.charge(1 + n / 8);
  Value* slots = run_.array<Value>(n);
  std::uninitialized_fill_n(slots, n, Value());
  return *run_.make<Frame>(&parent, slots);
}

void Interpreter::enter(const Scope& scope, Frame& frame) {
  run_.charge(scope.size());
  for (const SlotLoad& load : scope) {
    Value& to = frame.slots[load.slot];
    if (load.action == SlotLoad::Action::kUndefined) {
      to = {};
    } else if (load.action == SlotLoad::Action::kAlias) {
      to = slot(load.from, frame);
      run_.charge(static_cast<std::size_t>(load.from.hops));
    } else if (const Entry* entry = find(run_, *context_, load.name)) {
      to = entry->value;
    } else if (const Builtin* builtin = find_in(kGlobals, load.name)) {
      to = Value::of(run_.make<const Callable>(builtin));
    } else {
      to = {};
    }
  }
}

void Interpreter::render(const Dict& context) {
  context_ = &context;
  Frame none;
  try {
    Frame& frame = new_frame(ast_.root, none);
    enter(ast_.root.scope, frame);
    exec(ast_.body, frame);
  } catch (const Failed&) {
    note_place();
    throw;
  }
}

Flow Interpreter::exec(const Block& block, Frame& frame) {
  for (const Stmt* stmt : block) {
    const Flow flow = exec(*stmt, frame);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Flow Interpreter::exec(const Stmt& stmt, Frame& frame) {
  const std::uint32_t around = std::exchange(at_, stmt.at);
  run_.check_depth();
  run_.charge(1);
  ++run_.depth;
  const Flow flow = exec_kind(stmt, frame);
  --run_.depth;
  at_ = around;
  return flow;
}

Flow Interpreter::exec_kind(const Stmt& stmt, Frame& frame) {
  switch (stmt.kind) {
    case StmtKind::kOutput:
      for (const Expr* expr : stmt.exprs) {
        append_text(run_, *out_,
                    expr->kind == ExprKind::kData ? Value::of(expr->constant) : eval(*expr, frame));
      }
      break;
    case StmtKind::kFor:
      return exec_for(stmt, frame);
    case StmtKind::kIf:
      return exec_if(stmt, frame);
    case StmtKind::kSet:
      check_spaces(*stmt.target, frame);
      assign(*stmt.target, eval(*stmt.value, frame), frame);
      break;
    case StmtKind::kSetBlock:
    case StmtKind::kFilterBlock:
      return exec_captured(stmt, frame);
    case StmtKind::kWith:
      return exec_with(stmt, frame);
    case StmtKind::kMacro:
      assign(*stmt.target, new_macro(stmt, frame), frame);
      break;
    case StmtKind::kCallBlock:
      exec_call_block(stmt, frame);
      break;
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Flow Interpreter::exec_if(const Stmt& stmt, Frame& frame) {
  for (std::size_t i = 0; i < stmt.exprs.size(); ++i) {
    if (is_true(run_, eval(*stmt.exprs[i], frame))) return exec(stmt.bodies[i], frame);
  }
  return exec(stmt.other, frame);
}

// The items of `for target in items if test`: the test runs when an item is asked for.
Iterator& Interpreter::tested_items(const Stmt& stmt, Iterator& items, Frame& frame) {
  return generator(run_,
                   [this, &stmt, &items, &frame, entered = false](Run& run, Value& out) mutable {
                     if (!std::exchange(entered, true)) enter(stmt.test_scope, frame);
                     const DataLevel level(run);
                     while (items.next(run, out)) {
                       run.charge(1);
                       assign(*stmt.test_target, out, frame);
                       if (is_true(run, eval(*stmt.test, frame))) return true;
                     }
                     return false;
                   });
}

Flow Interpreter::exec_for(const Stmt& stmt, Frame& frame) {
  const Value items = eval(*stmt.value, frame);
  Frame& own = stmt.recursive ? new_frame(stmt.function, frame) : frame;
  return run_loop(stmt, items, 0, frame, own);
}

Flow Interpreter::run_loop(const Stmt& stmt, const Value& items, std::int64_t depth0, Frame& outer,
                           Frame& frame) {
  Loop unseen;  // if the body does not use `loop`
  Loop* const loop = stmt.loop_slot < 0 ? &unseen : run_.make<Loop>();
  Iterator* each = &run_.iterate(items);
  if (stmt.test != nullptr) {
    each = &tested_items(stmt, *each, frame);
  } else {
    loop->length = run_.length(items);
  }
  loop->items = each;
  loop->depth0 = depth0;
  loop->frame = &outer;
  if (stmt.recursive) loop->stmt = &stmt;
  bool completed = false;  // jinja2's else runs unless some body came to its end
  while (loop->advance(run_)) {
    enter(stmt.scope, frame);
    if (stmt.loop_slot >= 0) frame.slots[stmt.loop_slot] = Value::of(loop);
    assign(*stmt.target, loop->current, frame);
    const Flow flow = exec(stmt.body, frame);
    if (flow == Flow::kBreak) break;
    completed = completed || flow == Flow::kNext;
  }
  if (!stmt.has_else || completed) return Flow::kNext;
  enter(stmt.other_scope, frame);
  return exec(stmt.other, frame);
}

void Interpreter::assign(const Expr& target, const Value& value, Frame& frame) {
  if (target.kind == ExprKind::kName) {
    slot(target.ref, frame) = value;
    return run_.charge(static_cast<std::size_t>(target.ref.hops));
  }
  if (target.kind == ExprKind::kNsAttr) {
    check_spaces(target, frame);
    if (target.attr[0] == '_') {
      run_.fail(cat("attributes of a namespace must not start with an underscore: ", target.attr));
    }
    return run_.insert(*slot(target.ref, frame).space, Value::of(target.key), value);
  }
  const Vector<Value> items = run_.collect(value);
  if (items.size() != target.items.size()) {
    run_.fail(cat(items.size(), " values cannot be unpacked into ", target.items.size(), " names"));
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    assign(*target.items[i], items[i], frame);
}

void Interpreter::check_spaces(const Expr& target, Frame& frame) {
  if (target.kind == ExprKind::kNsAttr && slot(target.ref, frame).kind != Kind::kNamespace) {
    run_.fail("only attributes of a namespace can be set");
  }
  for (const Expr* item : target.items)
    check_spaces(*item, frame);
  run_.charge(target.items.size());
}

Flow Interpreter::capture(const Block& block, Frame& frame, Value& text) {
  BorrowedText own(spare_texts_);
  TextBuilder* const before = std::exchange(out_, &*own);
  const Flow flow = exec(block, frame);
  out_ = before;
  if (flow == Flow::kNext) text = run_.text(std::move(*own));
  return flow;
}

// A set block or a filter block.
Flow Interpreter::exec_captured(const Stmt& stmt, Frame& frame) {
  enter(stmt.scope, frame);
  Value text;
  const Flow flow = capture(stmt.body, frame, text);
  if (flow != Flow::kNext) return flow;
  if (stmt.value != nullptr) text = eval_filter(*stmt.value, &text, frame);
  if (stmt.kind == StmtKind::kSetBlock) {
    assign(*stmt.target, text, frame);
    return flow;
  }
  // jinja2 joins it with the rest of the output as it is
  if (!text.is_string()) run_.fail_type("the text of a filter block", text);
  append_text(run_, *out_, text);
  return flow;
}

Flow Interpreter::exec_with(const Stmt& stmt, Frame& frame) {
  enter(stmt.scope, frame);
  for (std::size_t i = 0; i < stmt.exprs.size(); ++i)
    assign(*stmt.targets[i], eval(*stmt.exprs[i], frame), frame);
  return exec(stmt.body, frame);
}

Value Interpreter::new_macro(const Stmt& stmt, Frame& frame) {
  return Value::of(run_.make<const Callable>(nullptr, &stmt, &frame));
}

void Interpreter::exec_call_block(const Stmt& stmt, Frame& frame) {
  const Value caller = new_macro(stmt, frame);
  const bool is_generation = stmt.value == nullptr;
  append_text(run_, *out_,
              is_generation ? call(caller, {}) : eval_call(*stmt.value, frame, &caller));
}

}  // namespace wick::jinja
