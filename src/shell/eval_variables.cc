// Variables: what setting one does besides, by whatever command or expansion it is set.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/evaluator.h"

namespace wick::shell {

namespace {

// Variables that make a program run other code, or read other settings.
bool is_hook(std::string_view name) {
  static constexpr std::string_view kNames =
      " PATH BASH_ENV ENV IFS PS0 PS1 PS2 PS3 PS4 SHELL PAGER EDITOR VISUAL BROWSER SHELLOPTS "
      "BASHOPTS PROMPT_COMMAND HOME TMPDIR CDPATH FPATH MANPATH GCONV_PATH LOCPATH TERMINFO "
      "TERMINFO_DIRS EXIFTOOL_HOME GROFF_COMMAND_PREFIX RSYNC_CONNECT_PROG INPUTRC HISTFILE "
      "MAKEFLAGS CC CXX LESSOPEN LESSCLOSE TAR_OPTIONS RSYNC_RSH SSH_ASKPASS SUDO_ASKPASS "
      "CURL_HOME WGETRC ZDOTDIR GLOBIGNORE OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES "
      "MAKEFILES RUSTC RUSTC_WRAPPER ACKRC BZIP2 GMON_OUT_PREFIX GNUPGHOME GOFLAGS GOROOT "
      "GOTOOLCHAIN GZIP LLVM_PROFILE_FILE MALLOC_TRACE NROFF SQLITE_HISTORY SSLKEYLOGFILE TAPE "
      "TAR_RSH UNZIP XZ_DEFAULTS ZIPINFO ";
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (std::none_of(name.begin(), name.end(), is_upper)) return name.starts_with("npm_");
  if (kNames.find(cat(" ", name, " ")) != std::string_view::npos) return true;
  for (const std::string_view begin :
       {"LD_",   "DYLD_",   "GIT_",       "PYTHON", "PERL",    "RUBY",   "NODE_", "BASH_FUNC",
        "JAVA",  "_JAVA",   "XDG_CONFIG", "LUA_",   "LESSKEY", "npm_",   "NPM_",  "PIP_",
        "CARGO", "DOCKER_", "KUBE",       "DBUS_",  "GCOV_",   "RUSTUP_"}) {
    if (name.starts_with(begin)) return true;
  }
  for (const std::string_view end : {"PAGER", "EDITOR", "_OPTIONS", "_OPTS", "_COMMAND", "_CMD",
                                     "ASKPASS", "_PRELOAD", "_PATH", "_CONFIG", "OPT"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

// Options of less that only say how to show: no file is written, no keys or commands are read.
bool is_plain_less(const Value& value) {
  constexpr std::string_view kPlain = "-aABcCdeEfFgGhiIjJKLmMnNqQrRsSuUVwWxXzZ0123456789 ,.";
  const auto is_plain = [&](std::string_view text) {
    return text.find_first_not_of(kPlain) == std::string_view::npos &&
           text.find("--") == std::string_view::npos;
  };
  return value.is_known && std::all_of(value.set.begin(), value.set.end(), is_plain);
}

bool is_plain_name(std::string_view name) {
  if (name.starts_with("LC_")) return true;
  static constexpr std::string_view kNames[] = {
      "LANG",     "LANGUAGE",        "TZ",       "COLUMNS", "LINES",
      "NO_COLOR", "DEBIAN_FRONTEND", "CLICOLOR", "DEBUG"};
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  return std::all_of(name.begin(), name.end(), [](char c) { return !(c >= 'A' && c <= 'Z'); });
}

// Variables that bash or zsh sets by itself while a script runs.
bool is_set_by_shell(std::string_view name) {
  constexpr std::string_view kNames =
      " _ BASH_REMATCH BASH_COMMAND BASH_ARGV0 PIPESTATUS FUNCNAME GROUPS DIRSTACK COPROC OPTARG "
      "MATCH match mbegin mend MBEGIN MEND status pipestatus ";
  return kNames.find(cat(" ", name, " ")) != std::string_view::npos;
}

}  // namespace

bool is_variable_name(std::string_view text) noexcept {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
             std::string_view::npos;
}

void Evaluator::note_assignment(std::string_view name, const Value& v, Span span, bool is_prefix,
                                State& s) {
  const bool is_array_of_zsh =
      dialect_ == Dialect::kZsh &&
      (name == "path" || name == "fpath" || name == "cdpath" || name == "module_path" ||
       name == "prompt" || name == "PROMPT" || name == "NULLCMD" || name == "READNULLCMD" ||
       name.ends_with("_functions") || name == "aliases" || name == "functions" ||
       name == "commands" || name == "options");
  if (is_array_of_zsh) return unknown(span, std::string(name), cat(name, " changes what zsh runs"));
  if (name == "PATH") s.is_path_changed = s.is_path_changed || !v.is_path;
  if (name == "POSIXLY_CORRECT")
    return unknown(span, std::string(name),
                   "POSIXLY_CORRECT makes programs read options behind operands as operands");
  if (name == "BASH_ENV" || name == "ENV" || name == "LD_PRELOAD" || name == "LD_AUDIT")
    return unknown(span, std::string(name),
                   cat(name, " names unknown code that later commands run"));
  if (name == "HISTFILE" || name == "HISTSIZE" || name == "HISTFILESIZE" || name == "HISTCONTROL")
    return add(EffectKind::kTampering, Scope::kNone, std::string(name), span,
               "changes what the history keeps");
  if (name == "PROMPT_COMMAND" || name == "PS1" || name == "PS0" || name == "PS4") {
    for (const std::string& code : v.is_known ? v.set : StringSet())
      run_code(code.find("$(") == std::string::npos && name != "PROMPT_COMMAND" ? ":" : code, span,
               s, Stream::none(), dialect_);
    if (!v.is_known) unknown(span, std::string(name), cat(name, " runs code that is not known"));
  }
  if (name == "LESS" || name == "SYSTEMD_LESS") {
    if (!is_plain_less(v))
      unknown(span, std::string(name), cat(name, " may name a file of keys or a log"));
    return;
  }
  const bool is_code = name.ends_with("PAGER") || name.ends_with("EDITOR") || name == "VISUAL" ||
                       name == "BROWSER" || name.ends_with("_COMMAND") || name.starts_with("LESS");
  for (const std::string& code : is_code&& v.is_known ? v.set : StringSet()) {
    const std::string text = code.substr(code.starts_with('|') ? 1 : 0);
    if (level_of_code(text, s) == Level::kCritical)
      run_code(text, span, s, Stream::none(), dialect_);
  }
  const bool changes_programs = is_hook(name);
  if (changes_programs && is_prefix && name != "IFS" && name != "HOME")
    return unknown(span, std::string(name),
                   cat("the variable ", name, " makes the command run or read something else"));
  if (is_prefix && name == "IFS") return;  // ends with the command: see simple()
  if (changes_programs)
    return add(EffectKind::kShellHooks, Scope::kNone, std::string(name), span,
               cat("sets ", name, ", which changes what later commands do"));
  if (is_prefix && !is_plain_name(name))
    return add(EffectKind::kShellHooks, Scope::kNone, std::string(name), span,
               cat("sets ", name, " for the command"));
  if (!is_prefix)
    add(EffectKind::kShellState, Scope::kNone, std::string(name), span,
        cat("sets the variable ", name));
}

void Evaluator::assign(const Assignment& a, State& s, bool is_prefix) {
  const bool is_text_index = is_map(a.name, s);
  if (a.has_index && !is_text_index) arithmetic(a.index, s, a.span);
  Variable v;
  if (a.is_array) {
    v.is_array = true;
    v.has_elements = true;
    for (const ArrayElement& element : a.elements) {
      if (element.has_index) {
        if (!is_text_index) arithmetic(element.index, s, a.span);
        v.has_elements = false;
      }
      std::vector<Arg> items;
      expand(element.value, s, items);
      for (const Arg& item : items) {
        v.has_elements = v.has_elements && !item.is_many && !item.is_glob;
        v.elements.push_back(item.value);
      }
    }
    if (a.is_append) {
      const auto old = s.variables.find(a.name);
      const bool is_known = old != s.variables.end() && old->second.has_elements;
      if (is_known)
        v.elements.insert(v.elements.begin(), old->second.elements.begin(),
                          old->second.elements.end());
      v.has_elements = v.has_elements && is_known;
    }
    const auto old = s.variables.find(a.name);
    const bool is_more = a.is_append && old != s.variables.end();
    v.value = is_more ? unknown_like(old->second.value) : Value::unknown();
    for (const Value& element : v.elements)
      v.value = unknown_like(join(element, v.value));
  } else {
    later_glob(a.value.parts, s);
    v.value = value_of(a.value.parts, s);
    if (a.is_append) v.value = concat(variable(a.name, s), v.value);
    if (a.has_index) v = {.value = Value::unknown(), .is_array = true};
  }
  note_assignment(a.name, v.value, a.span, is_prefix, s);
  v.is_map = is_map(a.name, s);
  keep(a.name, std::move(v), a.span, s);
}

// declare -A m=([a]=1): the elements are read before the command runs.
void Evaluator::declare_maps(const Node& node, State& s) {
  const auto has_array = [](const Word& word) { return word.array != nullptr; };
  if (std::none_of(node.words.begin(), node.words.end(), has_array)) return;
  const std::string* const name = plain_text(node.words.front());
  const bool is_declare =
      name != nullptr && (*name == "declare" || *name == "typeset" || *name == "local");
  if (!is_declare || s.functions.contains(*name) || s.has_hidden_alias || s.aliases.contains(*name))
    return;
  bool is_map = false;
  for (const Word& word : node.words) {
    if (has_array(word)) {
      if (is_map) keep_local(word.array->name, s);
      if (is_map) make_map(word.array->name, s);
      continue;
    }
    const std::string* const plain = plain_text(word);
    const Value value = plain != nullptr ? Value::exact(*plain) : value_of(word.parts, s);
    const std::string text = value.is_known && value.set.size() == 1 ? value.set.front() : "";
    if (!text.starts_with('-')) continue;
    if (text.find_first_of("pfF") != std::string::npos) return;
    if (text.find('g') != std::string::npos && !calls_.empty()) return;  // a local one may hide it
    is_map = is_map || text.find('A') != std::string::npos;
  }
}

// One that was an array before stays so: bash refuses to convert it.
void Evaluator::make_map(std::string_view name, State& s) {
  const auto old = s.variables.find(name);
  const bool is_array = old != s.variables.end() && old->second.is_array && !old->second.is_map;
  if (s.fixed.contains(name) || is_array) return;
  s.variables[std::string(name)] = {
      .value = Value::unknown(), .is_array = true, .is_map = true};
}

bool Evaluator::is_map(std::string_view name, const State& s) {
  const auto found = s.variables.find(name);
  return found != s.variables.end() && found->second.is_map;
}

// A trap may run at any time: it may see each value that a variable takes.
void Evaluator::note_change(std::string_view name, const Value& value) {
  if (traps_.empty() && !is_in_traps_) return;
  const auto [seen, is_new] = seen_.changed.emplace(std::string(name), value);
  if (!is_new) seen->second = join(seen->second, value);
  note_known(seen->first, value);
}

// The value of a variable with the integer attribute is arithmetic, and code in its subscripts
// runs.
void Evaluator::keep(std::string_view name, Variable v, Span span, State& s) {
  note_change(name, v.is_array ? Value::unknown() : v.value);
  static constexpr std::string_view kIntegers[] = {"RANDOM",  "SECONDS",      "LINENO", "HISTCMD",
                                                   "SRANDOM", "EPOCHSECONDS", "OPTIND", "BASHPID"};
  const bool is_integer =
      s.integers.contains(name) ||
      std::find(std::begin(kIntegers), std::end(kIntegers), name) != std::end(kIntegers);
  if (is_integer && dialect_ != Dialect::kPosix) {
    for (const Value& element : v.elements)
      arithmetic(element, s, span);
    if (!v.is_array || !v.has_elements) arithmetic(v.value, s, span);
    v.value = v.is_array ? Value::unknown() : Value::number();
    v.has_elements = false;
  }
  const auto old = s.variables.find(name);
  if (s.fixed.contains(name) && old != s.variables.end())
    v = {.value = join(old->second.value, v.value), .is_array = v.is_array};
  if (is_set_by_shell(name)) v = {.value = Value::unknown(), .is_array = v.is_array};
  s.variables[std::string(name)] = std::move(v);
}

// A text that the shell takes for a variable's name.
bool Evaluator::name_of_variable(const Value& name, Span span) {
  const bool is_plain =
      name.is_known && std::all_of(name.set.begin(), name.set.end(), is_variable_name);
  if (!is_plain) unknown_subscripts(span, "", "a text that is no plain name of a variable");
  return is_plain;
}

// Set by something that is no assignment: read, for, printf -v, ${v=d} …
void Evaluator::set_variable(std::string_view name, Variable v, Span span, State& s) {
  if (is_hook(name) || name.starts_with("HIST") || name == "POSIXLY_CORRECT")
    note_assignment(name, v.value, span, false, s);
  v.is_map = is_map(name, s);
  keep(name, std::move(v), span, s);
}

}  // namespace wick::shell
