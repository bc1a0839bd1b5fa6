// Words of fish: quotes, escapes, variables, substitutions, braces.
#include <utility>

#include "base/strings.h"
#include "shell/fish_parser.h"

namespace wick::shell {

void FishParser::literal(List<WordPart>& out, char c) {
  if (out.empty() || out.back().kind != PartKind::kLiteral)
    out.emplace_back(PartKind::kLiteral, Span{pos_, pos_});
  out.back().text += c;
  out.back().span.end = ++pos_;
}

bool FishParser::word(Word& out) {
  const int begin = pos_;
  int braces = 0;
  if (!count() || !parts(out.parts, braces)) return false;
  if (braces > 0) return fail(begin, "{ is not closed by }");
  out.span = {begin, pos_};
  return !out.parts.empty() || unexpected();
}

bool FishParser::parts(List<WordPart>& out, int& braces) {
  while (true) {
    const int begin = pos_;
    skip_continued();
    const char c = cur();
    const PartKind last = out.empty() ? PartKind::kLiteral : out.back().kind;
    const bool may_go_on = last == PartKind::kParameter || last == PartKind::kCommandSub ||
                           last == PartKind::kAnsiC;  // `$a` and `b` of two lines are $ab
    if (pos_ > begin && may_go_on && (c == '(' || !is_word_end()))
      return fail(begin, "an expansion that may go on in the next line");
    if (at_end()) return true;
    if (c == '(') {
      if (!substitution(out, false)) return false;
      continue;
    }
    if (is_word_end()) {
      if (braces == 0) return true;
      return fail(pos_, "a blank or an operator in braces");
    }
    if (!count()) return false;
    if (c == '\'') {
      if (!single_quote(out)) return false;
    } else if (c == '"') {
      if (!double_quote(out)) return false;
    } else if (c == '\\') {
      if (!escape(out)) return false;
    } else if (c == '$') {
      if (!dollar(out)) return false;
    } else {
      if (c == '{') ++braces;
      if (c == '}' && --braces < 0) return fail(pos_, "} without {");
      literal(out, c);
    }
  }
}

// '…': \' and \\ are escapes.
bool FishParser::single_quote(List<WordPart>& out) {
  const int begin = pos_++;
  std::string text;
  while (cur() != '\'') {
    if (at_end()) return fail(begin, "' is not closed");
    if (cur() == '\\' && (look(1) == '\'' || look(1) == '\\')) ++pos_;
    text += cur();
    ++pos_;
  }
  ++pos_;
  out.emplace_back(PartKind::kSingle, Span{begin, pos_}, std::move(text));
  return true;
}

bool FishParser::double_quote(List<WordPart>& out) {
  const int begin = pos_++;
  WordPart quoted(PartKind::kDouble, {});
  while (cur() != '"') {
    if (at_end()) return fail(begin, "\" is not closed");
    if (cur() == '\\') {
      const char next = look(1);
      if (next == '\n') {
        const PartKind last = quoted.parts.empty() ? PartKind::kLiteral : quoted.parts.back().kind;
        if (last == PartKind::kParameter || last == PartKind::kCommandSub)
          return fail(pos_, "an expansion that may go on in the next line");
        pos_ += 2;
      } else if (next == '"' || next == '$' || next == '\\') {
        quoted.parts.emplace_back(PartKind::kEscape, Span{pos_, pos_ + 2}, std::string(1, next));
        pos_ += 2;
      } else {
        literal(quoted.parts, '\\');
      }
    } else if (cur() == '$') {
      if (!dollar(quoted.parts)) return false;
    } else {
      literal(quoted.parts, cur());
    }
    if (!count()) return false;
  }
  ++pos_;
  quoted.span = {begin, pos_};
  out.push_back(std::move(quoted));
  return true;
}

// Outside quotes: \n, \x41 and the like as in $'…' of other shells; any other character is itself.
bool FishParser::escape(List<WordPart>& out) {
  const int begin = pos_++;
  const char c = cur();
  if (at_end()) return fail(begin, "\\ stands at the end");
  const auto is_hex = [](char x) {
    return is_digit(x) || (x >= 'a' && x <= 'f') || (x >= 'A' && x <= 'F');
  };
  int size = 0;
  if (c == 'x' || c == 'X' || c == 'u' || c == 'U') {
    const int most = c == 'u' ? 4 : c == 'U' ? 8 : 2;
    while (size < most && is_hex(look(size + 1)))
      ++size;
    if (size == 0) return fail(begin, "\\x without a digit");
  } else if (c >= '0' && c <= '7') {
    while (size < 2 && look(size + 1) >= '0' && look(size + 1) <= '7')
      ++size;
  } else if (c == 'c') {
    return fail(begin, "\\c is not known here");
  } else if (std::string_view("abefnrtv").find(c) == std::string_view::npos) {
    ++pos_;
    out.emplace_back(PartKind::kEscape, Span{begin, pos_}, std::string(1, c));
    return true;
  }
  pos_ += size + 1;
  std::string text(
      text_.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(pos_ - begin)));
  out.emplace_back(PartKind::kAnsiC, Span{begin, pos_}, std::move(text));
  return true;
}

// $name[…], $$name, $(…).
bool FishParser::dollar(List<WordPart>& out) {
  const int begin = pos_;
  if (look(1) == '(') {
    ++pos_;
    return substitution(out, true);
  }
  WordPart named(PartKind::kParameter, {});
  named.parameter = std::make_unique<Parameter>();
  ++pos_;
  while (cur() == '$') {
    named.parameter->is_indirect = true;
    named.parameter->name += '$';
    ++pos_;
  }
  const std::size_t begins = named.parameter->name.size();
  while (is_name_char(cur())) {
    named.parameter->name += cur();
    ++pos_;
  }
  if (named.parameter->name.size() == begins) return fail(begin, "$ is not followed by a name");
  if (cur() == '[') {
    named.parameter->has_index = true;
    if (!subscript(named.parameter->index)) return false;
  }
  named.span = {begin, pos_};
  out.push_back(std::move(named));
  return true;
}

bool FishParser::subscript(List<WordPart>& out) {
  const Nest nest(*this);
  if (!nest.ok) return false;
  const int begin = pos_++;
  while (cur() != ']') {
    const char c = cur();
    if (at_end()) return fail(begin, "[ is not closed by ]");
    if (c == '$') {
      if (!dollar(out)) return false;
    } else if (is_name_char(c) || c == '-' || c == '.' || c == ' ') {
      literal(out, c);
    } else {
      return fail(pos_, "a subscript that is not known");
    }
    if (!count()) return false;
  }
  ++pos_;
  return true;
}

// (…) and $(…), with a subscript behind it: `parts`.
bool FishParser::substitution(List<WordPart>& out, bool has_dollar) {
  const int begin = pos_ - (has_dollar ? 1 : 0);
  ++pos_;
  WordPart part(PartKind::kCommandSub, {}, std::string_view(has_dollar ? "$(" : "("));
  if (!list(part.body)) return false;
  if (cur() != ')') return at_end() ? fail(begin, "( is not closed") : unexpected();
  ++pos_;
  if (cur() == '[' && !subscript(part.parts)) return false;
  part.span = {begin, pos_};
  out.push_back(std::move(part));
  return count();
}

}  // namespace wick::shell
