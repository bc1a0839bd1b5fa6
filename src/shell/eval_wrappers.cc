// Commands that run the command behind them with other rights, arguments or on another machine.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"

namespace wick::shell {

namespace {

std::vector<Arg> behind(const std::vector<Arg>& argv, std::size_t first) {
  return {argv.begin() + static_cast<std::ptrdiff_t>(std::min(first, argv.size())), argv.end()};
}

bool is_assignment(const Arg& arg, std::string& name) {
  const std::string& text = arg.is_exact() ? arg.text() : arg.value.prefix;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || (!arg.is_exact() && arg.value.is_known))
    return false;
  name = text.substr(0, equals);
  return name.find('/') == std::string::npos;
}

Value words_joined(const std::vector<Arg>& words) {
  Value text = Value::exact("");
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) append(text, " ");
    append(text, words[i].is_many || words[i].is_glob ? Value::unknown() : words[i].value);
  }
  return text;
}

}  // namespace

Stream Commands::sudo(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row(Evaluator::command_name(argv[0]));
  const Usage usage = read_usage(row, argv, 1);
  for (const auto& [option, span] : usage.unknown)
    e.unknown(span, option, wick::cat("sudo: the option ", printable(option), " is not known"));
  if (usage.is_help || usage.has("-V")) return Stream::unknown();
  const bool lists = usage.has("-l") || usage.has("--list") || usage.has("-v") || usage.has("-k") ||
                     usage.has("-K");
  if (lists && usage.rest == 0) return Stream::unknown();
  e.add(EffectKind::kPrivilege, Scope::kNone, Evaluator::command_name(argv[0]), argv[0].span,
        "runs with another user's rights");
  for (const auto& [letter, span] : usage.effects)
    e.unknown(span, "", "sudo: an option that runs or edits something else");
  ++e.lifted_;
  Stream out = Stream::unknown();
  std::size_t first = usage.rest;
  std::string name;
  while (first > 0 && first < argv.size() && is_assignment(argv[first], name)) {
    e.note_assignment(name, Value::unknown(), argv[first].span, true, s);
    ++first;
  }
  const bool is_shell =
      usage.has("-s") || usage.has("-i") || usage.has("--shell") || usage.has("--login");
  State copy = e.copy_of(s);
  copy.functions.clear();
  copy.aliases.clear();
  if (first == 0 || first >= argv.size()) {
    out = e.run_stream(in, argv[0].span, copy, Dialect::kPosix);
  } else if (is_shell) {
    out =
        e.run_text(words_joined(behind(argv, first)), argv[first].span, copy, in, Dialect::kPosix);
  } else {
    out = e.invoke(behind(argv, first), copy, in);
  }
  --e.lifted_;
  return out;
}

Stream Commands::su(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  e.add(EffectKind::kPrivilege, Scope::kNone, "su", argv[0].span,
        "runs with another user's rights");
  ++e.lifted_;
  State copy = e.copy_of(s);
  bool has_code = false;
  Stream out = Stream::unknown();
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& text = argv[i].text();
    const bool is_code = text == "-c" || text == "--command";
    if (is_code && i + 1 < argv.size()) {
      has_code = true;
      out = e.run_text(argv[i + 1].value, argv[i + 1].span, copy, in, Dialect::kPosix);
      ++i;
    } else if (text.starts_with("--command=")) {
      has_code = true;
      out = e.run_text(Value::exact(text.substr(10)), argv[i].span, copy, in, Dialect::kPosix);
    } else if (text == "-s" || text == "--shell") {
      e.unknown(argv[i].span, text, "runs another shell");
    } else if (argv[i].may_be_option() && text != "-" && text != "-l" && text != "--login" &&
               text != "-p" && text != "-m") {
      e.unknown(argv[i].span, text, "an option of su that is not known");
    }
  }
  if (!has_code) out = e.run_stream(in, argv[0].span, copy, Dialect::kPosix);
  --e.lifted_;
  return out;
}

