// The expressions of [[ ]].
#include <utility>

#include "base/strings.h"
#include "shell/parser.h"

namespace wick::shell {

bool Parser::double_test(Node& out) {
  const int begin = pos_;
  out.kind = NodeKind::kDoubleTest;
  take(2);
  out.test = std::make_unique<Test>();
  const bool was_in_test = std::exchange(is_in_test_, true);
  has_groups_ = true;
  if (!newlines() || !test_or(*out.test) || !newlines()) return false;
  is_in_test_ = was_in_test;
  if (!at_word("]]")) return at_end() ? fail(begin, "[[ is not closed by ]]") : unexpected();
  take(2);
  return true;
}

bool Parser::test_or(Test& out) {
  const Nest nest(*this);
  if (!nest.ok || !test_and(out)) return false;
  while (true) {
    if (!newlines()) return false;
    if (cur() != '|' || look(1) != '|') return true;
    take(2);
    Test joined{.kind = TestKind::kOr};
    joined.inner.push_back(std::move(out));
    if (!newlines() || !test_and(joined.inner.emplace_back())) return false;
    out = std::move(joined);
  }
}

bool Parser::test_and(Test& out) {
  if (!test_not(out)) return false;
  while (true) {
    if (!newlines()) return false;
    if (cur() != '&' || look(1) != '&') return true;
    take(2);
    Test joined{.kind = TestKind::kAnd};
    joined.inner.push_back(std::move(out));
    if (!newlines() || !test_not(joined.inner.emplace_back())) return false;
    out = std::move(joined);
  }
}

bool Parser::test_not(Test& out) {
  const Nest nest(*this);
  if (!nest.ok || !count()) return false;
  if (!at_word("!")) return test_primary(out);
  take();
  out.kind = TestKind::kNot;
  return newlines() && test_not(out.inner.emplace_back());
}

namespace {

bool is_unary(std::string_view op) noexcept {
  return op.size() == 2 && op[0] == '-' &&
         std::string_view("abcdefghknoprstuvwxzGLNORS").find(op[1]) != std::string_view::npos;
}

bool is_binary_word(std::string_view op) noexcept {
  static constexpr std::string_view kOps[] = {"=",   "==",  "!=",  "=~",  "-eq", "-ne", "-lt",
                                              "-le", "-gt", "-ge", "-nt", "-ot", "-ef"};
  for (const std::string_view known : kOps) {
    if (op == known) return true;
  }
  return false;
}

}  // namespace

bool Parser::test_primary(Test& out) {
  blanks();
  const int begin = pos_;
  if (cur() == '(') {
    take();
    out.kind = TestKind::kGroup;
    if (!newlines() || !test_or(out.inner.emplace_back()) || !newlines()) return false;
    if (cur() != ')') return at_end() ? fail(begin, "( is not closed") : unexpected();
    take();
    return true;
  }
  if (at_word("]]")) return unexpected();
  const std::string op = ahead();
  if (is_unary(op)) {
    const int start = pos_;
    take(2);
    blanks();
    const bool has_operand = !is_meta(cur()) && !at_word("]]") && !is_binary_word(ahead());
    if (has_operand) {
      out.kind = TestKind::kUnary;
      out.op = op;
      return word(out.words.emplace_back());
    }
    pos_ = start;
  }
  if (!word(out.words.emplace_back())) return false;
  return test_binary(out);
}

// Behind a word: an operator and its right side, or nothing.
bool Parser::test_binary(Test& out) {
  blanks();
  std::string op = ahead();
  if ((cur() == '<' || cur() == '>') && look(1) != '(') op = cur();
  if (op != "<" && op != ">" && !is_binary_word(op)) return true;
  take(static_cast<int>(op.size()));
  blanks();
  out.kind = TestKind::kBinary;
  out.op = op;
  if (at_end() || cur() == '\n') return unexpected();
  return word(out.words.emplace_back(), op == "=~" ? In::kRegex : In::kWord);
}

}  // namespace wick::shell
