// Words that only zsh has: groups and qualifiers of globs, ranges of numbers, and its expansions
// with flags, subscripts, modifiers and nesting.
#include <utility>

#include "base/strings.h"
#include "shell/parser.h"

namespace wick::shell {

namespace {

bool is_one_of(char c, std::string_view set) noexcept {
  return c != '\0' && set.find(c) != std::string_view::npos;
}

constexpr std::string_view kModifiers = "aAcehlpPqQrstuxw";
constexpr std::string_view kSpecials = "@*#?-$!";

}  // namespace

int Parser::zsh_number_range() const {
  if (!is_zsh() || look(0) != '<') return 0;
  int at = 1;
  while (is_digit(look(at)))
    ++at;
  if (look(at++) != '-') return 0;
  while (is_digit(look(at)))
    ++at;
  return look(at) == '>' ? at + 1 : 0;
}

bool Parser::is_zsh_word() const {
  if (!is_zsh()) return false;
  const char c = look(0);
  if (c == '(') return has_groups_ && look(1) != ')';
  return zsh_number_range() > 0 || ((c == '<' || c == '>') && look(1) == '(');
}

// (a|b), (#i), and the qualifiers of a glob: *(.om[1]).
bool Parser::zsh_word_group(List<WordPart>& out) {
  const int begin = pos_;
  WordPart group(PartKind::kExtGlob, {});
  take();
  if (!parts(group.parts, In::kZshGroup)) return false;
  if (cur() != ')') return at_end() ? fail(begin, "( is not closed") : unexpected();
  take();
  group.span = span_from(begin);
  out.push_back(std::move(group));
  return true;
}

// Behind $: a name with marks in front, subscripts and modifiers behind.
bool Parser::zsh_dollar(List<WordPart>& out, In in, int begin) {
  WordPart named(PartKind::kParameter, {});
  named.parameter = std::make_unique<Parameter>();
  Parameter& p = *named.parameter;
  int at = 0;
  while (is_one_of(look(at), "=~^+"))
    ++at;
  const bool has_length = look(at) == '#' && (is_name_start(look(at + 1)) || look(at + 1) == '@' ||
                                              look(at + 1) == '*');
  const char first = look(at + (has_length ? 1 : 0));
  const bool is_name = is_name_start(first) || is_digit(first);
  if (!is_name && !is_one_of(first, kSpecials)) {
    literal(out, "$", begin);
    return true;
  }
  for (int i = 0; i < at; ++i) {
    p.marks += cur();
    take();
  }
  if (has_length) take();
  p.has_length = has_length;
  if (is_name_start(cur())) {
    while (is_name_char(cur())) {
      p.name += cur();
      take();
    }
  } else if (is_digit(cur())) {
    while (is_digit(cur())) {
      p.name += cur();
      take();
    }
  } else {
    p.name = cur();
    take();
  }
  if (in != In::kArithmetic && in != In::kArithClause) {
    if (!zsh_subscripts(p)) return false;
    if (cur() == ':' && is_one_of(look(1), kModifiers) && !zsh_modifiers(p, false)) return false;
  } else if (!zsh_subscripts(p)) {
    return false;
  }
  named.span = span_from(begin);
  out.push_back(std::move(named));
  return true;
}

bool Parser::zsh_parameter(List<WordPart>& out, In in, int begin) {
  const Nest nest(*this);
  if (!nest.ok) return false;
  take();  // {
  WordPart part(PartKind::kParameter, {});
  part.parameter = std::make_unique<Parameter>();
  Parameter& p = *part.parameter;
  p.has_braces = true;
  if (cur() == '(' && !zsh_flags(p, begin)) return false;
  while (is_one_of(cur(), "^=~+")) {
    p.marks += cur();
    take();
  }
  if (!zsh_name(p, in, begin) || !zsh_subscripts(p)) return false;
  if (cur() != '}' && !zsh_operator(p, in, begin)) return false;
  if (cur() != '}') return fail(begin, "${ is not closed by }, or what stands in it is not known");
  take();
  part.span = span_from(begin);
  out.push_back(std::move(part));
  return true;
}

// (flags): some take arguments between delimiters of the user's choice.
bool Parser::zsh_flags(Parameter& p, int begin) {
  take();
  const auto closing = [](char open) {
    return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : open == '<' ? '>' : open;
  };
  while (cur() != ')') {
    const char flag = cur();
    if (!is_one_of(flag, "#%@AabcCDefFgiIjklLmMnNoOpPqQrRsStuUvVwWxXzZ0B~E-+_"))
      return fail(begin, "${( has a flag that is not known");
    p.flags += flag;
    take();
    if (!is_one_of(flag, "gIjlrsZ_")) continue;
    const char open = cur();
    if (is_name_char(open) || open == ')' || open == '\0') {
      if (flag == 'I' || flag == 'r') continue;
      return fail(begin, "${( has a flag without its argument");
    }
    for (int arguments = 0; arguments < 3 && cur() == open; ++arguments) {
      p.flags += open;
      take();
      while (cur() != closing(open)) {
        if (at_end() || cur() == '\n') return fail(begin, "${( is not closed by )");
        p.flags += cur();
        take();
      }
      if (flag != 'l' && flag != 'r') {
        p.flags += cur();
        take();
        break;
      }
      if (look(1) != open || arguments == 2) {
        p.flags += cur();
        take();
        break;
      }
      p.flags += cur();
      take();
    }
  }
  take();
  return true;
}

bool Parser::zsh_name(Parameter& p, In in, int begin) {
  const char c = cur();
  if (c == '#' && look(1) != '}' && !is_one_of(look(1), ":%/")) {
    p.has_length = true;
    take();
  }
  const char first = cur();
  if (first == '$') {
    if (look(1) == '\'' || look(1) == '[') return fail(begin, "${$ is not known here");
    if (!dollar(p.nested, in)) return false;
    return p.nested.size() == 1 && p.nested[0].kind != PartKind::kLiteral
               ? true
               : fail(begin, "${$ is not followed by an expansion");
  }
  if (first == '"') {
    if (in == In::kDouble || in == In::kHereDoc || in == In::kBraceDouble)
      return double_quote(p.nested, PartKind::kDouble, pos_);
    return double_quote(p.nested, PartKind::kDouble, pos_);
  }
  if (is_name_start(first) || is_digit(first)) {
    const bool is_number = is_digit(first);
    while (is_number ? is_digit(cur()) : is_name_char(cur())) {
      p.name += cur();
      take();
    }
    return true;
  }
  if (is_one_of(first, "@*?$!-") || (first == '#' && (look(1) == '}' || p.has_length))) {
    if (first == '-' && look(1) != '}') return true;  // ${-default} of no name
    p.name = first;
    take();
    return true;
  }
  return true;  // ${:-text}, ${}
}

bool Parser::zsh_subscripts(Parameter& p) {
  for (int n = 0; cur() == '['; ++n) {
    const int begin = pos_;
    if (p.name.empty() && p.nested.empty()) return true;
    take();
    if (n > 0) p.index.emplace_back(PartKind::kLiteral, span_from(begin), std::string_view("]["));
    p.has_index = true;
    if (!parts(p.index, In::kSubscript)) return false;
    if (cur() != ']') return fail(begin, "[ is not closed by ]");
    take();
  }
  if (p.index.size() > 1) {  // one literal, as print and parse would make of it
    List<WordPart> joined;
    for (WordPart& part : p.index) {
      const bool is_text = part.kind == PartKind::kLiteral;
      if (is_text && !joined.empty() && joined.back().kind == PartKind::kLiteral)
        joined.back().text += part.text;
      else
        joined.push_back(std::move(part));
    }
    p.index = std::move(joined);
  }
  return true;
}

bool Parser::zsh_operator(Parameter& p, In in, int begin) {
  const char c = cur();
  const char next = look(1);
  const auto take_op = [&](int size) {
    for (int i = 0; i < size; ++i) {
      p.op += cur();
      take();
    }
  };
  if (c == ':' && next == ':' && look(2) == '=') {
    take_op(3);
    return argument(p.argument, in, false);
  }
  if (is_one_of(c, "-=?+") || (c == ':' && is_one_of(next, "-=?+"))) {
    take_op(c == ':' ? 2 : 1);
    return argument(p.argument, in, false);
  }
  if (c == '%' || c == '#') {
    take_op(next == c ? 2 : 1);
    return argument(p.argument, in, true);
  }
  if (c == '/' || (c == ':' && next == '/')) {
    if (c == ':') take_op(1);
    const std::string colon = std::exchange(p.op, "");
    if (!replacement(p, begin)) return false;
    p.op = colon + p.op;
    return true;
  }
  if (c != ':') return fail(begin, "${…}: what stands behind the name is not known");
  if (is_one_of(next, "#|*^")) {
    take_op(next == '^' && look(2) == '^' ? 3 : 2);
    return argument(p.argument, in, true);
  }
  if (is_one_of(next, kModifiers)) {
    return zsh_modifiers(p, true) && (cur() == '}' || fail(begin, "a modifier that is not known"));
  }
  return substring(p, begin);
}

// :h, :t:r, :s/old/new/ …: kept as text in `op`.
bool Parser::zsh_modifiers(Parameter& p, bool in_braces) {
  const int begin = pos_;
  while (cur() == ':' && is_one_of(look(1), "gaAcehlpPqQrstuxwW&")) {
    const bool is_global = look(1) == 'g';
    if (is_global && !is_one_of(look(2), "s&")) return fail(begin, "a modifier that is not known");
    for (int i = 0; i < (is_global ? 2 : 1); ++i) {
      p.op += cur();
      take();
    }
    const char letter = cur();
    p.op += letter;
    take();
    if ((letter == 'h' || letter == 't') && in_braces) {
      while (is_digit(cur())) {
        p.op += cur();
        take();
      }
    }
    if (letter != 's') continue;
    const char mark = cur();
    if (is_name_char(mark) || mark == '}' || mark == '\0' || is_blank(mark))
      return fail(begin, ":s without a delimiter");
    p.op += mark;
    take();
    for (int part = 0; part < 2; ++part) {
      while (cur() != mark) {
        const bool is_end = at_end() || cur() == '\n' || cur() == '$' || cur() == '`' ||
                            cur() == '\\' || cur() == '"' || cur() == '\'' ||
                            (in_braces ? cur() == '}' : is_meta(cur()));
        if (is_end && part == 1 && (in_braces ? cur() == '}' : is_meta(cur()))) return true;
        if (is_end) return fail(begin, ":s with a text that is not known");
        p.op += cur();
        take();
      }
      p.op += cur();
      take();
    }
  }
  return true;
}

}  // namespace wick::shell
