// Builtins that change what the rest of the script means.
#include <algorithm>
#include <span>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"

namespace wick::shell {

namespace {

// NAME=value as an argument: the name, and what is known of the value.
bool cut_assignment(const Arg& arg, std::string& name, Value& value) {
  const bool is_known = arg.value.is_known;
  const std::string& text = is_known ? arg.text() : arg.value.prefix;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || (is_known && !arg.is_exact())) return false;
  name = text.substr(0, equals);
  if (name.ends_with('+')) {
    name.pop_back();
    value = Value::unknown();
    return is_variable_name(name);
  }
  value = arg.value;
  if (is_known) {
    value.set.assign(text.substr(equals + 1));
  } else {
    value.prefix = text.substr(equals + 1);
    value.may_be_empty = value.prefix.empty();
  }
  return is_variable_name(name);
}

}  // namespace

Stream Commands::alias(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  const bool removes = argv[0].text() == "unalias";
  e.run_traps_now(0, s);
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const Arg& arg = argv[i];
    if (removes) {
      if (arg.is_exact()) s.aliases.erase(arg.text());
      e.add(EffectKind::kShellHooks, Scope::kNone, arg.text(), arg.span, "removes an alias");
      continue;
    }
    const std::size_t equals = arg.text().find('=');
    if (e.dialect_ == Dialect::kZsh &&
        arg.text().starts_with('-')) {  // -g: anywhere; -s: behind a dot
      s.has_hidden_alias = true;
      e.unknown(arg.span, arg.text(), "an alias of zsh that stands for other words than commands");
    } else if (!arg.is_exact()) {
      s.has_hidden_alias = true;
      e.unknown(arg.span, "", "an alias of text that is not known");
    } else if (equals != std::string::npos && equals > 0) {
      s.aliases[arg.text().substr(0, equals)] = arg.text().substr(equals + 1);
      e.add(EffectKind::kShellHooks, Scope::kNone, arg.text().substr(0, equals), arg.span,
            "defines an alias");
    }
  }
  return Stream::unknown();
}

Stream Commands::cd(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  std::size_t i = 1;
  bool is_physical = false;  // -P: a/.. is above the target of the link a
  while (i < argv.size() && (argv[i].text() == "-P" || argv[i].text() == "-L" ||
                             argv[i].text() == "-e" || argv[i].text() == "--"))
    is_physical = argv[i++].text() == "-P" || is_physical;
  const bool is_pop = argv[0].text() == "popd";
  const std::vector<std::string> old = s.cwd;
  const auto lose = [&] {
    s.cwd.clear();
    s.before.clear();
    s.is_cwd_lost = true;
  };
  e.add(EffectKind::kShellState, Scope::kNone, "cwd", argv[0].span,
        "changes the working directory");
  Value target = i < argv.size() ? argv[i].value : e.variable("HOME", s);
  if (is_pop || (i >= argv.size() && argv[0].text() == "pushd") || argv.size() > i + 1) {
    lose();
    return Stream::unknown();
  }
  if (target.is_below && target.may_be_empty && target.tail.empty()) {  // cd "$(mktemp -d)"
    const std::string folder = target.prefix + "tmp.XXXXXXXXXX";
    target = Value::exact("");
    target.set.push_back(folder);
  }
  const bool is_plain = target.is_known &&
                        !(i < argv.size() && (argv[i].is_many || argv[i].is_glob)) &&
                        target.set.front() != "-" && !target.set.front().starts_with('+') &&
                        !s.variables.contains("CDPATH");
  const auto may_be_elsewhere = [&](const std::string& path) { return e.file_of(path, s).empty(); };
  const bool follows_link =
      is_physical && std::any_of(target.set.begin(), target.set.end(), may_be_elsewhere);
  if (!is_plain || follows_link) {
    lose();
    return Stream::unknown();
  }
  std::vector<std::string> next;
  for (const std::string& path : target.set) {
    if (path.empty() && old.empty()) {
      s.cwd.clear();
      return Stream::none();
    }
    if (path.empty()) {
      next.insert(next.end(), old.begin(), old.end());
    } else if (path.starts_with('/')) {
      next.push_back(normal_path(path, ""));
    } else if (old.empty()) {
      // Below a directory that is not known, unless the path leads out of it.
      if (path.find("..") != std::string::npos || s.is_cwd_lost) lose();
      return Stream::none();
    } else {
      for (const std::string& folder : old)
        next.push_back(normal_path(path, folder));
    }
  }
  if (!e.traps_.empty()) e.seen_.cwds.insert(e.seen_.cwds.end(), next.begin(), next.end());
  s.before = old;
  if (old.empty()) s.is_cwd_lost = s.is_cwd_lost || false;
  s.cwd = std::move(next);
  return Stream::none();
}