Stream Commands::env(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row("env");
  // -S splits a text into words: read by itself, it is the command's beginning.
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& text = argv[i].text();
    const bool is_long = text.starts_with("--split-string=");
    const bool is_short = text.starts_with("-S") || text == "-vS" || text == "--split-string";
    if (!argv[i].is_exact() || (text[0] != '-' && !is_long)) break;
    if (!is_long && !is_short) continue;
    Value code = is_long ? Value::exact(text.substr(15))
                 : text.size() > 2 && text != "-vS" && is_short && text != "--split-string"
                     ? Value::exact(text.substr(2))
                     : Value::unknown();
    std::size_t next = i + 1;
    if (!code.is_known && next < argv.size()) code = argv[next++].value;
    Argv rest = behind(argv, next);
    if (!rest.empty()) code = concat(concat(code, Value::exact(" ")), words_joined(rest));
    State copy = e.copy_of(s);
    const bool has_expansion =
        code.is_known && code.set.front().find_first_of("$\\`;|&<>()*?") != std::string::npos;
    if (has_expansion)
      e.unknown(argv[i].span, "", "env -S with characters that it reads in its own way");
    return e.run_text(code, argv[i].span, copy, in, Dialect::kPosix);
  }
  const Usage usage = read_usage(row, argv, 1);
  for (const auto& [option, span] : usage.unknown)
    e.unknown(span, option, wick::cat("env: the option ", printable(option), " is not known"));
  if (usage.is_help) return Stream::unknown();
  std::size_t first = usage.rest == 0 ? argv.size() : usage.rest;
  State copy = e.copy_of(s);
  copy.functions.clear();
  copy.aliases.clear();
  std::string name;
  while (first < argv.size() && is_assignment(argv[first], name)) {
    const std::size_t equals = argv[first].text().find('=');
    const Value value = argv[first].is_exact() ? Value::exact(argv[first].text().substr(equals + 1))
                                               : Value::unknown();
    e.note_assignment(name, value, argv[first].span, true, copy);
    copy.variables[name] = {.value = value};
    ++first;
  }
  if (usage.has("-C") || usage.has("--chdir")) {
    copy.cwd.clear();
    copy.is_cwd_lost = true;
  }
  if (first >= argv.size()) {
    Stream out = Stream::unknown();
    out.is_secret = true;  // the environment may hold tokens
    return out;
  }
  return e.invoke(behind(argv, first), copy, in);
}

namespace {

// The words that xargs makes of its input, if they are known.
bool xargs_words(const Stream& in, const Usage& usage, std::vector<std::string>& out) {
  if (!in.is_known) return false;
  const bool is_nul = usage.has("-0") || usage.has("--null");
  const bool has_other = usage.has("-d") || usage.has("--delimiter") || usage.has("-E") ||
                         usage.has("-a") || usage.has("--arg-file");
  const bool is_lines =
      usage.has("-I") || usage.has("-i") || usage.has("--replace") || usage.has("-L");
  if (has_other || (!is_nul && in.text.find_first_of("'\"\\") != std::string::npos)) return false;
  const std::string_view ends = is_nul ? std::string_view("\0", 1) : is_lines ? "\n" : " \t\n";
  std::string word;
  for (const char c : in.text) {
    if (ends.find(c) == std::string_view::npos) {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::exchange(word, ""));
    }
  }
  if (!word.empty()) out.push_back(word);
  return out.size() < 256;
}

Arg replaced(const Arg& arg, const std::string& mark, const Value& with) {
  Arg out = arg;
  const std::size_t at = arg.is_exact() ? arg.text().find(mark) : std::string::npos;
  if (at == std::string::npos) return out;
  const std::string& text = arg.text();
  out.value = concat(concat(Value::exact(text.substr(0, at)), with),
                     Value::exact(text.substr(at + mark.size())));
  if (text.find(mark, at + 1) != std::string::npos && !with.is_known) out.value = Value::unknown();
  return out;
}

}  // namespace

