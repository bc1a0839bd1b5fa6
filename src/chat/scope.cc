// The problem: jinja2 compiles a template to a Python function, and which variable a name means
// follows from how that compiler assigns Python locals. The idea: do as it does. A pass over each
// frame (template, loop body, macro, …) first collects what the frame loads and stores; from that
// each name gets a slot, and each frame a list of what its slots hold when it is entered: the value
// of the context (kResolve), of an outer slot (kAlias) or nothing (kUndefined). Then the frame's
// own code is visited and its names are looked up. A branch of an if shares its frame, which is why
// a set inside an if leaks and one inside a for does not.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/strings.h"
#include "chat/builtin.h"
#include "chat/lexer.h"
#include "chat/limits.h"
#include "chat/operators.h"
#include "chat/parser_impl.h"
#include "unicode/python_str.h"

namespace wick::jinja {
namespace {

using Action = SlotLoad::Action;
using Names = std::map<std::string_view, int>;

// What is known of one frame.
struct Symbols {
  std::size_t* steps = nullptr;  // the work of all frames together
  Symbols* parent = nullptr;
  Function* function = nullptr;
  int function_depth = 0;
  std::shared_ptr<Names> slots = std::make_shared<Names>();  // shared by the copies for branches
  Names refs = {};
  std::map<int, SlotLoad> loads = {};
  std::set<std::string_view> stores = {};

  const Symbols* owner(std::string_view name) const {
    const Symbols* at = this;
    for (++*steps; at != nullptr && at->refs.count(name) == 0; ++*steps)
      at = at->parent;
    return at;
  }

  VarRef ref(const Symbols& in, std::string_view name) const {
    return {function_depth - in.function_depth, in.refs.at(name)};
  }

  int define(std::string_view name, Action action) {
    const auto [entry, is_new] = slots->try_emplace(name, function->n_slots);
    if (is_new) ++function->n_slots;
    refs[name] = entry->second;
    loads[entry->second] = {action, entry->second, {}, name};
    return entry->second;
  }

  // An alias of the variable around it, if there is one.
  void define_as_outside(std::string_view name, Action otherwise) {
    const Symbols* outer = parent != nullptr ? parent->owner(name) : nullptr;
    const int slot = define(name, outer != nullptr ? Action::kAlias : otherwise);
    if (outer != nullptr) loads[slot].from = ref(*outer, name);
  }

  int declare(std::string_view name) {
    stores.insert(name);
    return define(name, Action::kNothing);
  }

  void load(std::string_view name) {
    if (owner(name) == nullptr) define(name, Action::kResolve);
  }

  void store(std::string_view name) {
    stores.insert(name);
    if (refs.count(name) != 0) return;
    define_as_outside(name, Action::kUndefined);
  }

  // What a copy costs.
  std::size_t size() const { return refs.size() + loads.size() + stores.size(); }

  // A variable that only one branch stores starts with its value outside of the branch.
  void merge(std::initializer_list<const Symbols*> branches) {
    std::set<std::string_view> stored;
    for (const Symbols* branch : branches)
      stored.insert(branch->stores.begin(), branch->stores.end());
    for (const std::string_view name : stores)
      stored.erase(name);
    for (const Symbols* branch : branches) {
      for (const auto& [name, slot] : branch->refs)
        refs[name] = slot;
      for (const auto& [slot, entry] : branch->loads)
        loads[slot] = entry;
      stores.insert(branch->stores.begin(), branch->stores.end());
    }
    for (const std::string_view name : stored)
      define_as_outside(name, Action::kResolve);
  }

  Scope scope() const {
    Scope out;
    for (const auto& [slot, entry] : loads) {
      if (entry.action != Action::kNothing) out.push_back(entry);
    }
    return out;
  }

  Symbols inner() { return {steps, this, function, function_depth}; }

  Symbols inner_function(Function& own) { return {steps, this, &own, function_depth + 1}; }
};

// Whether `name` is loaded in a piece of the tree before it is stored there.
class Search {
 public:
  Search(std::string_view name, std::size_t& steps) : name_(name), steps_(steps) {}

  bool found() const { return found_; }

  void look(const Expr* expr, bool is_store = false) {
    if (expr == nullptr || found_ || stored_) return;
    ++steps_;
    if (expr->kind == ExprKind::kName && expr->text == name_) (is_store ? stored_ : found_) = true;
    each_child(*expr, [this, is_store](const Expr& child) { look(&child, is_store); });
  }

  void look(const Block& block) {
    for (const Stmt* stmt : block)
      look(*stmt);
  }

