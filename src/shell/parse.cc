// The characters of the parser: places, failures, blanks, comments, words ahead; and parse().
#include "shell/parse.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/fish_parser.h"
#include "shell/parser.h"

namespace wick::shell {

char Parser::look_over(int ahead) const {
  std::size_t at = static_cast<std::size_t>(pos_);
  while (true) {
    while (at + 1 < text_.size() && text_[at] == '\\' && text_[at + 1] == '\n')
      at += 2;
    if (at >= text_.size()) return '\0';
    if (ahead-- == 0) return text_[at];
    ++at;
  }
}

// One walk: look() for each character would walk from the start each time.
std::string Parser::name_at(int& ahead) const {
  std::string out;
  std::size_t at = static_cast<std::size_t>(pos_);
  for (int passed = 0;; ++passed, ++at) {
    while (at + 1 < text_.size() && text_[at] == '\\' && text_[at + 1] == '\n')
      at += 2;
    if (passed < ahead) {
      if (at >= text_.size()) return out;
      continue;
    }
    if (at >= text_.size() || !is_name_char(text_[at])) break;
    out += text_[at];
  }
  ahead += static_cast<int>(out.size());
  return out;
}

void Parser::take(int count) {
  const int size = static_cast<int>(text_.size());
  if (!is_continued_) {
    pos_ = std::min(pos_ + count, size);
    return;
  }
  while (true) {
    while (pos_ + 1 < size && text_[static_cast<std::size_t>(pos_)] == '\\' &&
           text_[static_cast<std::size_t>(pos_) + 1] == '\n')
      pos_ += 2;
    if (count-- == 0 || pos_ >= size) return;
    ++pos_;
  }
}

Span Parser::span_from(int begin) const {
  if (map_ == nullptr) return {begin, pos_};
  const auto place = [this](int at) {
    return map_->empty() ? 0 : (*map_)[std::min(static_cast<std::size_t>(at), map_->size() - 1)];
  };
  return {place(begin), place(pos_)};
}

bool Parser::fail(int begin, std::string message) {
  if (state_.is_failed) return false;
  state_.is_failed = true;
  state_.error.span = span_from(begin);
  state_.error.message = std::move(message);
  return false;
}

bool Parser::fail_limit(std::string message) {
  if (state_.is_failed) return false;
  state_.error.is_limit = true;
  return fail(pos_, std::move(message));
}

bool Parser::unexpected() {
  if (at_end()) return fail(pos_, "the text ends where more is wanted");
  const int begin = pos_;
  const std::string word = ahead();
  const char c = cur();
  take(word.empty() ? 1 : static_cast<int>(word.size()));
  const std::string seen = word.empty() ? std::string(1, c) : word;
  return fail(begin,
              c == '\n' ? "unexpected end of the line" : cat("unexpected '", printable(seen), "'"));
}

bool Parser::count() {
  if (++state_.nodes <= kMaxNodes) return true;
  return fail_limit("has more than 50,000 nodes");
}

void Parser::blanks() {
  while (is_blank(cur()))
    take();
  if (cur() != '#' || (dialect_ == Dialect::kZsh && mode_ == Mode::kInteractive)) return;
  // A comment: a backslash before its newline is no continuation.
  while (static_cast<std::size_t>(pos_) < text_.size() &&
         text_[static_cast<std::size_t>(pos_)] != '\n')
    ++pos_;
}

bool Parser::newlines() {
  blanks();
  while (cur() == '\n') {
    ++pos_;  // alone: the first line of a here-document may be a backslash
    if (!read_here_docs()) return false;
    take(0);
    blanks();
  }
  return true;
}

std::string Parser::ahead(int longest) const {
  std::string out;  // short: on the stack
  for (int i = 0; i <= longest; ++i) {
    const char c = look(i);
    if (is_meta(c)) return out;
    if (c == '\'' || c == '"' || c == '\\' || c == '$' || c == '`') return "";
    out += c;
  }
  return "";
}

bool Parser::take_word(std::string_view wanted) {
  if (at_word(wanted)) {
    take(static_cast<int>(wanted.size()));
    return true;
  }
  const int begin = pos_;
  if (at_end()) return fail(begin, cat("the text ends before '", wanted, "'"));
  return fail(begin, cat("'", wanted, "' is wanted here"));
}

bool Parser::at_list_end() {
  const char c = cur();
  if (c == '\0' || c == ')') return true;
  if (c == ';') return look(1) == ';' || look(1) == '&' || (look(1) == '|' && is_zsh());
  static constexpr std::string_view kEnds[] = {"then", "elif", "else", "fi",
                                               "do",   "done", "esac", "}"};
  if (c != 't' && c != 'e' && c != 'f' && c != 'd' && c != '}') return false;
  for (const std::string_view end : kEnds) {
    if (at_word(end)) return true;
  }
  return is_zsh() && (c == '}' || at_word("end"));
}

// History expansion of a typed line: it puts text there that nobody has seen.
bool Parser::is_history() const {
  if (mode_ != Mode::kInteractive || dialect_ == Dialect::kPosix) return false;
  const char next = look(1);
  if (look(0) == '^' && pos_ == 0) return true;  // ^old^new
  return look(0) == '!' && next != '\0' && next != ' ' && next != '\t' && next != '\n' &&
         next != '=' && next != '(' && (next != '"' || is_zsh());
}

namespace {

void find_line(std::string_view text, SyntaxError& error) {
  const auto begin = static_cast<std::size_t>(error.span.begin);
  for (std::size_t i = 0; i < begin && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++error.line;
      error.column = 1;
    } else {
      ++error.column;
    }
  }
}

SyntaxError refuse(int begin, int end, bool is_limit, std::string message) {
  return {.span = {begin, end}, .is_limit = is_limit, .message = std::move(message)};
}

}  // namespace

Parsed parse(std::string_view text, Dialect dialect, Mode mode) {
  if (text.size() > kMaxSource)
    return refuse(0, 0, true, cat("has ", text.size(), " bytes, the limit is ", kMaxSource));
  if (dialect == Dialect::kPowershell) return refuse(0, 0, false, "this shell is not analyzed");
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    SyntaxError error =
        refuse(static_cast<int>(nul), static_cast<int>(nul) + 1, false, "holds a NUL byte");
    find_line(text, error);
    return error;
  }
  Script script{.source = std::string(text), .dialect = dialect, .mode = mode};
  ParseState state;
  bool is_parsed = false;
  if (dialect == Dialect::kFish) {
    is_parsed = FishParser(text, state).parse_all(script.body);
  } else {
    is_parsed = Parser(text, nullptr, dialect, mode, state).parse_all(script.body);
  }
  if (is_parsed) return script;
  find_line(text, state.error);
  return std::move(state.error);
}

}  // namespace wick::shell
