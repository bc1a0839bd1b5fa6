// What fish does with words and variables, and no other shell does: lists, `set`, functions with
// named arguments.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"
#include "shell/evaluator.h"
#include "shell/fields.h"

namespace wick::shell {

namespace {

// The lines of a known text, as fish cuts a substitution.
std::vector<Value> lines_of(const std::string& text) {
  std::vector<Value> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(Value::exact(text.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

}  // namespace

// An unquoted expansion in fish is a list: each element becomes a word of its own.
void Evaluator::fish_list(const WordPart& part, bool is_alone, State& s, Fields& fields) {
  std::vector<Value> elements;
  bool is_known = false;
  bool is_many = true;
  if (part.kind == PartKind::kParameter && !part.parameter->has_index) {
    const std::string& name = part.parameter->name;
    const auto found = s.variables.find(name);
    if (name == "argv" && s.has_args) {
      is_known = std::none_of(s.args.begin(), s.args.end(), [](const Arg& a) { return a.is_many; });
      for (const Arg& arg : s.args)
        elements.push_back(arg.value);
    } else if (found != s.variables.end() && found->second.has_elements) {
      is_known = true;
      elements = found->second.elements;
    }
  }
  Value v = is_known ? Value::exact("") : expansion(part, s);
  if (part.kind == PartKind::kCommandSub && v.is_known && v.set.size() == 1 && part.parts.empty()) {
    is_known = true;
    elements = lines_of(v.set.front());
  }
  if (!is_known) {
    is_many = !(v.is_number || (v.is_known && !v.set.front().empty()));
    if (!v.is_known && !v.is_number && !v.is_below) {
      Value loose = Value::unknown();
      loose.is_secret = v.is_secret;
      loose.keys = v.keys;
      loose.is_fetched = v.is_fetched;
      v = std::move(loose);
    }
    return fields.value(v, is_many);
  }
  if (elements.size() == 1) return fields.value(elements[0], false);
  if (!is_alone) return fields.value(Value::unknown(), true);  // one word for each element
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) fields.end();
    fields.value(elements[i], false);
  }
}

Value Evaluator::fish_parameter(const WordPart& part, State& s) {
  const Parameter& p = *part.parameter;
  const Value index = value_of(p.index, s);
  if (p.is_indirect) return Value::unknown();
  const auto found = s.variables.find(p.name);
  const bool is_here = found != s.variables.end();
  std::vector<Value> elements;
  bool is_known = is_here && found->second.has_elements;
  if (is_known) elements = found->second.elements;
  if (p.name == "argv" && s.has_args) {
    is_known = std::none_of(s.args.begin(), s.args.end(), [](const Arg& a) { return a.is_many; });
    for (const Arg& arg : s.args)
      elements.push_back(arg.value);
  }
  if (p.has_index) {
    const std::string at = index.is_known && index.set.size() == 1 ? index.set.front() : "";
    const bool is_number =
        !at.empty() && at.size() < 8 && at.find_first_not_of("0123456789") == std::string::npos;
    if (!is_known || !is_number) return Value::unknown();
    const auto i = static_cast<std::size_t>(std::strtol(at.c_str(), nullptr, 10));
    return i > 0 && i <= elements.size() ? elements[i - 1] : Value::exact("");
  }
  if (is_known) {  // in quotes: joined by blanks
    Value out = Value::exact("");
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) append(out, " ");
      append(out, elements[i]);
    }
    return out;
  }
  if (is_here) return found->second.value;
  if (p.name == "status" || p.name == "fish_pid" || p.name == "last_pid") return Value::number();
  if (p.name == "HOME" || p.name == "PWD") return variable(p.name, s);
  return Value::unknown();
}

namespace {

struct SetOptions {
  bool is_local = false, erases = false, asks = false, appends = false, lasts = false,
       exports = false, prepends = false;
  std::string unknown = {};
};

// The place of the variable's name, or of an option that is not known.
std::size_t read_set_options(const std::vector<Arg>& argv, SetOptions& out) {
  std::size_t i = 1;
  for (; i < argv.size() && (argv[i].text().starts_with('-') || !argv[i].is_exact()); ++i) {
    const std::string& text = argv[i].text();
    static constexpr std::string_view kLong[] = {
        "--local",    "--global", "--universal", "--export",   "--erase",
        "--query",    "--append", "--prepend",   "--names",    "--show",
        "--unexport", "--path",   "--unpath",    "--function", "--long"};
    const bool is_long = std::find(std::begin(kLong), std::end(kLong), text) != std::end(kLong);
    const bool is_short = !text.starts_with("--") && text.size() > 1 &&
                          text.find_first_not_of("lgUxeqanSufpL", 1) == std::string::npos;
    if (!argv[i].is_exact() || (!is_long && !is_short)) {
      out.unknown = text.empty() ? "a word that is not known" : text;
      return i;
    }
    const auto has = [&](char letter, std::string_view word) {
      return text == word || (is_short && text.find(letter) != std::string::npos);
    };
    out.is_local = out.is_local || has('l', "--local") || has('f', "--function");
    out.lasts = out.lasts || has('U', "--universal");
    out.erases = out.erases || has('e', "--erase");
    out.asks = out.asks || has('q', "--query") || has('n', "--names") || has('S', "--show");
    out.exports = out.exports || has('x', "--export");
    out.prepends = out.prepends || has('p', "--prepend");
    out.appends = out.appends || has('a', "--append") || has('p', "--prepend");
  }
  return i;
}

}  // namespace

