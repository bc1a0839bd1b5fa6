// What begins with $, ` or <(: parameters, command and process substitution, arithmetic.
#include <utility>

#include "base/strings.h"
#include "shell/parser.h"

namespace wick::shell {

namespace {

bool is_special_parameter(char c) noexcept {
  return c != '\0' && std::string_view("@*#?-$!").find(c) != std::string_view::npos;
}

}  // namespace

bool Parser::dollar(List<WordPart>& out, In in) {
  take(0);
  const int begin = pos_;
  const bool is_quoted = in == In::kDouble || in == In::kHereDoc || in == In::kBraceDouble;
  take();
  const char c = cur();
  if (c == '(' && look(1) == '(') {
    bool is_arithmetic = false;
    if (!arithmetic_sub(out, begin, is_arithmetic)) return false;
    return is_arithmetic || command_sub(out, begin);
  }
  if (c == '(') return command_sub(out, begin);
  if (c == '{') return is_zsh() ? zsh_parameter(out, in, begin) : parameter(out, in, begin);
  if (c == '[' && is_bash_like()) return old_arithmetic(out, begin);
  if (c == '\'' && !is_quoted && is_bash_like()) return ansi_quote(out, begin);
  if (c == '"' && !is_quoted && is_bash_like() && !is_zsh())
    return double_quote(out, PartKind::kLocale, begin);
  if (is_zsh()) return zsh_dollar(out, in, begin);
  WordPart named(PartKind::kParameter, {});
  named.parameter = std::make_unique<Parameter>();
  if (is_name_start(c)) {
    while (is_name_char(cur())) {
      named.parameter->name += cur();
      take();
    }
  } else if (is_digit(c) || is_special_parameter(c)) {
    named.parameter->name = c;
    take();
  } else {
    literal(out, "$", begin);
    return true;
  }
  named.span = span_from(begin);
  out.push_back(std::move(named));
  return true;
}

bool Parser::parameter(List<WordPart>& out, In in, int begin) {
  const Nest nest(*this);
  if (!nest.ok) return false;
  take();  // {
  WordPart part(PartKind::kParameter, {});
  part.parameter = std::make_unique<Parameter>();
  Parameter& p = *part.parameter;
  p.has_braces = true;
  if (!parameter_name(p, begin)) return false;
  if (cur() == '[' && is_bash_like()) {
    p.has_index = true;
    take();
    if (!subscript(p.index)) return false;
  }
  if (cur() != '}' && !parameter_op(p, in, begin)) return false;
  if (cur() != '}') return fail(begin, "${ is not closed by }, or what stands in it is not known");
  take();
  part.span = span_from(begin);
  out.push_back(std::move(part));
  return true;
}

bool Parser::parameter_name(Parameter& p, int begin) {
  if (cur() == '#' && look(1) != '}') {
    const char next = look(1);
    const bool is_special = is_special_parameter(next) && look(2) == '}';
    if (is_name_char(next) || is_special) {
      p.has_length = true;
      take();
    }
  } else if (cur() == '!' && is_bash_like() &&
             (is_name_char(look(1)) || look(1) == '#' || look(1) == '@' || look(1) == '*')) {
    p.is_indirect = true;
    take();
  }
  const char c = cur();
  if (is_name_start(c)) {
    while (is_name_char(cur())) {
      p.name += cur();
      take();
    }
    return true;
  }
  if (is_digit(c)) {
    while (is_digit(cur())) {
      p.name += cur();
      take();
    }
    return true;
  }
  if (!is_special_parameter(c)) return fail(begin, "${ is not followed by a name that is known");
  p.name = c;
  take();
  return true;
}

// Parses what stands behind the name, up to }.
bool Parser::parameter_op(Parameter& p, In in, int begin) {
  const char c = cur();
  const char next = look(1);
  if (p.is_indirect && (c == '*' || c == '@') && next == '}') {  // ${!prefix*}
    p.op = c;
    take();
    return true;
  }
  if (p.has_length) return fail(begin, "${#name has more behind the name");
  const auto take_op = [&](int size) {
    for (int i = 0; i < size; ++i) {
      p.op += cur();
      take();
    }
  };
  const auto is_in = [](char x, std::string_view set) {
    return x != '\0' && set.find(x) != std::string_view::npos;
  };
  if (is_in(c, "-=?+") || (c == ':' && is_in(next, "-=?+"))) {
    take_op(c == ':' ? 2 : 1);
    return argument(p.argument, in, false);
  }
  if (c == '%' || c == '#') {
    take_op(next == c ? 2 : 1);
    return argument(p.argument, in, true);
  }
  if (!is_bash_like()) return fail(begin, cat("${", p.name, c, "…} is not POSIX"));
  if (c == '^' || c == ',') {
    take_op(next == c ? 2 : 1);
    return argument(p.argument, in, true);
  }
  if (c == '@' && is_in(next, "QEPAKakUuL")) {
    take_op(2);
    return true;
  }
  if (c == '/') return replacement(p, begin);
  if (c == ':') return substring(p, begin);
  return fail(begin,
              cat("${", p.name, "…}: '", printable(std::string(1, c)), "' is not known here"));
}

bool Parser::argument(List<WordPart>& out, In in, bool is_pattern) {
  const bool is_quoted = in == In::kDouble || in == In::kHereDoc || in == In::kBraceDouble;
  return parts(out, is_quoted && !is_pattern ? In::kBraceDouble : In::kBrace);
}

bool Parser::replacement(Parameter& p, int begin) {
  take();
  p.op = '/';
  if (const char c = cur(); c == '/' || c == '#' || c == '%') {
    p.op += c;
    take();
  }
  if (!parts(p.argument, In::kPattern)) return false;
  if (cur() != '/') return true;
  take();
  p.has_pieces = true;
  return parts(p.second, In::kBrace) || fail(begin, "${name/pattern/text} is not closed");
}

bool Parser::substring(Parameter& p, int begin) {
  take();
  p.op = ':';
  if (!parts(p.argument, In::kOffset)) return false;
  if (p.argument.empty() && cur() != ':') return fail(begin, "${name:} has no offset");
  if (cur() != ':') return true;
  take();
  p.has_pieces = true;
  return parts(p.second, In::kOffset);
}

bool Parser::subscript(List<WordPart>& out) {
  const int begin = pos_;
  if (!parts(out, In::kSubscript)) return false;
  if (cur() != ']' || out.empty()) return fail(begin, "[ is not closed by ], or is empty");
  take();
  return true;
}

bool Parser::command_sub(List<WordPart>& out, int begin) {
  const Nest nest(*this);
  if (!nest.ok) return false;
  take();  // (
  WordPart part(PartKind::kCommandSub, {});
  std::vector<HereDoc*> outer = std::exchange(pending_, {});
  const bool was_in_test = std::exchange(is_in_test_, false);
  const bool had_groups = has_groups_;
  if (!newlines() || !list(part.body)) return false;
  has_groups_ = had_groups;
  if (cur() != ')') return at_end() ? fail(begin, "( is not closed") : unexpected();
  if (!pending_.empty()) return fail(begin, "a here-document begins, and ) comes before its text");
  pending_ = std::move(outer);
  is_in_test_ = was_in_test;
  take();
  part.span = span_from(begin);
  out.push_back(std::move(part));
  return true;
}

bool Parser::process_sub(List<WordPart>& out) {
  const int begin = pos_;
  const std::string direction(1, cur());
  take();
  if (!command_sub(out, begin)) return false;
  out.back().kind = PartKind::kProcessSub;
  out.back().text = direction;
  return true;
}

// `…`: the text between, with \$ \` \\ (inside double quotes \" too) unescaped, is parsed by
// itself.
bool Parser::back_quote(List<WordPart>& out, In in) {
  const Nest nest(*this);
  if (!nest.ok) return false;
  take(0);
  const int begin = pos_++;
  std::string inner;
  std::vector<int> map;
  const auto size = static_cast<int>(text_.size());
  const auto at = [this](int i) { return text_[static_cast<std::size_t>(i)]; };
  while (pos_ < size && at(pos_) != '`') {
    if (at(pos_) == '\\' && pos_ + 1 < size) {
      const char next = at(pos_ + 1);
      const bool drops = next == '$' || next == '`' || next == '\\' ||
                         (next == '"' && (in == In::kDouble || in == In::kBraceDouble));
      if (drops) ++pos_;
    }
    map.push_back(span_from(pos_).begin);
    inner += at(pos_++);
  }
  if (pos_ >= size) return fail(begin, "` is not closed");
  map.push_back(span_from(pos_).begin);
  ++pos_;
  state_.retried += inner.size();
  if (state_.retried > 4 * kMaxSource) return fail_limit("has too much text in back quotes");
  WordPart part(PartKind::kCommandSub, span_from(begin),
                std::string(text_.substr(static_cast<std::size_t>(begin),
                                         static_cast<std::size_t>(pos_ - begin))));
  Parser parser(inner, &map, dialect_, Mode::kScript, state_);
  if (!parser.parse_all(part.body)) return false;
  out.push_back(std::move(part));
  return true;
}

// At `((` behind $. Arithmetic if the matching `))` is one; else nothing is read, and the caller
// reads a command substitution that begins with a subshell, as bash and dash do.
bool Parser::arithmetic_sub(List<WordPart>& out, int begin, bool& is_arithmetic) {
  Attempt attempt(*this);
  take(2);
  WordPart part(PartKind::kArithmetic, {});
  if (parts(part.parts, In::kArithmetic) && cur() == ')' && look(1) == ')') {
    take(2);
    part.span = span_from(begin);
    out.push_back(std::move(part));
    is_arithmetic = true;
    return true;
  }
  return attempt.give_up("has too many '((' that are not closed by '))'");
}

bool Parser::old_arithmetic(List<WordPart>& out, int begin) {
  take();
  WordPart part(PartKind::kArithmetic, {}, std::string_view("["));
  if (!subscript(part.parts)) return false;
  part.span = span_from(begin);
  out.push_back(std::move(part));
  return true;
}

}  // namespace wick::shell
