#include "chat/parser.h"

#include <algorithm>

#include "base/stack_space.h"
#include "base/strings.h"
#include "chat/limits.h"
#include "chat/parser_impl.h"
#include "chat/scope.h"

namespace wick::jinja {

bool Parser::Level::too_deep() {
  if (parser_.depth_ > kMaxTemplateDepth) {
    parser_.fail_here(cat("nested deeper than ", kMaxTemplateDepth, " levels"));
    return true;
  }
  if (has_stack(kLeastStack)) return false;
  parser_.fail_here("nested deeper than this thread's stack allows");
  return true;
}

std::nullptr_t Parser::fail(std::uint32_t at, std::string_view what) {
  if (!error_) error_ = syntax_error(ast_.source, at, what);
  return nullptr;
}

std::string Parser::describe(const Token& token) const {
  switch (token.kind) {
    case TokenKind::kData:
      return "text";
    case TokenKind::kBlockEnd:
    case TokenKind::kVariableEnd:
      return "the end of the tag";
    case TokenKind::kEnd:
      return "the end of the template";
    default:
      return cat("'", token.text, "'");
  }
}

bool Parser::skip(std::string_view op) {
  if (!now().is(op)) return false;
  next();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!now().is_name(name)) return false;
  next();
  return true;
}

bool Parser::expect(std::string_view op) {
  if (skip(op)) return true;
  fail_here(cat("expected '", op, "', got ", describe(now())));
  return false;
}

bool Parser::expect_kind(TokenKind kind, std::string_view what) {
  if (now().kind == kind) {
    next();
    return true;
  }
  fail_here(cat("expected ", what, ", got ", describe(now())));
  return false;
}

Stmt* Parser::new_stmt(StmtKind kind) {
  Stmt& stmt = ast_.stmts.emplace_back();
  stmt.kind = kind;
  stmt.at = now().at;
  return &stmt;
}

bool Parser::run() {
  if (!block(ast_.body, {})) return false;
  return now().kind == TokenKind::kEnd;
}

bool Parser::block(Block& out, Names ends) {
  Level level(*this);
  if (level.too_deep()) return false;
  Stmt* output = nullptr;
  while (now().kind != TokenKind::kEnd) {
    if (now().kind == TokenKind::kBlockBegin) {
      output = nullptr;
      next();
      if (now().kind == TokenKind::kName &&
          std::find(ends.begin(), ends.end(), now().text) != ends.end()) {
        return true;
      }
      Stmt* stmt = statement();
      if (stmt == nullptr || !expect_kind(TokenKind::kBlockEnd, "the end of the tag")) return false;
      out.push_back(stmt);
      continue;
    }
    if (output == nullptr) out.push_back(output = new_stmt(StmtKind::kOutput));
    if (now().kind == TokenKind::kData) {
      Expr* data = new_expr(ExprKind::kData, now().at);
      data->text = next().text;
      output->exprs.push_back(data);
    } else {
      next();
      Expr* value = parse_tuple({});
      if (value == nullptr || !expect_kind(TokenKind::kVariableEnd, "}}")) return false;
      output->exprs.push_back(value);
    }
  }
  if (ends.size() == 0) return true;
  fail_here(cat("the template ends where {% ", *(ends.end() - 1), " %} is missing"));
  return false;
}

bool Parser::body(Block& out, Names ends) {
  skip(":");
  return expect_kind(TokenKind::kBlockEnd, "the end of the tag") && block(out, ends);
}

bool Parser::close(Block& out, std::string_view end) {
  if (!body(out, {end})) return false;
  next();
  return true;
}

