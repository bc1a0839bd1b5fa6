// Compound commands and function definitions.
#include <utility>

#include "base/strings.h"
#include "shell/parser.h"

namespace wick::shell {

namespace {

// Most commands do not begin as one of the reserved words does.
bool begins_reserved(char c, char next) noexcept {
  switch (c) {
    case '{':
    case '}':
    case '[':
    case ']':
    case '!':
      return true;
    case 'c':  // case, coproc
      return next == 'a' || next == 'o';
    case 'd':  // do, done
      return next == 'o';
    case 'e':  // elif, else, esac
      return next == 'l' || next == 's';
    case 'f':  // fi, for, function
      return next == 'i' || next == 'o' || next == 'u';
    case 'i':  // if
      return next == 'f';
    case 's':  // select
      return next == 'e';
    case 't':  // then
    case 'w':  // while
      return next == 'h';
    case 'u':  // until
      return next == 'n';
    default:
      return false;
  }
}

}  // namespace

bool Parser::compound(Node& out, bool& is_compound) {
  if (is_zsh()) {
    if (!zsh_compound(out, is_compound)) return false;
    if (is_compound) return true;
  }
  is_compound = true;
  if (cur() == '(') {
    if (look(1) == '(' && is_bash_like()) {
      bool is_one = false;
      if (!arith_command(out, is_one)) return false;
      if (is_one) return true;
    }
    return group(out, ')');
  }
  const std::string text = begins_reserved(cur(), look(1)) ? ahead() : "";
  const std::string_view word = text;
  if (word.empty()) {
    is_compound = false;
    return true;
  }
  if (word == "{") return group(out, '}');
  if (word == "if") return if_command(out);
  if (word == "for") return for_command(out, NodeKind::kFor);
  if (word == "while") return while_command(out, NodeKind::kWhile);
  if (word == "until") return while_command(out, NodeKind::kUntil);
  if (word == "case") return case_command(out);
  static constexpr std::string_view kReserved[] = {"then", "elif", "else", "fi", "do",
                                                   "done", "esac", "}",    "!"};
  for (const std::string_view reserved : kReserved) {
    if (word == reserved) return unexpected();
  }
  if (is_bash_like()) {
    if (word == "[[") return double_test(out);
    if (word == "select") return for_command(out, NodeKind::kSelect);
    if (word == "coproc") return coproc(out);
    if (word == "]]") return unexpected();
    if (word == "function") {
      const int begin = pos_;
      take(8);
      blanks();
      Word name;
      if (!this->word(name)) return false;
      const std::string* plain = plain_text(name);
      if (plain == nullptr) return fail(begin, "a function's name with quotes or expansions");
      out.has_in = true;  // the keyword was there
      return function_command(out, begin, *plain);
    }
  }
  is_compound = false;
  return true;
}

bool Parser::group(Node& out, char close) {
  const int begin = pos_;
  out.kind = close == ')' ? NodeKind::kSubshell : NodeKind::kGroup;
  take();
  if (!body(out.bodies.emplace_back(), close == ')' ? "in ( )" : "in { }")) return false;
  if (close == '}') return take_word("}");
  if (cur() != ')') return at_end() ? fail(begin, "( is not closed") : unexpected();
  take();
  return true;
}

bool Parser::if_command(Node& out) {
  out.kind = NodeKind::kIf;
  take(2);
  while (true) {
    if (!body(out.bodies.emplace_back(), "behind 'if'") || !take_word("then")) return false;
    if (!body(out.bodies.emplace_back(), "behind 'then'")) return false;
    if (!at_word("elif")) break;
    take(4);
  }
  if (at_word("else")) {
    take(4);
    if (!body(out.bodies.emplace_back(), "behind 'else'")) return false;
  }
  return take_word("fi");
}

bool Parser::while_command(Node& out, NodeKind kind) {
  out.kind = kind;
  take(5);
  return body(out.bodies.emplace_back(), "as condition") && do_group(out);
}

bool Parser::do_group(Node& out) {
  return take_word("do") && body(out.bodies.emplace_back(), "behind 'do'") && take_word("done");
}

bool Parser::for_command(Node& out, NodeKind kind) {
  const int begin = pos_;
  out.kind = kind;
  take(kind == NodeKind::kFor ? 3 : 6);
  blanks();
  if (kind == NodeKind::kFor && cur() == '(' && look(1) == '(' && is_bash_like())
    return arith_for(out);
  if (!is_name_start(cur())) return fail(begin, "'for' without a name");
  while (is_name_char(cur())) {
    out.name += cur();
    take();
  }
  if (!is_meta(cur())) return fail(begin, "'for' with a name that is none");
  if (!for_words(out)) return false;
  if (is_bash_like() && at_word("{")) {  // undocumented, known to bash and zsh
    take();
    return body(out.bodies.emplace_back(), "in { }") && take_word("}");
  }
  return do_group(out);
}

// [in words] and the separator in front of `do`.
bool Parser::for_words(Node& out) {
  blanks();
  if (cur() == ';') {
    take();
    return newlines();
  }
  if (!newlines()) return false;
  if (!at_word("in")) return true;
  take(2);
  out.has_in = true;
  blanks();
  while (!is_meta(cur()) || ((cur() == '<' || cur() == '>') && look(1) == '(')) {
    if (!word(out.words.emplace_back())) return false;
    blanks();
  }
  if (cur() == ';') {
    take();
  } else if (cur() != '\n') {
    return unexpected();
  }
  return newlines();
}

bool Parser::arith_for(Node& out) {
  const int begin = pos_;
  out.kind = NodeKind::kArithFor;
  take(2);
  for (int i = 0; i < 3; ++i) {
    if (!parts(out.arithmetic.emplace_back(), In::kArithClause)) return false;
    const bool ends = i < 2 ? cur() == ';' : cur() == ')' && look(1) == ')';
    if (!ends) return fail(begin, "'for ((' wants three expressions and '))'");
    take(i < 2 ? 1 : 2);
  }
  blanks();
  if (cur() == ';') take();
  if (!newlines()) return false;
  if (at_word("{")) {
    take();
    return body(out.bodies.emplace_back(), "in { }") && take_word("}");
  }
  return do_group(out);
}

bool Parser::case_command(Node& out) {
  out.kind = NodeKind::kCase;
  take(4);
  blanks();
  has_groups_ = true;
  if (!word(out.words.emplace_back()) || !newlines()) return false;
  const bool has_braces = is_zsh() && at_word("{");  // zsh: case x { … }
  const std::string_view end = has_braces ? "}" : "esac";
  if (!take_word(has_braces ? "{" : "in") || !newlines()) return false;
  while (!at_word(end)) {
    if (at_end()) return fail(pos_, cat("the text ends before '", end, "'"));
    if (!case_item(out.items.emplace_back())) return false;
    if (out.items.back().end.empty()) break;
  }
  return take_word(end);
}

// [(] pattern | pattern ). In zsh `(a|b)c)` is a pattern that begins with a group.
bool Parser::case_patterns(CaseItem& out) {
  has_groups_ = true;
  Attempt attempt(*this);
  const bool has_paren = cur() == '(';
  if (has_paren) {
    take();
    blanks();
  }
  while (true) {
    if (!word(out.patterns.emplace_back())) break;
    blanks();
    if (cur() != '|') break;
    take();
    blanks();
  }
  if (!state_.is_failed && cur() == ')') {
    take();
    const char next = cur();
    if (!has_paren || !is_zsh() || (is_meta(next) && next != ')' && next != '|')) return true;
  } else if (!is_zsh() || !has_paren) {
    return !state_.is_failed && unexpected();
  }
  if (!attempt.give_up("has too many patterns that begin with (")) return false;
  out.patterns.clear();
  while (true) {
    if (!word(out.patterns.emplace_back())) return false;
    blanks();
    if (cur() != '|') break;
    take();
    blanks();
  }
  if (cur() != ')') return unexpected();
  take();
  return true;
}

bool Parser::case_item(CaseItem& out) {
  if (!case_patterns(out) || !list(out.body)) return false;
  if (cur() == ';') {
    const char next = look(1);
    if (next == '&' && !is_bash_like()) return unexpected();
    out.end = {';', next};
    take(2);
    if (out.end == ";;" && cur() == '&' && is_bash_like() && !is_zsh()) {
      out.end = ";;&";
      take();
    }
  }
  return newlines();
}

// Behind the name: [()] body. POSIX wants (), `function f` does not.
bool Parser::function_command(Node& out, int begin, std::string name) {
  out.words.clear();
  out.kind = NodeKind::kFunction;
  if (!is_bash_like()) {
    bool is_name = is_name_start(name.front());
    for (const char c : name)
      is_name = is_name && is_name_char(c);
    if (!is_name) return fail(begin, cat("'", printable(name), "' cannot name a function"));
  }
  out.name = std::move(name);
  blanks();
  if (cur() == '(') {
    take();
    blanks();
    if (cur() != ')') return unexpected();
    take();
  }
  if (!newlines()) return false;
  Node& inner = out.children.emplace_back();
  bool is_compound = false;
  take(0);
  const int inner_begin = pos_;
  const Nest nest(*this);
  if (!nest.ok || !count() || !compound(inner, is_compound)) return false;
  if (!is_compound || inner.kind == NodeKind::kFunction || inner.kind == NodeKind::kCoproc)
    return at_end() ? unexpected() : fail(inner_begin, "a function's body is no compound command");
  if (!redirects(inner)) return false;
  inner.span = span_from(inner_begin);
  out.span = span_from(begin);
  return true;
}

bool Parser::coproc(Node& out) {
  constexpr int kLongestName = 255;
  out.kind = NodeKind::kCoproc;
  take(6);
  blanks();
  const int begin = pos_;
  const std::string name = ahead(kLongestName);
  Node& inner = out.children.emplace_back();
  bool is_named = !name.empty() && is_name_start(name.front()) && !is_zsh() &&
                  name.find('=') == std::string::npos;  // an assignment
  if (is_named) {  // NAME only stands before a compound command
    const int start = pos_;
    take(static_cast<int>(name.size()));
    blanks();
    const std::string next = ahead();
    is_named = cur() == '(' || next == "{" || next == "if" || next == "for" || next == "while" ||
               next == "until" || next == "case" || next == "select" || next == "[[";
    static constexpr std::string_view kWords[] = {"if", "for", "while", "until", "case", "select"};
    for (const std::string_view reserved : kWords)
      is_named = is_named && name != reserved;
    if (!is_named) pos_ = start;
  }
  if (is_named) out.name = name;
  if (!command(inner)) return false;
  out.span = span_from(begin);
  return true;
}

// `((`: an arithmetic command if the matching `))` is one, else two subshells.
bool Parser::arith_command(Node& out, bool& is_one) {
  const int begin = pos_;
  List<WordPart> found;
  if (!arithmetic_sub(found, begin, is_one)) return false;
  if (!is_one) return true;
  out.kind = NodeKind::kArithmetic;
  out.arithmetic.push_back(std::move(found.front().parts));
  return true;
}

}  // namespace wick::shell
