// Statements of fish: lists, conjunctions, pipes, blocks, simple commands.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/fish_parser.h"

namespace wick::shell {

char FishParser::look(int ahead) const {
  const auto at = static_cast<std::size_t>(pos_ + ahead);
  return at < text_.size() ? text_[at] : '\0';
}

bool FishParser::fail(int begin, std::string message) {
  if (state_.is_failed) return false;
  state_.is_failed = true;
  state_.error.span = {begin, std::max(begin, pos_)};
  state_.error.message = std::move(message);
  return false;
}

bool FishParser::unexpected() {
  if (at_end()) return fail(pos_, "the text ends where more is wanted");
  const int begin = pos_;
  const std::string word = ahead();
  const std::string seen = word.empty() ? std::string(1, cur()) : word;
  pos_ += static_cast<int>(seen.size());
  return fail(begin, seen == "\n" ? "unexpected end of the line"
                                  : cat("unexpected '", printable(seen), "'"));
}

bool FishParser::count() {
  if (++state_.nodes <= kMaxNodes) return true;
  if (!state_.is_failed) state_.error.is_limit = true;
  return fail(pos_, "has more than 50,000 nodes");
}

void FishParser::skip_continued() {
  while (look(0) == '\\' && look(1) == '\n')
    pos_ += 2;
}

void FishParser::blanks() {
  while (true) {
    skip_continued();
    if (!is_blank(cur())) break;
    ++pos_;
  }
  if (cur() != '#') return;
  while (!at_end() && cur() != '\n')
    ++pos_;
}

void FishParser::separators() {
  while (true) {
    blanks();
    if (cur() != '\n' && cur() != ';') return;
    ++pos_;
  }
}

bool FishParser::is_word_end() const {
  const char c = cur();
  return at_end() || is_blank(c) || std::string_view("\n;&|<>()").find(c) != std::string_view::npos;
}

std::string FishParser::ahead() const {
  std::string out;
  for (int i = 0; i < 12; ++i) {
    const char c = look(i);
    if (c == '\0' || is_blank(c) || std::string_view("\n;&|<>()").find(c) != std::string_view::npos)
      return out;
    if (std::string_view("'\"\\$").find(c) != std::string_view::npos) return "";
    out += c;
  }
  return "";
}

bool FishParser::take_keyword(std::string_view word) {
  if (ahead() == word) {
    pos_ += static_cast<int>(word.size());
    return true;
  }
  if (at_end()) return fail(pos_, cat("the text ends before '", word, "'"));
  return fail(pos_, cat("'", word, "' is wanted here"));
}

bool FishParser::parse_all(List<Node>& out) {
  return list(out) && (at_end() || unexpected());
}

bool FishParser::list(List<Node>& out) {
  const Nest nest(*this);
  if (!nest.ok) return false;
  while (true) {
    separators();
    const std::string word = ahead();
    if (at_end() || cur() == ')' || word == "end" || word == "else" || word == "case") return true;
    Node node;
    if (!and_or(node, out)) return false;
    out.push_back(std::move(node));
    blanks();
    if (cur() == '&') {
      ++pos_;
      out.back().is_background = true;
      continue;
    }
    if (cur() != ';' && cur() != '\n' && cur() != ')' && !at_end()) return unexpected();
  }
}

// `and job` and `or job` go on with the statement before.
bool FishParser::and_or(Node& out, List<Node>& before) {
  const std::string word = ahead();
  if (word != "and" && word != "or") return conjunction(out);
  const int begin = pos_;
  pos_ += static_cast<int>(word.size());
  blanks();
  const std::string next = ahead();
  if (next == "and" || next == "or") return unexpected();
  Node right;
  if (!conjunction(right)) return false;
  if (before.empty() || before.back().is_background) {
    out = std::move(right);  // nothing came before: the job runs
    return true;
  }
  Node left = std::move(before.back());
  before.pop_back();
  if (left.kind != NodeKind::kAndOr) {
    Node joined;
    joined.kind = NodeKind::kAndOr;
    joined.span = {left.span.begin, pos_};
    joined.children.push_back(std::move(left));
    left = std::move(joined);
  }
  left.joins.push_back(word == "and");
  if (right.kind == NodeKind::kAndOr) {
    left.children.push_back(std::move(right.children.front()));
    for (std::size_t i = 1; i < right.children.size(); ++i) {
      left.joins.push_back(right.joins[i - 1]);
      left.children.push_back(std::move(right.children[i]));
    }
  } else {
    left.children.push_back(std::move(right));
  }
  left.span.end = pos_;
  static_cast<void>(begin);
  out = std::move(left);
  return true;
}

bool FishParser::conjunction(Node& out) {
  const int begin = pos_;
  if (!pipeline(out)) return false;
  blanks();
  const auto is_join = [this] {
    return (cur() == '&' && look(1) == '&') || (cur() == '|' && look(1) == '|');
  };
  if (!is_join()) return true;
  Node joined;
  joined.kind = NodeKind::kAndOr;
  joined.children.push_back(std::move(out));
  while (is_join()) {
    joined.joins.push_back(cur() == '&');
    pos_ += 2;
    blanks();
    while (cur() == '\n') {
      ++pos_;
      blanks();
    }
    const std::string word = ahead();
    if (word == "and" || word == "or") return unexpected();
    if (!pipeline(joined.children.emplace_back())) return false;
    blanks();
  }
  joined.span = {begin, pos_};
  out = std::move(joined);
  return true;
}

// Of |, &| with stderr, and >| and 2>| for one descriptor; 0 if none stands here.
int FishParser::pipe_size() const {
  if (cur() == '|' && look(1) != '|') return 1;
  if (cur() == '&' && look(1) == '|') return 2;
  if (cur() == '>' && look(1) == '|') return 2;
  return (cur() == '1' || cur() == '2') && look(1) == '>' && look(2) == '|' ? 3 : 0;
}

bool FishParser::pipeline(Node& out) {
  const int begin = pos_;
  blanks();
  bool is_timed = false;
  if (ahead() == "time") {
    is_timed = true;
    pos_ += 4;
    blanks();
  }
  if (!statement(out)) return false;
  blanks();
  if (!is_timed && pipe_size() == 0) return true;
  Node whole;
  whole.kind = NodeKind::kPipeline;
  whole.is_timed = is_timed;
  whole.children.push_back(std::move(out));
  for (int size = pipe_size(); size > 0; size = pipe_size()) {
    whole.children.back().pipes_stderr = cur() == '&' || cur() == '2';
    pos_ += size;
    blanks();
    while (cur() == '\n') {
      ++pos_;
      blanks();
    }
    const std::string word = ahead();
    if (word == "and" || word == "or" || word == "time") return unexpected();
    if (!statement(whole.children.emplace_back())) return false;
    blanks();
  }
  whole.span = {begin, pos_};
  out = std::move(whole);
  return true;
}

bool FishParser::statement(Node& out) {
  const Nest nest(*this);
  if (!nest.ok || !count()) return false;
  blanks();
  const int begin = pos_;
  const std::string word = ahead();
  if (word == "not" || word == "!") {
    pos_ += static_cast<int>(word.size());
    out.kind = NodeKind::kPipeline;
    out.is_negated = true;
    blanks();
    if (!statement(out.children.emplace_back())) return false;
    out.span = {begin, pos_};
    return true;
  }
  const bool is_block = word == "begin" || word == "if" || word == "for" || word == "while" ||
                        word == "switch" || word == "function";
  if (!is_block) {
    if (!simple(out)) return false;
  } else {
    pos_ += static_cast<int>(word.size());
    if (!block(out, word)) return false;
    bool is_one = true;
    while (is_one) {
      blanks();
      if (!try_redirect(out, is_one)) return false;
    }
  }
  out.span = {begin, pos_};
  return true;
}

bool FishParser::end_of_block() {
  return take_keyword("end");
}

bool FishParser::block(Node& out, std::string_view keyword) {
  if (keyword == "begin") {
    out.kind = NodeKind::kGroup;
    blanks();
    if (cur() != ';' && cur() != '\n') return unexpected();
    return list(out.bodies.emplace_back()) && end_of_block();
  }
  if (keyword == "if") return if_block(out);
  if (keyword == "for") return for_block(out);
  if (keyword == "while") return while_block(out);
  if (keyword == "switch") return switch_block(out);
  return function_block(out);
}

// One job, and the `and` and `or` behind it.
bool FishParser::condition(List<Node>& out) {
  blanks();
  if (cur() == ';' || cur() == '\n' || at_end()) return unexpected();
  while (true) {
    Node node;
    if (!and_or(node, out)) return false;
    out.push_back(std::move(node));
    blanks();
    if (cur() != ';' && cur() != '\n') return unexpected();
    const int begin = pos_;
    separators();
    const std::string word = ahead();
    if (word == "and" || word == "or") continue;
    pos_ = begin;
    return true;
  }
}

bool FishParser::if_block(Node& out) {
  out.kind = NodeKind::kIf;
  while (true) {
    if (!condition(out.bodies.emplace_back()) || !list(out.bodies.emplace_back())) return false;
    if (ahead() != "else") return end_of_block();
    pos_ += 4;
    blanks();
    if (ahead() == "if") {
      pos_ += 2;
      continue;
    }
    if (cur() != ';' && cur() != '\n') return unexpected();
    return list(out.bodies.emplace_back()) && end_of_block();
  }
}

bool FishParser::while_block(Node& out) {
  out.kind = NodeKind::kWhile;
  return condition(out.bodies.emplace_back()) && list(out.bodies.emplace_back()) && end_of_block();
}

bool FishParser::for_block(Node& out) {
  const int begin = pos_;
  out.kind = NodeKind::kFor;
  blanks();
  while (is_name_char(cur())) {
    out.name += cur();
    ++pos_;
  }
  if (out.name.empty() || is_digit(out.name[0]) || !is_blank(cur()))
    return fail(begin, "'for' without a name");
  blanks();
  if (!take_keyword("in")) return false;
  out.has_in = true;
  return words(out.words) && list(out.bodies.emplace_back()) && end_of_block();
}

bool FishParser::switch_block(Node& out) {
  out.kind = NodeKind::kCase;
  blanks();
  if (!word(out.words.emplace_back())) return false;
  separators();
  while (ahead() == "case") {
    pos_ += 4;
    CaseItem& item = out.items.emplace_back();
    if (!words(item.patterns) || !list(item.body)) return false;
  }
  return end_of_block();
}

bool FishParser::function_block(Node& out) {
  const int begin = pos_;
  out.kind = NodeKind::kFunction;
  if (!words(out.words)) return false;
  if (out.words.empty()) return fail(begin, "'function' without a name");
  const std::string* name = plain_text(out.words.front());
  if (name == nullptr || name->starts_with('-'))
    return fail(begin, "a function's name with quotes or expansions");
  out.name = *name;
  out.words.erase(out.words.begin());
  Node& body = out.children.emplace_back();
  body.kind = NodeKind::kGroup;
  const int inside = pos_;
  if (!list(body.bodies.emplace_back())) return false;
  body.span = {inside, pos_};
  return end_of_block();
}

// Words up to the end of the line.
bool FishParser::words(List<Word>& out) {
  while (true) {
    blanks();
    if (cur() == ';' || cur() == '\n') return true;
    if (at_end()) return unexpected();
    if (!word(out.emplace_back())) return false;
  }
}

bool FishParser::try_assignment(Node& out, bool& is_one) {
  is_one = false;
  int size = 0;
  while (is_name_char(look(size)))
    ++size;
  if (size == 0 || is_digit(cur()) || look(size) != '=') return true;
  is_one = true;
  Assignment& found = out.assignments.emplace_back();
  found.span.begin = pos_;
  found.name =
      std::string(text_.substr(static_cast<std::size_t>(pos_), static_cast<std::size_t>(size)));
  pos_ += size + 1;
  skip_continued();
  found.value.span = {pos_, pos_};
  if (!is_word_end() || cur() == '(') {
    if (!word(found.value)) return false;
  }
  found.span.end = pos_;
  return true;
}

bool FishParser::try_redirect(Node& out, bool& is_one) {
  is_one = false;
  int size = 0;
  while (is_digit(look(size)) && size < 4)
    ++size;
  const char c = look(size);
  const bool is_both = size == 0 && c == '&' && look(1) == '>';
  if (!is_both && c != '<' && c != '>') return true;
  if (c == '>' && look(size + 1) == '|') return true;  // a pipe
  is_one = true;
  Redirect found;
  found.span.begin = pos_;
  for (int i = 0; i < size; ++i)
    found.fd = std::max(found.fd, 0) * 10 + (look(i) - '0');
  pos_ += size + (is_both ? 2 : 1);
  found.op = c == '<' ? RedirectOp::kIn : is_both ? RedirectOp::kBoth : RedirectOp::kOut;
  if (c != '<' && cur() == '>') {
    ++pos_;
    found.op = is_both ? RedirectOp::kBothAppend : RedirectOp::kAppend;
  } else if (c != '<' && cur() == '?') {
    ++pos_;  // refuses to overwrite: the same to us
  } else if (cur() == '&' && !is_both) {
    ++pos_;
    found.op = c == '<' ? RedirectOp::kDupIn : RedirectOp::kDupOut;
  }
  blanks();
  if (is_word_end() && cur() != '(') return unexpected();
  if (!word(found.target)) return false;
  found.span.end = pos_;
  out.redirects.push_back(std::move(found));
  return count();
}

bool FishParser::simple(Node& out) {
  const int begin = pos_;
  bool is_one = true;
  while (is_one) {
    if (!try_assignment(out, is_one)) return false;
    if (is_one) blanks();
  }
  const std::string first = ahead();
  static constexpr std::string_view kReserved[] = {"end",      "else", "case", "and",   "or",
                                                   "begin",    "if",   "for",  "while", "switch",
                                                   "function", "not",  "!",    "time"};
  if (std::find(std::begin(kReserved), std::end(kReserved), first) != std::end(kReserved))
    return unexpected();
  while (true) {
    blanks();
    if (!try_redirect(out, is_one)) return false;
    if (is_one && out.words.empty()) return fail(begin, "a redirection in front of the command");
    if (is_one) continue;
    if ((is_word_end() && cur() != '(') || pipe_size() > 0) break;
    if (out.words.empty() && (cur() == '(' || (cur() == '$' && look(1) == '(')))
      return fail(begin, "a command's name cannot be a substitution");
    if (out.words.empty() && cur() == '{') return fail(begin, "a command's name with braces");
    if (!word(out.words.emplace_back())) return false;
    const bool has_sub =
        std::any_of(out.words.front().parts.begin(), out.words.front().parts.end(),
                    [](const WordPart& part) { return part.kind == PartKind::kCommandSub; });
    if (has_sub) return fail(begin, "a command's name cannot be a substitution");
    const Span name = out.words.front().span;  // fish joins lines when it has looked for keywords
    if (out.words.size() == 1 && text_.substr(static_cast<std::size_t>(name.begin),
                                              static_cast<std::size_t>(name.end - name.begin))
                                         .find("\\\n") != std::string_view::npos)
      return fail(name.begin, "a command's name that goes on in the next line");
  }
  if (!out.words.empty()) return true;
  return out.assignments.empty() ? unexpected()
                                 : fail(begin, "fish sets variables by `set`, not by `=`");
}

}  // namespace wick::shell