Stream Commands::declare(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  bool is_integer = argv[0].text() == "integer" || argv[0].text() == "float";
  bool is_array = false, is_list = false, is_map = false, only_shows = false;
  bool is_fixed = argv[0].text() == "readonly";
  bool exports = argv[0].text() == "export", unexports = false;
  const bool is_own =
      argv[0].text() != "export" && argv[0].text() != "readonly" &&
      std::none_of(argv.begin(), argv.end(), [](const Arg& arg) {
        return arg.text().starts_with('-') && arg.text().find('g') != std::string::npos;
      });
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const Arg& arg = argv[i];
    if (arg.is_exact() && (arg.text().starts_with('-') || arg.text().starts_with('+'))) {
      if (arg.text() == "--") continue;
      if (arg.text().find_first_not_of("-+aAfFgiIlprtuxn") != std::string::npos)
        e.unknown(arg.span, arg.text(), "an option that is not known");
      if (arg.text().find('n') != std::string::npos && argv[0].text() != "export")
        e.unknown(arg.span, arg.text(), "a reference to a variable is not followed");
      const auto has = [&](char flag) { return arg.text().find(flag) != std::string::npos; };
      is_integer = is_integer || has('i');
      is_fixed = is_fixed || has('r');
      exports = exports || (has('x') && arg.text()[0] == '-' && e.dialect_ != Dialect::kPosix);
      unexports = unexports || (has('x') && arg.text()[0] == '+') ||
                  (has('n') && argv[0].text() == "export");
      is_map = is_map || (has('A') && arg.text().starts_with('-'));
      only_shows = only_shows || has('p') || has('f') || has('F');
      is_array = is_array || has('a') || has('A');
      is_list = is_list || has('a');
      continue;
    }
    std::string name;
    Value value;
    const bool has_value = cut_assignment(arg, name, value);
    if (!has_value && arg.is_exact() && is_variable_name(arg.text())) name = arg.text();
    if (!name.empty() && is_own && !has_value && !only_shows) e.declare_local(name, is_list, s);
    if (!name.empty() && is_own) e.keep_local(name, s);
    if (!name.empty() && is_integer) s.integers.insert(name);
    if (const auto old = s.variables.find(name);
        has_value && old != s.variables.end() && old->second.is_array && arg.text() == name + "=") {
      const Variable array = old->second;  // its elements were read as an assignment
      e.keep(name, array, arg.span, s);
    } else if (has_value) {
      const bool is_text = !value.is_known || value.set.front().starts_with('(');
      if (is_array && is_text)
        e.unknown(arg.span, name, "a text that is read as an array's elements: code in it runs");
      e.note_assignment(name, value, arg.span, false, s);
      e.keep(name, {.value = value}, arg.span, s);
    } else if (is_map && !only_shows && !name.empty()) {
      if (is_own || e.calls_.empty()) e.make_map(name, s);
      const bool is_sure = (is_own || e.calls_.empty()) && e.is_map(name, s);
      s.variables[name] = {.value = Value::unknown(), .is_array = true, .is_map = is_sure};
      e.note_change(name, Value::unknown());
    } else if (!arg.is_exact() || !is_variable_name(arg.text())) {
      e.unknown(arg.span, arg.text(), "the name of a variable is not known");
    }
    if (is_fixed && !name.empty()) s.fixed.insert(name);
    if (exports && !name.empty()) s.exported.insert(name);
    if (unexports) s.exported.erase(name);
  }
  return Stream::unknown();
}

Stream Commands::eval(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  Value text = Value::exact("");
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (i == 1 && argv[i].text() == "--") continue;
    if (!text.set.empty() && (!text.is_known || !text.set.front().empty())) append(text, " ");
    append(text, argv[i].is_many || argv[i].is_glob ? Value::unknown() : argv[i].value);
  }
  const Span span = argv.size() > 1 ? Span{argv[1].span.begin, argv.back().span.end} : argv[0].span;
  std::optional<State> left;  // zsh: break ends the text
  e.loops_.push_back(&left);
  Stream out = e.run_text(text, span, s, in, e.dialect_);
  e.loops_.pop_back();
  if (left) e.leave("break", false, *left);
  if (left) s = e.joined(s, *left);
  return out;
}

Stream Commands::let(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (!argv[i].is_exact()) {
      e.unknown_subscripts(argv[i].span, "", "an unknown word as arithmetic");
      continue;
    }
    List<WordPart> parts;
    parts.emplace_back(PartKind::kLiteral, argv[i].span, argv[i].text());
    e.arithmetic(parts, s, argv[i].span);
  }
  return Stream::none();
}

