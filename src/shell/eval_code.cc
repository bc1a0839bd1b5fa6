// Text that is run: by a shell, by eval, by an interpreter. Known text is parsed and walked;
// anything else is unknown, fetched or decoded code.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"
#include "shell/limits.h"

namespace wick::shell {

Stream Evaluator::run_code(const std::string& text, Span span, State& s, const Stream& in,
                           Dialect dialect) {
  if (++nested_ > kMaxNested || !step(span)) {
    step(span);
    --nested_;
    return Stream::unknown();
  }
  built_ += text.size();
  Parsed parsed = parse(text, dialect, Mode::kScript);
  Stream out = Stream::unknown();
  const Span* const outer = outer_;
  const Span place = outer_ != nullptr ? *outer_ : span;
  if (const auto* error = std::get_if<SyntaxError>(&parsed)) {
    unknown(span, "", cat("cannot analyze the code in it: ", error->message));
  } else {
    scripts_.push_back(std::move(std::get<Script>(parsed)));
    const Script& script = scripts_.back();
    const Dialect before = std::exchange(dialect_, dialect);
    outer_ = &place;
    scan_hidden(script);
    out = list(script.body, s, in);
    outer_ = outer;
    dialect_ = before;
  }
  --nested_;
  return out;
}

Stream Evaluator::run_text(const Value& text, Span span, State& s, const Stream& in,
                           Dialect dialect) {
  if (!text.is_known) {
    if (text.is_fetched) {
      add(EffectKind::kFetchedCode, Scope::kNone, "", span,
          "runs code that comes from the network");
    } else {
      unknown(span, "", "runs code that is not known");
    }
    s.has_hidden_alias = s.has_hidden_alias || false;
    s.variables.clear();  // it may have set anything
    s.cwd.clear();
    s.is_cwd_lost = true;
    return Stream::unknown();
  }
  Stream out;
  for (const std::string& one : text.set) {
    if (decoded_.contains(one))
      add(EffectKind::kDecodedCode, Scope::kNone, "", span, "runs code that was encoded");
    out = run_code(one, span, s, in, dialect);
  }
  return text.set.size() == 1 ? out : Stream::unknown();
}

Stream Evaluator::run_stream(const Stream& code, Span span, State& s, Dialect dialect) {
  if (code.is_socket)
    add(EffectKind::kSocketShell, Scope::kNone, "", span,
        "a shell reads its commands from a connection");
  if (code.is_fetched)
    add(EffectKind::kFetchedCode, Scope::kNone, "", span, "runs code that comes from the network");
  if (code.is_decoded)
    add(EffectKind::kDecodedCode, Scope::kNone, "", span, "runs code that was encoded");
  taken_ = Taken::kSome;
  if (code.is_known) return run_code(code.text, span, s, Stream::unknown(), dialect);
  ++n_shells_;
  if (code.is_none) {
    unknown(span, "", "starts a shell that runs what is typed");
  } else if (!code.is_fetched && !code.is_decoded) {
    unknown(span, "", "runs unknown code");
  }
  Stream out = Stream::unknown();
  out.is_shell = true;
  return out;
}

void Evaluator::run_file(const Arg& file, const std::vector<Arg>& args, State& s) {
  const std::string path = file.is_exact() ? file_of(file.text(), s) : "";
  if (const auto known = files_.find(path); known != files_.end()) {
    const std::vector<Arg> outer = std::exchange(s.args, args);
    const bool had = std::exchange(s.has_args, true);
    run_stream(known->second.is_none ? Stream::of("") : known->second, file.span, s, dialect_);
    s.args = outer;
    s.has_args = had;
    return;
  }
  unknown(file.span, path,
          path.empty() ? "runs a file whose name is not known"
                       : cat("runs ", shown(path, s), ", whose content is unknown"));
}

Level Evaluator::level_of_code(const std::string& text, const State& s) {
  static_cast<void>(s);
  if (nested_ >= kMaxNested) return Level::kCritical;
  return judge(text, dialect_, Mode::kScript, profile_).level;
}

namespace {

// The names that -o takes.
bool is_plain_option_name(std::string_view name, Dialect dialect) {
  constexpr std::string_view kAll =
      " errexit err_exit nounset no_unset xtrace verbose pipefail pipe_fail noexec no_exec "
      "noclobber no_clobber vi emacs monitor notify ";
  constexpr std::string_view kBash =
      " allexport braceexpand errtrace functrace hashall histexpand history ignoreeof "
      "interactive-comments noglob nolog onecmd physical posix privileged ";
  const std::string word = cat(" ", name, " ");
  return kAll.find(word) != std::string_view::npos ||
         (dialect != Dialect::kZsh && kBash.find(word) != std::string_view::npos);
}

struct ShellCall {
  bool has_code = false, reads_stdin = false, is_help = false;
  std::size_t rest = 0;  // code or script, then its arguments
};

ShellCall read_shell_call(Dialect dialect, const std::vector<Arg>& argv, std::string& bad,
                          Span& place) {
  ShellCall call;
  std::size_t i = 1;
  for (; i < argv.size(); ++i) {
    const std::string& text = argv[i].text();
    if (!argv[i].is_exact() && argv[i].may_be_option()) {
      bad = "a word that is not known may be an option";
      place = argv[i].span;
      break;
    }
    if (text == "--" || text == "-") {
      ++i;
      break;
    }
    if (text.size() < 2 || (text[0] != '-' && text[0] != '+')) break;
    if (text.starts_with("--")) {
      static constexpr std::string_view kKnown[] = {"--login", "--norc",       "--noprofile",
                                                    "--posix", "--restricted", "--verbose"};
      call.is_help = call.is_help || text == "--version" || text == "--help";
      const bool is_known =
          call.is_help || std::find(std::begin(kKnown), std::end(kKnown), text) != std::end(kKnown);
      if (!is_known) {
        bad = text;
        place = argv[i].span;
      }
      continue;
    }
    call.has_code = call.has_code || text.find('c') != std::string::npos;
    call.reads_stdin = call.reads_stdin || text.find('s') != std::string::npos;
    const bool has_name = text.find('o') != std::string::npos && i + 1 < argv.size();
    if (!is_plain_shell_option(text, has_name ? &argv[i + 1] : nullptr, dialect)) {
      bad = text;
      place = argv[i].span;
    }
    if (has_name) ++i;
  }
  call.rest = i;
  return call;
}

}  // namespace

namespace {

// A new shell has the variables that are exported; others are unset, or what they were outside.
void inherit_variables(State& s) {
  constexpr std::string_view kUsual = " HOME PATH PWD OLDPWD USER LOGNAME SHELL TERM LANG ";
  s.variables.erase("IFS");
  s.fixed.clear();
  s.integers.clear();
  for (auto& [name, variable] : s.variables) {
    const bool is_passed = s.exported.contains(name) || s.exported.contains("*") ||
                           kUsual.find(cat(" ", name, " ")) != std::string_view::npos;
    if (!is_passed || variable.is_array) variable.value = Value::unknown();
    variable.is_array = variable.has_elements = variable.is_map = false;
  }
}

}  // namespace

State Evaluator::new_shell(const State& s) {
  State out = copy_of(s);
  out.functions.clear();
  out.aliases.clear();
  out.locals.clear();
  out.is_in_function = false;
  inherit_variables(out);
  return out;
}

bool is_plain_shell_option(std::string_view option, const Arg* name, Dialect dialect) {
  const std::string_view letters = dialect == Dialect::kFish  ? "cilnvhNP"
                                   : dialect == Dialect::kZsh ? "cefilmnopsuvxC"
                                                              : "abcefhilmnoprstuvxBCEHPTD";
  if (option.find_first_not_of(letters, 1) != std::string_view::npos) return false;
  return name == nullptr || (name->is_exact() && is_plain_option_name(name->text(), dialect));
}

Stream Commands::shell(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const std::string name(Evaluator::command_name(argv[0]));
  const Dialect dialect = dialect_named(name).value_or(Dialect::kPowershell);
  std::string bad;
  Span place;
  const ShellCall call = read_shell_call(dialect, argv, bad, place);
  if (!bad.empty()) e.unknown(place, bad, wick::cat(name, ": ", printable(bad), " is not known"));
  if (dialect == Dialect::kFish && e.dialect_ != dialect)
    e.apply_effect('m', argv[0].span, name);  // its first start makes ~/.config/fish
  if (call.is_help) return Stream::unknown();
  State copy = e.new_shell(s);
  const auto args_from = [&](std::size_t first) {
    copy.args.clear();
    copy.zero = any_of(argv);
    if (first < argv.size())
      copy.args.assign(argv.begin() + static_cast<std::ptrdiff_t>(first), argv.end());
    copy.has_args = true;
  };
  Stream out;
  const std::size_t n_traps = e.traps_.size();
  if (call.has_code) {
    if (call.rest >= argv.size()) {
      e.unknown(argv[0].span, name, "-c without code");
      return Stream::unknown();
    }
    args_from(call.rest + 2);
    if (call.rest + 1 < argv.size() &&
        std::none_of(argv.begin(), argv.end(), [](const Arg& a) { return a.is_many; }))
      copy.zero = argv[call.rest + 1].value;
    const Arg& code = argv[call.rest];
    if (code.is_many || code.is_glob) {
      e.unknown(code.span, "", "runs code that is not known");
    } else {
      out = e.run_text(code.value, code.span, copy, in, dialect);
    }
  } else if (call.rest < argv.size() && !call.reads_stdin) {
    args_from(call.rest + 1);
    const Dialect before = std::exchange(e.dialect_, dialect);
    const std::string& path = argv[call.rest].text();
    if (path == "/dev/stdin") {
      e.run_stream(in, argv[0].span, copy, dialect);
    } else {
      e.run_file(argv[call.rest], copy.args, copy);
    }
    e.dialect_ = before;
    out = Stream::unknown();
  } else {
    args_from(call.rest);
    out = e.run_stream(in, argv[0].span, copy, dialect);
  }
  const Dialect outer = std::exchange(e.dialect_, dialect);
  e.run_traps(n_traps, copy);
  e.dialect_ = outer;
  return out;
}

namespace {

// A text in another language that deletes a tree: a word for deleting, and root, home or a system
// tree as a string.
bool deletes_a_tree(std::string_view text, const Folders& folders) {
  static constexpr std::string_view kVerbs[] = {
      "rmtree",          "remove_tree", "rm_rf",     "rm_r",       "rm -",  "removedirs",
      "rimraf",          "rmSync",      "rmdirSync", "unlink",     "rmdir", "remove_entry",
      "deleteDirectory", "delete_tree", "RemoveAll", "Remove-Item"};
  if (std::none_of(std::begin(kVerbs), std::end(kVerbs),
                   [&](auto v) { return text.find(v) != std::string_view::npos; }))
    return false;
  if (text.find("expanduser") != std::string_view::npos ||
      text.find("Path.home") != std::string_view::npos ||
      text.find("HOME") != std::string_view::npos)
    return true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char quote = text[i];
    if (quote != '\'' && quote != '"' && quote != '`' && quote != ' ') continue;
    const std::size_t end = std::min(
        text.find_first_of(quote == ' ' ? " '\";)\n" : std::string(1, quote), i + 1), text.size());
    const std::string_view inside = text.substr(i + 1, end - i - 1);
    if (inside == "~" || inside == "~/") return true;
    if (inside.starts_with('/') &&
        scope_of(normal_path(inside, ""), {.is_tree = true, .is_glob = true}, folders) >=
            Scope::kTree)
      return true;
  }
  return false;
}

// arm-none-eabi-gcc, clang++-15: a name of a tool of compilers, or of the variable's own kind.
bool is_build_tool(std::string_view name) {
  static constexpr std::string_view kTools[] = {
      "gcc",    "g++",    "cc",      "c++",    "clang",    "clang++", "tcc",   "icc",   "icx",
      "nvcc",   "cpp",    "ld",      "lld",    "gold",     "ar",      "as",    "nm",    "strip",
      "make",   "gmake",  "ranlib",  "flex",   "bison",    "lex",     "yacc",  "rm",    "install",
      "mkdir",  "ccache", "sccache", "distcc", "gfortran", "pkg",    "objcopy"};
  if (name.find('/') != std::string_view::npos) return false;
  while (!name.empty()) {
    const std::size_t size = std::min(name.find('-'), name.size());
    if (std::find(std::begin(kTools), std::end(kTools), name.substr(0, size)) != std::end(kTools))
      return true;
    name.remove_prefix(std::min(size + 1, name.size()));
  }
  return false;
}

// Variables that makefiles run as a program (CC=…), with a value that is something else than a
// compiler, or any variable with a command of a shell, of an interpreter or of a wrapper.
bool is_program_for_make(std::string_view name, std::string_view value) {
  static constexpr std::string_view kPrograms[] = {
      "CC",     "CXX",     "CPP",    "AR",      "AS",     "LD",        "FC",       "F77",    "LEX",
      "YACC",   "RM",      "MAKE",   "INSTALL", "NM",     "STRIP",     "OBJCOPY",  "RANLIB", "M2C",
      "PC",     "CO",      "GET",    "TEX",     "WEAVE",  "TANGLE",    "MAKEINFO", "LINT",
      "CWEAVE", "CTANGLE", "HOSTCC", "HOSTCXX", "LINK.c", "COMPILE.c", "LINK.o",   "TEXI2DVI"};
  static constexpr std::string_view kFlags[] = {"MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS",
                                                "MAKEFILES", "MAKE_COMMAND", "MAKEOVERRIDES"};
  if (std::find(std::begin(kFlags), std::end(kFlags), name) != std::end(kFlags))
    return value.find_first_not_of("-jks0123456789 ") != std::string_view::npos;
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  const std::string_view first = value.substr(0, value.find_first_of(" \t"));
  if (first.empty()) return false;
  if (std::find(std::begin(kPrograms), std::end(kPrograms), name) != std::end(kPrograms))
    return !is_build_tool(first);
  const Row* const row = find_row(first.substr(first.rfind('/') + 1));
  const bool runs = row != nullptr && (row->has_effect('C') ||
                                       row->operands().find('c') != std::string_view::npos);
  return runs && first.size() < value.size();
}

// $(shell …) and functions of make that run or write something.
bool has_function_for_make(std::string_view value) {
  static constexpr std::string_view kFunctions[] = {"shell ", "eval ", "file ", "guile ", "call "};
  return std::any_of(std::begin(kFunctions), std::end(kFunctions), [&](std::string_view name) {
    const std::size_t at = value.find(name);
    return at != std::string_view::npos && at > 0 && (value[at - 1] == '(' || value[at - 1] == '{');
  });
}

// NAME=VALUE whose value runs as a program or holds what shells and make run.
bool is_code_for_make(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || text.starts_with('-')) return false;
  const std::string_view value = text.substr(equals + 1);
  std::string_view name = text.substr(0, equals);
  while (name.ends_with(':') || name.ends_with('+') || name.ends_with('?'))
    name.remove_suffix(1);
  return is_program_for_make(name, value) || name == "SHELL" || name == ".SHELLFLAGS" ||
         text[equals - (equals > 0 ? 1 : 0)] == '!' ||
         value.find_first_of(";|&`<>") != std::string_view::npos ||
         has_function_for_make(value);
}

