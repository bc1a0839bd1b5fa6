// Words: literals, backslashes, quotes, and what ends each kind of text.
#include <utility>

#include "base/strings.h"
#include "shell/parser.h"

namespace wick::shell {

namespace {

bool is_quoted_text(In in) noexcept {  // only \ $ ` " are special
  return in == In::kDouble || in == In::kHereDoc || in == In::kBraceDouble;
}

// Whether the word ends in a brace that closes none of its own.
bool ends_in_brace(const Word& word) {
  if (word.parts.empty() || word.parts.back().kind != PartKind::kLiteral ||
      word.parts.back().text.back() != '}')
    return false;
  int open = 0;
  bool is_matched = true;
  for (const WordPart& part : word.parts) {
    if (part.kind != PartKind::kLiteral) continue;
    for (const char c : part.text) {
      if (c == '{') ++open;
      if (c == '}') is_matched = open > 0;
      if (c == '}' && open > 0) --open;
    }
  }
  return !is_matched;
}

}  // namespace

bool Parser::parse_text(List<WordPart>& out, In in) {
  return parts(out, in) && (at_end() || unexpected());
}

bool Parser::word(Word& out, In in) {
  const int begin = pos_;
  if (!count() || !parts(out.parts, in)) return false;
  if (is_zsh() && in == In::kWord && !give_back_brace(out)) return false;
  out.span = span_from(begin);
  return !out.parts.empty() || unexpected();
}

// zsh: `hi}` is the word `hi` and the end of a group. `hi}}` is refused: in a line of its own,
// `hi}` would end the group.
bool Parser::give_back_brace(Word& out) {
  const bool is_brace = out.parts.size() == 1 && out.parts.front().text == "}";
  if (is_brace || !ends_in_brace(out)) return true;
  std::string& last = out.parts.back().text;
  --pos_;
  last.pop_back();
  --out.parts.back().span.end;
  if (last.empty()) out.parts.pop_back();
  return !ends_in_brace(out) || fail(pos_ - 1, "two closing braces at the end of a word");
}

bool Parser::parts(List<WordPart>& out, In in) {
  const Nest nest(*this);
  if (!nest.ok) return false;
  int parens = 0;  // open ones of an arithmetic expression or a regular expression
  while (!ends(in, parens)) {
    if (!part(out, in, parens)) return false;
  }
  return true;
}

// `parens`: an inner ) or ] does not end the text.
bool Parser::ends(In in, int parens) const {
  const char c = look(0);
  if (c == '\0') return true;
  switch (in) {
    case In::kWord: {
      const bool is_process = (c == '<' || c == '>') && look(1) == '(' && is_bash_like();
      return is_meta(c) && !is_process && !is_zsh_word();
    }
    case In::kZshGroup:
      return c == ')' || c == ';' || c == '&' || c == '\n' ||
             ((c == '<' || c == '>') && !is_zsh_word());
    case In::kDouble:
      return c == '"';
    case In::kHereDoc:
      return false;
    case In::kBrace:
    case In::kBraceDouble:
      return parens == 0 && c == '}';  // only zsh counts them
    case In::kPattern:
      return c == '}' || c == '/';
    case In::kOffset:
      return parens == 0 && (c == '}' || c == ':');
    case In::kSubscript:
      return parens == 0 && c == ']';
    case In::kArithmetic:
      return parens == 0 && c == ')';
    case In::kArithClause:
      return parens == 0 && (c == ')' || c == ';');
    case In::kRegex:
      return parens == 0 && (is_blank(c) || c == '\n' || c == ')');
    case In::kExtGlob:
      return parens == 0 && c == ')';
  }
  return true;
}

void Parser::literal(List<WordPart>& out, std::string_view text, int begin) {
  if (out.empty() || out.back().kind != PartKind::kLiteral) {
    out.emplace_back(PartKind::kLiteral, span_from(begin), text);
    return;
  }
  out.back().text += text;
  out.back().span.end = span_from(begin).end;
}

bool Parser::part(List<WordPart>& out, In in, int& parens) {
  const char c = cur();
  const bool is_quoted = is_quoted_text(in);
  if (out.empty() || out.back().kind != PartKind::kLiteral) {
    if (!count()) return false;
  }
  if (is_plain(c) && !is_continued_) return plain_run(out);
  const char skipped = text_[static_cast<std::size_t>(pos_)];
  if (skipped == '\\' && c != '\\') take(0);  // continuation lines
  if (c == '\\') return backslash(out, in);
  if (c == '$') return dollar(out, in);
  if (c == '`') return back_quote(out, in);
  if (c == '"' && in != In::kDouble && in != In::kHereDoc)
    return double_quote(out, PartKind::kDouble, pos_);
  if (c == '\'' && !is_quoted) return single_quote(out);
  if ((c == '!' || c == '^') && in != In::kHereDoc && is_history())
    return fail(pos_, "history expansion puts unknown text here");
  if (!is_quoted && in != In::kArithmetic && in != In::kArithClause) {
    if ((c == '<' || c == '>') && look(1) == '(' && in != In::kRegex && is_bash_like())
      return process_sub(out);
    if (is_zsh() && in == In::kWord && c == '=' && look(1) == '(' && out.empty())
      return process_sub(out);
    if (is_zsh() && c == '(' && (in == In::kWord || in == In::kZshGroup))
      return zsh_word_group(out);
    if (const int size = zsh_number_range(); size > 0 && in != In::kRegex) {
      for (int i = 0; i < size; ++i) {
        const int begin = pos_;
        const char range = cur();
        take();
        literal(out, {&range, 1}, begin);
      }
      return true;
    }
    const bool has_ext =
        is_in_test_ || in == In::kBrace || in == In::kPattern || in == In::kExtGlob;
    if (has_ext && look(1) == '(' && std::string_view("?*+@!").find(c) != std::string_view::npos &&
        is_bash_like() && !is_zsh() && in != In::kRegex)
      return ext_glob(out);
  }
  const bool nests = in == In::kArithmetic || in == In::kArithClause || in == In::kRegex ||
                     in == In::kOffset || in == In::kExtGlob;
  if (nests && c == '(') ++parens;
  if (nests && c == ')') --parens;
  if (in == In::kSubscript && c == '[') ++parens;
  if (in == In::kSubscript && c == ']') --parens;
  const bool counts_braces = is_zsh() && (in == In::kBrace || in == In::kBraceDouble);
  if (counts_braces && c == '{') ++parens;
  if (counts_braces && c == '}') --parens;
  if (in == In::kOffset && c == '?') ++parens;  // a ? b : c, whose : does not end the offset
  if (in == In::kOffset && c == ':') --parens;
  if (state_.depth + parens > kMaxDepth) return fail_limit("nests deeper than the limit of 64");
  if (!is_continued_) return plain_run(out);
  const int begin = pos_;
  take();
  literal(out, {&c, 1}, begin);
  return true;
}

// The character here, and those behind it that mean themselves.
bool Parser::plain_run(List<WordPart>& out) {
  const int begin = pos_;
  auto end = static_cast<std::size_t>(pos_) + 1;
  while (end < text_.size() && is_plain(text_[end]))
    ++end;
  pos_ = static_cast<int>(end);
  const auto from = static_cast<std::size_t>(begin);
  literal(out, text_.substr(from, end - from), begin);
  return true;
}

bool Parser::backslash(List<WordPart>& out, In in) {
  const int begin = pos_;
  const char next = static_cast<std::size_t>(pos_) + 1 < text_.size()
                        ? text_[static_cast<std::size_t>(pos_) + 1]
                        : '\0';
  if (next == '\0' && in == In::kDouble) return fail(begin, "\" is not closed");
  bool is_escape = true;
  if (is_quoted_text(in)) {
    is_escape = next == '$' || next == '`' || next == '\\' || (next == '"' && in != In::kHereDoc) ||
                (next == '}' && in == In::kBraceDouble);
  }
  ++pos_;
  if (!is_escape) {
    literal(out, "\\", begin);
    return true;
  }
  if (next != '\0') ++pos_;
  out.emplace_back(PartKind::kEscape, span_from(begin), std::string(1, next == '\0' ? '\\' : next));
  return true;
}

bool Parser::single_quote(List<WordPart>& out) {
  take(0);
  const int begin = pos_++;
  const std::size_t close = text_.find('\'', static_cast<std::size_t>(pos_));
  if (close == std::string_view::npos) return fail(begin, "' is not closed");
  const auto from = static_cast<std::size_t>(pos_);
  pos_ = static_cast<int>(close) + 1;
  out.emplace_back(PartKind::kSingle, span_from(begin), text_.substr(from, close - from));
  return true;
}

bool Parser::double_quote(List<WordPart>& out, PartKind kind, int begin) {
  take();  // "
  WordPart quoted(kind, {});
  const bool was_in_test = std::exchange(is_in_test_, false);
  if (!parts(quoted.parts, In::kDouble)) return false;
  is_in_test_ = was_in_test;
  if (at_end()) return fail(begin, "\" is not closed");
  take();
  quoted.span = span_from(begin);
  out.push_back(std::move(quoted));
  return true;
}

// $'…': only \' and \\ matter for where it ends.
bool Parser::ansi_quote(List<WordPart>& out, int begin) {
  take(0);
  ++pos_;  // no take(): within the quotes a backslash before a newline stays
  std::size_t at = static_cast<std::size_t>(pos_);
  while (at < text_.size() && text_[at] != '\'')
    at += text_[at] == '\\' ? 2 : 1;
  if (at >= text_.size()) return fail(begin, "$' is not closed");
  std::string body(
      text_.substr(static_cast<std::size_t>(pos_), at - static_cast<std::size_t>(pos_)));
  pos_ = static_cast<int>(at) + 1;
  out.emplace_back(PartKind::kAnsiC, span_from(begin), std::move(body));
  return true;
}

bool Parser::ext_glob(List<WordPart>& out) {
  const int begin = pos_;
  WordPart glob(PartKind::kExtGlob, {}, std::string(1, cur()));
  take(2);
  if (!parts(glob.parts, In::kExtGlob)) return false;
  if (cur() != ')') return fail(begin, "the pattern's ( is not closed");
  take();
  glob.span = span_from(begin);
  out.push_back(std::move(glob));
  return true;
}

}  // namespace wick::shell