namespace {

// What `read` may put into a variable: one of the lines, or nothing at their end.
Value one_of_lines(const std::string& text) {
  constexpr std::size_t kMostLines = 15;
  Value out = Value::exact("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t first = line.find_first_not_of(" \t");
    if (line.find('\\') != std::string::npos || out.set.size() > kMostLines)
      return Value::unknown();
    if (first == std::string::npos) continue;
    out.set.push_back(line.substr(first, line.find_last_not_of(" \t") + 1 - first));
  }
  return out;
}

}  // namespace

Stream Commands::read(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const std::string name = argv[0].text();
  const Usage usage = read_usage(*find_row(name), argv, 1);
  e.apply_row(*find_row(name), argv, 1, s, in);
  std::vector<Arg> names;
  for (const Usage::Item& operand : usage.operands())
    names.push_back(*operand.arg);
  for (const Usage::Item& item : usage.items) {
    if (usage.has("-a") && item.arg->is_exact() && is_variable_name(item.arg->text()))
      names.push_back(*item.arg);
  }
  if (names.empty())
    names.push_back(
        {.value = Value::exact(name == "read" ? "REPLY" : "MAPFILE"), .span = argv[0].span});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_text = name == "getopts" && i == 0;
    if (is_text) continue;
    if (!names[i].is_exact() || !is_variable_name(names[i].text())) {
      e.unknown_subscripts(names[i].span, "", "reads into a text that is no plain name");
      continue;
    }
    Value value = Value::unknown();
    // Lines of names are names, if nothing but lines is cut off.
    const bool is_whole = in.is_names && names.size() == 1 && usage.has("-r") && name == "read";
    if (is_whole) {
      value = Value::below(in.prefix);
      value.is_everything = in.is_everything;
    }
    if (name == "read" && names.size() == 1 && (usage.options.empty() || usage.has("-r")) &&
        usage.items.size() == 1 && in.is_known)
      value = one_of_lines(in.text);
    value.is_secret = in.is_secret;
    value.keys = in.keys;
    value.is_fetched = in.is_fetched;
    const bool is_array = name != "read" || usage.has("-a");
    e.set_variable(names[i].text(), {.value = value, .is_array = is_array && name != "getopts"},
                   names[i].span, s);
  }
  return Stream::none();
}

Stream Commands::set(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const Arg& arg = argv[i];
    const std::string& text = arg.text();
    if (arg.is_exact() && text != "--" && text.size() > 1 && (text[0] == '-' || text[0] == '+')) {
      if (text.find('f') != std::string::npos) s.has_no_glob = text[0] == '-';
      if (text.starts_with('-') && text.find('a') != std::string::npos) s.exported.insert("*");
      const bool has_name = text.back() == 'o' && i + 1 < argv.size();
      if (has_name) ++i;
      if (!is_plain_shell_option(text, has_name ? &argv[i] : nullptr, e.dialect_))
        e.unknown(arg.span, text, "an option of the shell that changes how it reads words");
      e.add(EffectKind::kShellHooks, Scope::kNone, text, arg.span,
            wick::cat("sets the shell option ", printable(text)));
      continue;
    }
    if (!arg.value.is_known && arg.may_be_option())
      e.unknown(arg.span, "", "a word that is not known may be an option of set");
    const std::size_t first = text == "--" ? i + 1 : i;
    e.run_traps_now(0, s);
    s.args.assign(argv.begin() + static_cast<std::ptrdiff_t>(first), argv.end());
    s.has_args = std::none_of(s.args.begin(), s.args.end(), [](const Arg& a) { return a.is_glob; });
    if (!s.has_args) s.args.clear();
    e.add(EffectKind::kShellState, Scope::kNone, "$@", argv[0].span,
          "sets the positional parameters");
    break;
  }
  return Stream::unknown();
}

Stream Commands::shift(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  for (std::size_t i = 1; i < argv.size(); ++i)
    e.zsh_number(argv[i], s);
  const bool is_one = argv.size() == 1 && s.has_args && !s.args.empty() && !s.args.front().is_many;
  e.run_traps_now(0, s);
  if (is_one) {
    s.args.erase(s.args.begin());
  } else if (s.has_args) {  // some of them
    const Value one = any_of(s.args);
    s.args.assign(1, {.value = one, .span = argv[0].span, .is_many = true});
  }
  return Stream::none();
}

Stream Commands::source(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  if (argv.size() < 2) {
    e.unknown(argv[0].span, "", "no file is named");
    return Stream::unknown();
  }
  e.run_file(argv[1], {argv.begin() + 2, argv.end()}, s);
  return Stream::unknown();
}

