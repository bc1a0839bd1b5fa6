// Tools with a command line of their own: dd, tar, build tools, downloads, copies to other
// machines, kill, crontab.
#include <algorithm>
#include <span>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"

namespace wick::shell {

Stream Commands::dd(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  static constexpr std::string_view kPlain[] = {"bs",    "ibs",   "obs",  "cbs",    "count",
                                                "skip",  "seek",  "conv", "status", "iflag",
                                                "oflag", "iseek", "oseek"};
  Stream out = Stream::unknown();
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& text = argv[i].is_exact() ? argv[i].text() : argv[i].value.prefix;
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (text == "--help" || text == "--version") return out;
    Arg value = argv[i];
    if (equals != std::string::npos) {
      if (argv[i].is_exact()) {
        value.value = Value::exact(text.substr(equals + 1));
      } else {
        value.value.prefix = text.substr(equals + 1);
      }
    }
    if (equals != std::string::npos && key == "if") {
      e.apply_role('r', value, s, in, out);
    } else if (equals != std::string::npos && key == "of") {
      e.write_stream(value, Stream::unknown(), false, s);
    } else if (equals == std::string::npos ||
               std::find(std::begin(kPlain), std::end(kPlain), key) == std::end(kPlain)) {
      e.unknown(argv[i].span, text, wick::cat("dd: ", printable(text), " is not known"));
    }
  }
  return out;
}

namespace {

struct TarCall {
  char mode = '\0';
  std::vector<Arg> files;    // archives
  std::vector<Arg> folders;  // -C
  std::vector<Arg> operands;
  std::vector<Arg> lists;  // -T: files of names
  bool is_absolute = false, to_stdout = false, removes = false, is_help = false;
};

// Letters of tar's bundled options; their arguments follow in order.
constexpr std::string_view kTarArguments = "fCbgTXKNVHLIF";
constexpr std::string_view kTarFlags = "AcdrtuxvzjJZaklmnopPqhBGiMRsSUwWOE";

struct TarOption {
  std::string_view name;
  char letter;
};

constexpr TarOption kTarModes[] = {
    {"create", 'c'}, {"extract", 'x'}, {"get", 'x'},     {"list", 't'},        {"append", 'r'},
    {"update", 'u'}, {"diff", 'd'},    {"compare", 'd'}, {"concatenate", 'A'}, {"delete", 'r'}};
constexpr TarOption kTarValues[] = {{"file", 'f'},
                                    {"directory", 'C'},
                                    {"use-compress-program", 'I'},
                                    {"to-command", 'I'},
                                    {"info-script", 'F'},
                                    {"new-volume-script", 'F'},
                                    {"rsh-command", 'I'},
                                    {"rmt-command", 'I'},
                                    {"exclude", '.'},
                                    {"exclude-from", '.'},
                                    {"strip-components", '.'},
                                    {"transform", 'I'},
                                    {"owner", '.'},
                                    {"group", '.'},
                                    {"mode", '.'},
                                    {"mtime", '.'},
                                    {"format", '.'},
                                    {"files-from", 'T'},
                                    {"level", '.'},
                                    {"warning", '.'},
                                    {"label", '.'},
                                    {"sort", '.'},
                                    {"one-top-level", '.'},
                                    {"checkpoint", '.'}};
constexpr std::string_view kTarLongFlags[] = {"verbose",
                                              "gzip",
                                              "gunzip",
                                              "bzip2",
                                              "xz",
                                              "zstd",
                                              "lzma",
                                              "lzip",
                                              "auto-compress",
                                              "preserve-permissions",
                                              "same-owner",
                                              "no-same-owner",
                                              "no-same-permissions",
                                              "keep-old-files",
                                              "overwrite",
                                              "skip-old-files",
                                              "wildcards",
                                              "no-wildcards",
                                              "dereference",
                                              "null",
                                              "totals",
                                              "one-file-system",
                                              "exclude-vcs",
                                              "exclude-vcs-ignores",
                                              "numeric-owner",
                                              "no-recursion",
                                              "full-time",
                                              "utc",
                                              "sparse",
                                              "acls",
                                              "xattrs",
                                              "selinux",
                                              "verify",
                                              "ignore-failed-read",
                                              "anchored",
                                              "no-anchored",
                                              "checkpoint",
                                              "one-top-level",
                                              "keep-newer-files",
                                              "touch",
                                              "show-transformed-names"};

class TarReader {
 public:
  TarReader(Evaluator& e, const std::vector<Arg>& argv, TarCall& out) : argv_(argv), out_(out) {
    static_cast<void>(e);
  }

