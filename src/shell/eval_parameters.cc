// Expansions: parameters with their operators, command and process substitution, arithmetic.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/evaluator.h"
#include "shell/limits.h"

namespace wick::shell {

namespace {

Value mapped(const Value& v, const auto& f) {
  Value out = v;
  out.set.clear();
  for (const std::string& s : v.set) {
    std::string changed = f(s);
    if (std::find(out.set.begin(), out.set.end(), changed) == out.set.end())
      out.set.push_back(std::move(changed));
  }
  return out;
}

bool has_glob(std::string_view text) {
  return text.find_first_of("*?[\\") != std::string_view::npos;
}

bool is_integer(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

bool Evaluator::all_fields(const Piece& piece, State& s, std::vector<Value>& out, bool& is_known) {
  if (piece.expansion->kind != PartKind::kParameter || dialect_ == Dialect::kFish) return false;
  const Parameter& p = *piece.expansion->parameter;
  if (p.has_length || p.is_indirect || !p.op.empty() || is_of_zsh(p)) return false;
  const bool is_all = p.name == "@" || (p.name == "*" && !piece.is_quoted);
  std::string index;
  if (p.has_index && p.index.size() == 1) index = p.index[0].text;
  const bool is_array = p.has_index && (index == "@" || (index == "*" && !piece.is_quoted));
  const auto whole = s.variables.find(p.name);
  const bool is_list = dialect_ == Dialect::kZsh && !piece.is_quoted && !p.has_index &&
                       whole != s.variables.end() && whole->second.is_array;
  if (!is_all && !is_array && !is_list) return false;
  is_known = true;
  if (is_all && s.has_args) {
    for (const Arg& arg : s.args) {
      out.push_back(arg.value);
      is_known = is_known && !arg.is_many;
    }
  } else if (const auto v = s.variables.find(p.name);
             (is_array || is_list) && v != s.variables.end() && v->second.has_elements) {
    out = v->second.elements;
  } else {
    is_known = false;
    const bool is_here = (is_array || is_list) && whole != s.variables.end();
    out = {is_here ? unknown_like(whole->second.value) : Value::unknown()};
    return true;
  }
  if (piece.is_quoted || dialect_ == Dialect::kZsh) return true;
  for (const Value& v : out) {  // unquoted: split and globbed
    const bool is_word =
        v.is_known && std::all_of(v.set.begin(), v.set.end(), [](const std::string& x) {
          return !x.empty() && x.find_first_of(" \t\n*?[") == std::string::npos;
        });
    if (is_word && !s.variables.contains("IFS")) continue;
    out = {unknown_like(v)};
    is_known = false;
    break;
  }
  return true;
}

Value Evaluator::expansion(const WordPart& part, State& s) {
  if (!step(part.span)) return Value::unknown();
  switch (part.kind) {
    case PartKind::kParameter:
      return parameter(part, s);
    case PartKind::kCommandSub:
    case PartKind::kProcessSub:
      return substitution(part, s);
    case PartKind::kArithmetic:
      return arithmetic_value(part, s);
    default:
      value_of(part.parts, s);
      return Value::unknown();
  }
}

Value Evaluator::variable(std::string_view name, State& s) {
  if (name.size() == 1 && std::string_view("#?$!").find(name[0]) != std::string_view::npos)
    return Value::number();
  if (name == "-") return Value::unknown();
  if (is_integer(std::string(name))) {
    const auto index =
        static_cast<std::size_t>(std::strtol(std::string(name).c_str(), nullptr, 10));
    if (index == 0) return s.has_args ? s.zero : Value::unknown();
    if (!s.has_args) return Value::unknown();
    for (std::size_t i = 0; i < std::min(index, s.args.size()); ++i) {
      if (s.args[i].is_many) return any_of(s.args);
    }
    if (index <= s.args.size()) return s.args[index - 1].value;
    return Value::exact("");
  }
  if (name == "@" || name == "*" || (name == "argv" && dialect_ == Dialect::kZsh)) {
    if (!s.has_args) return Value::unknown();
    Value out = Value::exact("");
    for (std::size_t i = 0; i < s.args.size(); ++i) {
      if (i > 0) append(out, " ");
      append(out, s.args[i].value);
    }
    return out;
  }
  if (name == "PWD") {
    Value out = s.cwd.empty() ? Value::unknown() : Value::exact(s.cwd[0]);
    for (const std::string& folder : s.cwd)
      out = join(out, Value::exact(folder));
    return out;
  }
  if (const auto found = s.variables.find(name); found != s.variables.end())
    return found->second.value;
  if (name == "PATH") {
    Value out = Value::unknown();
    out.is_path = true;
    return out;
  }
  if (name == "IFS") return Value::exact(" \t\n");  // shells do not inherit it
  if (name == "HOME" && !profile_.home.empty()) return Value::exact(profile_.home);
  static constexpr std::string_view kNumbers[] = {"UID",     "EUID",         "PPID",    "RANDOM",
                                                  "SECONDS", "LINENO",       "COLUMNS", "LINES",
                                                  "SRANDOM", "EPOCHSECONDS", "BASHPID"};
  if (std::find(std::begin(kNumbers), std::end(kNumbers), name) != std::end(kNumbers))
    return Value::number();
  return Value::unknown();
}

// A subscript is arithmetic, except of an associative array.
void Evaluator::subscript(const Parameter& p, const Value& index, State& s, Span span) {
  if (!p.has_index || is_map(p.name, s)) return;
  if (index.is_known && index.set.size() == 1 && (index.set[0] == "@" || index.set[0] == "*"))
    return;
  arithmetic(p.index, s, span);
}

Value Evaluator::parameter(const WordPart& part, State& s) {
  const Parameter& p = *part.parameter;
  if (dialect_ == Dialect::kFish) return fish_parameter(part, s);
  if (is_of_zsh(p)) return zsh_parameter(part, s);
  const Value index = value_of(p.index, s);
  subscript(p, index, s, part.span);
  Value v = variable(p.name, s);
  if (p.has_index) {
    const auto found = s.variables.find(p.name);
    const bool has_elements = found != s.variables.end() && found->second.has_elements;
    const std::string& at = index.is_known && index.set.size() == 1 ? index.set.front() : "";
    v = unknown_like(found != s.variables.end() ? found->second.value : v);
    if (has_elements && is_integer(at)) {
      auto i = static_cast<std::size_t>(std::strtol(at.c_str(), nullptr, 10));
      if (dialect_ == Dialect::kZsh) --i;  // from 1; 0 is none
      v = i < found->second.elements.size() ? found->second.elements[i] : Value::exact("");
    } else if (has_elements && (at == "*" || at == "@")) {
      v = Value::exact("");
      for (std::size_t i = 0; i < found->second.elements.size(); ++i) {
        if (i > 0) append(v, " ");
        append(v, found->second.elements[i]);
      }
    }
  } else if (const auto found = s.variables.find(p.name);
             found != s.variables.end() && found->second.is_array) {
    const bool is_first =
        found->second.has_elements && !found->second.elements.empty() && dialect_ != Dialect::kZsh;
    v = is_first ? found->second.elements[0] : Value::unknown();
  }
  if (p.has_length) return Value::number();
  if (p.is_indirect) {
    if (!p.op.empty() && (p.op == "*" || p.op == "@")) return Value::unknown();
    if (p.has_index || !v.is_known || v.set.size() != 1) {
      if (!p.has_index)
        unknown(part.span, p.name, "indirect expansion of a name that is not known");
      return Value::unknown();
    }
    const std::string& name = v.set.front();
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
        std::string::npos) {
      unknown(part.span, p.name, "indirect expansion through a text that is no name");
      return Value::unknown();
    }
    v = variable(name, s);
  }
  if (p.op == "@P")
    unknown(part.span, p.name, "${name@P} expands the value as a prompt: code in it runs");
  return p.op.empty() ? v : apply_operator(p, std::move(v), part.span, s);
}

namespace {

// Whether one replacement leaves a name below `prefix`: the text that is sought cannot begin in
// the prefix, and what stands instead is a part of a name.
bool stays_inside(const std::string& prefix, const Value& from, const Value& to) {
  if (!from.is_known || from.set.size() != 1 || !to.is_known || to.set.size() != 1) return false;
  const std::string& text = from.set[0];
  const std::string& other = to.set[0];
  if (text.empty() || has_glob(text) || text[0] == '/' || text[0] == '#' || text[0] == '%')
    return false;
  if (other.find_first_not_of('.') == std::string::npos ||
      other.find_first_of("/&") != std::string::npos)
    return false;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    const std::size_t n = std::min(text.size(), prefix.size() - i);
    if (prefix.compare(i, n, text, 0, n) == 0) return false;
  }
  return true;
}

// A cut at the end that cannot reach the slash in front of the name.
bool keeps_prefix(const std::string& pattern, bool is_longest) {
  return !pattern.empty() && pattern.find('/') == std::string::npos &&
         (!has_glob(pattern) || !is_longest) && pattern.find_first_of("?[") == std::string::npos &&
         pattern.front() != '*';
}

// `/*`, and the like that end at a slash: what is cut begins at one of the name's own slashes, or
// at that in front of it.
bool is_last_part(const std::string& pattern) {
  return pattern.starts_with('/') && pattern.find('/', 1) == std::string::npos;
}

}  // namespace

// ${v-d}, ${v=d}, ${v?m}, ${v+d}.
Value Evaluator::default_value(const Parameter& p, Value v, Span span, State& s) {
  const Value other = value_of(p.argument, s);
  const char op = p.op.back();
  const bool is_empty = v.is_known && v.set.size() == 1 && v.set[0].empty();
  const bool has_text = v.is_known ? std::none_of(v.set.begin(), v.set.end(),
                                                  [](const std::string& x) { return x.empty(); })
                                   : !v.may_be_empty;
  const bool has_colon = p.op.size() == 2;
  if (op == '?') {
    v.may_be_empty = false;
    return v;
  }
  if (op == '+') {
    if (has_text) return other;
    return is_empty && has_colon ? Value::exact("") : join(other, Value::exact(""));
  }
  if (has_text) return v;
  Value result = is_empty && has_colon ? other : join(other, v);
  if (op == '=' && p.has_index) {
    set_variable(p.name, {.value = unknown_like(result), .is_array = true}, span, s);
  } else if (op == '=') {
    set_variable(p.name, {.value = result}, span, s);
  }
  return result;
}

Value Evaluator::apply_operator(const Parameter& p, Value v, Span span, State& s) {
  const char first = p.op[0];
  if (p.op.find_first_of("-=?+") != std::string::npos)
    return default_value(p, std::move(v), span, s);
  if (first == ':') {  // ${v:offset:length}
    arithmetic(p.argument, s, span);
    arithmetic(p.second, s, span);
  }
  const Value argument = value_of(p.argument, s);
  const Value second = value_of(p.second, s);
  if (has_quoted_glob(p.argument, s)) return unknown_like(v);  // ${x%'*'} cuts a star
  if (first == '%' || first == '#') return trimmed(p, v, argument);
  if (!v.is_known) {
    const bool is_inside = v.is_below && p.op == "/" && stays_inside(v.prefix, argument, second);
    Value out = is_inside ? Value::below(v.prefix) : Value::unknown();
    out.is_everything = out.is_below && v.is_everything;
    out.is_secret = v.is_secret;
    out.keys = v.keys;
    return out;
  }
  if (first == '^' || first == ',') {
    if (!p.argument.empty()) return Value::unknown();
    const bool is_all = p.op.size() == 2;
    return mapped(v, [&](std::string text) {
      for (std::size_t i = 0; i < (is_all ? text.size() : std::min<std::size_t>(1, text.size()));
           ++i) {
        char& c = text[i];
        if (first == '^' && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
        if (first == ',' && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
      }
      return text;
    });
  }
  const bool is_exact =
      argument.is_known && argument.set.size() == 1 && second.is_known && second.set.size() == 1;
  if (first == '/' && is_exact && !has_glob(argument.set[0]) && !argument.set[0].empty() &&
      p.op.size() <= 2 && (p.op == "/" || p.op == "//") &&
      second.set[0].find('&') == std::string::npos) {
    return mapped(v, [&](std::string text) {
      std::size_t at = text.find(argument.set[0]);
      while (at != std::string::npos && text.size() <= kMaxText) {
        text.replace(at, argument.set[0].size(), second.set[0]);
        if (p.op == "/") break;
        at = text.find(argument.set[0], at + second.set[0].size());
      }
      return text;
    });
  }
  if (first == ':' && is_exact) {
    std::string from = argument.set[0];
    from.erase(0, from.find_first_not_of(' ') == std::string::npos ? from.size()
                                                                   : from.find_first_not_of(' '));
    const bool is_plain = is_integer(from) && (!p.has_pieces || is_integer(second.set[0]));
    if (is_plain && p.name != "@" && p.name != "*" && !p.has_index) {
      const auto begin = static_cast<std::size_t>(std::strtol(from.c_str(), nullptr, 10));
      const std::size_t size =
          p.has_pieces ? static_cast<std::size_t>(std::strtol(second.set[0].c_str(), nullptr, 10))
                       : std::string::npos;
      return mapped(v, [&](const std::string& text) {
        return begin < text.size() ? text.substr(begin, size) : std::string();
      });
    }
  }
  return Value::unknown();
}

bool Evaluator::has_quoted_glob(const List<WordPart>& parts, State& s) {
  return std::any_of(parts.begin(), parts.end(), [&](const WordPart& part) {
    if (part.kind == PartKind::kLiteral || part.kind == PartKind::kParameter) return false;
    const Value v =
        part.kind == PartKind::kDouble ? value_of(part.parts, s) : Value::exact(part.text);
    return !v.is_known || std::any_of(v.set.begin(), v.set.end(),
                                      [](const std::string& x) { return has_glob(x); });
  });
}

// ${v%pattern}, ${v#pattern}: exact where the pattern is plain text or `*` beside plain text.
Value Evaluator::trimmed(const Parameter& p, const Value& v, const Value& pattern) {
  if (!pattern.is_known || pattern.set.size() != 1) return Value::unknown();
  const std::string& text = pattern.set[0];
  const bool is_suffix = p.op[0] == '%';
  const bool is_longest = p.op.size() == 2;
  if (!v.is_known) {
    // A name below stays one if the cut cannot reach the slash in front of it.
    Value out = Value::unknown();
    if (v.is_below && is_suffix && keeps_prefix(text, is_longest)) out = Value::below(v.prefix);
    // The folder of a name below, and the name in it.
    if (v.is_below && is_suffix && !is_longest && is_last_part(text)) {
      out = Value::below(v.prefix.empty() ? "." : v.prefix);
      out.is_everything = true;
    }
    if (v.is_below && !is_suffix && is_longest && text == "*/" && !v.prefix.empty())
      out = Value::below("");
    if (v.is_below && !is_suffix && text.starts_with("*/") && !has_glob(text.substr(2)) &&
        !out.is_below)
      out.is_inner = true;
    out.is_everything = out.is_everything || (out.is_below && v.is_everything);
    out.is_secret = v.is_secret;
    out.keys = v.keys;
    out.is_fetched = v.is_fetched;
    return out;
  }
  std::string plain = text;
  const bool has_star = plain.size() > 1 && plain[is_suffix ? plain.size() - 1 : 0] == '*';
  if (has_star) plain.erase(is_suffix ? plain.size() - 1 : 0, 1);
  if (has_glob(plain)) return Value::unknown();
  return mapped(v, [&](std::string x) {
    if (!has_star) {
      if (is_suffix && x.ends_with(plain)) x.resize(x.size() - plain.size());
      if (!is_suffix && x.starts_with(plain)) x.erase(0, plain.size());
      return x;
    }
    if (is_suffix) {
      const std::size_t at = is_longest ? x.find(plain) : x.rfind(plain);
      return at == std::string::npos ? x : x.substr(0, at);
    }
    const std::size_t at = is_longest ? x.rfind(plain) : x.find(plain);
    return at == std::string::npos ? x : x.substr(at + plain.size());
  });
}

Value Evaluator::substitution(const WordPart& part, State& s) {
  State copy = copy_of(s);
  if (++nested_ > kMaxNested) {
    step(part.span);
    --nested_;
    return Value::unknown();
  }
  const bool is_input = part.kind == PartKind::kProcessSub && part.text == ">";
  const std::size_t n_traps = traps_.size();
  if (is_input) ++concurrent_;
  ++n_readers_;
  const Stream* const given = std::exchange(given_, nullptr);
  const Stream in = !is_input ? Stream::none() : given != nullptr ? *given : Stream::unknown();
  Stream out = list(part.body, copy, in);
  --n_readers_;
  if (dialect_ != Dialect::kFish) run_traps(n_traps, copy);
  if (is_input) --concurrent_;
  --nested_;
  if (dialect_ == Dialect::kFish) s = joined(s, copy);  // it starts no shell
  if (part.kind == PartKind::kProcessSub) {
    const std::string path = cat("/dev/fd/", 63 + static_cast<int>(files_.size()));
    if (!is_input && files_.size() < kMaxRead) files_[path] = out;
    return Value::exact(path);
  }
  if (out.is_known) {
    std::string text = out.text;
    while (!text.empty() && text.back() == '\n')
      text.pop_back();
    const bool has_nul = text.find('\0') != std::string::npos;
    Value v = has_nul ? Value::unknown() : Value::exact(std::move(text));
    v.is_secret = out.is_secret;
    v.keys = out.keys;
    if (!has_nul && !out.is_decoded) return v;
    if (!has_nul) {
      decoded_.insert(v.set.front());
      return v;
    }
  }
  if (out.is_none) return Value::exact("");
  Value v = out.is_number ? Value::number() : Value::unknown();
  if (out.is_names && !out.is_nul) {
    v = Value::below(out.prefix);
    v.is_everything = out.is_everything;
    v.may_be_empty = out.is_temporary;
  }
  v.is_secret = out.is_secret;
  v.keys = out.keys;
  v.is_fetched = out.is_fetched;
  return v;
}

}  // namespace wick::shell