Stream Commands::test(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  // `-v NAME` evaluates the subscript of NAME, also where neither is known.
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const bool is_pair = i + 1 < argv.size() && !argv[i].value.is_known &&
                         argv[i].may_be_option() && !argv[i + 1].value.is_known &&
                         !argv[i + 1].value.is_number;
    if (may_be_many_options(argv[i]) || is_pair)
      e.unknown(argv[i].span, "", "a word of a test that is not known and may be -v");
  }
  for (std::size_t i = 1; i + 1 < argv.size(); ++i) {
    if (argv[i].text() == "-v")
      e.name_of_variable(argv[i + 1].is_many ? Value::unknown() : argv[i + 1].value,
                         argv[i + 1].span);
    if (argv[i].text() == "-t") e.zsh_number(argv[i + 1], s);
  }
  return Stream::none();
}

namespace {

bool are_at_exit(std::span<const Trap> traps) {
  return std::all_of(traps.begin(), traps.end(), [](const Trap& t) { return t.is_at_exit; });
}

}  // namespace

// Code that runs once, at the end of the shell. In zsh and ksh a function may have its own.
bool Evaluator::is_exit_trap(const std::vector<Arg>& argv, std::size_t code) const {
  const bool is_of_shell = dialect_ == Dialect::kBash || dialect_ == Dialect::kPosix;
  const bool sets_another = argv[code].text().find("trap") != std::string::npos;
  return is_of_shell && function_ == nullptr && !sets_another &&
         std::all_of(
             argv.begin() + static_cast<std::ptrdiff_t>(code) + 1, argv.end(),
             [](const Arg& a) { return a.is_exact() && (a.text() == "EXIT" || a.text() == "0"); });
}

Stream Commands::trap(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  std::size_t i = 1;
  if (i < argv.size() && argv[i].text() == "--") ++i;
  if (i >= argv.size() || argv[i].text() == "-p" || argv[i].text() == "-l")
    return Stream::unknown();
  if (argv[i].text() == "-" || argv.size() == i + 1) return Stream::none();
  const bool is_at_exit = e.is_exit_trap(argv, i);
  const std::size_t n_traps = e.traps_.size();
  const bool changes_nothing_here = is_at_exit && are_at_exit(e.traps_);
  State copy = e.copy_of(s);
  ++e.nested_;
  if (!argv[i].is_exact() || !argv[i].text().empty()) ++e.n_traps_;
  if (argv[i].is_many || argv[i].is_glob) {
    e.unknown(argv[i].span, "", "a trap whose code is not known");
  } else {
    Since before;
    if (changes_nothing_here) std::swap(before, e.seen_);
    e.run_text(argv[i].value, argv[i].span, copy, Stream::none(), e.dialect_);
    if (changes_nothing_here) std::swap(before, e.seen_);
    if (argv[i].value.is_known)
      e.traps_.push_back(
          {argv[i].value, e.outer_ != nullptr ? *e.outer_ : argv[i].span, is_at_exit});
  }
  --e.nested_;
  if (!changes_nothing_here) s = e.joined(s, copy);
  if (e.traps_.size() > n_traps) e.remember_variables(e.traps_.back(), s);
  e.add(EffectKind::kShellState, Scope::kNone, "trap", argv[0].span, "sets code that runs later");
  return Stream::none();
}

// Runs the traps from `first` on once more, at the end of their shell: with all values that were
// assigned behind them.
void Evaluator::run_traps(std::size_t first, State& s) {
  if (traps_.size() <= first) return;
  run_traps_now(first, s);
  traps_.resize(first);
  if (!traps_.empty()) return;
  seen_ = {};
}

namespace {

constexpr int kLastTrapPass = 3;

}

// Before a function, an alias or $1 becomes another, or a branch that changed one ends, too: a trap
// may see each of them. A second time with those values of variables alone that are known.
void Evaluator::run_traps_now(std::size_t first, const State& s) {
  if (traps_.size() <= first || is_too_complex_) return;
  const std::vector<Trap> traps(traps_.begin() + static_cast<std::ptrdiff_t>(first), traps_.end());
  std::vector<Trap> outer = std::exchange(traps_, {});  // they are set, not walked again in here
  State late = copy_of(s);
  for (const std::string& folder : seen_.cwds) {
    if (std::find(late.cwd.begin(), late.cwd.end(), folder) == late.cwd.end())
      late.cwd.push_back(folder);
  }
  for (int pass = 0; pass <= kLastTrapPass; ++pass) {
    const std::map<std::string, Value> before = seen_.changed;
    run_each(traps, late, false);
    if (seen_.changed == before) break;
    for (auto& [name, value] : seen_.changed) {  // widen: what still changes is not known
      const auto old = before.find(name);
      if (pass + 1 == kLastTrapPass && (old == before.end() || !(old->second == value)))
        value = Value::unknown();
    }
  }
  run_each(traps, late, true);
  traps_ = std::move(outer);
}