  std::vector<std::pair<std::string, Span>> bad;
  std::vector<Arg> code;

  void read() {
    std::size_t i = 1;
    if (argv_.size() > 1 && argv_[1].is_exact() && !argv_[1].text().starts_with('-'))
      i = letters(argv_[1].text(), 1, false);
    bool is_ended = false;
    while (i < argv_.size()) {
      const Arg& arg = argv_[i];
      const std::string& text = arg.text();
      if (!is_ended && text == "--") {
        is_ended = true;
        ++i;
      } else if (!is_ended && text.starts_with("--")) {
        i = long_option(i);
      } else if (!is_ended && text.starts_with('-') && text.size() > 1) {
        i = letters(text.substr(1), i, true);
      } else {
        if (!is_ended && !arg.is_exact() && arg.may_be_option())
          bad.emplace_back("a word that is not known", arg.span);
        out_.operands.push_back(arg);
        ++i;
      }
    }
  }

 private:
  void argument(char letter, const Arg& value) {
    if (letter == 'f') out_.files.push_back(value);
    if (letter == 'T') out_.lists.push_back(value);
    if (letter == 'C') out_.folders.push_back(value);
    if (letter == 'I' || letter == 'F') code.push_back(value);
  }

  std::size_t letters(const std::string& text, std::size_t at, bool takes_rest) {
    std::size_t next = at + 1;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (kTarArguments.find(c) != std::string_view::npos) {
        if (takes_rest && i + 1 < text.size()) {
          Arg value = argv_[at];
          value.value = Value::exact(text.substr(i + 1));
          argument(c, value);
          return next;
        }
        if (next < argv_.size()) argument(c, argv_[next++]);
        continue;
      }
      if (kTarFlags.find(c) == std::string_view::npos)
        bad.emplace_back(std::string(1, c), argv_[at].span);
      if (std::string_view("Acdrtux").find(c) != std::string_view::npos) out_.mode = c;
      out_.is_absolute = out_.is_absolute || c == 'P';
      out_.to_stdout = out_.to_stdout || c == 'O';
    }
    return next;
  }

  std::size_t long_option(std::size_t i) {
    const std::string& text = argv_[i].text();
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(2, equals == std::string::npos ? equals : equals - 2);
    for (const TarOption& mode : kTarModes) {
      if (mode.name == name) out_.mode = mode.letter;
      if (mode.name == name) return i + 1;
    }
    out_.is_help = out_.is_help || name == "help" || name == "version";
    if (out_.is_help) return i + 1;
    if (name == "absolute-names" || name == "to-stdout" || name == "remove-files") {
      out_.is_absolute = out_.is_absolute || name[0] == 'a';
      out_.to_stdout = out_.to_stdout || name[0] == 't';
      out_.removes = out_.removes || name[0] == 'r';
      return i + 1;
    }
    for (const TarOption& known : kTarValues) {
      if (known.name != name || (equals == std::string::npos &&
                                 std::find(std::begin(kTarLongFlags), std::end(kTarLongFlags),
                                           name) != std::end(kTarLongFlags)))
        continue;
      Arg value = argv_[i];
      if (equals != std::string::npos)
        value.value = Value::exact(text.substr(equals + 1));
      else if (i + 1 < argv_.size())
        value = argv_[i + 1];
      argument(known.letter, value);
      return i + (equals == std::string::npos ? 2 : 1);
    }
    if (name == "checkpoint-action") {
      const std::string action = equals == std::string::npos && i + 1 < argv_.size()
                                     ? argv_[i + 1].text()
                                     : text.substr(equals + 1);
      if (action.starts_with("exec")) code.push_back(argv_[i]);
      return i + (equals == std::string::npos ? 2 : 1);
    }
    if (std::find(std::begin(kTarLongFlags), std::end(kTarLongFlags), name) ==
        std::end(kTarLongFlags))
      bad.emplace_back("--" + name, argv_[i].span);
    return i + 1;
  }

  const std::vector<Arg>& argv_;
  TarCall& out_;
};

}  // namespace

