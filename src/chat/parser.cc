#include "chat/ast.h"

#include <algorithm>
#include <utility>

#include "base/stack_space.h"
#include "base/strings.h"
#include "chat/limits.h"
#include "chat/parser_impl.h"

namespace wick::jinja {

Parser::Level::Level(Parser& parser) : parser_(parser) {
  if (++parser_.depth_ > kMaxTemplateDepth) {
    parser_.fail_here(cat("nested deeper than ", kMaxTemplateDepth, " levels"));
  }
  if (!has_stack(kLeastStack)) {
    parser_.fail_here("nested deeper than this thread's stack allows");
  }
}

void Parser::fail(std::uint32_t at, std::string_view what) const {
  throw SyntaxError{syntax_error(ast_.source, at, what)};
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

void Parser::expect(std::string_view op) {
  if (!skip(op)) fail_here(cat("expected '", op, "', got ", describe(now())));
}

void Parser::expect_kind(TokenKind kind, std::string_view what) {
  if (now().kind != kind) fail_here(cat("expected ", what, ", got ", describe(now())));
  next();
}

Stmt* Parser::new_stmt(StmtKind kind) {
  Stmt& stmt = ast_.stmts.emplace_back();
  stmt.kind = kind;
  stmt.at = now().at;
  return &stmt;
}

void Parser::run() {
  block(ast_.body, {});
}

void Parser::block(Block& out, Names ends) {
  const Level level(*this);
  Stmt* output = nullptr;
  while (now().kind != TokenKind::kEnd) {
    if (now().kind == TokenKind::kBlockBegin) {
      output = nullptr;
      next();
      if (now().kind == TokenKind::kName &&
          std::find(ends.begin(), ends.end(), now().text) != ends.end()) {
        return;
      }
      out.push_back(statement());
      expect_kind(TokenKind::kBlockEnd, "the end of the tag");
      continue;
    }
    if (output == nullptr) out.push_back(output = new_stmt(StmtKind::kOutput));
    if (now().kind == TokenKind::kData) {
      Expr* data = new_expr(ExprKind::kData, now().at);
      data->text = next().text;
      output->exprs.push_back(data);
    } else {
      next();
      output->exprs.push_back(parse_tuple({}));
      expect_kind(TokenKind::kVariableEnd, "}}");
    }
  }
  if (ends.size() > 0) {
    fail_here(cat("the template ends where {% ", *(ends.end() - 1), " %} is missing"));
  }
}

void Parser::body(Block& out, Names ends) {
  skip(":");
  expect_kind(TokenKind::kBlockEnd, "the end of the tag");
  block(out, ends);
}

void Parser::close(Block& out, std::string_view end) {
  body(out, {end});
  next();
}

Stmt* Parser::statement() {
  if (now().kind != TokenKind::kName) fail_here("expected the name of a tag");
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
      fail_here(cat("{% ", name, " %} has no place in a chat template and is not built"));
    }
  }
  fail_here(cat("unknown or misplaced tag '", name, "'"));
}

Stmt* Parser::parse_for() {
  Stmt* stmt = new_stmt(StmtKind::kFor);
  next();
  stmt->target = parse_target(false, false, true);
  if (!skip_name("in")) fail_here(cat("expected 'in', got ", describe(now())));
  stmt->value = parse_tuple({.with_condition = false, .end = "recursive"});
  if (skip_name("if")) stmt->test = parse_expression();
  stmt->recursive = skip_name("recursive");
  ++loops_;
  body(stmt->body, {"else", "endfor"});
  --loops_;
  stmt->has_else = next().text == "else";
  if (stmt->has_else) close(stmt->other, "endfor");
  return stmt;
}

Stmt* Parser::parse_if() {
  Stmt* stmt = new_stmt(StmtKind::kIf);
  std::string_view tag;
  do {
    next();
    stmt->exprs.push_back(parse_tuple({.with_condition = false}));
    body(stmt->bodies.emplace_back(), {"elif", "else", "endif"});
    tag = now().text;
  } while (tag == "elif");
  next();
  if (tag == "else") close(stmt->other, "endif");
  return stmt;
}

Stmt* Parser::parse_set() {
  Stmt* stmt = new_stmt(StmtKind::kSet);
  next();
  stmt->target = parse_target(true, false, false);
  if (skip("=")) {
    stmt->value = parse_tuple({});
    return stmt;
  }
  stmt->kind = StmtKind::kSetBlock;
  if (now().is("|")) stmt->value = parse_filter(nullptr, false);
  close(stmt->body, "endset");
  return stmt;
}

