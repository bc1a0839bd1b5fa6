// The recursive-descent parser behind chat/parser.h: statements in parser.cc, expressions in
// parse_expression.cc. A function that fails notes the error and returns null (or false); callers
// return at once, so the first error is the one that is told.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "chat/ast.h"
#include "chat/lexer.h"

namespace wick::jinja {

class Parser {
 public:
  Parser(Ast& ast, std::vector<Token> tokens) : ast_(ast), tokens_(std::move(tokens)) {}

  // Fills ast.body; false with error() set.
  bool run();

  Error take_error() { return *std::move(error_); }

 private:
  using Names = std::initializer_list<std::string_view>;

  // parser.cc
  bool block(Block& out, Names ends);  // up to, not over, a tag named in `ends`
  bool body(Block& out,
            Names ends);  // the same behind a statement's head: the tag's end comes first
  bool close(Block& out, std::string_view end);  // body() and over the end tag's name
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
  bool parse_signature(Function& out);
  bool function_body(Stmt& stmt, std::string_view end);
  Expr* parse_target(bool with_namespace, bool name_only, bool ends_at_in);
  bool check_target(const Expr& target);

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
  bool parse_arguments(CallArguments& out);
  bool parse_dotted_name(std::string_view& out);
  Expr* binary(Op op, std::uint32_t at, Expr* left, Expr* right);

  Expr* new_expr(ExprKind kind, std::uint32_t at);
  Expr* finish(Expr* node);  // its height; null with an error if that is beyond the limit

  const Token& now() const { return tokens_[at_]; }

  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }

  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }

  bool skip(std::string_view op);
  bool skip_name(std::string_view name);
  bool expect(std::string_view op);
  bool expect_kind(TokenKind kind, std::string_view what);
  std::nullptr_t fail(std::uint32_t at, std::string_view what);

  std::nullptr_t fail_here(std::string_view what) { return fail(now().at, what); }

  std::string describe(const Token& token) const;

  // Counts one level of nesting while it lives.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) { ++parser_.depth_; }

    ~Level() { --parser_.depth_; }

    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    bool too_deep();

   private:
    Parser& parser_;
  };

  Ast& ast_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;  // loops around this statement in the same function
  std::optional<Error> error_;
};

}  // namespace wick::jinja