Stmt* Parser::statement() {
  if (now().kind != TokenKind::kName) return fail_here("expected the name of a tag");
  const std::string_view name = now().text;
  if (name == "for") return parse_for();
  if (name == "if") return parse_if();
  if (name == "set") return parse_set();
  if (name == "with") return parse_with();
  if (name == "macro") return parse_macro();
  if (name == "call") return parse_call_block();
  if (name == "filter") return parse_filter_block();
  if (name == "generation") return parse_generation();
  if (name == "print") return parse_print();
  if (name == "break") return parse_jump(StmtKind::kBreak);
  if (name == "continue") return parse_jump(StmtKind::kContinue);
  for (const std::string_view other :
       {"include", "import", "from", "extends", "block", "autoescape"}) {
    if (name == other) {
      return fail_here(cat("{% ", name, " %} has no place in a chat template and is not built"));
    }
  }
  return fail_here(cat("unknown or misplaced tag '", name, "'"));
}

Stmt* Parser::parse_for() {
  Stmt* stmt = new_stmt(StmtKind::kFor);
  next();
  if ((stmt->target = parse_target(false, false, true)) == nullptr) return nullptr;
  if (!skip_name("in")) return fail_here(cat("expected 'in', got ", describe(now())));
  stmt->value = parse_tuple({.with_condition = false, .end = "recursive"});
  if (stmt->value == nullptr) return nullptr;
  if (skip_name("if") && (stmt->test = parse_expression()) == nullptr) return nullptr;
  stmt->recursive = skip_name("recursive");
  ++loops_;
  const bool has_body = body(stmt->body, {"else", "endfor"});
  --loops_;
  if (!has_body) return nullptr;
  stmt->has_else = next().text == "else";
  if (stmt->has_else && !close(stmt->other, "endfor")) return nullptr;
  return stmt;
}

Stmt* Parser::parse_if() {
  Stmt* stmt = new_stmt(StmtKind::kIf);
  next();
  while (true) {
    Expr* test = parse_tuple({.with_condition = false});
    if (test == nullptr) return nullptr;
    stmt->exprs.push_back(test);
    if (!body(stmt->bodies.emplace_back(), {"elif", "else", "endif"})) return nullptr;
    const std::string_view tag = next().text;
    if (tag == "elif") continue;
    if (tag == "else" && !close(stmt->other, "endif")) return nullptr;
    return stmt;
  }
}

Stmt* Parser::parse_set() {
  Stmt* stmt = new_stmt(StmtKind::kSet);
  next();
  if ((stmt->target = parse_target(true, false, false)) == nullptr) return nullptr;
  if (skip("=")) {
    stmt->value = parse_tuple({});
    return stmt->value != nullptr ? stmt : nullptr;
  }
  stmt->kind = StmtKind::kSetBlock;
  if (now().is("|") && (stmt->value = parse_filter(nullptr, false)) == nullptr) return nullptr;
  return close(stmt->body, "endset") ? stmt : nullptr;
}

Stmt* Parser::parse_with() {
  Stmt* stmt = new_stmt(StmtKind::kWith);
  next();
  while (now().kind != TokenKind::kBlockEnd && !now().is(":")) {
    if (!stmt->targets.empty() && !expect(",")) return nullptr;
    Expr* target = parse_target(false, false, false);
    if (target == nullptr || !expect("=")) return nullptr;
    Expr* value = parse_expression();
    if (value == nullptr) return nullptr;
    stmt->targets.push_back(target);
    stmt->exprs.push_back(value);
  }
  return close(stmt->body, "endwith") ? stmt : nullptr;
}

bool Parser::function_body(Stmt& stmt, std::string_view end) {
  const int loops = loops_;
  loops_ = 0;
  const bool done = close(stmt.body, end);
  loops_ = loops;
  return done;
}

bool Parser::parse_signature(Function& out) {
  if (!expect("(")) return false;
  while (!now().is(")")) {
    if (!out.params.empty() && !expect(",")) return false;
    Expr* param = parse_target(false, true, false);
    if (param == nullptr) return false;
    for (const Expr* other : out.params) {
      if (other->text == param->text) {
        fail(param->at, cat("the parameter '", param->text, "' stands twice"));
        return false;
      }
    }
    if (skip("=")) {
      Expr* value = parse_expression();
      if (value == nullptr) return false;
      out.defaults.push_back(value);
    } else if (!out.defaults.empty()) {
      fail_here("a parameter without default follows one that has one");
      return false;
    }
    if (out.params.size() == kMaxArguments) {
      fail(param->at, cat("a macro has more than ", kMaxArguments, " parameters"));
      return false;
    }
    out.params.push_back(param);
  }
  next();
  return true;
}