 private:
  void look(const std::vector<Expr*>& exprs, bool is_store = false) {
    for (const Expr* expr : exprs)
      look(expr, is_store);
  }

  void look(const Stmt& stmt) {
    ++steps_;
    if (found_ || stored_) return;
    look(stmt.target, stmt.kind != StmtKind::kMacro);
    look(stmt.targets, true);
    look(stmt.value);
    look(stmt.function.params, true);
    look(stmt.function.defaults);
    look(stmt.exprs);
    for (const Block& body : stmt.bodies)
      look(body);
    look(stmt.body);
    look(stmt.other);
    look(stmt.test);
  }

  std::string_view name_;
  std::size_t& steps_;
  bool found_ = false, stored_ = false;
};

class Resolver {
 public:
  explicit Resolver(Ast& ast) : ast_(ast) {}

  void run() {
    Symbols symbols = {&steps_, nullptr, &ast_.root, 0};
    collect(ast_.body, symbols);
    ast_.root.scope = enter(symbols);
    resolve(ast_.body, symbols, false);
    ast_.variables.assign(variables_.begin(), variables_.end());
  }

 private:
  [[noreturn]] void fail(std::uint32_t at, std::string_view what) const {
    throw SyntaxError{syntax_error(ast_.source, at, what)};
  }

  void spend(std::size_t n, std::uint32_t at) {
    steps_ += n;
    if (steps_ > kMaxAnalysisSteps) fail(at, "the template branches too much");
  }

  Scope enter(const Symbols& symbols) {
    Scope scope = symbols.scope();
    for (const SlotLoad& load : scope) {
      if (load.action == Action::kResolve && find_in(kGlobals, load.name) == nullptr) {
        variables_.emplace(load.name);
      }
    }
    return scope;
  }

  bool mentions(const Block& block, std::string_view name) {
    Search search(name, steps_);
    search.look(block);
    return search.found();
  }

  // --- collecting: the loads and stores of a frame, without the frames inside it ---

  void collect(const Expr* expr, Symbols& symbols) {
    if (expr == nullptr) return;
    spend(1, expr->at);
    if (expr->kind == ExprKind::kName || expr->kind == ExprKind::kNsAttr) symbols.load(expr->text);
    each_child(*expr, [&](const Expr& child) { collect(&child, symbols); });
  }

  void collect(const std::vector<Expr*>& exprs, Symbols& symbols) {
    for (const Expr* expr : exprs)
      collect(expr, symbols);
  }

  void collect_target(const Expr& target, Symbols& symbols, bool as_param) {
    if (target.kind == ExprKind::kTuple) {
      for (const Expr* item : target.items)
        collect_target(*item, symbols, as_param);
    } else if (target.kind == ExprKind::kNsAttr) {
      symbols.load(target.text);
    } else if (as_param) {
      symbols.declare(target.text);
    } else {
      symbols.store(target.text);
    }
  }

  void collect(const Block& block, Symbols& symbols) {
    for (const Stmt* stmt : block)
      collect(*stmt, symbols);
  }

  void collect(const Stmt& stmt, Symbols& symbols) {
    spend(1, stmt.at);
    switch (stmt.kind) {
      case StmtKind::kOutput:
      case StmtKind::kWith:
        collect(stmt.exprs, symbols);
        break;
      case StmtKind::kFor:
      case StmtKind::kCallBlock:
      case StmtKind::kFilterBlock:
        collect(stmt.value, symbols);
        break;
      case StmtKind::kIf:
        collect_if(stmt, symbols);
        break;
      case StmtKind::kSet:
        collect(stmt.value, symbols);
        collect_target(*stmt.target, symbols, false);
        break;
      case StmtKind::kSetBlock:
      case StmtKind::kMacro:
        collect_target(*stmt.target, symbols, false);
        break;
      case StmtKind::kBreak:
      case StmtKind::kContinue:
        break;
    }
  }

  Symbols copy(const Symbols& symbols, std::uint32_t at) {
    spend(symbols.size(), at);
    return symbols;
  }

  void merge(Symbols& symbols, std::initializer_list<const Symbols*> branches, std::uint32_t at) {
    std::size_t n = symbols.stores.size();
    for (const Symbols* branch : branches)
      n += branch->size();
    spend(n, at);
    symbols.merge(branches);
  }

