// A command by its row: options, then a role for each operand.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/strings.h"
#include "shell/evaluator.h"
#include "shell/key_names.h"

namespace wick::shell {
namespace {

bool runs_command(std::string_view ssh_option) {
  static constexpr std::string_view kRuns[] = {"proxycommand",
                                               "localcommand",
                                               "knownhostscommand",
                                               "permitlocalcommand",
                                               "proxyusefdpass",
                                               "remotecommand",
                                               "match",
                                               "include",
                                               "pkcs11provider",
                                               "securitykeyprovider",
                                               "xauthlocation"};
  const std::string key = ascii_lower(ssh_option);
  return std::any_of(std::begin(kRuns), std::end(kRuns),
                     [&](auto name) { return key.starts_with(name); });
}

Arg tail_of(const Arg& arg, std::size_t begin) {
  Arg out = arg;
  out.value = Value::exact(arg.text().substr(begin));
  return out;
}

bool sets_owner_rights(std::string_view mode) {  // setuid, setgid
  const bool is_octal = mode.size() == 4 &&
                        mode.find_first_not_of("01234567") == std::string_view::npos &&
                        mode[0] != '0' && mode[0] != '1';
  return is_octal || (mode.find('s') != std::string_view::npos &&
                      mode.find_first_of("+=") != std::string_view::npos);
}

// Letters that say something else than an effect of the command itself, and `g`.
constexpr auto kNotItsOwn = [] {
  std::array<bool, 256> out{};
  for (const char letter : std::string_view("+-bygKNRECVDe=?"))
    out[static_cast<unsigned char>(letter)] = true;
  return out;
}();

// The row's letters of effects of the command itself; `g` is the last.
std::string own_effects(const Row& row) {
  std::string effects;
  for (const char letter : row.effects()) {
    if (!kNotItsOwn[static_cast<unsigned char>(letter)]) effects += letter;
  }
  if (row.has_effect('g')) effects += 'g';
  return effects;
}

bool is_format_of_digits(std::string_view format) {  // date +%s, +%Y%m%d
  constexpr std::string_view kDigits = "sYmdHMSNjuwyCgGVUWI";
  if (format.size() < 3 || format[0] != '+') return false;
  for (std::size_t i = 1; i + 1 < format.size(); i += 2) {
    if (format[i] != '%' || kDigits.find(format[i + 1]) == std::string_view::npos) return false;
  }
  return format.size() % 2 == 1;
}

bool only_prints(const Usage& usage) {
  return std::any_of(usage.effects.begin(), usage.effects.end(),
                     [](const auto& effect) { return effect.first == '0' || effect.first == 'm'; });
}

// Files are read at most; code runs all the same.
void only_read(Usage& usage) {
  for (Usage::Item& item : usage.items) {
    if (std::string_view(".ext").find(item.role) == std::string_view::npos) item.role = 'r';
  }
}

}  // namespace

void Evaluator::apply_effect(char letter, Span span, std::string_view command) {
  struct Letter {
    char letter;
    EffectKind kind;
    std::string_view why;
  };

  static constexpr Letter kLetters[] = {
      {'n', EffectKind::kNetwork, "uses the network"},
      {'l', EffectKind::kListens, "listens on the network"},
      {'P', EffectKind::kPower, "changes power, clock, kernel or mounts"},
      {'g', EffectKind::kGrantsPrivilege, "grants rights"},
      {'S', EffectKind::kServiceSystem, "changes system services"},
      {'s', EffectKind::kServiceUser, "changes user services"},
      {'F', EffectKind::kFirewall, "changes the network or firewall"},
      {'B', EffectKind::kDataStore, "deletes from a data store, container or cluster"},
      {'T', EffectKind::kTampering, "changes records of what happened"},
      {'I', EffectKind::kPackagesSystem, "changes packages of the system"},
      {'i', EffectKind::kPackagesProject, "changes packages of the project or user"},
      {'j', EffectKind::kProjectCode, "runs the project's own code"},
      {'G', EffectKind::kGitLocal, "changes the local repository"},
      {'L', EffectKind::kGitLost, "discards uncommitted work"},
      {'H', EffectKind::kGitPublished, "replaces or deletes published history"},
      {'h', EffectKind::kGitPublish, "publishes"},
      {'U', EffectKind::kUnknown, "has effects that are not known"},
      {'Y', EffectKind::kPersistence, "sets up code that runs later by itself"},
      {'q', EffectKind::kProcessByName, "ends processes by name"},
      {'1', EffectKind::kProcess, "changes one process or container"},
      {'&', EffectKind::kProcess, "leaves a process behind"},
      {'A', EffectKind::kProcessAll, "ends all processes"},
      {'k', EffectKind::kShellHooks, "changes options of this shell"},
      {'f', EffectKind::kFloods, "writes without end"},
      {'t', EffectKind::kSends, "shows a text on the terminals of other users"},
      {'X', EffectKind::kSendsUnknown, "sends data that is not known"},
      {'D', EffectKind::kDeletes, "deletes files at the destination"},
      {'w', EffectKind::kOverwrites, "writes files into the working directory"},
      {'a', EffectKind::kCreates, "creates files in the working directory"},
      {'o', EffectKind::kCreates, "saves a file into the working directory"},
      {'m', EffectKind::kCreates, "keeps files of its own"}};
  for (const Letter& known : kLetters) {
    if (known.letter != letter) continue;
    const bool is_file =
        letter == 'w' || letter == 'a' || letter == 'o' || letter == 'D' || letter == 'm';
    std::string why;
    why.reserve(command.size() + 1 + known.why.size());
    why.append(command).append(" ").append(known.why);
    return add(known.kind, is_file ? Scope::kPattern : Scope::kNone, std::string(command), span,
               std::move(why));
  }
}

void Evaluator::unknown_options(const Usage& usage, std::string_view command) {
  for (const auto& [option, place] : usage.unknown)
    unknown(place, option,
            option.empty() ? cat(command, ": a word that is not known may be an option")
                           : cat(command, ": the option ", printable(option), " is not known"));
}

Stream Evaluator::apply_row(const Row& row, const std::vector<Arg>& argv, std::size_t first,
                            State& s, const Stream& in) {
  Usage usage = read_usage(row, argv, first);
  const Span span = argv.front().span;
  const bool is_verb = row.name().find(' ') != std::string_view::npos;
  const std::string_view name =
      printed_name(row, is_verb ? current_verb_ : command_name(argv.front()));
  if (row.has_effect('n')) send_secrets(argv, first, name, in);
  Stream out = without_text(in);
  unknown_options(usage, name);
  if (usage.is_help) {
    apply_help(row, usage, argv, s, out);
    return out;
  }
  if (usage.rest > 0 && usage.rest_role == 'v') {
    const Arg& verb = argv[usage.rest];
    const std::string_view head = is_verb ? current_verb_ : command_name(argv.front());
    const std::string full = cat(head, " ", verb.text());
    const Row* next = verb.is_exact() ? find_row(full) : nullptr;
    apply_roles(usage, s, in, out);
    apply_option_effects(usage, name);
    if (next == nullptr) {
      unknown(verb.span, full, cat("'", printable(full), "' is not known"));
      return out;
    }
    current_verb_ = full;
    const bool outer_scope = std::exchange(is_user_scope_, is_user_scope_ || usage.has("--user"));
    const bool was_dry = std::exchange(is_dry_, is_dry_ || only_prints(usage));
    out = apply_row(*next, argv, usage.rest + 1, s, in);
    is_user_scope_ = outer_scope;
    is_dry_ = was_dry;
    return out;
  }
  const bool is_print_only = is_dry_ || only_prints(usage);
  const bool is_user = usage.has("--user") || is_user_scope_;
  for (char letter : own_effects(row)) {
    if (letter == 'S' && is_user) letter = 's';
    if (letter == 'I' && is_user) letter = 'i';
    if (!is_print_only) apply_effect(letter, span, name);
    if (!is_print_only && letter == 'j') look_into_written_files(span);
  }
  apply_option_effects(usage, name);
  if (is_print_only) {
    only_read(usage);
    apply_roles(usage, s, in, out);
    return out;
  }
  if (row.has_effect('R')) out.is_fetched = true;
  apply_roles(usage, s, in, out);
  const bool is_listing = row.has_effect('b');  // git branch NAME makes one
  if (is_listing && !usage.operands().empty() && !usage.has("-l") && !usage.has("--list") &&
      !usage.has("--contains") && !usage.has("--merged"))
    apply_effect('G', span, name);
  if (row.has_effect('y') &&
      (usage.operands().size() > 1 || (usage.operands().size() == 1 && usage.options.empty() &&
                                       usage.operands()[0].arg->text() == "edit")))
    add(EffectKind::kPersistence, Scope::kNone, "git config", span,
        "changes git's configuration, which can name commands to run");
  if (row.name() == "ln") note_links(usage, s);
  out.is_number = out.is_number || row.has_effect('=');
  const bool is_moved = row.name() == "mktemp" && s.variables.contains("TMPDIR");
  if (row.has_effect('e') && !is_moved)
    pass_names(row.name().substr(0, row.name().find('|')), usage, in, out);
  if (usage.rest > 0) {
    std::vector<Arg> rest(argv.begin() + static_cast<std::ptrdiff_t>(usage.rest), argv.end());
    out = invoke(std::move(rest), s, in);
  }
  return out;
}

// --help and --version: nothing happens but that some tools open the files of their options first,
// and keep files of their own.
void Evaluator::apply_help(const Row& row, const Usage& usage, const std::vector<Arg>& argv,
                           State& s, Stream& out) {
  const auto options = std::span(usage.items).first(usage.items.size() - usage.n_operands);
  for (const Usage::Item& item : options)
    apply_role(item.role, *item.arg, s, Stream::none(), out);
  const std::string_view head = command_name(argv.front());
  const Row* const tool = find_row(head);
  if (row.has_effect('m')) apply_effect('m', argv.front().span, head);
  if (tool != nullptr) apply_calls(*tool, false, argv.front().span, head);
}

void Evaluator::apply_option_effects(const Usage& usage, std::string_view name) {
  for (const auto& [letter, place] : usage.effects)
    apply_effect(letter, place, name);
}

// What a tool does whatever it is asked: files of its own, a question to a server.
void Evaluator::apply_calls(const Row& tool, bool is_version, Span span, std::string_view name) {
  const bool is_always = tool.has_effect('?');
  if (tool.has_effect('m') && (is_always || !is_version)) apply_effect('m', span, name);
  for (const char letter : std::string_view("nj")) {
    if (is_always && tool.has_effect(letter)) apply_effect(letter, span, name);
  }
}

void Evaluator::apply_roles(const Usage& usage, State& s, const Stream& in, Stream& out) {
  for (const Usage::Item& item : usage.items) {
    const bool is_write = item.role == 'w' || item.role == 'a';
    if (item.role == '>') {
      touch(EffectKind::kDeletes, *item.arg, s,
            {.is_tree = true, .is_moved = item.arg->is_exact() && is_kept(usage, s)});
    } else if (item.role == '0') {
      Arg empty = *item.arg;
      empty.value.is_everything = false;
      touch(EffectKind::kDeletes, empty, s, {.is_narrowed = true});
    } else if (item.role == 'Y') {
      apply_name_glob(usage, *item.arg, out);
    } else if (!is_write || !item.arg->is_exact() || !put_into_root(usage, item, s)) {
      apply_role(item.role, *item.arg, s, in, out);
    }
  }
}

// grep --include, rg -g: with --files the names alone are printed.
void Evaluator::apply_name_glob(const Usage& usage, const Arg& glob, Stream& out) {
  const std::string& text = glob.text();
  if (text.starts_with('!') || !is_meant_for_keys(text)) return;
  out.keys = Keys::kMeant;
  if (usage.has("--files")) return;
  out.is_secret = true;
  add(EffectKind::kReadsCredentials, Scope::kPattern, text, glob.span,
      cat("reads files that match ", text, ", which hold credentials"));
}

// Whether the destination is one place that a restart does not empty.
bool Evaluator::is_kept(const Usage& usage, const State& s) {
  const auto target = std::find_if(usage.items.begin(), usage.items.end(),
                                   [](const Usage::Item& item) { return item.role == 'w'; });
  if (target == usage.items.end() || !target->arg->is_exact() || target->arg->is_glob) return false;
  const std::string path = normal_path(target->arg->text(), s.cwd.size() == 1 ? s.cwd[0] : "");
  return path.starts_with('/') && !is_tmp(path) && !is_tmp_folder(path) &&
         !path.starts_with("/dev/") &&
         !path.starts_with("/run/") && !path.starts_with("/proc/") && !path.starts_with("/sys/");
}

// The folder / as a destination: what is written is the name of each source in it. Without -r no
// folder of the system is entered; names that are not known count where / is the working directory.
bool Evaluator::put_into_root(const Usage& usage, const Usage::Item& target, State& s) {
  const std::string cwd = s.cwd.size() == 1 ? s.cwd[0] : "";
  if (normal_path(target.arg->text(), cwd) != "/") return false;
  const EffectKind kind = target.role == 'w' ? EffectKind::kOverwrites : EffectKind::kCreates;
  const bool is_tree = std::any_of(usage.items.begin(), usage.items.end(),
                                   [](const Usage::Item& item) { return item.role == 'R'; });
  const bool is_operand = !usage.operands().empty() &&
                          usage.operands().back().arg->span.begin == target.arg->span.begin &&
                          usage.operands().back().arg->text() == target.arg->text();
  const std::size_t n = usage.operands().size() - (is_operand ? 1 : 0);
  if (n == 0) return false;
  bool is_known = true;
  for (std::size_t i = 0; i < n; ++i) {
    const Arg& source = *usage.operands()[i].arg;
    is_known = is_known && source.is_exact() && !source.is_glob;
  }
  if (!is_known) {
    if (cwd != "/" || is_tree) return false;
    add(kind, Scope::kPattern, "/", target.arg->span, "writes files into the working directory");
    return true;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::string source = normal_path(usage.operands()[i].arg->text(), cwd);
    touch_path(kind, cat("/", source.substr(source.rfind('/') + 1)), target.arg->span, s,
               {.is_tree = is_tree, .is_narrowed = is_tree});
  }
  return true;
}

// Whether the file holds credentials in whatever folder it is: ~/.ssh/id_rsa without a known home.
bool Evaluator::is_credential_somewhere(const Arg& arg) {
  if (arg.value.keys == Keys::kMeant && !arg.value.is_known) return true;
  const bool may_be = arg.is_glob && may_be_credential(arg.value.tail, "");
  if (arg.value.is_known || !(may_be || is_credential(arg.value.tail, ""))) return false;
  add(EffectKind::kReadsCredentials, Scope::kNamed, arg.value.tail, arg.span,
      cat("reads a file …", arg.value.tail, ", which holds credentials"));
  return true;
}

void Evaluator::apply_role(char role, const Arg& arg, State& s, const Stream& in, Stream& out) {
  const bool is_stdin = std::string_view(arg.text()) == "-";
  switch (role) {
    case '.':
    case 'i':
      if (role == 'i' && arg.is_exact()) {
        // iproute2 takes any beginning of a verb; `s` and `l` are show and list.
        static constexpr std::string_view kReads[] = {"show", "list", "get", "dev"};
        static constexpr std::string_view kChanges[] = {
            "add", "del",  "delete", "set",     "flush",   "replace", "change", "append",
            "up",  "down", "exec",   "restore", "prepend", "attach",  "move",   "chg"};
        const auto begins = [&](std::string_view verb) { return verb.starts_with(arg.text()); };
        if (!arg.text().empty() && std::none_of(std::begin(kReads), std::end(kReads), begins) &&
            std::any_of(std::begin(kChanges), std::end(kChanges), begins))
          apply_effect('F', arg.span, arg.text());
      } else if (role == 'i' && !arg.is_exact()) {
        unknown(arg.span, "", "a word that is not known may change the network");
      }
      return;
    case 'n':
      return touch(EffectKind::kReadsNames, arg, s, {});
    case 'r': {
      if (is_stdin) return;
      const bool reads_keys = std::exchange(reads_keys_, false);
      touch(EffectKind::kReadsContent, arg, s, {});
      if (is_credential_somewhere(arg) || reads_keys_) out.is_secret = true;
      reads_keys_ = reads_keys;
      if (files_.empty()) return;
      for (const std::string& path : arg.value.set) {
        const std::string full = normal_path(path, s.cwd.empty() ? "" : s.cwd[0]);
        if (const auto file = files_.find(full); file != files_.end()) {
          out.is_fetched = out.is_fetched || file->second.is_fetched;
          out.is_decoded = out.is_decoded || file->second.is_decoded;
          out.is_secret = out.is_secret || file->second.is_secret;
        }
      }
      return;
    }
    case 'w':
    case 'a': {
      if (is_stdin) return;
      Stream content = Stream::unknown();
      content.is_fetched = out.is_fetched;
      content.is_decoded = out.is_decoded;
      content.is_secret = out.is_secret;
      return write_stream(arg, content, role == 'a', s);
    }
    case 'R':
      apply_role('r', arg, s, in, out);
      return touch(EffectKind::kReadsContent, arg, s, {.is_tree = true});
    case 'W':
      return touch(EffectKind::kOverwrites, arg, s, {.is_tree = true});
    case 'C':
      return touch(EffectKind::kOverwrites, arg, s, {.is_tree = true, .is_narrowed = true});
    case 'd':
      return touch(EffectKind::kDeletes, arg, s, {});
    case 'D':
      return touch(EffectKind::kDeletes, arg, s, {.is_tree = true});
    case 'm':
      return touch(EffectKind::kChangesMode, arg, s, {});
    case 'M':
      return touch(EffectKind::kChangesMode, arg, s, {.is_tree = true});
    case 'z':
      return touch(EffectKind::kDestroys, arg, s, {.is_tree = true});
    default:
      return apply_network_role(role, arg, s, in, out);
  }
}

void Evaluator::apply_network_role(char role, const Arg& arg, State& s, const Stream& in,
                                   Stream& out) {
  const std::string& text = arg.text();
  switch (role) {
    case 'U': {
      const std::string& known = arg.value.is_known ? text : arg.value.prefix;
      const bool is_url = known.find("://") != std::string::npos && !known.starts_with("file:");
      return apply_role(is_url ? 'u' : 'r', arg, s, in, out);
    }
    case 'u':
      if (text.starts_with("file:"))
        return apply_role(
            'r',
            {.value = Value::exact(text.substr(text.find_first_not_of('/', 5) == std::string::npos
                                                   ? 5
                                                   : text.find_first_not_of('/', 5) - 1)),
             .span = arg.span},
            s, in, out);
      if (!arg.value.is_known && (arg.value.is_secret || arg.value.tail.empty()))
        return add(arg.value.is_secret ? EffectKind::kSendsCredentials : EffectKind::kNetwork,
                   Scope::kNone, arg.value.prefix, arg.span,
                   "asks an address that is not fully known");
      return add(EffectKind::kNetwork, Scope::kNone, text, arg.span, cat("asks ", text));
    case 's': {
      if (text == "-" || text == "/dev/stdin")
        return add(in.is_secret  ? EffectKind::kSendsCredentials
                   : in.is_known ? EffectKind::kSends
                                 : EffectKind::kSendsUnknown,
                   Scope::kNone, "-", arg.span, "sends what it reads");
      apply_role('r', arg, s, in, out);
      const bool is_secret = out.is_secret || arg.value.is_secret;
      return add(is_secret                            ? EffectKind::kSendsCredentials
                 : arg.value.is_known && !arg.is_glob ? EffectKind::kSends
                                                      : EffectKind::kSendsUnknown,
                 Scope::kNone, text, arg.span,
                 cat("sends ", text.empty() ? "data that is not known" : text));
    }
    case 'F':
      if (!text.starts_with('@')) return;
      return apply_network_role('s', tail_of(arg, 1), s, in, out);
    case 'Q':
      if (const std::size_t end = text.find_first_of("@="); end < text.size() && text[end] == '@')
        return apply_network_role('q', tail_of(arg, end), s, in, out);
      return apply_network_role('q', arg, s, in, out);
    case 'q': {  // data, @FILE, name=@FILE, name=<FILE
      const std::size_t at = text.starts_with('@') ? 0 : std::min(text.find("=@"), text.find("=<"));
      if (at != std::string::npos) {
        const std::size_t begin = text.starts_with('@') ? 1 : at + 2;
        const std::string path = text.substr(begin, text.find(';', begin) - begin);
        if (path == "-")
          return add(in.is_secret  ? EffectKind::kSendsCredentials
                     : in.is_known ? EffectKind::kSends
                                   : EffectKind::kSendsUnknown,
                     Scope::kNone, "-", arg.span, "sends what it reads");
        return apply_network_role('s', {.value = Value::exact(path), .span = arg.span}, s, in, out);
      }
      return add(arg.value.is_secret  ? EffectKind::kSendsCredentials
                 : arg.value.is_known ? EffectKind::kSends
                                      : EffectKind::kSendsUnknown,
                 Scope::kNone, "", arg.span, "sends data");
    }
    case 't':  // a shell on a socket
      return add(EffectKind::kSocketShell, Scope::kNone, text, arg.span,
                 "ties a program to a connection");
    default:
      return apply_other_role(role, arg, s, in, out);
  }
}

// What a command of the network is given goes there, whatever it is called.
void Evaluator::send_secrets(const std::vector<Arg>& argv, std::size_t first,
                             std::string_view name, const Stream& in) {
  const bool sends_input = name == "openssl s_client" || name == "telnet" || name == "ftp";
  if (in.is_secret && sends_input)
    add(EffectKind::kSendsCredentials, Scope::kNone, std::string(name), argv[0].span,
        cat(name, " sends what may be a credential"));
  for (std::size_t i = first; i < argv.size(); ++i) {
    if (!argv[i].value.is_secret) continue;
    add(EffectKind::kSendsCredentials, Scope::kNone, std::string(name), argv[i].span,
        cat(name, " sends what may be a credential"));
  }
}

// docker -v HOST:…
void Evaluator::apply_mount(const Arg& arg, const State& s) {
  const std::string& text = arg.text();
  if (!arg.is_exact() || text.starts_with("/:") || text.find("docker.sock") != std::string::npos ||
      text.find("source=/,") != std::string::npos)
    return add(EffectKind::kGrantsPrivilege, Scope::kNone, text, arg.span,
               "mounts the host's file system: rights of root");
  if (text.starts_with('/') &&
      scope_of(normal_path(text.substr(0, text.find(':')), ""), {.is_tree = true},
               s.cwd.empty() ? Folders{.home = profile_.home} : folders_at(s.cwd[0])) >=
          Scope::kSystem)
    add(EffectKind::kGrantsPrivilege, Scope::kNone, text, arg.span, "mounts a part of the system");
}

void Evaluator::apply_other_role(char role, const Arg& arg, State& s, const Stream& in,
                                 Stream& out) {
  const std::string& text = arg.text();
  switch (role) {
    case 'p':
      if (!arg.value.is_known && !arg.value.is_number)
        return add(EffectKind::kProcessByName, Scope::kNone, "", arg.span,
                   "signals processes that are not known");
      return add(EffectKind::kProcess, Scope::kNone, text, arg.span,
                 cat("signals the process ", text));
    case 'x': {  // a builtin's in this shell, a tool's in a new one
      State copy = new_shell(s);
      run_text(arg.value, arg.span, copy, in, Dialect::kPosix);
      run_text(arg.value, arg.span, s, in, Dialect::kPosix);
      return;
    }
    case 'k':
      if (!arg.is_exact()) return unknown(arg.span, "", "a word that is not known");
      return;
    case 'h':
      return touch(EffectKind::kReadsContent, arg, s, {});
    case 'g':  // git push: +ref, :ref
      if (text.starts_with('+') || text.starts_with(':'))
        return apply_effect('H', arg.span, "git push");
      if (!arg.value.is_known)
        return unknown(arg.span, "", "a refspec that is not known may replace published history");
      return;
    case 'f':  // less +!command
      if (text.starts_with('+') ||
          (!arg.value.is_known && arg.value.prefix.empty() && !arg.value.is_below))
        return unknown(arg.span, text, "a command for the pager");
      return apply_role('r', arg, s, in, out);
    case 'T':  // date +FORMAT prints, anything else sets the clock
      if (!arg.is_exact() ? !arg.value.prefix.starts_with('+') : !text.starts_with('+'))
        apply_effect('P', arg.span, "date");
      out.is_number = out.is_number || is_format_of_digits(arg.text());
      return;
    case 'A':  // KEY or KEY=VALUE
      if (!arg.is_exact() || text.find('=') != std::string::npos) apply_effect('P', arg.span, text);
      return;
    case 'l':
      if (!arg.is_exact() || text.find_first_of("/.") != std::string::npos)
        unknown(arg.span, text, "a file of code or settings whose content is unknown");
      return;
    case 'N':
      if (name_of_variable(arg.is_many ? Value::unknown() : arg.value, arg.span) && arg.is_exact())
        set_variable(arg.text(), {.value = Value::number()}, arg.span, s);
      return;
    case 'H':
      return apply_effect('k', arg.span, text);
    case 'Z':
      return zsh_number(arg, s);
    case 'o':  // ssh -o
      if (!arg.is_exact() || runs_command(text))
        unknown(arg.span, text, "an ssh option that runs a command");
      return;
    case 'y':  // a mode
      if (!arg.is_exact()) return unknown(arg.span, "", "a mode that is not known");
      if (sets_owner_rights(text))
        add(EffectKind::kGrantsPrivilege, Scope::kNone, text, arg.span,
            "lets a program run with its owner's rights");
      return;
    case 'V':
      return apply_mount(arg, s);
    case 'P':
      return apply_effect('P', arg.span, text);
    default:
      return apply_cloud_role(role, arg, s, in, out);
  }
}

}  // namespace wick::shell