Stmt* Parser::parse_macro() {
  Stmt* stmt = new_stmt(StmtKind::kMacro);
  next();
  stmt->target = parse_target(false, true, false);
  if (stmt->target == nullptr || !parse_signature(stmt->function)) return nullptr;
  return function_body(*stmt, "endmacro") ? stmt : nullptr;
}

Stmt* Parser::parse_call_block() {
  Stmt* stmt = new_stmt(StmtKind::kCallBlock);
  next();
  if (now().is("(") && !parse_signature(stmt->function)) return nullptr;
  stmt->value = parse_expression();
  if (stmt->value == nullptr) return nullptr;
  if (stmt->value->kind != ExprKind::kCall) return fail(stmt->value->at, "expected a call");
  return function_body(*stmt, "endcall") ? stmt : nullptr;
}

// {% generation %} marks what the assistant wrote; like transformers' it is a call block whose
// callee prints what it gets.
Stmt* Parser::parse_generation() {
  Stmt* stmt = new_stmt(StmtKind::kCallBlock);
  next();
  return function_body(*stmt, "endgeneration") ? stmt : nullptr;
}

Stmt* Parser::parse_filter_block() {
  Stmt* stmt = new_stmt(StmtKind::kFilterBlock);
  next();
  if ((stmt->value = parse_filter(nullptr, true)) == nullptr) return nullptr;
  return close(stmt->body, "endfilter") ? stmt : nullptr;
}

Stmt* Parser::parse_print() {
  Stmt* stmt = new_stmt(StmtKind::kOutput);
  next();
  while (now().kind != TokenKind::kBlockEnd) {
    if (!stmt->exprs.empty() && !expect(",")) return nullptr;
    Expr* value = parse_expression();
    if (value == nullptr) return nullptr;
    stmt->exprs.push_back(value);
  }
  return stmt;
}

Stmt* Parser::parse_jump(StmtKind kind) {
  Stmt* stmt = new_stmt(kind);
  if (loops_ == 0) return fail_here(cat("'", now().text, "' outside of a loop"));
  next();
  return stmt;
}

Expr* Parser::parse_target(bool with_namespace, bool name_only, bool ends_at_in) {
  Expr* target = nullptr;
  if (name_only) {
    if (now().kind != TokenKind::kName)
      return fail_here(cat("expected a name, got ", describe(now())));
    target = parse_name(false);
  } else {
    target = parse_tuple({.simplified = true,
                          .with_namespace = with_namespace,
                          .end = ends_at_in ? std::string_view("in") : std::string_view()});
  }
  return target != nullptr && check_target(*target) ? target : nullptr;
}

bool Parser::check_target(const Expr& target) {
  if (target.kind == ExprKind::kTuple) {
    return std::all_of(target.items.begin(), target.items.end(),
                       [this](const Expr* item) { return check_target(*item); });
  }
  if (target.kind == ExprKind::kName || target.kind == ExprKind::kNsAttr) return true;
  fail(target.at, "this cannot be assigned to");
  return false;
}

Result<std::unique_ptr<Ast>> parse(std::string_view jinja) {
  if (jinja.size() > kMaxTemplateBytes) {
    return Error{
        ErrorCode::kInvalid, "template_limit",
        cat("the chat template has ", jinja.size(), " bytes, the limit is ", kMaxTemplateBytes)};
  }
  auto ast = std::make_unique<Ast>();
  ast->source = normalized(jinja);
  WICK_TRY(std::vector<Token> tokens, tokenize(ast->source));
  Parser parser(*ast, std::move(tokens));
  if (!parser.run()) return parser.take_error();
  WICK_DO(resolve_names(*ast));
  return ast;
}

}  // namespace wick::jinja