Stream Commands::tar(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  TarCall call;
  TarReader reader(e, argv, call);
  reader.read();
  if (call.is_help) return Stream::unknown();
  for (const auto& [text, span] : reader.bad)
    e.unknown(span, text, wick::cat("tar: the option ", printable(text), " is not known"));
  for (const Arg& code : reader.code)
    e.unknown(code.span, code.text(), "tar runs a program that an option names");
  Stream out = Stream::unknown();
  const bool is_write =
      call.mode == 'c' || call.mode == 'r' || call.mode == 'u' || call.mode == 'A';
  for (const Arg& file : call.files) {
    if (file.text() == "-") continue;
    if (file.text().find(':') != std::string::npos) e.apply_effect('n', file.span, "tar");
    is_write ? e.write_stream(file, Stream::unknown(), call.mode != 'c', s)
             : e.apply_role('r', file, s, in, out);
  }
  for (const Arg& file : call.lists) {
    const Stream list = e.list_in(file, s, in);
    if (is_write) e.read_listed(list, 'R', file.span, s, out);
  }
  if (is_write) {
    for (const Arg& source : call.operands) {
      e.apply_role('R', source, s, in, out);  // a tree with credentials makes the stream secret
      if (call.removes) e.touch(EffectKind::kDeletes, source, s, {.is_tree = true});
    }
  } else if (call.mode == 'x' && !call.to_stdout) {
    Arg folder{.value = Value::exact("."), .span = argv[0].span};
    if (!call.folders.empty()) folder = call.folders.back();
    e.touch(EffectKind::kOverwrites, folder, s, {.is_tree = true, .is_narrowed = true});
    if (call.is_absolute)
      e.touch(EffectKind::kOverwrites, {.value = Value::unknown(), .span = argv[0].span}, s, {});
  } else if (call.mode == '\0') {
    e.unknown(argv[0].span, "tar", "tar without a known operation");
  }
  return out;
}

namespace {

// Options of compilers and linters that name a program, a library or code to run.
bool names_foreign_code(std::string_view text) {
  static constexpr std::string_view kOptions[] = {
      "-wrapper",    "-fplugin=",      "-specs=", "--plugin",          "-plugin",
      "--init-hook", "--load-plugins", "--shell", "-Dexec.executable", "--python-executable"};
  return std::any_of(std::begin(kOptions), std::end(kOptions),
                     [&](auto option) { return text.starts_with(option); });
}

}  // namespace

// Tools that run what the project says. Words that lead out of the project are not known.
Stream Commands::project(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(s);
  const std::string name(Evaluator::command_name(argv[0]));
  if (argv.size() == 2 && (argv[1].text() == "--version" || argv[1].text() == "--help" ||
                           argv[1].text() == "-v" || argv[1].text() == "-V")) {
    e.apply_calls(*find_row(name), true, argv[0].span, name);
    return Stream::unknown();
  }
  e.add(EffectKind::kProjectCode, Scope::kNone, name, argv[0].span,
        wick::cat(name, " runs the project's own code, and writes into it"));
  e.look_for_deletions(argv, in);
  e.look_into_written_files(argv[0].span);
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& text = argv[i].text();
    const bool leaves =
        text.starts_with('/') || text.starts_with('~') || text.find("=/") != std::string::npos ||
        text.find("..") != std::string::npos || text.find("deploy") != std::string::npos ||
        text.find("publish") != std::string::npos || text.find("destroy") != std::string::npos;
    const bool is_code = text == "-E" || text == "-e" || text == "-c" || text == "--eval" ||
                         text == "-P" || text == "exec" || text == "--command" || text == "-x" ||
                         text == "--init-script";
    if (!argv[i].is_exact() || leaves || names_foreign_code(text) ||
        (is_code && name != "gcc" && name != "cc" && name != "g++" && name != "clang"))
      e.unknown(argv[i].span, text,
                wick::cat(name, ": ",
                          text.empty() ? std::string("a word that is not known")
                                       : std::string(printable(text)),
                          " may lead out of the project"));
  }
  return Stream::unknown();
}

