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

// Where the argument of an option begins in `text`, if one of `letters` takes one: -0I{} and I.
std::size_t argument_in(const std::string& text, std::string_view letters) {
  if (text.size() < 2 || text[0] != '-' || text[1] == '-') return std::string::npos;
  const std::size_t at = text.find_first_of(letters, 1);
  return at == std::string::npos ? at : at + 1;
}

// Whether `text` is --NAME, a beginning of it, or --NAME=…
bool is_long_option(std::string_view text, std::string_view name) {
  const std::string_view given = text.substr(0, text.find('='));
  return given.size() > 2 && given.starts_with("--") && name.starts_with(given);
}

struct Split {
  std::size_t next = 0;  // argument behind the text; 0: there is no -S
  Value code = {};
  Span span = {};
  bool moves = false;  // -C DIR stands before it
};

// env -S TEXT, -STEXT, -iSTEXT, --split-string=TEXT: the text's words are the command's beginning.
Split split_of(const std::vector<Arg>& argv) {
  Split out;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& text = argv[i].text();
    if (!argv[i].is_exact() || text.size() < 2 || text[0] != '-' || text == "--") return {};
    const bool is_split = is_long_option(text, "--split-string");
    const bool moves = is_long_option(text, "--chdir");
    const bool takes = is_split || moves || is_long_option(text, "--unset");
    const std::size_t equals = text.find('=');
    std::size_t begin = argument_in(text, "uCaS");
    if (takes) begin = equals == std::string::npos ? text.size() : equals + 1;
    if (begin == std::string::npos) continue;
    out.moves = out.moves || moves || (!takes && text[begin - 1] == 'C');
    const bool is_apart = begin == text.size();
    if (is_split || (!takes && text[begin - 1] == 'S')) {
      out.span = argv[i].span;
      out.code = Value::exact(text.substr(begin));
      if (is_apart && i + 1 < argv.size()) out.code = argv[i + 1].value;
      out.next = i + (is_apart ? 2 : 1);
      return out;
    }
    i += is_apart ? 1 : 0;
  }
  return {};
}

}  // namespace

