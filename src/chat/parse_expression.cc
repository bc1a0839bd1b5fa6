#include <charconv>

#include "base/strings.h"
#include "chat/limits.h"
#include "chat/parser_impl.h"
#include "chat/string_literal.h"

namespace wick::jinja {

Expr* Parser::new_expr(ExprKind kind, std::uint32_t at) {
  Expr& node = ast_.exprs.emplace_back();
  node.kind = kind;
  node.at = at;
  return &node;
}

Expr* Parser::finish(Expr* node) {
  int below = 0;
  const auto look = [&below](const Expr* child) {
    if (child != nullptr && child->height > below) below = child->height;
  };
  for (const Expr* child : node->items)
    look(child);
  for (const Expr* child : node->args.positional)
    look(child);
  for (const auto& [name, child] : node->args.named)
    look(child);
  look(node->args.star);
  look(node->args.star_star);
  node->height = below + 1;
  if (node->height <= kMaxTemplateDepth) return node;
  return fail(node->at,
              cat("this expression is nested deeper than ", kMaxTemplateDepth, " levels"));
}

Expr* Parser::binary(Op op, std::uint32_t at, Expr* left, Expr* right) {
  if (right == nullptr) return nullptr;
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
    if (!items.empty() && !expect(",")) return nullptr;
    const TokenKind kind = now().kind;
    if (kind == TokenKind::kVariableEnd || kind == TokenKind::kBlockEnd || now().is(")") ||
        (!mode.end.empty() && now().is_name(mode.end))) {
      break;
    }
    Expr* item = mode.simplified       ? parse_primary(mode.with_namespace)
                 : mode.with_condition ? parse_expression()
                                       : parse_or();
    if (item == nullptr) return nullptr;
    items.push_back(item);
    if (!now().is(",")) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (!items.empty()) return items[0];
    if (!mode.in_parentheses)
      return fail_here(cat("expected an expression, got ", describe(now())));
  }
  Expr* node = new_expr(ExprKind::kTuple, at);
  node->items = std::move(items);
  return finish(node);
}

Expr* Parser::parse_condition() {
  Level level(*this);
  if (level.too_deep()) return nullptr;
  const std::uint32_t at = now().at;
  Expr* node = parse_or();
  while (node != nullptr && skip_name("if")) {
    Expr* test = parse_or();
    if (test == nullptr) return nullptr;
    Expr* other = nullptr;
    if (skip_name("else")) {
      other = parse_condition();
      if (other == nullptr) return nullptr;
    }
    Expr* condition = new_expr(ExprKind::kCondition, at);
    condition->items = {test, node, other};
    node = finish(condition);
  }
  return node;
}

Expr* Parser::parse_or() {
  const std::uint32_t at = now().at;
  Expr* left = parse_and();
  while (left != nullptr && skip_name("or")) {
    Expr* right = parse_and();
    if (right == nullptr) return nullptr;
    Expr* node = new_expr(ExprKind::kOr, at);
    node->items = {left, right};
    left = finish(node);
  }
  return left;
}

Expr* Parser::parse_and() {
  const std::uint32_t at = now().at;
  Expr* left = parse_not();
  while (left != nullptr && skip_name("and")) {
    Expr* right = parse_not();
    if (right == nullptr) return nullptr;
    Expr* node = new_expr(ExprKind::kAnd, at);
    node->items = {left, right};
    left = finish(node);
  }
  return left;
}

Expr* Parser::parse_not() {
  if (!now().is_name("not")) return parse_compare();
  Level level(*this);
  if (level.too_deep()) return nullptr;
  Expr* node = new_expr(ExprKind::kNot, next().at);
  Expr* operand = parse_not();
  if (operand == nullptr) return nullptr;
  node->items = {operand};
  return finish(node);
}

Expr* Parser::parse_compare() {
  struct Spelling {
    std::string_view text;
    Op op;
  };

  constexpr Spelling kComparisons[] = {{"==", Op::kEq}, {"!=", Op::kNe}, {"<", Op::kLt},
                                       {"<=", Op::kLe}, {">", Op::kGt},  {">=", Op::kGe}};
  const std::uint32_t at = now().at;
  Expr* first = parse_sum();
  if (first == nullptr) return nullptr;
  std::vector<Expr*> items = {first};
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
    Expr* operand = parse_sum();
    if (operand == nullptr) return nullptr;
    items.push_back(operand);
  }
  if (ops.empty()) return first;
  Expr* node = new_expr(ExprKind::kCompare, at);
  node->items = std::move(items);
  node->ops = std::move(ops);
  return finish(node);
}

Expr* Parser::parse_sum() {
  const std::uint32_t at = now().at;
  Expr* left = parse_concat();
  while (left != nullptr && (now().is("+") || now().is("-"))) {
    const Op op = next().text == "+" ? Op::kAdd : Op::kSub;
    left = binary(op, at, left, parse_concat());
  }
  return left;
}