  void collect_if(const Stmt& stmt, Symbols& symbols) {
    collect(stmt.exprs[0], symbols);
    Symbols body = copy(symbols, stmt.at);
    collect(stmt.bodies[0], body);
    if (stmt.bodies.size() == 1 && stmt.other.empty()) return merge(symbols, {&body}, stmt.at);
    Symbols elifs = copy(symbols, stmt.at);
    for (std::size_t i = 1; i < stmt.bodies.size(); ++i) {
      collect(stmt.exprs[i], elifs);
      Symbols branch = copy(elifs, stmt.at);
      collect(stmt.bodies[i], branch);
      merge(elifs, {&branch}, stmt.at);
    }
    Symbols other = copy(symbols, stmt.at);
    collect(stmt.other, other);
    merge(symbols, {&body, &elifs, &other}, stmt.at);
  }

  // --- resolving: each name of a frame's own code gets its slot ---

  // Whether jinja2 knows the value before it runs. `soft`: an unknown filter or test is an error
  // only where it is used; so it is behind an "and" or "or" whose left side is constant, since
  // jinja2 takes such a right side out if it can.
  bool resolve(Expr* expr, Symbols& symbols, bool soft) {
    if (expr == nullptr) return true;
    spend(1, expr->at);
    bool is_constant = true;
    switch (expr->kind) {
      case ExprKind::kName:
      case ExprKind::kNsAttr:
        if (const Symbols* in = symbols.owner(expr->text)) {
          expr->ref = symbols.ref(*in, expr->text);
        } else {  // only what collect() does not see, in the arguments of a set block's filter
          fail(expr->at, cat("'", expr->text, "' is not known here"));
        }
        if (expr->kind == ExprKind::kNsAttr) expr->key = constant(expr->attr);
        return false;
      case ExprKind::kString:
      case ExprKind::kData:
        expr->constant = constant(expr->text);
        break;
      case ExprKind::kCall:
        is_constant = false;
        break;
      case ExprKind::kAnd:
      case ExprKind::kOr: {
        const bool is_left = resolve(expr->items[0], symbols, soft);
        return resolve(expr->items[1], symbols, soft || is_left) && is_left;
      }
      case ExprKind::kGetAttr:
        if (is_only_a_key(expr->attr)) expr->key = constant(expr->attr);
        break;
      case ExprKind::kGetItem:
        if (const Expr& key = *expr->items[1];
            key.kind == ExprKind::kString && is_only_a_key(key.text)) {
          expr->key = constant(key.text);
        }
        break;
      case ExprKind::kFilter:
      case ExprKind::kTest:
        find_builtin(*expr, soft);
        is_constant = expr->builtin != nullptr && expr->builtin->call_open == nullptr;
        break;
      case ExprKind::kCondition:
        soft = true;
        break;
      default:
        break;
    }
    each_child(*expr,
               [&](Expr& child) { is_constant = resolve(&child, symbols, soft) && is_constant; });
    return is_constant;
  }

  // A text of the template's own.
  const Text* constant(std::string_view text) {
    const auto n_chars = static_cast<std::int64_t>(count_code_points(text));
    return &ast_.texts.emplace_back(Text{text, Trust::kAll, false, n_chars, {}});
  }

  void find_builtin(Expr& expr, bool soft) {
    const bool is_filter = expr.kind == ExprKind::kFilter;
    expr.builtin = is_filter ? find_filter(expr.attr) : find_in(kTests, expr.attr);
    if (expr.builtin != nullptr) return;
    if (is_filter && is_unbuilt_filter(expr.attr)) {
      fail(expr.at, cat("the filter '", expr.attr, "' is not built"));
    } else if (!soft) {
      fail(expr.at, cat("no ", is_filter ? "filter" : "test", " named '", expr.attr, "'"));
    }
  }

  void resolve(const std::vector<Expr*>& exprs, Symbols& symbols, bool soft) {
    for (Expr* expr : exprs)
      resolve(expr, symbols, soft);
  }

  // Collects the parts of a frame, and resolves their names in it.
  template <class... Parts>
  Scope resolve_frame(Symbols& frame, Parts&... parts) {
    (collect(parts, frame), ...);
    Scope scope = enter(frame);
    (static_cast<void>(resolve(parts, frame, false)), ...);
    return scope;
  }

  void resolve(Block& block, Symbols& symbols, bool soft) {
    for (Stmt* stmt : block) {
      spend(1, stmt->at);
      resolve(*stmt, symbols, soft);
    }
  }

