// A parsed template. Nodes live in the Ast's pools and point at each other; names are borrowed from
// its source. Immutable after resolve_names() has given every name its slot; any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "chat/text.h"

namespace wick::jinja {

struct Builtin;

// Where a variable lives: `hops` function frames up, in that frame's slot.
struct VarRef {
  int hops = 0;
  int slot = 0;
};

enum class ExprKind : std::uint8_t {
  kNone,
  kTrue,
  kFalse,
  kInteger,
  kFloat,
  kString,     // text: the string
  kData,       // text: template data between tags
  kName,       // text, ref
  kNsAttr,     // `name.attr` as the target of a set: text = name, attr, ref
  kTuple,      // items
  kList,       // items
  kDict,       // items: key, value, key, value …
  kGetAttr,    // items[0], attr
  kGetItem,    // items[0], items[1]
  kSlice,      // items: start, stop, step, each may be null
  kCall,       // items[0] called with args
  kFilter,     // items[0] (null in a filter block), attr, args
  kTest,       // items[0], attr, args
  kNot,        // items[0]
  kNegative,   // items[0]
  kPositive,   // items[0]
  kBinary,     // items[0] op items[1]
  kAnd,        // items[0], items[1]
  kOr,         // items[0], items[1]
  kCompare,    // items[0] ops[0] items[1] ops[1] items[2] …
  kConcat,     // items
  kCondition,  // items: test, then, else (may be null)
};

enum class Op : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kMod,
  kPow,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kIn,
  kNotIn,
};

struct Expr;

struct CallArguments {
  std::vector<Expr*> positional;
  std::vector<std::pair<std::string_view, Expr*>> named;
  Expr* star = nullptr;       // *args
  Expr* star_star = nullptr;  // **kwargs
};

struct Expr {
  ExprKind kind = ExprKind::kNone;
  Op op = Op::kAdd;
  std::uint32_t at = 0;  // byte in the source
  int height = 1;        // of the tree below
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text = {};
  std::string_view attr = {};
  VarRef ref = {};
  std::vector<Expr*> items = {};
  std::vector<Op> ops = {};
  CallArguments args = {};
  const Builtin* builtin = nullptr;  // of a filter or test; null if there is none of that name
  const Text* constant = nullptr;    // kString, kData: `text` as the run sees it
  const Text* key = nullptr;         // kNsAttr: attr; kGetAttr, kGetItem: if it is_only_a_key
};

// Visits the expressions right below.
template <class Visit>
void each_child(const Expr& expr, const Visit& visit) {
  const auto some = [&visit](Expr* child) {
    if (child != nullptr) visit(*child);
  };
  for (Expr* item : expr.items)
    some(item);
  for (Expr* arg : expr.args.positional)
    some(arg);
  for (const auto& [name, arg] : expr.args.named)
    some(arg);
  some(expr.args.star);
  some(expr.args.star_star);
}

// How a slot is initialized when its scope is entered.
struct SlotLoad {
  enum class Action : std::uint8_t { kNothing, kResolve, kAlias, kUndefined };
  Action action = Action::kNothing;
  int slot = 0;
  VarRef from = {};            // kAlias
  std::string_view name = {};  // kResolve: the variable of the context
};

using Scope = std::vector<SlotLoad>;

struct Stmt;
using Block = std::vector<Stmt*>;

// Code with its own frame: a macro, a call block, a recursive loop, or the template itself.
struct Function {
  int n_slots = 0;
  Scope scope = {};
  std::vector<Expr*> params = {};                             // kName
  std::vector<Expr*> defaults = {};                           // of the last parameters
  int caller_slot = -1, kwargs_slot = -1, varargs_slot = -1;  // −1: the body reads none
  bool explicit_caller = false;
};

enum class StmtKind : std::uint8_t {
  kOutput,       // exprs
  kFor,          // target in value if test: body else other
  kIf,           // tests[i]: bodies[i] …, other
  kSet,          // target = value
  kSetBlock,     // target = body, through the filters of value (may be null)
  kWith,         // targets[i] = exprs[i]: body
  kMacro,        // target (the name), function, body
  kCallBlock,    // value (a call), function, body; a generation block has no value
  kFilterBlock,  // value (filters with a null at the bottom), body
  kBreak,
  kContinue,
};

struct Stmt {
  StmtKind kind = StmtKind::kOutput;
  std::uint32_t at = 0;
  bool recursive = false;  // kFor
  bool has_else = false;   // kFor
  Expr* target = nullptr;
  Expr* value = nullptr;
  Expr* test = nullptr;
  std::vector<Expr*> exprs = {};    // kOutput, kWith; the tests of kIf
  std::vector<Expr*> targets = {};  // kWith
  std::vector<Block> bodies = {};   // kIf
  Block body = {};
  Block other = {};             // else
  Scope scope = {};             // of body
  Scope other_scope = {};       // of a loop's else
  Scope test_scope = {};        // of a loop's test
  Expr* test_target = nullptr;  // the target as its test sees it: own slots
  int loop_slot = -1;
  Function function = {};  // kMacro, kCallBlock, recursive kFor
};

struct Ast {
  std::string source;               // normalized; names are borrowed from it
  std::deque<std::string> strings;  // literals with their escapes resolved
  std::deque<Text> texts;
  std::deque<Expr> exprs;
  std::deque<Stmt> stmts;
  Block body;
  Function root;
  std::vector<std::string> variables;  // read from the context, sorted
};

// Template text to an Ast, with its names resolved: jinja2's grammar with the extensions of
// transformers (loop controls, generation blocks). Tags that need other templates (include, import,
// extends, block) and autoescape are errors. Any thread.
Result<std::unique_ptr<Ast>> parse(std::string_view jinja);

}  // namespace wick::jinja