Stmt* Parser::parse_with() {
  Stmt* stmt = new_stmt(StmtKind::kWith);
  next();
  while (now().kind != TokenKind::kBlockEnd && !now().is(":")) {
    if (!stmt->targets.empty()) expect(",");
    stmt->targets.push_back(parse_target(false, false, false));
    expect("=");
    stmt->exprs.push_back(parse_expression());
  }
  close(stmt->body, "endwith");
  return stmt;
}

void Parser::function_body(Stmt& stmt, std::string_view end) {
  const int loops = std::exchange(loops_, 0);
  close(stmt.body, end);
  loops_ = loops;
}

void Parser::parse_signature(Function& out) {
  expect("(");
  while (!now().is(")")) {
    if (!out.params.empty()) expect(",");
    Expr* param = parse_target(false, true, false);
    for (const Expr* other : out.params) {
      if (other->text != param->text) continue;
      fail(param->at, cat("the parameter '", param->text, "' stands twice"));
    }
    if (skip("=")) {
      out.defaults.push_back(parse_expression());
    } else if (!out.defaults.empty()) {
      fail_here("a parameter without default follows one that has one");
    }
    if (out.params.size() == kMaxArguments) {
      fail(param->at, cat("a macro has more than ", kMaxArguments, " parameters"));
    }
    out.params.push_back(param);
  }
  next();
}

Stmt* Parser::parse_macro() {
  Stmt* stmt = new_stmt(StmtKind::kMacro);
  next();
  stmt->target = parse_target(false, true, false);
  parse_signature(stmt->function);
  function_body(*stmt, "endmacro");
  return stmt;
}

Stmt* Parser::parse_call_block() {
  Stmt* stmt = new_stmt(StmtKind::kCallBlock);
  next();
  if (now().is("(")) parse_signature(stmt->function);
  stmt->value = parse_expression();
  if (stmt->value->kind != ExprKind::kCall) fail(stmt->value->at, "expected a call");
  function_body(*stmt, "endcall");
  return stmt;
}

// {% generation %} marks what the assistant wrote; like transformers' it is a call block whose
// callee prints its argument.
Stmt* Parser::parse_generation() {
  Stmt* stmt = new_stmt(StmtKind::kCallBlock);
  next();
  function_body(*stmt, "endgeneration");
  return stmt;
}

Stmt* Parser::parse_filter_block() {
  Stmt* stmt = new_stmt(StmtKind::kFilterBlock);
  next();
  stmt->value = parse_filter(nullptr, true);
  close(stmt->body, "endfilter");
  return stmt;
}

Stmt* Parser::parse_print() {
  Stmt* stmt = new_stmt(StmtKind::kOutput);
  next();
  while (now().kind != TokenKind::kBlockEnd) {
    if (!stmt->exprs.empty()) expect(",");
    stmt->exprs.push_back(parse_expression());
  }
  return stmt;
}

Stmt* Parser::parse_jump(StmtKind kind) {
  Stmt* stmt = new_stmt(kind);
  if (loops_ == 0) fail_here(cat("'", now().text, "' outside of a loop"));
  next();
  return stmt;
}

Expr* Parser::parse_target(bool with_namespace, bool name_only, bool ends_at_in) {
  Expr* target = nullptr;
  if (name_only) {
    if (now().kind != TokenKind::kName) fail_here(cat("expected a name, got ", describe(now())));
    target = parse_name(false);
  } else {
    target = parse_tuple({.simplified = true,
                          .with_namespace = with_namespace,
                          .end = ends_at_in ? std::string_view("in") : std::string_view()});
  }
  check_target(*target);
  return target;
}

void Parser::check_target(const Expr& target) {
  if (target.kind == ExprKind::kTuple) {
    for (const Expr* item : target.items)
      check_target(*item);
  } else if (target.kind != ExprKind::kName && target.kind != ExprKind::kNsAttr) {
    fail(target.at, "this cannot be assigned to");
  }
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
  try {
    Parser(*ast, std::move(tokens)).run();
    resolve_names(*ast);
  } catch (SyntaxError& failure) {
    return std::move(failure.error);
  }
  return ast;
}

}  // namespace wick::jinja