  void resolve(Stmt& stmt, Symbols& symbols, bool soft) {
    switch (stmt.kind) {
      case StmtKind::kOutput:
        resolve(stmt.exprs, symbols, soft);
        break;
      case StmtKind::kFor:
        resolve_for(stmt, symbols, soft);
        break;
      case StmtKind::kIf:
        resolve(stmt.exprs, symbols, true);
        for (Block& body : stmt.bodies)
          resolve(body, symbols, true);
        resolve(stmt.other, symbols, true);
        break;
      case StmtKind::kSet:
        resolve(stmt.target, symbols, soft);
        resolve(stmt.value, symbols, soft);
        break;
      case StmtKind::kSetBlock:
      case StmtKind::kFilterBlock: {
        Symbols inner = symbols.inner();
        stmt.scope = resolve_frame(inner, stmt.body, stmt.value);
        if (stmt.kind == StmtKind::kSetBlock) resolve(stmt.target, symbols, soft);
        break;
      }
      case StmtKind::kWith:
        resolve_with(stmt, symbols, soft);
        break;
      case StmtKind::kMacro:
        resolve(stmt.target, symbols, soft);
        resolve_function(stmt, symbols);
        break;
      case StmtKind::kCallBlock:
        resolve_function(stmt, symbols);
        resolve(stmt.value, symbols, soft);
        break;
      case StmtKind::kBreak:
      case StmtKind::kContinue:
        break;
    }
  }

  void resolve_with(Stmt& stmt, Symbols& symbols, bool soft) {
    Symbols inner = symbols.inner();
    for (const Expr* target : stmt.targets)
      collect_target(*target, inner, true);
    stmt.scope = resolve_frame(inner, stmt.body);
    resolve(stmt.exprs, symbols, soft);
    resolve(stmt.targets, inner, false);
  }

  void check_no_loop_store(const Expr& target) {
    if (target.kind == ExprKind::kName && target.text == "loop") {
      fail(target.at, "'loop' cannot be assigned to inside of a loop");
    }
    for (const Expr* item : target.items)
      check_no_loop_store(*item);
  }

  void check_no_loop_store(const Block& block) {
    for (const Stmt* stmt : block) {
      if (stmt->target != nullptr && stmt->kind != StmtKind::kMacro)
        check_no_loop_store(*stmt->target);
      for (const Block& body : stmt->bodies)
        check_no_loop_store(body);
      check_no_loop_store(stmt->body);
      check_no_loop_store(stmt->other);
      spend(1, stmt->at);
    }
  }

  Expr* copy_target(const Expr& target) {
    Expr& copied = ast_.exprs.emplace_back(target);
    for (Expr*& item : copied.items)
      item = copy_target(*item);
    return &copied;
  }

  void resolve_for(Stmt& stmt, Symbols& symbols, bool soft) {
    check_no_loop_store(*stmt.target);
    check_no_loop_store(stmt.body);
    resolve(stmt.value, symbols, soft);
    const auto frame = [&] {
      return stmt.recursive ? symbols.inner_function(stmt.function) : symbols.inner();
    };
    Symbols body = frame();
    if (stmt.recursive || mentions(stmt.body, "loop")) stmt.loop_slot = body.declare("loop");
    collect_target(*stmt.target, body, true);
    stmt.scope = resolve_frame(body, stmt.body);
    resolve(stmt.target, body, false);
    if (stmt.test != nullptr) {
      Symbols test = frame();
      stmt.test_target = copy_target(*stmt.target);
      collect_target(*stmt.test_target, test, true);
      stmt.test_scope = resolve_frame(test, stmt.test);
      resolve(stmt.test_target, test, false);
    }
    if (!stmt.has_else) return;
    Symbols other = frame();
    stmt.other_scope = resolve_frame(other, stmt.other);
  }

  void resolve_function(Stmt& stmt, Symbols& symbols) {
    Function& function = stmt.function;
    Symbols inner = symbols.inner_function(function);
    for (const Expr* param : function.params) {
      inner.declare(param->text);
      if (param->text == "caller") function.explicit_caller = true;
    }
    const auto special = [&](std::string_view name) {
      const bool is_param = inner.refs.count(name) != 0;
      return !is_param && mentions(stmt.body, name) ? inner.declare(name) : -1;
    };
    function.caller_slot = special("caller");
    function.kwargs_slot = special("kwargs");
    function.varargs_slot = special("varargs");
    function.scope = resolve_frame(inner, function.defaults, stmt.body);
    resolve(function.params, inner, false);
  }

  Ast& ast_;
  std::size_t steps_ = 0;
  std::set<std::string> variables_;
};

}  // namespace

void resolve_names(Ast& ast) {
  Resolver(ast).run();
}

}  // namespace wick::jinja
