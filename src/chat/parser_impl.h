// The recursive-descent parser behind chat/ast.h: statements in parser.cc, expressions in
// parse_expression.cc. An error ends the parse by an exception, which parse() catches.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "chat/ast.h"
#include "chat/lexer.h"

namespace wick::jinja {

struct SyntaxError {
  Error error;
};

class Parser {
 public:
  Parser(Ast& ast, std::vector<Token> tokens) : ast_(ast), tokens_(std::move(tokens)) {}

  // Fills ast.body; throws SyntaxError.
  void run();

 private:
  using Names = std::initializer_list<std::string_view>;

  // parser.cc
  void block(Block& out, Names ends);  // up to, not over, a tag named in `ends`
  // The same behind a statement's head: the tag's end comes first.
  void body(Block& out, Names ends);
  void close(Block& out, std::string_view end);  // body() and over the end tag's name
  Stmt* statement();
  Stmt* new_stmt(StmtKind kind);
  Stmt* parse_for();
  Stmt* parse_if();
  Stmt* parse_set();
  Stmt* parse_with();
  Stmt* parse_macro();
  Stmt* parse_call_block();
  Stmt* parse_filter_block();
  Stmt* parse_generation();
  Stmt* parse_print();
  Stmt* parse_jump(StmtKind kind);
  void parse_signature(Function& out);
  void function_body(Stmt& stmt, std::string_view end);
  Expr* parse_target(bool with_namespace, bool name_only, bool ends_at_in);
  void check_target(const Expr& target);

  // parse_expression.cc
  struct TupleMode {
    bool simplified = false;      // names and literals only, as targets are
    bool with_condition = true;   // may contain a … if … else
    bool in_parentheses = false;  // may be empty
    bool with_namespace = false;
    std::string_view end = {};  // a name that ends it, too
  };

  Expr* parse_tuple(TupleMode mode);

  Expr* parse_expression() { return parse_condition(); }

  Expr* parse_condition();
  Expr* parse_logic(std::string_view name, ExprKind kind, Expr* (Parser::*operand)());
  Expr* parse_or();
  Expr* parse_and();
  Expr* parse_not();
  Expr* parse_compare();
  Expr* parse_sum();
  Expr* parse_concat();
  Expr* parse_product();
  Expr* parse_power();
  Expr* parse_unary(bool with_filter);
  Expr* parse_primary(bool with_namespace);
  Expr* parse_name(bool with_namespace);
  Expr* parse_string();
  Expr* parse_number();
  Expr* parse_list();
  Expr* parse_dict();
  Expr* parse_postfix(Expr* node);
  Expr* parse_filters(Expr* node);
  Expr* parse_subscript(Expr* node);
  Expr* parse_subscribed();
  Expr* parse_call(Expr* node);
  Expr* parse_filter(Expr* node, bool starts_inline);
  Expr* parse_test(Expr* node);
  void parse_arguments(CallArguments& out);
  std::string_view parse_dotted_name();
  Expr* binary(Op op, std::uint32_t at, Expr* left, Expr* right);

  Expr* new_expr(ExprKind kind, std::uint32_t at);
  Expr* new_node(ExprKind kind, std::uint32_t at, std::vector<Expr*> items);
  Expr* finish(Expr* node);  // computes and checks its height

  const Token& now() const { return tokens_[at_]; }

  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }

  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }

  bool skip(std::string_view op);
  bool skip_name(std::string_view name);
  void expect(std::string_view op);
  void expect_kind(TokenKind kind, std::string_view what);
  [[noreturn]] void fail(std::uint32_t at, std::string_view what) const;

  [[noreturn]] void fail_here(std::string_view what) const { fail(now().at, what); }

  std::string describe(const Token& token) const;

  // Counts one level of nesting while it lives.
  class Level {
   public:
    explicit Level(Parser& parser);

    ~Level() { --parser_.depth_; }

    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  Ast& ast_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;  // loops around this statement in the same function
};

// Gives each name of a template its slot, by the rules of jinja2's compiler (scope.cc): which scope
// a set writes, what a macro sees, what an if leaks are decided here, before anything runs. Also
// finds the filters and tests by name. Fills ref, slot, scope and builtin fields and ast.variables.
// Throws SyntaxError where jinja2's compiler fails: a filter or test that does not exist (outside
// of an if, where it only fails when it runs), an assignment to a loop's own `loop`.
void resolve_names(Ast& ast);

}  // namespace wick::jinja
