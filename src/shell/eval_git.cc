// git: settings on its command line, addresses that run a program, and forms that do less than the
// row of their verb says.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"
#include "shell/key_names.h"

namespace wick::shell {

namespace {

bool is_harmless_config(std::string_view key) {
  const std::string lower = ascii_lower(key);
  for (const std::string_view start : {"user.name",
                                       "user.email",
                                       "color.",
                                       "column.",
                                       "advice.",
                                       "log.date",
                                       "log.decorate",
                                       "init.defaultbranch",
                                       "pull.",
                                       "push.default",
                                       "core.quotepath",
                                       "core.autocrlf",
                                       "core.eol",
                                       "core.filemode",
                                       "core.abbrev",
                                       "core.ignorecase",
                                       "diff.renames",
                                       "diff.algorithm",
                                       "merge.conflictstyle",
                                       "status.",
                                       "branch.",
                                       "fetch.",
                                       "rebase.auto",
                                       "safe.directory",
                                       "commit.gpgsign",
                                       "http.postbuffer"}) {
    if (lower.starts_with(start)) return true;
  }
  return false;
}

// git checkout REST: whether it takes files, not a branch.
bool loses_work(const std::vector<Arg>& rest) {
  int operands = 0;
  bool is_path = false;
  for (const Arg& arg : rest) {
    const std::string& text = arg.text();
    if (text == "-b" || text == "-B" || text == "--orphan") return false;
    is_path = is_path || text == "--";
    if (text.starts_with('-')) continue;
    ++operands;
    is_path = is_path || !arg.is_exact() || arg.is_glob || text == "." ||
              text.find('.') != std::string::npos;
  }
  return is_path || operands > 1;
}

// A dry run, or a restore of the index alone: the letter of its effect, '0' for none; ' ' for any
// other call. Read by the row's grammar: in `git clean -e -n` the last word is a pattern.
char effect_of_lesser_form(const std::string& verb, const std::vector<Arg>& words) {
  if (verb != "clean" && verb != "restore" && verb != "push") return ' ';
  const Usage usage = read_usage(*find_row(wick::cat("git ", verb)), words, 0);
  if (!usage.unknown.empty()) return ' ';
  const bool is_dry = usage.has("-n") || usage.has("--dry-run");
  if (verb == "clean") return is_dry ? '0' : ' ';
  if (verb == "push") return is_dry ? 'n' : ' ';
  const bool is_index = usage.has("--staged") || usage.has("-S");
  return is_index && !usage.has("--worktree") && !usage.has("-W") ? 'G' : ' ';
}

Stream names_here(bool is_nul, Stream out) {
  out.is_names = out.is_everything = true;
  out.is_nul = is_nul;
  return out;
}

// git ls-files: names below the working directory, unless a word leads out of it.
bool lists_names(const std::vector<Arg>& rest) {
  static constexpr std::string_view kPlain[] = {
      "-m",       "-o",       "-c",         "-d",        "-z",
      "--others", "--cached", "--modified", "--deleted", "--exclude-standard"};
  return std::all_of(rest.begin(), rest.end(), [](const Arg& arg) {
    const std::string& text = arg.text();
    if (text.starts_with('-') && text != "--")
      return std::find(std::begin(kPlain), std::end(kPlain), text) != std::end(kPlain);
    return arg.is_exact() && text.find("..") == std::string::npos && !text.starts_with(':') &&
           !text.starts_with('/');
  });
}

}  // namespace

// git -c KEY=VALUE may name a program; verbs whose meaning hangs on their operands.
Stream Commands::git(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  const Usage head = read_usage(*find_row("git"), argv, 1);
  const std::size_t verb_at = head.rest;
  Argv clean = argv;
  for (std::size_t i = 1; i + 1 < (verb_at == 0 ? argv.size() : verb_at); ++i) {
    if (argv[i].text() != "-c") continue;
    const std::string& setting = argv[i + 1].text();
    const std::size_t equals = setting.find('=');
    clean[i].value = Value::exact("-p");  // judged here; what is left is an option without effect
    clean[i + 1].value = Value::exact("-p");
    if (argv[i + 1].is_exact() && is_harmless_config(setting.substr(0, equals))) continue;
    e.unknown(argv[i + 1].span, setting.substr(0, equals),
              "a setting of git that may run a program");
    if (equals == std::string::npos) continue;
    std::string code = setting.substr(equals + 1);
    if (code.starts_with('!')) code.erase(0, 1);
    State copy = e.new_shell(s);
    e.run_code(code, argv[i + 1].span, copy, Stream::none(), Dialect::kPosix);
  }
  const std::string verb = verb_at == 0 ? "" : argv[verb_at].text();
  const Argv rest(
      verb_at == 0 ? argv.end() : argv.begin() + static_cast<std::ptrdiff_t>(verb_at) + 1,
      argv.end());
  const auto has = [&](std::string_view text) {
    return std::any_of(rest.begin(), rest.end(), [&](const Arg& a) { return a.text() == text; });
  };
  const Span span = argv[0].span;
  if (verb == "checkout" && loses_work(rest))
    e.add(EffectKind::kGitLost, Scope::kNone, "git checkout", span,
          "replaces files by their committed state: uncommitted work is lost");
  static constexpr std::string_view kRemote[] = {"clone",  "fetch",     "pull",      "push",
                                                 "remote", "ls-remote", "submodule", "archive"};
  const bool takes_address =
      std::find(std::begin(kRemote), std::end(kRemote), verb) != std::end(kRemote);
  for (const Arg& arg : rest) {
    if (takes_address && arg.text().find("::") != std::string::npos)
      e.unknown(arg.span, arg.text(), "an address of git that may run a program");
  }
  if (verb == "reflog" && !rest.empty() && !rest[0].text().starts_with('-') &&
      rest[0].text() != "show")
    e.apply_effect('L', span, "git reflog");
  if (const char effect = effect_of_lesser_form(verb, rest); effect != ' ') {
    if (effect != '0') e.apply_effect(effect, span, wick::cat("git ", verb));
    return Stream::unknown();
  }
  if (verb == "config") {
    const bool reads =
        has("--get") || has("--list") || has("-l") || has("--get-all") || has("--get-regexp");
    std::vector<std::string> words;
    for (const Arg& arg : rest) {
      if (!arg.text().starts_with('-') || !arg.is_exact()) words.push_back(arg.text());
    }
    if (!reads && words.size() == 2 && is_harmless_config(words[0]) && !has("--system")) {
      e.apply_effect('G', span, "git config");
      return Stream::unknown();
    }
    if (!reads && words.size() == 2 &&  // it may run later: judged as code now
        (words[1].starts_with('!') || !words[0].starts_with("alias."))) {
      State copy = e.new_shell(s);
      e.run_code(words[1].substr(words[1].starts_with('!') ? 1 : 0), span, copy, Stream::none(),
                 Dialect::kPosix);
    }
  }
  shows_credentials(e, verb, rest, s);
  Stream out = e.apply_row(*find_row("git"), clean, 1, s, in);
  if (verb == "ls-files" && lists_names(rest)) out = names_here(has("-z"), out);
  return out;
}

// git show HEAD:.env, git grep -- '*.pem': content of files with credentials, of any commit.
void Commands::shows_credentials(Evaluator& e, std::string_view verb, const Argv& rest, State& s) {
  static constexpr std::string_view kShow[] = {"show", "diff", "grep", "blame", "annotate",
                                               "cat-file"};
  static constexpr std::string_view kBrief[] = {
      "--stat", "--name-only", "--name-status", "--numstat", "--shortstat", "--quiet", "-q", "-l",
      "-L",     "-c",          "-s",            "--no-patch", "--count", "-t", "--summary"};
  const auto is_any = [&](const auto& words) {
    return std::any_of(rest.begin(), rest.end(), [&](const Arg& arg) {
      return std::find(std::begin(words), std::end(words), arg.text()) != std::end(words);
    });
  };
  static constexpr std::string_view kPatch[] = {"-p", "-u", "--patch"};
  const bool shows = std::find(std::begin(kShow), std::end(kShow), verb) != std::end(kShow) ||
                     ((verb == "log" || verb == "stash") && is_any(kPatch));
  if (!shows || is_any(kBrief)) return;
  for (const Arg& arg : rest) {
    const std::string& text = arg.text();
    if (text.empty() || text[0] == '-') continue;
    const std::size_t colon = text.rfind(':');
    const std::string path = text.substr(colon == std::string::npos ? 0 : colon + 1);
    const std::string full = normal_path(path, s.cwd.size() == 1 ? s.cwd[0] : "");
    if (is_credential(full, e.profile_.home) ||
        (has_wildcard(path) && is_meant_for_keys(path)))
      e.add(EffectKind::kReadsCredentials, Scope::kNamed, path, arg.span,
            wick::cat("shows ", path, ", which holds credentials"));
  }
}

}  // namespace wick::shell
