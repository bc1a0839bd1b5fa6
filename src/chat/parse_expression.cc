#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "chat/limits.h"
#include "chat/parser_impl.h"
#include "chat/python_text.h"

namespace wick::jinja {

Expr* Parser::new_expr(ExprKind kind, std::uint32_t at) {
  Expr& node = ast_.exprs.emplace_back();
  node.kind = kind;
  node.at = at;
  return &node;
}

Expr* Parser::new_node(ExprKind kind, std::uint32_t at, std::vector<Expr*> items) {
  Expr* node = new_expr(kind, at);
  node->items = std::move(items);
  return finish(node);
}

Expr* Parser::finish(Expr* node) {
  int below = 0;
  each_child(*node, [&below](const Expr& child) { below = std::max(below, child.height); });
  node->height = below + 1;
  if (node->height > kMaxTemplateDepth) {
    fail(node->at, cat("this expression is nested deeper than ", kMaxTemplateDepth, " levels"));
  }
  return node;
}

Expr* Parser::binary(Op op, std::uint32_t at, Expr* left, Expr* right) {
  Expr* node = new_expr(ExprKind::kBinary, at);
  node->op = op;
  node->items = {left, right};
  return finish(node);
}

Expr* Parser::parse_tuple(TupleMode mode) {
  const std::uint32_t at = now().at;
  std::vector<Expr*> items;
  bool is_tuple = false;
  while (true) {
    if (!items.empty()) expect(",");
    const TokenKind kind = now().kind;
    if (kind == TokenKind::kVariableEnd || kind == TokenKind::kBlockEnd || now().is(")") ||
        (!mode.end.empty() && now().is_name(mode.end))) {
      break;
    }
    Expr* item = mode.simplified       ? parse_primary(mode.with_namespace)
                 : mode.with_condition ? parse_expression()
                                       : parse_or();
    items.push_back(item);
    if (!now().is(",")) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (!items.empty()) return items[0];
    if (!mode.in_parentheses) fail_here(cat("expected an expression, got ", describe(now())));
  }
  return new_node(ExprKind::kTuple, at, std::move(items));
}

Expr* Parser::parse_condition() {
  const Level level(*this);
  const std::uint32_t at = now().at;
  Expr* node = parse_or();
  while (skip_name("if")) {
    Expr* test = parse_or();
    Expr* other = skip_name("else") ? parse_condition() : nullptr;
    node = new_node(ExprKind::kCondition, at, {test, node, other});
  }
  return node;
}

// operand (name operand)*, grouped to the left.
Expr* Parser::parse_logic(std::string_view name, ExprKind kind, Expr* (Parser::*operand)()) {
  const std::uint32_t at = now().at;
  Expr* left = (this->*operand)();
  while (skip_name(name)) {
    left = new_node(kind, at, {left, (this->*operand)()});
  }
  return left;
}

Expr* Parser::parse_or() {
  return parse_logic("or", ExprKind::kOr, &Parser::parse_and);
}

Expr* Parser::parse_and() {
  return parse_logic("and", ExprKind::kAnd, &Parser::parse_not);
}

Expr* Parser::parse_not() {
  if (!now().is_name("not")) return parse_compare();
  const Level level(*this);
  const std::uint32_t at = next().at;
  return new_node(ExprKind::kNot, at, {parse_not()});
}

Expr* Parser::parse_compare() {
  struct Spelling {
    std::string_view text;
    Op op;
  };

  constexpr Spelling kComparisons[] = {{"==", Op::kEq}, {"!=", Op::kNe}, {"<", Op::kLt},
                                       {"<=", Op::kLe}, {">", Op::kGt},  {">=", Op::kGe}};
  const std::uint32_t at = now().at;
  std::vector<Expr*> items = {parse_sum()};
  std::vector<Op> ops;
  while (true) {
    const std::size_t before = ops.size();
    for (const auto& [text, op] : kComparisons) {
      if (now().is(text)) ops.push_back(op);
    }
    if (ops.size() > before) {
      next();
    } else if (skip_name("in")) {
      ops.push_back(Op::kIn);
    } else if (now().is_name("not") && ahead().is_name("in")) {
      next();
      next();
      ops.push_back(Op::kNotIn);
    } else {
      break;
    }
    items.push_back(parse_sum());
  }
  if (ops.empty()) return items[0];
  Expr* node = new_expr(ExprKind::kCompare, at);
  node->items = std::move(items);
  node->ops = std::move(ops);
  return finish(node);
}

Expr* Parser::parse_sum() {
  const std::uint32_t at = now().at;
  Expr* left = parse_concat();
  while (now().is("+") || now().is("-")) {
    const Op op = next().text == "+" ? Op::kAdd : Op::kSub;
    left = binary(op, at, left, parse_concat());
  }
  return left;
}

Expr* Parser::parse_concat() {
  const std::uint32_t at = now().at;
  Expr* first = parse_product();
  if (!now().is("~")) return first;
  Expr* node = new_expr(ExprKind::kConcat, at);
  node->items = {first};
  while (skip("~")) {
    node->items.push_back(parse_product());
  }
  return finish(node);
}

Expr* Parser::parse_product() {
  const std::uint32_t at = now().at;
  Expr* left = parse_power();
  while (true) {
    const Token& token = now();
    const Op op = token.is("*")    ? Op::kMul
                  : token.is("/")  ? Op::kDiv
                  : token.is("//") ? Op::kFloorDiv
                  : token.is("%")  ? Op::kMod
                                   : Op::kAdd;
    if (op == Op::kAdd) return left;
    next();
    left = binary(op, at, left, parse_power());
  }
}

// Unlike Python, jinja2 groups a ** b ** c to the left.
Expr* Parser::parse_power() {
  const std::uint32_t at = now().at;
  Expr* left = parse_unary(true);
  while (skip("**")) {
    left = binary(Op::kPow, at, left, parse_unary(true));
  }
  return left;
}

Expr* Parser::parse_unary(bool with_filter) {
  const Level level(*this);
  Expr* node = nullptr;
  if (now().is("-") || now().is("+")) {
    const bool negative = now().is("-");
    const std::uint32_t at = next().at;
    const ExprKind kind = negative ? ExprKind::kNegative : ExprKind::kPositive;
    node = new_node(kind, at, {parse_unary(false)});
  } else {
    node = parse_primary(false);
  }
  node = parse_postfix(node);
  return with_filter ? parse_filters(node) : node;
}

Expr* Parser::parse_primary(bool with_namespace) {
  switch (now().kind) {
    case TokenKind::kName:
      return parse_name(with_namespace);
    case TokenKind::kString:
      return parse_string();
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return parse_number();
    default:
      break;
  }
  if (now().is("[")) return parse_list();
  if (now().is("{")) return parse_dict();
  if (skip("(")) {
    Expr* node = parse_tuple({.in_parentheses = true});
    expect(")");
    return node;
  }
  fail_here(cat("unexpected ", describe(now())));
}

Expr* Parser::parse_name(bool with_namespace) {
  const Token& token = next();
  const std::string_view name = token.text;
  if (name == "true" || name == "True") return new_expr(ExprKind::kTrue, token.at);
  if (name == "false" || name == "False") return new_expr(ExprKind::kFalse, token.at);
  if (name == "none" || name == "None") return new_expr(ExprKind::kNone, token.at);
  if (with_namespace && skip(".")) {
    if (now().kind != TokenKind::kName) fail_here("expected a name behind the point");
    Expr* node = new_expr(ExprKind::kNsAttr, token.at);
    node->text = name;
    node->attr = next().text;
    return node;
  }
  Expr* node = new_expr(ExprKind::kName, token.at);
  node->text = name;
  return node;
}

Expr* Parser::parse_string() {
  Expr* node = new_expr(ExprKind::kString, now().at);
  std::string& value = ast_.strings.emplace_back();
  while (now().kind == TokenKind::kString) {
    const Token& token = next();
    if (const auto wrong = unescape(token.text.substr(1, token.text.size() - 2), value)) {
      fail(token.at, *wrong);
    }
  }
  node->text = value;
  return node;
}

Expr* Parser::parse_number() {
  const Token& token = next();
  std::string digits;
  for (const char c : token.text) {
    if (c != '_') digits += c;
  }
  if (token.kind == TokenKind::kFloat) {
    Expr* node = new_expr(ExprKind::kFloat, token.at);
    node->real = parse_double(digits);
    return node;
  }
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0') {
    const char letter = static_cast<char>(digits[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    if (base != 10) digits.erase(0, 2);
  }
  Expr* node = new_expr(ExprKind::kInteger, token.at);
  const auto end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, node->integer, base).ec != std::errc{}) {
    fail(token.at, "this integer does not fit into 64 bits");
  }
  return node;
}