Stream Commands::xargs(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Usage usage = read_usage(*find_row("xargs"), argv, 1);
  for (const auto& [option, span] : usage.unknown)
    e.unknown(span, option, wick::cat("xargs: the option ", printable(option), " is not known"));
  if (usage.is_help) return Stream::unknown();
  Argv command = usage.rest == 0 ? Argv{{.value = Value::exact("echo"), .span = argv[0].span}}
                                 : behind(argv, usage.rest);
  std::string mark;
  for (std::size_t i = 1; i < (usage.rest == 0 ? argv.size() : usage.rest); ++i) {
    const std::string& text = argv[i].text();
    if (text == "-I" && i + 1 < argv.size()) mark = argv[i + 1].text();
    if (text.starts_with("-I") && text.size() > 2) mark = text.substr(2);
    if (text == "-i" || text == "--replace") mark = "{}";
    if (text.starts_with("--replace=")) mark = text.substr(10);
  }
  std::vector<std::string> words;
  State copy = e.copy_of(s);
  copy.functions.clear();
  copy.aliases.clear();
  const Stream none = Stream::of("");
  if (xargs_words(in, usage, words)) {
    if (!mark.empty()) {
      for (const std::string& word : words) {
        Argv one = command;
        for (Arg& arg : one)
          arg = replaced(arg, mark, Value::exact(word));
        e.invoke(std::move(one), copy, none);
      }
      return Stream::unknown();
    }
    for (const std::string& word : words)
      command.push_back({.value = Value::exact(word), .span = argv[0].span});
    return e.invoke(std::move(command), copy, none);
  }
  const bool has_file = usage.has("-a") || usage.has("--arg-file");
  Value item = in.is_names && !has_file ? Value::below(in.prefix) : Value::unknown();
  item.is_everything = in.is_everything;
  item.is_secret = in.is_secret;
  item.is_fetched = in.is_fetched;
  if (mark.empty()) {
    command.push_back({.value = item, .span = argv[0].span, .is_many = true});
  } else {
    for (Arg& arg : command)
      arg = replaced(arg, mark, item);
  }
  return e.invoke(std::move(command), copy, none);
}

// The command runs on another machine: nothing is known of its directories.
Stream Commands::ssh(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  Stream out = Stream::unknown();
  const Row& row = *find_row("ssh");
  const Usage usage = read_usage(row, argv, 1);
  Argv head(argv.begin(),
            usage.rest == 0 ? argv.end() : argv.begin() + static_cast<std::ptrdiff_t>(usage.rest));
  e.apply_row(row, head, 1, s, in);
  if (usage.rest != 0) {
    State remote;
    remote.has_hidden_alias = false;
    // What these read there comes from here.
    static constexpr std::string_view kReaders[] = {"cat", "tar",  "dd",    "tee",  "gunzip",
                                                    "sh",  "bash", "mysql", "psql", "docker"};
    const std::string first = argv[usage.rest].text();
    const bool reads = std::any_of(std::begin(kReaders), std::end(kReaders), [&](auto reader) {
      return first == reader || first.starts_with(std::string(reader) + " ");
    });
    if (in.is_secret || (reads && !in.is_none && !in.is_known))
      e.add(in.is_secret ? EffectKind::kSendsCredentials : EffectKind::kSendsUnknown, Scope::kNone,
            "ssh", argv[0].span, "sends what it reads to another machine");
    out = e.run_text(words_joined(behind(argv, usage.rest)), argv[usage.rest].span, remote, in,
                     Dialect::kPosix);
  } else if (in.is_known && !in.text.empty()) {
    State remote;
    e.run_stream(in, argv[0].span, remote, Dialect::kPosix);
  } else if (!in.is_none && !in.is_known) {
    e.unknown(argv[0].span, "", "runs unknown code on another machine");
  }
  out.is_fetched = true;
  return out;
}

Stream Commands::docker(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  return e.apply_row(*find_row("docker"), argv, 1, s, in);
}

Stream Commands::watch(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Usage usage = read_usage(*find_row("watch"), argv, 1);
  for (const auto& [option, span] : usage.unknown)
    e.unknown(span, option, wick::cat("watch: the option ", printable(option), " is not known"));
  if (usage.rest == 0) return Stream::unknown();
  State copy = e.copy_of(s);
  return e.run_text(words_joined(behind(argv, usage.rest)), argv[usage.rest].span, copy, in,
                    Dialect::kPosix);
}

}  // namespace wick::shell