// curl and wget: besides the row, the file that the address names.
Stream Commands::curl(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const std::string name(Evaluator::command_name(argv[0]));
  const Row& row = *find_row(name);
  const Usage usage = read_usage(row, argv, 1);
  Stream out = e.apply_row(row, argv, 1, s, in);
  if (usage.is_help) return out;
  const bool is_wget = name == "wget";
  const bool to_file =
      is_wget ? !usage.has("-O") && !usage.has("--output-document") && !usage.has("--spider")
              : usage.has("-O") || usage.has("--remote-name");
  if (is_wget && to_file) e.apply_effect('o', argv[0].span, name);
  for (const Usage::Item& operand : usage.operands()) {
    const Arg& address = *operand.arg;
    const std::string& text = address.text();
    const std::size_t slash = text.rfind('/');
    if (!to_file || slash == std::string::npos || e.files_.size() > 1000) continue;
    Stream fetched = Stream::unknown();
    fetched.is_fetched = true;
    std::string file = text.substr(slash + 1);
    file.resize(std::min(file.find('?'), file.size()));
    e.files_[normal_path(file, s.cwd.size() == 1 ? s.cwd[0] : "")] = fetched;
  }
  return out;
}

Stream Commands::nc(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Row& row = *find_row("nc");
  const Usage usage = read_usage(row, argv, 1);
  Stream out = e.apply_row(row, argv, 1, s, in);
  const Span span = argv[0].span;
  const bool scans = usage.has("-z");
  if (in.is_shell)
    e.add(EffectKind::kSocketShell, Scope::kNone, "nc", span, "ties a shell to a connection");
  if (usage.has("-c"))
    e.add(EffectKind::kSocketShell, Scope::kNone, "nc", span, "ties a command to a connection");
  if (in.is_secret)
    e.add(EffectKind::kSendsCredentials, Scope::kNone, "nc", span,
          "sends what may be a credential");
  if (!scans && !in.is_none && !in.is_secret)
    e.add(in.is_known ? EffectKind::kSends : EffectKind::kSendsUnknown, Scope::kNone, "nc", span,
          "sends what it reads");
  out.is_fetched = true;
  return out;
}

namespace {

// A word of ss's filters that is the name of a host: dst intranet.
bool names_host(const Arg& arg) {
  constexpr std::string_view kWords =
      " state exclude established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait closed "
      "close-wait last-ack listening listen closing all connected synchronized bucket big dst src "
      "sport dport dev fwmark cgroup and or not eq ne ge le gt lt neq ";
  const Value& v = arg.value;
  if (!v.is_known || v.is_secret || arg.is_many) return true;
  std::string_view text = v.set.front();
  while (!text.empty()) {
    const std::size_t size = std::min(text.find_first_of(" ()"), text.size());
    const std::string_view word = text.substr(0, size);
    if (!word.starts_with(':') &&
        word.find_first_not_of("0123456789.:/=!<>[]*") != std::string_view::npos &&
        kWords.find(wick::cat(" ", word, " ")) == std::string_view::npos)
      return true;
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return false;
}

}  // namespace

// getent, ss and arp: an operand that is the name of a host goes to the name service.
Stream Commands::resolver(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const std::string name(Evaluator::command_name(argv[0]));
  const Row& row = *find_row(name);
  Stream out = e.apply_row(row, argv, 1, s, in);
  const Usage usage = read_usage(row, argv, 1);
  std::span<const Usage::Item> operands = usage.operands();
  const bool is_getent = name == "getent";
  if (is_getent && !operands.empty()) {
    const std::string& base = operands[0].arg->text();
    const bool looks_up =
        base == "hosts" || base.starts_with("ahosts") || base == "networks" || base == "netgroup";
    operands = looks_up ? operands.subspan(1) : std::span<const Usage::Item>();
  }
  for (const Usage::Item& item : operands) {
    if (is_getent || names_host(*item.arg)) e.apply_role('u', *item.arg, s, in, out);
  }
  return out;
}

Stream Commands::crontab(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (argv[i].text() == "-l") return Stream::unknown();
  }
  e.apply_effect('Y', argv[0].span, "crontab");
  if (!in.is_known) return Stream::unknown();
  std::size_t at = 0;
  while (at < in.text.size()) {
    const std::size_t end = std::min(in.text.find('\n', at), in.text.size());
    std::string line = in.text.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line[0] == '#') continue;
    std::size_t begin = 0;
    for (int field = 0; field < (line[0] == '@' ? 1 : 5); ++field) {
      begin = line.find_first_of(" \t", begin);
      begin = begin == std::string::npos ? line.size() : line.find_first_not_of(" \t", begin);
      if (begin == std::string::npos) begin = line.size();
    }
    State fresh;
    e.run_code(line.substr(begin), argv[0].span, fresh, Stream::none(), Dialect::kPosix);
  }
  static_cast<void>(s);
  return Stream::unknown();
}