bool is_java(std::string_view name) {
  return name == "java" || name == "jshell" || name == "scala" || name == "groovy" ||
         name == "kotlin";
}

}  // namespace

void Evaluator::look_for_deletions(const std::vector<Arg>& argv, const Stream& in) {
  const auto look = [&](std::string_view code, Span span) {
    if (deletes_a_tree(code, folders_at(profile_.cwd)))
      add(EffectKind::kDeletes, Scope::kTree, "", span,
          "the code names a deletion, and root, home or a system directory");
  };
  for (const Arg& arg : argv) {
    for (const std::string& code : arg.value.set)
      look(code, arg.span);
  }
  if (in.is_known) look(in.text, argv[0].span);
}

// The project's tools may run files that this command wrote, so they are searched like code.
void Evaluator::look_into_written_files(Span span) {
  for (const auto& [path, content] : files_) {
    if (content.is_known && deletes_a_tree(content.text, folders_at(profile_.cwd)))
      add(EffectKind::kDeletes, Scope::kTree, path, span,
          cat("may run ", printable(path),
              ", which names a deletion, and root, home or a system directory"));
  }
}

Stream Commands::make(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  e.look_for_deletions(argv, in);
  const Row& row = *find_row("make");
  for (const Arg& arg : argv) {
    if (arg.is_exact() && is_code_for_make(arg.text()))
      e.unknown(arg.span, arg.text(), "make: a variable that holds code");
  }
  for (const Usage::Item& item : read_usage(row, argv, 1).items) {
    const std::string& file = item.arg->text();
    if (item.role == 'r' && (file == "-" || file == "/dev/stdin" || file == "/dev/fd/0"))
      e.unknown(item.arg->span, file, "make: a makefile on standard input");
  }
  return e.apply_row(row, argv, 1, s, in);
}

