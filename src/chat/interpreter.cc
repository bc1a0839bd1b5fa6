#include "chat/interpreter.h"

#include "base/strings.h"
#include "chat/lexer.h"
#include "chat/limits.h"
#include "chat/operators.h"

namespace wick::jinja {
namespace {

// The items of `for target in items if test`: the test runs when an item is asked for.
class TestedItems final : public Iterator {
 public:
  TestedItems(Interpreter& interpreter, const Stmt& stmt, Iterator& items, Frame& frame)
      : interpreter_(interpreter), stmt_(stmt), items_(items), frame_(frame) {}

  bool next(Run& run, Value& out) override {
    if (!entered_ && !interpreter_.enter(stmt_.test_scope, frame_)) return false;
    entered_ = true;
    DataLevel level(run);
    while (!level.too_deep() && items_.next(run, out)) {
      if (!interpreter_.assign(*stmt_.test_target, out, frame_)) return false;
      const Value holds = interpreter_.eval(*stmt_.test, frame_);
      if (holds.failed()) return false;
      if (is_true(run, holds)) return true;
    }
    return false;
  }

 private:
  Interpreter& interpreter_;
  const Stmt& stmt_;
  Iterator& items_;
  Frame& frame_;
  bool entered_ = false;
};

}  // namespace

Value& Interpreter::slot(const VarRef& ref, Frame& frame) {
  Frame* at = &frame;
  for (int i = 0; i < ref.hops; ++i)
    at = at->parent;
  return at->slots[ref.slot];
}

void Interpreter::note_place(std::uint32_t at) {
  std::optional<Error>& error = run_.error();
  if (placed_ || !error) return;
  placed_ = true;
  if (error->id == "template_raised") return;
  error->message = cat("chat template, ", position(ast_.source, at), ": ", error->message);
}

Frame* Interpreter::new_frame(const Function& function, Frame& parent) {
  const auto n = static_cast<std::size_t>(function.n_slots);
  if (!run_.charge(1 + n / 8)) return nullptr;
  Value* slots = run_.array<Value>(n);
  std::uninitialized_fill_n(slots, n, Value());
  return run_.make<Frame>(&parent, slots);
}

bool Interpreter::enter(const Scope& scope, Frame& frame) {
  if (!run_.charge(scope.size())) return false;
  for (const SlotLoad& load : scope) {
    Value& to = frame.slots[load.slot];
    if (load.action == SlotLoad::Action::kUndefined) {
      to = {};
    } else if (load.action == SlotLoad::Action::kAlias) {
      to = slot(load.from, frame);
      run_.charge(static_cast<std::size_t>(load.from.hops));
    } else if (const Entry* entry = find(run_, *context_, load.name)) {
      to = entry->value;
    } else if (const Builtin* builtin = find_global(load.name)) {
      to = Value::of(Kind::kCallable);
      to.callable = run_.make<Callable>(builtin);
    } else {
      to = {};
    }
  }
  return !run_.failed();
}

bool Interpreter::render(const Dict& context) {
  context_ = &context;
  Frame none;
  Frame* frame = new_frame(ast_.root, none);
  if (frame == nullptr || !enter(ast_.root.scope, *frame)) return false;
  return exec(ast_.body, *frame) != Flow::kFailed;
}

Flow Interpreter::exec(const Block& block, Frame& frame) {
  for (const Stmt* stmt : block) {
    const Flow flow = exec(*stmt, frame);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Flow Interpreter::exec(const Stmt& stmt, Frame& frame) {
  Flow flow = Flow::kFailed;
  if (!run_.is_too_deep() && run_.charge(1)) {
    ++run_.depth;
    at_ = stmt.at;
    flow = exec_kind(stmt, frame);
    --run_.depth;
  }
  if (run_.failed()) {
    note_place(stmt.at);
    return Flow::kFailed;
  }
  return flow;
}

Flow Interpreter::exec_kind(const Stmt& stmt, Frame& frame) {
  switch (stmt.kind) {
    case StmtKind::kOutput:
      return exec_output(stmt, frame);
    case StmtKind::kFor:
      return exec_for(stmt, frame);
    case StmtKind::kIf:
      return exec_if(stmt, frame);
    case StmtKind::kSet:
      return exec_set(stmt, frame);
    case StmtKind::kSetBlock:
      return exec_set_block(stmt, frame);
    case StmtKind::kWith:
      return exec_with(stmt, frame);
    case StmtKind::kMacro:
      return exec_macro(stmt, frame);
    case StmtKind::kCallBlock:
      return exec_call_block(stmt, frame);
    case StmtKind::kFilterBlock:
      return exec_filter_block(stmt, frame);
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kFailed;
}

Flow Interpreter::print(const Value& value) {
  return !value.failed() && append_text(run_, *out_, value) ? Flow::kNext : Flow::kFailed;
}

Flow Interpreter::exec_output(const Stmt& stmt, Frame& frame) {
  for (const Expr* expr : stmt.exprs) {
    const Flow flow =
        print(expr->kind == ExprKind::kData ? Value::of(expr->constant) : eval(*expr, frame));
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Flow Interpreter::exec_if(const Stmt& stmt, Frame& frame) {
  for (std::size_t i = 0; i < stmt.exprs.size(); ++i) {
    const Value test = eval(*stmt.exprs[i], frame);
    if (test.failed()) return Flow::kFailed;
    if (is_true(run_, test)) return exec(stmt.bodies[i], frame);
  }
  return exec(stmt.other, frame);
}

Flow Interpreter::exec_for(const Stmt& stmt, Frame& frame) {
  const Value items = eval(*stmt.value, frame);
  if (items.failed()) return Flow::kFailed;
  if (!stmt.recursive) return run_loop(stmt, items, 0, frame, frame);
  Frame* own = new_frame(stmt.function, frame);
  return own == nullptr ? Flow::kFailed : run_loop(stmt, items, 0, frame, *own);
}

Flow Interpreter::run_loop(const Stmt& stmt, const Value& items, std::int64_t depth0, Frame& outer,
                           Frame& frame) {
  Loop unseen;  // where nobody says `loop`
  Loop* const loop = stmt.loop_slot < 0 ? &unseen : run_.make<Loop>();
  Iterator* each = run_.iterate(items);
  if (each == nullptr) return Flow::kFailed;
  if (stmt.test != nullptr) {
    each = run_.make<TestedItems>(*this, stmt, *each, frame);
  } else {
    loop->length = run_.length(items);
  }
  loop->items = each;
  loop->depth0 = depth0;
  loop->frame = &outer;
  if (stmt.recursive) loop->stmt = &stmt;
  Value loop_val = Value::of(Kind::kLoop);
  loop_val.loop = loop;
  bool completed = false;  // jinja2's else runs unless some body came to its end
  while (loop->advance(run_)) {
    if (!enter(stmt.scope, frame)) return Flow::kFailed;
    if (stmt.loop_slot >= 0) frame.slots[stmt.loop_slot] = loop_val;
    if (!assign(*stmt.target, loop->current, frame)) return Flow::kFailed;
    const Flow flow = exec(stmt.body, frame);
    if (flow == Flow::kFailed) return flow;
    if (flow == Flow::kBreak) break;
    completed = completed || flow == Flow::kNext;
  }
  if (run_.failed()) return Flow::kFailed;
  if (!stmt.has_else || completed) return Flow::kNext;
  return enter(stmt.other_scope, frame) ? exec(stmt.other, frame) : Flow::kFailed;
}

bool Interpreter::assign(const Expr& target, const Value& value, Frame& frame) {
  if (value.failed()) return false;
  if (target.kind == ExprKind::kName) {
    slot(target.ref, frame) = value;
    return run_.charge(static_cast<std::size_t>(target.ref.hops));
  }
  if (target.kind == ExprKind::kNsAttr) {
    const Value& space = slot(target.ref, frame);
    if (space.kind != Kind::kNamespace) {
      run_.fail("only attributes of a namespace can be set");
      return false;
    }
    if (target.attr[0] == '_') {
      run_.fail(cat("attributes of a namespace must not start with an underscore: ", target.attr));
      return false;
    }
    return run_.insert(*space.space, Value::of(target.key), value);
  }
  Vector<Value> items(run_.memory());
  if (!run_.collect(value, items)) return false;
  if (items.size() != target.items.size()) {
    run_.fail(cat(items.size(), " values cannot be unpacked into ", target.items.size(), " names"));
    return false;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!assign(*target.items[i], items[i], frame)) return false;
  }
  return true;
}

bool Interpreter::check_spaces(const Expr& target, Frame& frame) {
  if (target.kind == ExprKind::kNsAttr && slot(target.ref, frame).kind != Kind::kNamespace) {
    run_.fail("only attributes of a namespace can be set");
    return false;
  }
  for (const Expr* item : target.items) {
    if (!check_spaces(*item, frame)) return false;
  }
  return run_.charge(target.items.size());
}

Flow Interpreter::exec_set(const Stmt& stmt, Frame& frame) {
  if (!check_spaces(*stmt.target, frame)) return Flow::kFailed;
  return assign(*stmt.target, eval(*stmt.value, frame), frame) ? Flow::kNext : Flow::kFailed;
}

Flow Interpreter::capture(const Block& block, Frame& frame, Value& text) {
  TextBuilder* const before = out_;
  BorrowedText own(spare_texts_);
  out_ = &*own;
  const Flow flow = exec(block, frame);
  out_ = before;
  if (flow != Flow::kNext) return flow;
  text = run_.text(std::move(*own));
  return text.failed() ? Flow::kFailed : Flow::kNext;
}

Flow Interpreter::exec_set_block(const Stmt& stmt, Frame& frame) {
  if (!enter(stmt.scope, frame)) return Flow::kFailed;
  Value text;
  const Flow flow = capture(stmt.body, frame, text);
  if (flow != Flow::kNext) return flow;
  if (stmt.value != nullptr) text = eval_filter(*stmt.value, &text, frame);
  return assign(*stmt.target, text, frame) ? Flow::kNext : Flow::kFailed;
}

Flow Interpreter::exec_filter_block(const Stmt& stmt, Frame& frame) {
  if (!enter(stmt.scope, frame)) return Flow::kFailed;
  Value text;
  const Flow flow = capture(stmt.body, frame, text);
  if (flow != Flow::kNext) return flow;
  const Value filtered = eval_filter(*stmt.value, &text, frame);
  if (filtered.failed()) return Flow::kFailed;
  if (!filtered.is_string()) {  // jinja2 joins it with the rest of the output as it is
    run_.fail_type("the text of a filter block", filtered);
    return Flow::kFailed;
  }
  return print(filtered);
}

Flow Interpreter::exec_with(const Stmt& stmt, Frame& frame) {
  if (!enter(stmt.scope, frame)) return Flow::kFailed;
  for (std::size_t i = 0; i < stmt.exprs.size(); ++i) {
    if (!assign(*stmt.targets[i], eval(*stmt.exprs[i], frame), frame)) return Flow::kFailed;
  }
  return exec(stmt.body, frame);
}

Flow Interpreter::exec_macro(const Stmt& stmt, Frame& frame) {
  const Callable* made = run_.make<Callable>(nullptr, &stmt, &frame);
  Value macro = Value::of(Kind::kCallable);
  macro.callable = made;
  return assign(*stmt.target, macro, frame) ? Flow::kNext : Flow::kFailed;
}

Flow Interpreter::exec_call_block(const Stmt& stmt, Frame& frame) {
  const Callable* made = run_.make<Callable>(nullptr, &stmt, &frame);
  Value caller = Value::of(Kind::kCallable);
  caller.callable = made;
  if (stmt.value != nullptr) return print(eval_call(*stmt.value, frame, &caller));
  return print(call(caller, {}));  // a generation block
}

}  // namespace wick::jinja