Expr* Parser::parse_concat() {
  const std::uint32_t at = now().at;
  Expr* first = parse_product();
  if (first == nullptr || !now().is("~")) return first;
  Expr* node = new_expr(ExprKind::kConcat, at);
  node->items = {first};
  while (skip("~")) {
    Expr* item = parse_product();
    if (item == nullptr) return nullptr;
    node->items.push_back(item);
  }
  return finish(node);
}

Expr* Parser::parse_product() {
  const std::uint32_t at = now().at;
  Expr* left = parse_power();
  while (left != nullptr) {
    const Token& token = now();
    const Op op = token.is("*")    ? Op::kMul
                  : token.is("/")  ? Op::kDiv
                  : token.is("//") ? Op::kFloorDiv
                  : token.is("%")  ? Op::kMod
                                   : Op::kAdd;
    if (op == Op::kAdd) break;
    next();
    left = binary(op, at, left, parse_power());
  }
  return left;
}

// Unlike Python, jinja2 groups a ** b ** c to the left.
Expr* Parser::parse_power() {
  const std::uint32_t at = now().at;
  Expr* left = parse_unary(true);
  while (left != nullptr && skip("**")) {
    left = binary(Op::kPow, at, left, parse_unary(true));
  }
  return left;
}

Expr* Parser::parse_unary(bool with_filter) {
  Level level(*this);
  if (level.too_deep()) return nullptr;
  Expr* node = nullptr;
  if (now().is("-") || now().is("+")) {
    const bool negative = now().is("-");
    node = new_expr(negative ? ExprKind::kNegative : ExprKind::kPositive, next().at);
    Expr* operand = parse_unary(false);
    if (operand == nullptr) return nullptr;
    node->items = {operand};
    node = finish(node);
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
    return node != nullptr && expect(")") ? node : nullptr;
  }
  return fail_here(cat("unexpected ", describe(now())));
}

Expr* Parser::parse_name(bool with_namespace) {
  const Token& token = next();
  const std::string_view name = token.text;
  if (name == "true" || name == "True") return new_expr(ExprKind::kTrue, token.at);
  if (name == "false" || name == "False") return new_expr(ExprKind::kFalse, token.at);
  if (name == "none" || name == "None") return new_expr(ExprKind::kNone, token.at);
  if (with_namespace && skip(".")) {
    if (now().kind != TokenKind::kName) return fail_here("expected a name behind the point");
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
      return fail(token.at, *wrong);
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
    return fail(token.at, "this integer does not fit into 64 bits");
  }
  return node;
}

Expr* Parser::parse_list() {
  Expr* node = new_expr(ExprKind::kList, next().at);
  while (!now().is("]")) {
    if (!node->items.empty() && !expect(",")) return nullptr;
    if (now().is("]")) break;
    Expr* item = parse_expression();
    if (item == nullptr) return nullptr;
    node->items.push_back(item);
  }
  next();
  return finish(node);
}

Expr* Parser::parse_dict() {
  Expr* node = new_expr(ExprKind::kDict, next().at);
  while (!now().is("}")) {
    if (!node->items.empty() && !expect(",")) return nullptr;
    if (now().is("}")) break;
    Expr* key = parse_expression();
    if (key == nullptr || !expect(":")) return nullptr;
    Expr* value = parse_expression();
    if (value == nullptr) return nullptr;
    node->items.push_back(key);
    node->items.push_back(value);
  }
  next();
  return finish(node);
}

Expr* Parser::parse_postfix(Expr* node) {
  while (node != nullptr) {
    if (now().is(".") || now().is("[")) {
      node = parse_subscript(node);
    } else if (now().is("(")) {
      node = parse_call(node);
    } else {
      break;
    }
  }
  return node;
}

Expr* Parser::parse_filters(Expr* node) {
  while (node != nullptr) {
    if (now().is("|")) {
      node = parse_filter(node, false);
    } else if (now().is_name("is")) {
      node = parse_test(node);
    } else if (now().is("(")) {
      node = parse_call(node);
    } else {
      break;
    }
  }
  return node;
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
    if (now().kind != TokenKind::kInteger) return fail_here("expected a name or a number");
    Expr* index = parse_number();
    if (index == nullptr) return nullptr;
    Expr* get = new_expr(ExprKind::kGetItem, token.at);
    get->items = {node, index};
    return finish(get);
  }
  std::vector<Expr*> args;
  while (!now().is("]")) {
    if (!args.empty() && !expect(",")) return nullptr;
    Expr* arg = parse_subscribed();
    if (arg == nullptr) return nullptr;
    args.push_back(arg);
  }
  next();
  Expr* get = new_expr(ExprKind::kGetItem, token.at);
  if (args.size() != 1) {
    for (const Expr* arg : args) {
      if (arg->kind == ExprKind::kSlice) return fail(arg->at, "a slice among several subscripts");
    }
    Expr* tuple = new_expr(ExprKind::kTuple, token.at);
    tuple->items = std::move(args);
    args = {finish(tuple)};
    if (args[0] == nullptr) return nullptr;
  }
  get->items = {node, args[0]};
  return finish(get);
}

