// Commands that only zsh has: short forms, foreach, repeat, anonymous functions, always. They
// become the nodes of the long forms, so that what stands on the tree knows them already.
#include <utility>

#include "base/strings.h"
#include "shell/parser.h"

namespace wick::shell {

bool Parser::zsh_compound(Node& out, bool& is_compound) {
  is_compound = true;
  const std::string word = ahead();
  if (cur() == '(' && look(1) == ')') return zsh_anonymous(out);
  if (cur() == '{') return zsh_group(out);  // also `{ls`: a word never begins so
  if (word == "if") return zsh_if(out);
  if (word == "for" || word == "select" || word == "foreach") {
    out.kind = word == "select" ? NodeKind::kSelect : NodeKind::kFor;
    take(static_cast<int>(word.size()));
    return zsh_for(out, word == "foreach");
  }
  if (word == "while" || word == "until") {
    out.kind = word == "while" ? NodeKind::kWhile : NodeKind::kUntil;
    take(5);
    return list(out.bodies.emplace_back()) && newlines() && zsh_body(out, true);
  }
  if (word == "repeat") {
    out.kind = NodeKind::kRepeat;
    take(6);
    blanks();
    has_groups_ = true;
    if (is_meta(cur()) || !this->word(out.words.emplace_back())) return unexpected();
    blanks();
    if (cur() == ';') take();
    return newlines() && zsh_body(out, true);
  }
  if (word == "function") {
    const int begin = pos_;
    take(8);
    blanks();
    std::string names;
    while (!is_meta(cur()) && !at_word("{")) {
      Word name;
      if (!this->word(name)) return false;
      const std::string* plain = plain_text(name);
      if (plain == nullptr) return fail(begin, "a function's name with quotes or expansions");
      names += (names.empty() ? "" : " ") + *plain;
      blanks();
    }
    if (names.empty()) return zsh_anonymous(out);
    out.has_in = true;
    if (cur() == '(' && look(1) == ')') take(2);
    return zsh_function(out, begin, std::move(names));
  }
  if (word == "end") return unexpected();
  is_compound = false;
  return true;
}

// { … }, perhaps with an `always`.
bool Parser::zsh_group(Node& out) {
  out.kind = NodeKind::kGroup;
  if (!zsh_braces(out.bodies.emplace_back())) return false;
  blanks();
  if (!at_word("always")) return true;
  take(6);
  blanks();
  out.kind = NodeKind::kAlways;
  return zsh_braces(out.bodies.emplace_back());
}

bool Parser::zsh_braces(List<Node>& out) {
  const int begin = pos_;
  if (cur() != '{') return unexpected();
  take();
  if (!list(out)) return false;
  if (cur() != '}') return at_end() ? fail(begin, "{ is not closed by }") : unexpected();
  take();
  return true;
}

bool Parser::zsh_sublist(List<Node>& out) {
  if (at_list_end() || at_separator() || cur() == '\n') return unexpected();
  return and_or(out.emplace_back());
}

bool Parser::zsh_body(Node& out, bool has_keywords) {
  List<Node>& body = out.bodies.emplace_back();
  if (has_keywords && at_word("do")) {
    take(2);
    return list(body) && take_word("done");
  }
  return cur() == '{' ? zsh_braces(body) : zsh_sublist(body);
}

bool Parser::zsh_if(Node& out) {
  out.kind = NodeKind::kIf;
  take(2);
  while (true) {
    if (!list(out.bodies.emplace_back()) || !newlines()) return false;
    if (at_word("then")) {
      take(4);
      if (!list(out.bodies.emplace_back())) return false;
      if (at_word("fi")) break;
    } else if (cur() == '{') {
      if (!zsh_braces(out.bodies.emplace_back())) return false;
      blanks();
      if (!at_word("elif") && !at_word("else")) return true;
    } else {
      return zsh_sublist(out.bodies.emplace_back());
    }
    if (at_word("elif")) {
      take(4);
      continue;
    }
    if (!take_word("else")) return false;
    blanks();
    if (cur() == '{') return zsh_braces(out.bodies.emplace_back());
    if (!list(out.bodies.emplace_back())) return false;
    break;
  }
  return take_word("fi");
}

// Behind the keyword: names, then `(words)`, `in words;` or nothing, then the body.
bool Parser::zsh_for(Node& out, bool is_foreach) {
  const int begin = pos_;
  blanks();
  if (out.kind == NodeKind::kFor && cur() == '(' && look(1) == '(') {
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
    return newlines() && zsh_body(out, true);
  }
  while (is_name_char(cur())) {
    int size = 0;
    const std::string name = name_at(size);
    if (name == "in" && !out.name.empty()) break;
    if (name == "do" && !out.name.empty()) break;
    if (!is_meta(look(size))) return fail(begin, "'for' with a name that is none");
    take(size);
    out.name += (out.name.empty() ? "" : " ") + name;
    blanks();
    if (out.kind == NodeKind::kSelect) break;
  }
  if (out.name.empty()) return fail(begin, "'for' without a name");
  has_groups_ = true;
  if (cur() == '(') {
    out.has_in = true;
    take();
    if (!newlines()) return false;
    while (cur() != ')') {
      if (at_end()) return fail(begin, "( is not closed");
      if (is_meta(cur()) && !is_zsh_word()) return unexpected();
      if (!word(out.words.emplace_back()) || !newlines()) return false;
    }
    take();
    blanks();
    if (cur() == ';') take();
  } else if (newlines() && at_word("in")) {
    out.has_in = true;
    take(2);
    blanks();
    while (!is_meta(cur()) || is_zsh_word()) {
      if (!word(out.words.emplace_back())) return false;
      blanks();
    }
    if (cur() != ';' && cur() != '\n') return unexpected();
    if (cur() == ';') take();
  } else if (cur() == ';') {
    take();
  }
  if (!newlines()) return false;
  if (!is_foreach) return zsh_body(out, true);
  return list(out.bodies.emplace_back()) && take_word("end");
}

// Behind the names and (): any command is a body.
bool Parser::zsh_function(Node& out, int begin, std::string names) {
  out.words.clear();
  out.kind = NodeKind::kFunction;
  out.name = std::move(names);
  if (!newlines()) return false;
  if (at_list_end() || at_separator()) return unexpected();
  const Nest nest(*this);
  if (!nest.ok || !command(out.children.emplace_back())) return false;
  out.span = span_from(begin);
  return true;
}

// () { … } words, function { … } words.
bool Parser::zsh_anonymous(Node& out) {
  const int begin = pos_;
  out.kind = NodeKind::kAnonymous;
  if (cur() == '(') take(2);
  if (!newlines()) return false;
  if (at_list_end() || at_separator()) return unexpected();
  const Nest nest(*this);
  Node& inner = out.children.emplace_back();
  if (!nest.ok || !command(inner)) return false;
  has_groups_ = true;
  blanks();
  while ((!is_meta(cur()) || is_zsh_word()) && !at_word("}")) {
    if (!word(out.words.emplace_back())) return false;
    blanks();
  }
  out.span = span_from(begin);
  return true;
}

}  // namespace wick::shell