// What a trap changes is seen by those that may run behind it; only one of those at the exit runs.
void Evaluator::run_each(const std::vector<Trap>& traps, const State& s, bool has_known_alone) {
  const bool is_one = are_at_exit(traps);
  const bool was_in_traps = std::exchange(is_in_traps_, !is_one);
  for (const Trap& trap : traps) {
    State late = copy_of(s);
    if (keep_seen(trap, has_known_alone, late) || !has_known_alone)
      run_text(trap.code, trap.span, late, Stream::none(), dialect_);
  }
  is_in_traps_ = was_in_traps;
}

// The variables as the trap may see them. Whether one has less values than it may have.
bool Evaluator::keep_seen(const Trap& trap, bool has_known_alone, State& s) const {
  for (const auto& [name, variable] : trap.variables) {
    if (name != "IFS") s.variables[name] = variable;
  }
  for (const auto& [name, value] : seen_.changed) {
    const auto at_trap = trap.variables.find(name);
    const bool was_set = at_trap != trap.variables.end();
    s.variables[name] = {.value = join(was_set ? at_trap->second.value : Value::unknown(), value)};
  }
  bool has_less = false;
  for (const auto& [name, value] : seen_.known) {
    const auto found = s.variables.find(name);
    if (!has_known_alone || !value.is_known || found == s.variables.end()) continue;
    if (found->second.value.is_known || found->second.is_array) continue;
    found->second = {.value = value};
    has_less = true;
  }
  return has_less;
}

void Evaluator::remember_variables(Trap& trap, const State& s) {
  joined_ += weight_of(s);
  trap.variables = s.variables;
  for (const auto& [name, variable] : s.variables)
    note_known(name, variable.value);
}

// A trap may see it; more than a value holds are not kept.
void Evaluator::note_known(const std::string& name, const Value& value) {
  if (!value.is_known) return;
  const auto [known, is_new] = seen_.known.emplace(name, value);
  if (is_new || !known->second.is_known) return;
  known->second = join(known->second, value);
}

Stream Commands::unset(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const Arg& arg = argv[i];
    const std::string& text = arg.text();
    if (text == "-v" || text == "-f" || text == "--") continue;
    if (!arg.is_exact() || !is_variable_name(text)) {
      e.unknown_subscripts(arg.span, text, "unset of a text that is not a plain name");
      continue;
    }
    e.note_assignment(text, Value::exact(""), arg.span, false, s);
    e.note_change(text, Value::exact(""));
    Value value = Value::exact("");
    value.is_set = false;
    if (s.fixed.contains(text)) value = Value::unknown();
    s.variables[text] = {.value = value};
    s.exported.erase(text);
    if (text == "IFS") s.variables.erase("IFS");
    if (s.functions.contains(text)) e.run_traps_now(0, s);
    s.functions.erase(text);
  }
  return Stream::none();
}

// Takes any words, does nothing.
Stream Commands::nothing(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(e);
  static_cast<void>(argv);
  static_cast<void>(s);
  static_cast<void>(in);
  return Stream::of("");
}

// command, builtin, busybox: the rest, without functions and aliases.
Stream Commands::command(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  std::size_t i = 1;
  bool looks_up = false;
  for (; i < argv.size() && argv[i].text().starts_with('-'); ++i) {
    const std::string& text = argv[i].text();
    if (text == "--") {
      ++i;
      break;
    }
    looks_up = looks_up || text == "-v" || text == "-V";
    if (text != "-v" && text != "-V" && text != "-p" && text != "-pv" && text != "--list")
      e.unknown(argv[i].span, text, "an option that is not known");
  }
  if (looks_up || i >= argv.size()) {
    if (looks_up)
      e.add(EffectKind::kReadsNames, Scope::kNone, "", argv[0].span, "looks up a command");
    return Stream::unknown();
  }
  Argv rest(argv.begin() + static_cast<std::ptrdiff_t>(i), argv.end());
  State copy = e.copy_of(s);
  copy.functions.clear();
  copy.aliases.clear();
  Stream out = e.invoke(std::move(rest), copy, in);
  copy.functions = s.functions;
  copy.aliases = s.aliases;
  s = std::move(copy);
  return out;
}

}  // namespace wick::shell