Stream Commands::kill(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  std::size_t i = 1;
  if (i < argv.size() && (argv[i].text() == "-l" || argv[i].text() == "-L" ||
                          argv[i].text() == "--list" || argv[i].text() == "--help"))
    return Stream::unknown();
  if (i < argv.size() &&
      (argv[i].text() == "-s" || argv[i].text() == "-n" || argv[i].text() == "--signal")) {
    i += 2;
  } else if (i < argv.size() && argv[i].text().starts_with('-') && argv.size() > 2 &&
             argv[i].text() != "--") {
    ++i;
  }
  if (i < argv.size() && argv[i].text() == "--") ++i;
  for (; i < argv.size(); ++i) {
    const std::string& text = argv[i].text();
    if (text == "-1") {
      e.apply_effect('A', argv[i].span, "kill");
    } else if (text == "1" || text == "0") {
      e.add(text == "1" ? EffectKind::kPower : EffectKind::kProcessByName, Scope::kNone, text,
            argv[i].span, "signals the first process or a whole group");
    } else if (text.starts_with('-')) {
      e.apply_effect('q', argv[i].span, "kill");
    } else {
      Stream out;
      e.apply_role('p', argv[i], s, in, out);
    }
  }
  return Stream::unknown();
}

// scp, rsync: the last operand is the destination; HOST:PATH is another machine.
Stream Commands::transfer(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const std::string name(Evaluator::command_name(argv[0]));
  const Row& row = *find_row(name);
  const Usage usage = read_usage(row, argv, 1);
  Stream out = Stream::unknown();
  e.unknown_options(usage, name);
  if (usage.is_help || usage.operands().empty()) return out;
  Stream listed = Stream::unknown();  // --files-from
  bool has_list = false;
  for (const Usage::Item& item : usage.items) {
    has_list = has_list || item.role == 'J';
    Stream& read = item.role == 'J' ? listed : out;
    if (item.role != 'h') e.apply_role(item.role, *item.arg, s, in, read);
  }
  const auto is_remote = [](const Arg& arg) {
    const std::string& text = arg.is_exact() ? arg.text() : arg.value.prefix;
    const std::size_t colon = text.find(':');
    return colon != std::string::npos && text.find('/') > colon;
  };
  const bool is_dry = usage.has("-n") || usage.has("--dry-run") || usage.has("--list-only");
  const bool is_tree =
      usage.has("-r") || usage.has("-a") || usage.has("--archive") || usage.has("--recursive");
  const bool deletes = std::any_of(usage.effects.begin(), usage.effects.end(),
                                   [](const auto& effect) { return effect.first == 'D'; });
  const Arg& target = *usage.operands().back().arg;
  const bool sends = is_remote(target);
  for (std::size_t i = 0; i + 1 < usage.operands().size(); ++i) {
    const Arg& source = *usage.operands()[i].arg;
    if (is_remote(source)) {
      e.apply_effect('n', source.span, name);
      continue;
    }
    Stream read;
    e.apply_role('r', source, s, in, read);
    read.is_secret = read.is_secret || listed.is_secret;
    if (!sends) continue;
    const EffectKind kind = read.is_secret ? EffectKind::kSendsCredentials
                            : (is_tree && !is_dry) || has_list || !source.is_exact()
                                ? EffectKind::kSendsUnknown
                                                                         : EffectKind::kSends;
    const std::string_view what = is_dry ? "names of " : is_tree ? "everything below " : "";
    e.add(kind, Scope::kNone, source.text(), source.span,
          wick::cat("sends ", what, source.text(), " to another machine"));
  }
  if (sends) {
    e.apply_effect('n', target.span, name);
    if (deletes && !is_dry)
      e.add(EffectKind::kDeletes, Scope::kUnknown, target.text(), target.span,
            "deletes files on another machine");
  } else if (!is_dry && usage.operands().size() > 1) {
    const Reach reach{.is_tree = is_tree, .is_narrowed = is_tree && !deletes};
    e.touch(EffectKind::kOverwrites, target, s, reach);
    if (deletes) e.touch(EffectKind::kDeletes, target, s, {.is_tree = true});
  }
  return out;
}

}  // namespace wick::shell