Stream Commands::sudo(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row(Evaluator::command_name(argv[0]));
  const Usage usage = read_usage(row, argv, 1);
  e.unknown_options(usage, "sudo");
  if (usage.is_help || usage.has("-V")) return Stream::unknown();
  const bool lists = usage.has("-l") || usage.has("--list") || usage.has("-v") || usage.has("-k") ||
                     usage.has("-K");
  if (lists && usage.rest == 0) {
    const bool only_lists = usage.has("-l") || usage.has("--list");
    if (!only_lists) e.apply_effect('m', argv[0].span, "sudo");  // what it remembers of a password
    return Stream::unknown();
  }
  e.add(EffectKind::kPrivilege, Scope::kNone, std::string(e.command_name(argv[0])), argv[0].span,
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
  if (const Split split = split_of(argv); split.next > 0) {
    Argv rest = behind(argv, split.next);
    Value code = split.code;
    if (!rest.empty()) code = concat(concat(code, Value::exact(" ")), words_joined(rest));
    State copy = e.copy_of(s);
    copy.functions.clear();
    copy.aliases.clear();
    copy.exported.clear();  // -i and -u are not followed
    if (split.moves) {
      copy.cwd.clear();
      copy.is_cwd_lost = true;
    }
    const bool has_expansion =
        code.is_known && code.set.front().find_first_of("$\\`;|&<>()*?") != std::string::npos;
    if (has_expansion)
      e.unknown(split.span, "", "env -S with characters that it reads in its own way");
    return e.run_text(code, split.span, copy, in, Dialect::kPosix);
  }
  const Usage usage = read_usage(row, argv, 1);
  e.unknown_options(usage, "env");
  if (usage.is_help) return Stream::unknown();
  std::size_t first = usage.rest == 0 ? argv.size() : usage.rest;
  State copy = e.copy_of(s);
  copy.functions.clear();
  copy.aliases.clear();
  if (usage.has("-i") || usage.has("--ignore-environment") || usage.has("-u") ||
      usage.has("--unset"))
    copy.exported.clear();
  std::string name;
  if (first < argv.size() && argv[first].text() == "-") {  // the same as -i
    copy.exported.clear();
    ++first;
  }
  while (first < argv.size() && is_assignment(argv[first], name)) {
    const std::size_t equals = argv[first].text().find('=');
    const Value value = argv[first].is_exact() ? Value::exact(argv[first].text().substr(equals + 1))
                                               : unknown_like(argv[first].value);
    e.note_assignment(name, value, argv[first].span, true, copy);
    copy.variables[name] = {.value = value};
    copy.exported.insert(name);
    ++first;
  }
  for (const Usage::Item& item : usage.items) {
    if (item.role != 'n') continue;  // -C DIR
    const bool is_there =
        item.arg->is_exact() && (s.cwd.size() == 1 || item.arg->text().starts_with('/')) &&
        !e.file_of(item.arg->text(), s).empty();
    copy.cwd.clear();
    copy.is_cwd_lost = !is_there;
    if (is_there) copy.cwd = {normal_path(item.arg->text(), s.cwd.empty() ? "" : s.cwd[0])};
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
  const bool has_other = usage.has("-d") || usage.has("--delimiter") || usage.has("-E");
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
  std::size_t at = arg.is_exact() ? arg.text().find(mark) : std::string::npos;
  if (at == std::string::npos) return out;
  const std::string& text = arg.text();
  if (text.find(mark, at + mark.size()) != std::string::npos && !with.is_known) {
    out.value = Value::unknown();
    return out;
  }
  out.value = Value::exact("");
  std::size_t begin = 0;
  for (; at != std::string::npos; at = text.find(mark, begin)) {
    out.value = concat(concat(out.value, Value::exact(text.substr(begin, at - begin))), with);
    begin = at + mark.size();
  }
  out.value = concat(out.value, Value::exact(text.substr(begin)));
  return out;
}

// The text that -I, -i or --replace says to put each word for.
std::string mark_of(const std::vector<Arg>& argv, std::size_t end) {
  std::string mark;
  for (std::size_t i = 1; i < end; ++i) {
    const std::string& text = argv[i].text();
    const std::size_t equals = text.find('=');
    if (is_long_option(text, "--replace")) {
      mark = equals == std::string::npos ? "{}" : text.substr(equals + 1);
      continue;
    }
    const bool is_value_apart =
        equals == std::string::npos &&
        (is_long_option(text, "--arg-file") || is_long_option(text, "--delimiter") ||
         is_long_option(text, "--max-args") || is_long_option(text, "--max-procs") ||
         is_long_option(text, "--max-chars") || is_long_option(text, "--process-slot-var"));
    const std::size_t begin = argument_in(text, "adEILnPsSRJeil");
    const char letter = begin == std::string::npos ? ' ' : text[begin - 1];
    const bool is_apart = begin == text.size() && letter != 'e' && letter != 'i' && letter != 'l';
    if (letter == 'i') mark = begin == text.size() ? "{}" : text.substr(begin);
    if (letter == 'I' && !is_apart) mark = text.substr(begin);
    if (letter == 'I' && is_apart) mark = i + 1 < end ? argv[i + 1].text() : "";
    i += is_value_apart || (letter != ' ' && is_apart) ? 1 : 0;
  }
  return mark;
}

}  // namespace

Stream Commands::xargs(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Usage usage = read_usage(*find_row("xargs"), argv, 1);
  e.unknown_options(usage, "xargs");
  if (usage.is_help) return Stream::unknown();
  Argv command = usage.rest == 0 ? Argv{{.value = Value::exact("echo"), .span = argv[0].span}}
                                 : behind(argv, usage.rest);
  const std::string mark = mark_of(argv, usage.rest == 0 ? argv.size() : usage.rest);
  const bool is_mixed = usage.has("-n") || usage.has("-L") || usage.has("-l") ||
                        usage.has("--max-args") || usage.has("--max-lines");
  if (!mark.empty() && is_mixed)
    e.unknown(argv[0].span, mark, "xargs: of -I and -n or -L, one holds");
  std::vector<std::string> words;
  State copy = e.copy_of(s);
  copy.functions.clear();
  copy.aliases.clear();
  const Stream none = Stream::of("");
  Stream list = in;
  for (const Usage::Item& item : usage.items) {
    if (item.role == 'r') list = e.list_in(*item.arg, s, in);  // -a FILE
    if (item.role != 'N') continue;  // --process-slot-var
    if (e.name_of_variable(item.arg->value, item.arg->span) && item.arg->is_exact())
      e.note_assignment(item.arg->text(), Value::unknown(), item.arg->span, true, copy);
  }
  if (xargs_words(list, usage, words)) {
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
  Value item = list.is_names ? Value::below(list.prefix) : Value::unknown();
  item.is_everything = list.is_everything;
  item.is_secret = list.is_secret;
  item.keys = list.keys;
  item.is_fetched = list.is_fetched;
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
  e.unknown_options(usage, "watch");
  if (usage.rest == 0) return Stream::unknown();
  State copy = e.new_shell(s);
  return e.run_text(words_joined(behind(argv, usage.rest)), argv[usage.rest].span, copy, in,
                    Dialect::kPosix);
}

}  // namespace wick::shell
