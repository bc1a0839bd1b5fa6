// Arithmetic as bash reads it: names are variables, and what they hold is evaluated again. A
// subscript in it is expanded, so code in a variable's text runs.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/evaluator.h"
#include "shell/limits.h"

namespace wick::shell {

namespace {

struct Name {
  std::string text;
  bool is_set = false;  // by `=`, `+=`, `++` …
};

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

// Whether `text` goes on with an assignment at `at`, blanks aside.
bool is_assignment_at(std::string_view text, std::size_t at) {
  at = text.find_first_not_of(" \t\n", at);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("++") || rest.starts_with("--")) return true;
  if (rest.starts_with("<<=") || rest.starts_with(">>=")) return true;
  const std::size_t size = std::string_view("+-*/%&^|").find(rest[0]) != std::string_view::npos;
  return rest.size() > size && rest[size] == '=' && !rest.substr(size).starts_with("==");
}

std::vector<Name> names_in(std::string_view text) {
  std::vector<Name> out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    if (!is_name_start(text[i])) {
      ++i;  // a number takes its letters along: 0x1f, 16#ff
      while (is_decimal(text[begin]) && i < text.size() &&
             (is_name_start(text[i]) || is_decimal(text[i]) || text[i] == '#'))
        ++i;
      continue;
    }
    while (i < text.size() && (is_name_start(text[i]) || is_decimal(text[i])))
      ++i;
    const std::string_view before = text.substr(0, begin);
    const bool is_set =
        before.ends_with("++") || before.ends_with("--") || is_assignment_at(text, i);
    out.push_back({std::string(text.substr(begin, i - begin)), is_set});
  }
  return out;
}

// Shells read an expression by recursion.
bool nests_too_deep(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth > kMaxDepth) return true;
  }
  return false;
}

// Arithmetic without names, so without subscripts.
bool is_plain_number(const Value& v) {
  if (!v.is_known) return v.is_number;
  return std::all_of(v.set.begin(), v.set.end(), [](const std::string& x) {
    return x.find_first_of("$`") == std::string::npos && names_in(x).empty() && !nests_too_deep(x);
  });
}

}  // namespace

void Evaluator::arithmetic(const List<WordPart>& parts, State& s, Span span) {
  const Value whole = value_of(parts, s);
  if (whole.is_known || whole.is_number) return arithmetic(whole, s, span);
  // `$x + 1` with a number in x: each word that is not known stands for a digit.
  std::string text;
  for (const WordPart& part : parts) {
    const bool is_text = part.kind == PartKind::kLiteral || part.kind == PartKind::kEscape ||
                         part.kind == PartKind::kSingle;
    if (is_text) {
      text += part.text;
      continue;
    }
    const Value v = part.kind == PartKind::kDouble ? value_of(part.parts, s) : expansion(part, s);
    if (v.is_known && v.set.size() == 1) {
      text += v.set.front();
    } else if (is_plain_number(v)) {
      text += '0';
    } else {
      return arithmetic(Value::unknown(), s, span);
    }
  }
  arithmetic(Value::exact(std::move(text)), s, span);
}

// A text that becomes a variable's name, or is evaluated: shells run the code of `a[$(code)]`.
void Evaluator::unknown_subscripts(Span span, std::string_view target, std::string_view why) {
  unknown(span, std::string(target), cat(why, ": ", name(dialect_), " may run code in subscripts"));
}

void Evaluator::arithmetic(const Value& text, State& s, Span span) {
  if (!text.is_known && !text.is_number && dialect_ != Dialect::kPosix)
    unknown_subscripts(span, "", "an unknown word in arithmetic");
  if (!text.is_known) return;
  for (const std::string& one : text.set)
    arithmetic_names(one, s, span);
}

// A number of a builtin, such as `exit N`: zsh evaluates it.
void Evaluator::zsh_number(const Arg& arg, State& s) {
  if (dialect_ == Dialect::kZsh)
    arithmetic(arg.is_many ? Value::unknown() : arg.value, s, arg.span);
}

void Evaluator::arithmetic_names(std::string_view text, State& s, Span span) {
  const bool runs_code = dialect_ != Dialect::kPosix;
  if (nests_too_deep(text))
    unknown(span, "", "too complex: an arithmetic expression nests deeper than 64");
  if (runs_code && text.find_first_of("$`") != std::string_view::npos)
    unknown_subscripts(span, "", "arithmetic over a text with an expansion");
  for (const auto& [name, is_set] : names_in(text)) {
    const auto found = s.variables.find(name);
    const bool is_here = found != s.variables.end();
    const bool is_array = is_here && found->second.is_array;
    bool is_number = is_here ? is_plain_number(found->second.value)
                             : is_set || is_plain_number(variable(name, s));
    if (is_array)
      is_number =
          found->second.has_elements && std::all_of(found->second.elements.begin(),
                                                    found->second.elements.end(), is_plain_number);
    if (!is_number && runs_code)
      unknown_subscripts(span, name,
                         cat("the variable ", name, " in arithmetic is not known to be a number"));
    if (is_set && !is_array) set_variable(name, {.value = Value::number()}, span, s);
  }
}

Value Evaluator::arithmetic_value(const WordPart& part, State& s) {
  arithmetic(part.parts, s, part.span);
  std::string text;
  for (const WordPart& inner : part.parts) {
    if (inner.kind != PartKind::kLiteral) return Value::number();
    text += inner.text;
  }
  long total = 0;  // sums of constants are folded
  long sign = 1;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    std::string digits;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9' && digits.size() < 9)
      digits += text[i++];
    if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return Value::number();
    total += sign * std::strtol(digits.c_str(), nullptr, 10);
    while (i < text.size() && text[i] == ' ')
      ++i;
    if (i >= text.size()) return Value::exact(std::to_string(total));
    if (text[i] != '+' && text[i] != '-') return Value::number();
    sign = text[i++] == '+' ? 1 : -1;
  }
  return Value::number();
}

}  // namespace wick::shell
