// Runs a parsed template: statements write to the output, expressions give values. One interpreter
// for one render.
#pragma once

#include <string_view>

#include "chat/ast.h"
#include "chat/builtin.h"
#include "chat/memory.h"
#include "chat/objects.h"
#include "chat/run.h"
#include "chat/text_builder.h"

namespace wick::jinja {

// What a statement does to the loop around it.
enum class Flow : std::uint8_t { kNext, kBreak, kContinue };

class Interpreter {
 public:
  // All of the arguments outlive the interpreter.
  Interpreter(const Ast& ast, Run& run, TextBuilder& out) : ast_(ast), run_(run), out_(&out) {}

  // `context` holds the variables. Where it fails, run.error() gets the place in the template.
  void render(const Dict& context);

  // Adds where the render is to run.error().
  void note_place();

 private:
  // interpreter.cc
  // Stores an item where a for or a set wants it.
  void assign(const Expr& target, const Value& value, Frame& frame);
  // What entering a scope does to its slots.
  void enter(const Scope& scope, Frame& frame);
  Iterator& tested_items(const Stmt& stmt, Iterator& items, Frame& frame);
  Flow exec(const Block& block, Frame& frame);
  Flow exec(const Stmt& stmt, Frame& frame);
  Flow exec_kind(const Stmt& stmt, Frame& frame);
  Flow exec_if(const Stmt& stmt, Frame& frame);
  Flow exec_for(const Stmt& stmt, Frame& frame);
  Flow exec_captured(const Stmt& stmt, Frame& frame);
  Flow exec_with(const Stmt& stmt, Frame& frame);
  void exec_call_block(const Stmt& stmt, Frame& frame);
  Flow run_loop(const Stmt& stmt, const Value& items, std::int64_t depth0, Frame& outer,
                Frame& frame);
  // The body's text in `text`; anything but kNext leaves it unset.
  Flow capture(const Block& block, Frame& frame, Value& text);
  Frame& new_frame(const Function& function, Frame& parent);
  Value new_macro(const Stmt& stmt, Frame& frame);
  void check_spaces(const Expr& target, Frame& frame);

  // evaluate.cc
  Value eval(const Expr& expr, Frame& frame);
  Value eval_kind(const Expr& expr, Frame& frame);
  Value eval_name(const Expr& expr, Frame& frame);
  Value eval_items(const Expr& expr, Frame& frame, Kind kind);
  Value eval_dict(const Expr& expr, Frame& frame);
  Value eval_get(const Expr& expr, Frame& frame);
  Value eval_compare(const Expr& expr, Frame& frame);
  Value eval_concat(const Expr& expr, Frame& frame);
  Value eval_condition(const Expr& expr, Frame& frame);
  Value eval_filter(const Expr& expr, const Value* captured, Frame& frame);
  Value eval_call(const Expr& expr, Frame& frame, const Value* caller);
  void eval_arguments(const CallArguments& args, Frame& frame, ArgumentBuffer& out);

  // Calls.
  Value call(const Value& callee, const Arguments& args);
  Value call_macro(const Callable& callable, const Arguments& args);
  void bind_macro(const Callable& callable, const Arguments& args, Frame& frame);
  void bind_named(const Callable& callable, const Arguments& args, Frame& frame);
  void bind_defaults(const Function& function, Frame& frame);
  Value call_loop(Loop& loop, const Arguments& args);

  using BorrowedText = Borrowed<TextBuilder, Run>;
  using BorrowedArguments = Borrowed<ArgumentBuffer, Memory>;

  [[noreturn]] void fail_at(const Expr& expr, std::string_view what);
  Value& slot(const VarRef& ref, Frame& frame);

  const Ast& ast_;
  Run& run_;
  const Dict* context_ = nullptr;
  TextBuilder* out_;
  Spares<ArgumentBuffer, Memory> spare_arguments_{run_.memory(), run_.memory()};
  Spares<TextBuilder, Run> spare_texts_{run_, run_.memory()};
  std::uint32_t at_ = 0;  // the innermost statement or expression in progress
};

}  // namespace wick::jinja