Expr* Parser::parse_subscribed() {
  Expr* slice = new_expr(ExprKind::kSlice, now().at);
  slice->items = {nullptr, nullptr, nullptr};
  const auto part_ends = [this] { return now().is(":") || now().is("]") || now().is(","); };
  if (!now().is(":")) {
    Expr* node = parse_expression();
    if (node == nullptr || !now().is(":")) return node;
    slice->items[0] = node;
  }
  next();
  if (!part_ends() && (slice->items[1] = parse_expression()) == nullptr) return nullptr;
  if (skip(":") && !part_ends() && (slice->items[2] = parse_expression()) == nullptr)
    return nullptr;
  return finish(slice);
}

bool Parser::parse_arguments(CallArguments& out) {
  const std::uint32_t at = now().at;
  if (!expect("(")) return false;
  const auto wrong = [&] {
    fail(at, "invalid syntax for a call: positional, named, *args, **kwargs is the order");
    return false;
  };
  bool first = true;
  while (!now().is(")")) {
    if (!first && !expect(",")) return false;
    if (!first && now().is(")")) break;
    first = false;
    if (skip("*")) {
      if (out.star != nullptr || out.star_star != nullptr) return wrong();
      if ((out.star = parse_expression()) == nullptr) return false;
    } else if (skip("**")) {
      if (out.star_star != nullptr) return wrong();
      if ((out.star_star = parse_expression()) == nullptr) return false;
    } else if (now().kind == TokenKind::kName && ahead().is("=")) {
      if (out.star_star != nullptr) return wrong();
      const std::string_view name = next().text;
      next();
      if (out.named.size() == kMaxArguments) {
        return fail_here(cat("a call has more than ", kMaxArguments, " named arguments")), false;
      }
      for (const auto& [other, value] : out.named) {
        if (other == name) return fail_here(cat("the argument '", name, "' is given twice")), false;
      }
      Expr* value = parse_expression();
      if (value == nullptr) return false;
      out.named.emplace_back(name, value);
    } else {
      if (out.star != nullptr || out.star_star != nullptr || !out.named.empty()) return wrong();
      Expr* value = parse_expression();
      if (value == nullptr) return false;
      out.positional.push_back(value);
    }
  }
  next();
  return true;
}

Expr* Parser::parse_call(Expr* node) {
  Expr* call = new_expr(ExprKind::kCall, now().at);
  call->items = {node};
  return parse_arguments(call->args) ? finish(call) : nullptr;
}

// "name" or "name.name", in one piece if no blank stands between.
bool Parser::parse_dotted_name(std::string_view& out) {
  if (now().kind != TokenKind::kName) {
    fail_here(cat("expected a name, got ", describe(now())));
    return false;
  }
  const Token& first = next();
  const char* end = first.text.data() + first.text.size();
  while (now().is(".") && ahead().kind == TokenKind::kName) {
    next();
    const Token& part = next();
    end = part.text.data() + part.text.size();
  }
  out = {first.text.data(), static_cast<std::size_t>(end - first.text.data())};
  return true;
}

Expr* Parser::parse_filter(Expr* node, bool starts_inline) {
  while (starts_inline || now().is("|")) {
    if (!starts_inline) next();
    starts_inline = false;
    Expr* filter = new_expr(ExprKind::kFilter, now().at);
    filter->items = {node};
    if (!parse_dotted_name(filter->attr)) return nullptr;
    if (now().is("(") && !parse_arguments(filter->args)) return nullptr;
    node = finish(filter);
    if (node == nullptr) return nullptr;
  }
  return node;
}

Expr* Parser::parse_test(Expr* node) {
  next();
  const bool negated = skip_name("not");
  Expr* test = new_expr(ExprKind::kTest, now().at);
  test->items = {node};
  if (!parse_dotted_name(test->attr)) return nullptr;
  const TokenKind kind = now().kind;
  const bool literal = kind == TokenKind::kName || kind == TokenKind::kString ||
                       kind == TokenKind::kInteger || kind == TokenKind::kFloat;
  if (now().is("(")) {
    if (!parse_arguments(test->args)) return nullptr;
  } else if ((literal || now().is("[") || now().is("{")) && !now().is_name("else") &&
             !now().is_name("or") && !now().is_name("and")) {
    if (now().is_name("is")) return fail_here("tests cannot be chained with is");
    Expr* arg = parse_postfix(parse_primary(false));
    if (arg == nullptr) return nullptr;
    test->args.positional = {arg};
  }
  node = finish(test);
  if (!negated || node == nullptr) return node;
  Expr* inverse = new_expr(ExprKind::kNot, test->at);
  inverse->items = {node};
  return finish(inverse);
}

}  // namespace wick::jinja
