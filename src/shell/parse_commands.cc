// Lists, pipelines, simple commands and assignments.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/strings.h"
#include "shell/parser.h"

namespace wick::shell {

bool Parser::parse_all(List<Node>& out) {
  constexpr std::ptrdiff_t kMost = 64;
  out.reserve(
      static_cast<std::size_t>(std::min(1 + std::count(text_.begin(), text_.end(), '\n'), kMost)));
  if (!newlines() || !list(out)) return false;
  return at_end() || unexpected();
}

bool Parser::list(List<Node>& out) {
  const Nest nest(*this);
  if (!nest.ok) return false;
  while (true) {
    if (!newlines()) return false;
    if (at_list_end()) return true;
    if (is_zsh() && cur() == ';') {
      take();
      continue;
    }
    if (!and_or(out.emplace_back())) return false;
    bool has_more = false;
    if (!separator(out.back(), has_more)) return false;
    if (!has_more) return true;
  }
}

bool Parser::body(List<Node>& out, const char* what) {
  const int begin = pos_;
  if (!list(out)) return false;
  if (!out.empty() || is_zsh()) return true;
  return at_end() ? unexpected() : fail(begin, cat("no command ", what));
}

// Behind a command: `;`, `&`, a newline, or the end of the list.
bool Parser::separator(Node& last, bool& has_more) {
  blanks();
  const char c = cur();
  has_more = true;
  if (c == '&') {
    last.is_background = true;
    take();
    if (is_zsh() && (cur() == '!' || cur() == '|')) take();  // &! and &|
    return true;
  }
  if (c == ';' &&
      (is_zsh() ? !at_list_end() : look(1) != ';' && !(look(1) == '&' && is_bash_like()))) {
    take();
    return true;
  }
  if (c == '\n') return true;
  has_more = false;
  return at_list_end() || is_zsh() || unexpected();  // zsh: `if (a) b` goes on without one
}

bool Parser::and_or(Node& out) {
  const int begin = pos_;
  if (!pipeline(out)) return false;
  blanks();
  if (!((cur() == '&' && look(1) == '&') || (cur() == '|' && look(1) == '|'))) return true;
  Node joined;
  joined.kind = NodeKind::kAndOr;
  joined.children.push_back(std::move(out));
  while ((cur() == '&' && look(1) == '&') || (cur() == '|' && look(1) == '|')) {
    joined.joins.push_back(cur() == '&');
    take(2);
    if (!newlines() || !pipeline(joined.children.emplace_back())) return false;
    blanks();
  }
  joined.span = span_from(begin);
  out = std::move(joined);
  return true;
}

bool Parser::pipeline(Node& out) {
  const int begin = pos_;
  bool is_negated = false;
  bool is_timed = false;
  while (true) {
    blanks();
    const char c = cur();
    if (c == 't' && is_bash_like() && !is_timed && at_word("time")) {
      take(4);
      is_timed = true;
      blanks();
      if (at_word("-p") && !is_zsh()) take(2);
      continue;
    }
    if (c != '!' || !at_word("!")) break;
    take();
    is_negated = !is_negated;
    if (!is_bash_like() || is_zsh()) break;
  }
  blanks();
  if ((is_timed || is_negated) && (at_end() || cur() == '\n' || at_separator()))
    return fail(begin, "no command behind '!' or 'time'");
  if (!command(out)) return false;
  blanks();
  if (!is_negated && !is_timed && !(cur() == '|' && look(1) != '|')) return true;
  Node whole;
  whole.kind = NodeKind::kPipeline;
  whole.is_negated = is_negated;
  whole.is_timed = is_timed;
  whole.children.push_back(std::move(out));
  while (cur() == '|' && look(1) != '|') {
    const bool takes_stderr = look(1) == '&';
    if (takes_stderr && !is_bash_like()) return fail(pos_, "|& is not POSIX");
    whole.children.back().pipes_stderr = takes_stderr;
    take(takes_stderr ? 2 : 1);
    if (!newlines() || !command(whole.children.emplace_back())) return false;
    blanks();
  }
  whole.span = span_from(begin);
  out = std::move(whole);
  return true;
}

bool Parser::command(Node& out) {
  const Nest nest(*this);
  if (!nest.ok || !count()) return false;
  blanks();
  take(0);
  has_groups_ = false;
  const int begin = pos_;
  bool is_compound = false;
  if (!compound(out, is_compound)) return false;
  if (!is_compound && !simple(out)) return false;
  if (is_compound && out.kind != NodeKind::kFunction && out.kind != NodeKind::kCoproc &&
      !redirects(out))
    return false;
  if (out.kind != NodeKind::kFunction || out.span.end == 0) out.span = span_from(begin);
  return true;
}

bool Parser::redirects(Node& out) {
  bool is_one = true;
  while (is_one) {
    blanks();
    if (!try_redirect(out.redirects, is_one)) return false;
  }
  return true;
}

namespace {

bool declares(std::string_view name) noexcept {
  if (name.size() < 5) return name == "eval";  // most names are short
  return name == "declare" || name == "typeset" || name == "export" || name == "readonly" ||
         name == "local" || name == "alias" || name == "integer" || name == "float" ||
         name == "private";
}

}  // namespace

bool Parser::simple(Node& out) {
  const int begin = pos_;
  bool takes_assignments = false;
  while (true) {
    blanks();
    bool is_one = false;
    if (!try_redirect(out.redirects, is_one)) return false;
    if (is_one) continue;
    const char c = cur();
    const bool is_process = (c == '<' || c == '>') && look(1) == '(' && is_bash_like();
    if (is_zsh() && at_word("}")) break;
    if (is_meta(c) && !is_process && !is_zsh_word()) {
      if (c != '(' || out.words.empty()) break;
      if (is_zsh() && look(1) == ')') {
        std::string names;
        for (const Word& one : out.words) {
          const std::string* name = plain_text(one);
          if (name == nullptr || !out.redirects.empty() || !out.assignments.empty())
            return unexpected();
          names += (names.empty() ? "" : " ") + *name;
        }
        take(2);
        return zsh_function(out, begin, std::move(names));
      }
      const std::string* name = plain_text(out.words.front());
      const bool can_name = out.words.size() == 1 && name != nullptr && out.redirects.empty() &&
                            out.assignments.empty();
      if (!can_name) return unexpected();
      return function_command(out, begin, *name);
    }
    if (out.words.empty()) {
      if (!try_assignment(out.assignments, true, is_one)) return false;
      if (is_one) continue;
    }
    if (!simple_word(out, takes_assignments)) return false;
  }
  const bool is_empty = out.words.empty() && out.assignments.empty() && out.redirects.empty();
  return is_empty ? unexpected() : true;
}

bool Parser::simple_word(Node& out, bool& takes_assignments) {
  if (takes_assignments) {  // declare a=(1 2)
    Attempt attempt(*this);
    List<Assignment> found;
    bool is_one = false;
    if (!try_assignment(found, false, is_one)) return false;
    if (is_one && found.front().is_array) {
      Word& word = out.words.emplace_back();
      word.span = found.front().span;
      word.array = std::make_unique<Assignment>(std::move(found.front()));
      return true;
    }
    if (!attempt.give_up("has too many assignments")) return false;
  }
  if (out.words.size() == 1) out.words.reserve(4);
  if (!word(out.words.emplace_back())) return false;
  has_groups_ = true;
  if (out.words.size() == 1) {
    const std::string* name = plain_text(out.words.front());
    takes_assignments = is_bash_like() && name != nullptr && declares(*name);
  }
  return true;
}

namespace {

bool follows_name(char c) noexcept {
  return c == '=' || c == '+' || c == '[';
}

// Whether what stands behind a [ has no blank or operator, so that it reads the same in a word.
bool is_one_word(const List<WordPart>& index) noexcept {
  return std::all_of(index.begin(), index.end(), [](const WordPart& part) {
    return part.kind != PartKind::kLiteral ||
           std::none_of(part.text.begin(), part.text.end(), is_meta);
  });
}

}  // namespace

bool Parser::is_name_here(int begin) const {
  return is_name_start(look(begin));
}

// NAME=, NAME+=, NAME[…]=: read with its value; otherwise nothing is read. Before the command's
// name
// (`is_first`) all up to the ] is one word for bash, blanks too; behind `declare` it is not. To us
// a word NAME[ with blanks that is no assignment is an error.
bool Parser::try_assignment(List<Assignment>& out, bool is_first, bool& is_one) {
  is_one = false;
  if (!is_name_here(0)) return true;
  const int begin = pos_;
  int size = 0;
  if (!is_continued_) {  // most words are none
    auto end = static_cast<std::size_t>(pos_);
    while (end < text_.size() && is_name_char(text_[end]))
      ++end;
    if (end == text_.size() || !follows_name(text_[end])) return true;
  }
  std::string name = name_at(size);
  char c = look(size);
  if (!follows_name(c)) return true;
  Assignment found;
  found.name = std::move(name);
  if (c == '[' && is_bash_like()) {
    Attempt attempt(*this);
    take(size + 1);
    const bool is_read = parts(found.index, In::kSubscript);
    const bool closes = is_read && cur() == ']';
    const bool assigns = closes && (look(1) == '=' || (look(1) == '+' && look(2) == '='));
    const bool is_word = is_one_word(found.index);
    if (is_first && !is_read) return false;
    if (is_first && !assigns && !(closes && is_word))
      return fail(begin, "a [ that is not closed by ] in its word");
    if (!assigns || found.index.empty() || !(is_first || is_word))
      return attempt.give_up("has too many '[' that are not closed");
    found.has_index = true;
    take();
    size = 0;
    c = cur();
  }
  found.is_append = c == '+' && look(size + 1) == '=' && is_bash_like();
  if (c != '=' && !found.is_append) return true;
  take(size + (found.is_append ? 2 : 1));
  is_one = true;
  if (!count() || !assignment_value(found)) return false;
  found.span = span_from(begin);
  out.push_back(std::move(found));
  return true;
}

bool Parser::assignment_value(Assignment& out) {
  const char c = cur();
  if (c == '(') {
    if (!is_bash_like()) return fail(pos_, "arrays are not POSIX");
    return array_elements(out);
  }
  has_groups_ = true;
  const bool is_process = (c == '<' || c == '>') && look(1) == '(' && is_bash_like();
  if (is_meta(c) && !is_process) {  // NAME= alone
    out.value.span = span_from(pos_);
    return true;
  }
  const bool is_read = word(out.value);
  has_groups_ = false;
  return is_read;
}

bool Parser::array_elements(Assignment& out) {
  const Nest nest(*this);
  if (!nest.ok) return false;
  const int begin = pos_;
  out.is_array = true;
  take();
  has_groups_ = true;
  while (true) {
    if (!newlines()) return false;
    if (at_end()) return fail(begin, "( is not closed");
    if (cur() == ')') break;
    ArrayElement element;
    if (cur() == '[') {  // [index]=value, if it is one
      Attempt attempt(*this);
      take();
      if (!parts(element.index, In::kSubscript)) return false;
      if (cur() == ']' && look(1) == '=' && !element.index.empty()) {
        take(2);
        element.has_index = true;
      } else {
        if (cur() != ']' || !is_one_word(element.index))
          return fail(begin, "a [ that is not closed by ] in its word");
        if (!attempt.give_up("has too many '['")) return false;
        element.index.clear();
      }
    }
    const bool is_empty = element.has_index && is_meta(cur());
    if (!is_empty && !word(element.value)) return false;
    out.elements.push_back(std::move(element));
  }
  take();
  return true;
}

}  // namespace wick::shell