Stream Commands::interpreter(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const std::string name(Evaluator::command_name(argv[0]));
  const Span span = argv[0].span;
  const auto text = [&](std::size_t i) { return i < argv.size() ? argv[i].text() : std::string(); };
  const bool asks_version =
      argv.size() == 2 && (text(1) == "--version" || text(1) == "-V" || text(1) == "--help" ||
                           text(1) == "-v" || text(1) == "-h" || text(1) == "-version");
  if (asks_version) {
    if (is_java(name)) e.apply_effect('m', span, name);  // /tmp/hsperfdata_USER
    return Stream::unknown();
  }
  if (name.starts_with("python") && text(1) == "-m" &&
      (text(2) == "json.tool" || text(2) == "calendar" || text(2) == "this" || text(2) == "site")) {
    std::size_t n = 0;
    for (std::size_t i = 3; i < argv.size(); ++i) {
      if (argv[i].is_exact() && argv[i].text().starts_with("--")) continue;
      if (argv[i].may_be_option()) e.unknown(argv[i].span, "", "an option that is not known");
      e.touch(n++ == 0 ? EffectKind::kReadsContent : EffectKind::kOverwrites, argv[i], s, {});
    }
    return Stream::unknown();
  }
  if (name.starts_with("python") && text(1) == "-m" &&
      (text(2) == "pytest" || text(2) == "unittest")) {
    e.apply_effect('j', span, name);
    return Stream::unknown();
  }
  e.look_for_deletions(argv, in);
  const bool reads_code = argv.size() == 1 || text(1) == "-";
  if (reads_code && in.is_fetched)
    e.add(EffectKind::kFetchedCode, Scope::kNone, "", span,
          "runs code that comes from the network");
  if (reads_code && in.is_decoded)
    e.add(EffectKind::kDecodedCode, Scope::kNone, "", span, "runs code that was encoded");
  e.unknown(span, name, wick::cat(name, " runs code that is not analyzed"));
  return Stream::unknown();
}

}  // namespace wick::shell
