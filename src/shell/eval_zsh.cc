// What zsh does with words and no other shell does: groups, qualifiers and ranges of globs,
// `=name`, expansions with flags, nesting and modifiers; and its options.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"
#include "shell/evaluator.h"
#include "shell/fields.h"

namespace wick::shell {

namespace {

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

// Length of a range of numbers at `at`: <1-9>.
std::size_t range_at(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && is_decimal(text[end]))
    ++end;
  if (end >= text.size() || text[end] != '-') return 0;
  ++end;
  while (end < text.size() && is_decimal(text[end]))
    ++end;
  return end < text.size() && text[end] == '>' ? end + 1 - at : 0;
}

// Behind a delimiter of the user's choice, up to its other half.
std::size_t behind_text(std::string_view text, std::size_t at) {
  if (at >= text.size()) return std::string_view::npos;
  const char open = text[at];
  const char close = open == '('   ? ')'
                     : open == '[' ? ']'
                     : open == '{' ? '}'
                     : open == '<' ? '>'
                                   : open;
  const std::size_t end = text.find(close, at + 1);
  return end == std::string_view::npos ? end : end + 1;
}

// Qualifiers that only choose and sort. `e` and `+` run code, and what is not known may.
bool is_plain_qualifier(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (std::string_view("/F.@=p*%rwxAIERWXsStUGNDnTM^-,").find(c) != std::string_view::npos)
      continue;
    if (c == ':')
      return text.find_first_of("$`") == std::string_view::npos;  // modifiers of the names
    if (std::string_view("LamcldY").find(c) != std::string_view::npos) {
      while (at < text.size() &&
             std::string_view("kKmMgGtTpPhws").find(text[at]) != std::string_view::npos)
        ++at;
      if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
      while (at < text.size() && is_decimal(text[at]))
        ++at;
    } else if (c == 'o' || c == 'O') {
      if (at >= text.size() ||
          std::string_view("nLlamcdN").find(text[at]) == std::string_view::npos)
        return false;
      ++at;
    } else if (c == '[') {
      at = text.find(']', at);
      if (at == std::string_view::npos) return false;
      ++at;
    } else if (std::string_view("fugP").find(c) != std::string_view::npos) {
      const bool is_number = at < text.size() && is_decimal(text[at]);
      while (is_number && at < text.size() && is_decimal(text[at]))
        ++at;
      if (!is_number) at = behind_text(text, at);
      if (at == std::string_view::npos) return false;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

bool Evaluator::is_of_zsh(const Parameter& p) {
  const bool is_modifier = p.op.size() > 1 && p.op[0] == ':' &&
                           std::string_view("-=?+").find(p.op[1]) == std::string_view::npos;
  return !p.flags.empty() || !p.marks.empty() || !p.nested.empty() || is_modifier || p.name.empty();
}

// $=name and $~name are split and globbed as in other shells.
bool Evaluator::splits(const WordPart& part) {
  return part.kind == PartKind::kParameter && !part.parameter->marks.empty();
}

// Unquoted text of a word: `=name` at its beginning is a program's path, `^` and <1-9> are globs.
bool Evaluator::zsh_text(const std::string& text, bool is_first, Span span, Fields& fields) {
  if (is_first && text.size() > 1 && text[0] == '=' && text[1] != '=' && text[1] != '(') {
    const bool is_name = text.find('/') == std::string::npos;
    fields.text(is_name ? "/usr/bin/" + text.substr(1) : "/", false, true);
    if (!is_name) fields.value(Value::unknown(), false);
    return true;
  }
  if (is_first && text.starts_with("~[")) {
    unknown(span, text, "zsh runs a function to find the directory that ~[…] names");
    fields.value(Value::unknown(), false);
    return true;
  }
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t size = text[i] == '<' ? range_at(text, i) : 0;
    const bool is_not = text[i] == '^' && (i == 0 ? is_first : text[i - 1] == '/');
    plain += size > 0 || is_not ? '*' : text[i];
    if (size > 0) i += size - 1;
    if (is_not) i = std::min(text.find('/', i), text.size()) - 1;  // all but what matches
  }
  if (plain == text) return false;
  fields.text(plain, false, true);
  return true;
}

// (a|b), (#i) or, as the last part of a word, qualifiers.
void Evaluator::group(const WordPart& part, bool is_last, State& s, Fields& fields) {
  std::string text;
  bool is_plain = true;
  bool is_choice = false;  // (a|b); a quoted `|` chooses nothing
  for (const WordPart& inner : part.parts) {
    const bool is_text = inner.kind == PartKind::kLiteral || inner.kind == PartKind::kEscape ||
                         inner.kind == PartKind::kSingle;
    is_plain = is_plain && is_text;
    is_choice = is_choice || inner.kind == PartKind::kExtGlob ||
                (inner.kind == PartKind::kLiteral && inner.text.find('|') != std::string::npos);
    if (is_text) text += inner.text;
    if (inner.kind == PartKind::kDouble) {
      value_of(inner.parts, s);
    } else if (!is_text && !(inner.kind == PartKind::kExtGlob)) {
      expansion(inner, s);
    }
  }
  fields.glob();
  if (text.starts_with("#q")) {
    is_last = true;
    text.erase(0, 2);
  } else if (text.starts_with('#')) {
    return;  // (#i): flags of the pattern
  }
  if (is_last && !is_choice) {
    if (is_plain && is_plain_qualifier(text)) return;
    unknown(part.span, text, "a qualifier of a glob runs code for each name");
    const std::size_t code = text.find_first_of("e+");
    if (code == std::string::npos || !is_plain) return;
    const std::size_t end = text[code] == 'e' ? behind_text(text, code + 1) : text.size() + 1;
    if (end == std::string::npos || end < code + 3) return;
    State copy = copy_of(s);
    const std::size_t begin = code + (text[code] == 'e' ? 2 : 1);
    run_code(text.substr(begin, end - begin - 1), part.span, copy, Stream::none(), dialect_);
    return;
  }
  const bool is_list = is_plain && text.find_first_of("*?[<^#~/") == std::string::npos;
  Value any = Value::exact("");
  any.set.clear();
  for (std::size_t at = 0; is_list && at <= text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    any.set.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (!is_list || any.set.size() > 16) return fields.text("*", false, true);
  fields.value(any, false);
}

// `x=*(e:…:)`, no pattern here, becomes one by `ls $~x`.
void Evaluator::later_glob(const List<WordPart>& parts, State& s) {
  if (dialect_ != Dialect::kZsh || parts.size() < 2 || parts.back().kind != PartKind::kExtGlob)
    return;
  std::vector<Arg> ignored;
  Fields fields(parts.back().span, ignored);
  group(parts.back(), true, s, fields);
}

// The text of a default is a pattern: ${x:-*(e:…:)}.
void Evaluator::glob_in_default(const WordPart& part) {
  const Parameter& p = *part.parameter;
  const bool is_default = p.op.ends_with('-') || p.op.ends_with('+') || p.op.ends_with('=');
  if (dialect_ != Dialect::kZsh || !is_default) return;
  for (const WordPart& inner : p.argument) {
    if (inner.kind == PartKind::kLiteral && inner.text.find('(') != std::string::npos)
      return unknown(part.span, p.name, "a qualifier of a glob may run code");
  }
}

namespace {

// What `$~x` takes for a pattern may end in a qualifier that runs code.
bool may_have_qualifier(const Value& v) {
  if (!v.is_known) return !v.is_number;
  return std::any_of(v.set.begin(), v.set.end(),
                     [](const std::string& x) { return x.find('(') != std::string::npos; });
}

// :h, :t, :r and :e of a path that is known.
std::string modified(std::string path, char letter) {
  const std::size_t slash = path.rfind('/');
  if (letter == 'h')
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  if (letter == 't') return path.substr(begin);
  const std::size_t dot = path.rfind('.');
  const bool has_dot = dot != std::string::npos && dot > begin;
  if (letter == 'e') return has_dot ? path.substr(dot + 1) : "";
  return has_dot ? path.substr(0, dot) : path;
}

Value modified(const Value& v, char letter) {
  Value out = v;
  if (v.is_known) {
    if (std::any_of(v.set.begin(), v.set.end(), [](const auto& x) { return x.ends_with('/'); }))
      return Value::unknown();
    for (std::string& one : out.set)
      one = modified(one, letter);
    return out;
  }
  if (!v.is_below) return Value::unknown();
  if (letter == 't') out = Value::below("");
  if (letter == 'h') out = Value::below(v.prefix.empty() ? "." : v.prefix);
  if (letter == 'e') return Value::unknown();
  out.is_everything = v.is_everything || letter == 'h';
  return out;
}

}  // namespace

Value Evaluator::zsh_parameter(const WordPart& part, State& s) {
  Value v = zsh_value(part, s);
  if (part.parameter->marks.find('~') != std::string::npos && may_have_qualifier(v))
    unknown(part.span, part.parameter->name, "a pattern that is not known may run code");
  return v;
}

Value Evaluator::zsh_value(const WordPart& part, State& s) {
  const Parameter& p = *part.parameter;
  const Value index = value_of(p.index, s);
  if (!p.index.empty() && p.flags.empty() && p.nested.empty()) subscript(p, index, s, part.span);
  Value v = p.nested.empty() ? p.name.empty() ? Value::exact("") : variable(p.name, s)
                             : value_of(p.nested, s);
  const auto found = s.variables.find(p.name);
  if (p.has_index || (found != s.variables.end() && found->second.is_array)) v = Value::unknown();
  if (p.flags.find('e') != std::string::npos)
    unknown(part.span, p.name, "${(e)…} expands the value once more: code in it runs");
  if (p.flags.find('P') != std::string::npos)
    unknown(part.span, p.name, "${(P)…}: the name that the value holds is not followed");
  const bool is_number = p.has_length || p.marks.find('+') != std::string::npos;
  Value result = v;
  if (p.op.size() > 1 && p.op[0] == ':' &&
      std::string_view("htrelu").find(p.op[1]) != std::string_view::npos &&
      p.op.find_first_not_of(":htre") == std::string::npos) {
    for (std::size_t i = 1; i < p.op.size(); i += 2)
      result = modified(result, p.op[i]);
  } else if (p.op == "::=") {
    result = value_of(p.argument, s);
    set_variable(p.name, {.value = result}, part.span, s);
  } else if (p.op == ":#") {
    value_of(p.argument, s);
    if (!v.is_below) result = Value::unknown();
  } else if (!p.op.empty() && p.op[0] != ':') {
    result = apply_operator(p, v, part.span, s);
  } else if (p.op.size() == 2 && p.op[1] != '/' &&
             std::string_view("-=?+").find(p.op[1]) != std::string_view::npos) {
    result = apply_operator(p, v, part.span, s);
  } else if (!p.op.empty()) {
    if (p.op == ":") {
      arithmetic(p.argument, s, part.span);
      arithmetic(p.second, s, part.span);
    }
    value_of(p.argument, s);
    value_of(p.second, s);
    result = Value::unknown();
  }
  if (is_number) return Value::number();
  // Flags that leave the text as it is, or a part of its lines.
  const bool is_kept = p.flags.find_first_not_of("fonOu@") == std::string::npos;
  if (!is_kept || (p.flags.find('f') != std::string::npos && result.is_known)) {
    Value loose = Value::unknown();
    loose.is_secret = v.is_secret;
    loose.keys = v.keys;
    loose.is_fetched = v.is_fetched;
    return loose;
  }
  return result;
}

// setopt, unsetopt, emulate: options that change how words are read end the analysis.
Stream Commands::zsh_options(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(s);
  static_cast<void>(in);
  static constexpr std::string_view kHarmless[] = {"autopushd",
                                                   "pushdsilent",
                                                   "pushdtohome",
                                                   "pushdignoredups",
                                                   "interactivecomments",
                                                   "nullglob",
                                                   "nomatch",
                                                   "pipefail",
                                                   "errexit",
                                                   "errreturn",
                                                   "nounset",
                                                   "unset",
                                                   "xtrace",
                                                   "verbose",
                                                   "beep",
                                                   "histignoredups",
                                                   "histignorespace",
                                                   "sharehistory",
                                                   "appendhistory",
                                                   "incappendhistory",
                                                   "localoptions",
                                                   "promptpercent",
                                                   "correct",
                                                   "numericglobsort",
                                                   "notify",
                                                   "warncreateglobal"};
  if (argv.size() == 1) return Stream::unknown();
  for (std::size_t i = 1; i < argv.size(); ++i) {
    std::string name;
    for (const char c : ascii_lower(argv[i].text()))
      if (c != '_' && c != '-') name += c;
    if (name.starts_with("no") && name != "nomatch" && name != "nounset" && name != "notify")
      name.erase(0, 2);
    const bool is_known =
        argv[i].is_exact() && argv[i].text() != "-" && !argv[i].text().starts_with('-') &&
        std::find(std::begin(kHarmless), std::end(kHarmless), name) != std::end(kHarmless);
    if (is_known) {
      e.add(EffectKind::kShellHooks, Scope::kNone, argv[i].text(), argv[i].span,
            wick::cat("sets the shell option ", printable(argv[i].text())));
    } else {
      e.unknown(argv[i].span, argv[i].text(), "an option that changes how zsh reads words");
    }
  }
  return Stream::unknown();
}

}  // namespace wick::shell