// set [options] NAME[index] VALUE…: a scope may end, so what was set in it is joined with what was
// there.
Stream Commands::fish_set(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  SetOptions options{.is_local = !e.calls_.empty()};
  const std::size_t i = read_set_options(argv, options);
  if (!options.unknown.empty()) {
    e.unknown(argv[i].span, options.unknown, "set: an option that is not known");
    return Stream::unknown();
  }
  const auto& [is_local, erases, asks, appends, lasts, exports, prepends, unknown] = options;
  if (asks || i >= argv.size()) return Stream::unknown();
  const Arg& target = argv[i];
  std::string name = target.text();
  const bool has_index = name.find('[') != std::string::npos;
  name.resize(std::min(name.find('['), name.size()));
  if (!is_variable_name(name)) {
    e.unknown(target.span, name, "the name of a variable is not known");
    return Stream::unknown();
  }
  Variable v{.value = {}, .is_array = true, .has_elements = !has_index && !erases};
  for (std::size_t k = i + 1; k < argv.size(); ++k) {
    v.has_elements = v.has_elements && !argv[k].is_many && !argv[k].is_glob;
    v.elements.push_back(argv[k].value);
  }
  const auto old = s.variables.find(name);
  if (appends) {
    const bool is_known = old != s.variables.end() && old->second.has_elements;
    v.has_elements = v.has_elements && is_known && !prepends;
    if (is_known)
      v.elements.insert(v.elements.begin(), old->second.elements.begin(),
                        old->second.elements.end());
  }
  Value one = Value::unknown();
  for (const Value& element : v.elements)
    one = join(one, element);
  v.value = v.has_elements && v.elements.size() == 1 ? v.elements[0] : unknown_like(one);
  if (name == "fish_user_paths" || name == "fish_function_path" || name == "fish_complete_path")
    s.is_path_changed = true;
  e.note_assignment(name, v.value, target.span, false, s);
  if (lasts)
    e.add(EffectKind::kShellHooks, Scope::kNone, name, target.span,
          wick::cat("sets ", name, " for every fish, now and later"));
  if (exports) s.exported.insert(name);
  if (is_local || erases) s.scoped.insert(name);
  if (s.scoped.contains(name)) {
    const bool is_same = old != s.variables.end() && old->second == v;
    if (!is_same) {
      v.value = old == s.variables.end() ? Value::unknown() : join(old->second.value, v.value);
      v.has_elements = false;
      v.elements.clear();
    }
  }
  s.variables[name] = std::move(v);
  return Stream::none();
}

// alias NAME COMMAND, alias NAME=COMMAND: makes a function.
Stream Commands::fish_alias(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  if (argv.size() == 1) return Stream::unknown();
  Argv rest = argv;
  if (rest.size() == 3 && rest[1].is_exact() && !rest[1].text().starts_with('-')) {
    rest[1].value = concat(concat(rest[1].value, Value::exact("=")), rest[2].value);
    rest.pop_back();
  }
  const std::size_t equals = rest[1].text().find('=');
  if (rest.size() != 2 || !rest[1].is_exact() || equals == std::string::npos) {
    s.has_hidden_alias = true;
    e.unknown(argv[0].span, "", "an alias of text that is not known");
    return Stream::unknown();
  }
  s.aliases[rest[1].text().substr(0, equals)] = rest[1].text().substr(equals + 1);
  e.add(EffectKind::kShellHooks, Scope::kNone, rest[1].text().substr(0, equals), rest[1].span,
        "defines an alias");
  return Stream::unknown();
}

Stream Commands::fish_source(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  if (argv.size() > 1 && argv[1].text() != "-") return source(e, argv, s, in);
  return e.run_stream(in, argv[0].span, s, Dialect::kFish);
}

// string match -r '(?<name>…)' sets the variables that its groups name.
Stream Commands::fish_string(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row("fish:string");
  Stream out = e.apply_row(row, argv, 1, s, in);
  const Usage usage = read_usage(row, argv, 1);
  const auto operands = usage.operands();
  const bool is_match = operands.size() > 1 && operands[0].arg->text() == "match" &&
                        (usage.has("-r") || usage.has("--regex"));
  if (!is_match) return out;
  const Arg& pattern = *operands[1].arg;
  if (!pattern.is_exact()) {
    e.unknown(pattern.span, "", "a regular expression that is not known may set variables");
    return out;
  }
  const std::string& text = pattern.text();  // (?<name>…) or (?'name'…)
  for (std::size_t at = text.find_first_of("<'"); at != std::string::npos;
       at = text.find_first_of("<'", at + 1)) {
    const std::size_t end = text.find_first_of(">'", at + 1);
    const std::string name = end == std::string::npos ? "" : text.substr(at + 1, end - at - 1);
    if (!is_variable_name(name)) continue;
    e.note_assignment(name, Value::unknown(), pattern.span, false, s);
    e.keep(name, {.value = Value::unknown()}, pattern.span, s);
  }
  return out;
}

// Its words are variables, of this shell even at the end of a pipe.
Stream Commands::fish_read(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row("fish:read");
  e.apply_row(row, argv, 1, s, in);
  const Usage usage = read_usage(row, argv, 1);
  for (const Usage::Item& name : usage.operands()) {
    if (!name.arg->is_exact() || !is_variable_name(name.arg->text())) {
      e.unknown(name.arg->span, "", "reads into a variable whose name is not known");
      continue;
    }
    Value value = Value::unknown();
    value.is_secret = in.is_secret;
    value.keys = in.keys;
    value.is_fetched = in.is_fetched;
    e.set_variable(name.arg->text(), {.value = value}, name.arg->span, s);
  }
  return Stream::none();
}

}  // namespace wick::shell