Expr* Parser::parse_list() {
  Expr* node = new_expr(ExprKind::kList, next().at);
  while (!now().is("]")) {
    if (!node->items.empty()) expect(",");
    if (now().is("]")) break;
    node->items.push_back(parse_expression());
  }
  next();
  return finish(node);
}

Expr* Parser::parse_dict() {
  Expr* node = new_expr(ExprKind::kDict, next().at);
  while (!now().is("}")) {
    if (!node->items.empty()) expect(",");
    if (now().is("}")) break;
    node->items.push_back(parse_expression());
    expect(":");
    node->items.push_back(parse_expression());
  }
  next();
  return finish(node);
}

Expr* Parser::parse_postfix(Expr* node) {
  while (true) {
    if (now().is(".") || now().is("[")) {
      node = parse_subscript(node);
    } else if (now().is("(")) {
      node = parse_call(node);
    } else {
      return node;
    }
  }
}

Expr* Parser::parse_filters(Expr* node) {
  while (true) {
    if (now().is("|")) {
      node = parse_filter(node, false);
    } else if (now().is_name("is")) {
      node = parse_test(node);
    } else if (now().is("(")) {
      node = parse_call(node);
    } else {
      return node;
    }
  }
}

Expr* Parser::parse_subscript(Expr* node) {
  const Token& token = next();
  if (token.text == ".") {
    if (now().kind == TokenKind::kName) {
      Expr* get = new_expr(ExprKind::kGetAttr, token.at);
      get->attr = next().text;
      get->items = {node};
      return finish(get);
    }
    if (now().kind != TokenKind::kInteger) fail_here("expected a name or a number");
    return new_node(ExprKind::kGetItem, token.at, {node, parse_number()});
  }
  std::vector<Expr*> args;
  while (!now().is("]")) {
    if (!args.empty()) expect(",");
    args.push_back(parse_subscribed());
  }
  next();
  if (args.size() != 1) {
    for (const Expr* arg : args) {
      if (arg->kind == ExprKind::kSlice) fail(arg->at, "a slice among several subscripts");
    }
    args = {new_node(ExprKind::kTuple, token.at, std::move(args))};
  }
  return new_node(ExprKind::kGetItem, token.at, {node, args[0]});
}

Expr* Parser::parse_subscribed() {
  Expr* slice = new_expr(ExprKind::kSlice, now().at);
  slice->items = {nullptr, nullptr, nullptr};
  const auto part_ends = [this] { return now().is(":") || now().is("]") || now().is(","); };
  if (!now().is(":")) {
    Expr* node = parse_expression();
    if (!now().is(":")) return node;
    slice->items[0] = node;
  }
  next();
  if (!part_ends()) slice->items[1] = parse_expression();
  if (skip(":") && !part_ends()) slice->items[2] = parse_expression();
  return finish(slice);
}

void Parser::parse_arguments(CallArguments& out) {
  const std::uint32_t at = now().at;
  expect("(");
  const auto in_order = [&](bool is_in_order) {
    if (is_in_order) return;
    fail(at, "invalid syntax for a call: positional, named, *args, **kwargs is the order");
  };
  bool first = true;
  while (!now().is(")")) {
    if (!first) expect(",");
    if (!first && now().is(")")) break;
    first = false;
    if (skip("*")) {
      in_order(out.star == nullptr && out.star_star == nullptr);
      out.star = parse_expression();
    } else if (skip("**")) {
      in_order(out.star_star == nullptr);
      out.star_star = parse_expression();
    } else if (now().kind == TokenKind::kName && ahead().is("=")) {
      in_order(out.star_star == nullptr);
      const std::string_view name = next().text;
      next();
      if (out.named.size() == kMaxArguments) {
        fail_here(cat("a call has more than ", kMaxArguments, " named arguments"));
      }
      for (const auto& [other, value] : out.named) {
        if (other == name) fail_here(cat("the argument '", name, "' is given twice"));
      }
      out.named.emplace_back(name, parse_expression());
    } else {
      in_order(out.star == nullptr && out.star_star == nullptr && out.named.empty());
      out.positional.push_back(parse_expression());
    }
  }
  next();
}

Expr* Parser::parse_call(Expr* node) {
  Expr* call = new_expr(ExprKind::kCall, now().at);
  call->items = {node};
  parse_arguments(call->args);
  return finish(call);
}

// "name" or "name.name", in one piece if no blank stands between.
std::string_view Parser::parse_dotted_name() {
  const Token& first = now();
  expect_kind(TokenKind::kName, "a name");
  const char* end = first.text.data() + first.text.size();
  while (now().is(".") && ahead().kind == TokenKind::kName) {
    next();
    const Token& part = next();
    end = part.text.data() + part.text.size();
  }
  return {first.text.data(), static_cast<std::size_t>(end - first.text.data())};
}

Expr* Parser::parse_filter(Expr* node, bool starts_inline) {
  while (starts_inline || now().is("|")) {
    if (!starts_inline) next();
    starts_inline = false;
    Expr* filter = new_expr(ExprKind::kFilter, now().at);
    filter->items = {node};
    filter->attr = parse_dotted_name();
    if (now().is("(")) parse_arguments(filter->args);
    node = finish(filter);
  }
  return node;
}

Expr* Parser::parse_test(Expr* node) {
  next();
  const bool negated = skip_name("not");
  Expr* test = new_expr(ExprKind::kTest, now().at);
  test->items = {node};
  test->attr = parse_dotted_name();
  const TokenKind kind = now().kind;
  const bool literal = kind == TokenKind::kName || kind == TokenKind::kString ||
                       kind == TokenKind::kInteger || kind == TokenKind::kFloat;
  if (now().is("(")) {
    parse_arguments(test->args);
  } else if ((literal || now().is("[") || now().is("{")) && !now().is_name("else") &&
             !now().is_name("or") && !now().is_name("and")) {
    if (now().is_name("is")) fail_here("tests cannot be chained with is");
    test->args.positional = {parse_postfix(parse_primary(false))};
  }
  node = finish(test);
  return negated ? new_node(ExprKind::kNot, test->at, {node}) : node;
}

}  // namespace wick::jinja
