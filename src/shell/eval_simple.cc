// Simple commands: assignments, redirections, aliases, functions, and the way to a row.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"
#include "shell/evaluator.h"
#include "shell/key_names.h"
#include "shell/limits.h"

namespace wick::shell {

namespace {

bool is_input(const Redirect& r) {
  return r.op == RedirectOp::kIn || r.op == RedirectOp::kReadWrite || r.op == RedirectOp::kDupIn ||
         r.op == RedirectOp::kHereString || r.here_doc;
}

}  // namespace

Stream Evaluator::redirects_in(const Node& node, State& s, const Stream& in) {
  const auto n_inputs = std::count_if(node.redirects.begin(), node.redirects.end(), is_input);
  if (dialect_ == Dialect::kZsh && n_inputs > 1) {  // zsh reads one after the other (MULTIOS)
    const Stream last = inputs(node, s, in);
    Stream mixed = Stream::unknown();
    mixed.is_fetched = last.is_fetched || in.is_fetched;
    mixed.is_secret = true;
    return mixed;
  }
  return inputs(node, s, in);
}

Stream Evaluator::inputs(const Node& node, State& s, const Stream& in) {
  Stream out = in;
  for (const Redirect& r : node.redirects) {
    if (!r.variable.empty()) set_variable(r.variable, {.value = Value::number()}, r.span, s);
    if (r.here_doc) {
      const Value v = value_of(r.here_doc->parts, s);
      out = v.is_known && v.set.size() == 1 ? Stream::of(v.set.front()) : Stream::unknown();
      out.is_secret = v.is_secret;
      out.keys = v.keys;
      out.is_fetched = v.is_fetched;
      continue;
    }
    if (r.op == RedirectOp::kHereString) {
      const Value v = value_of(r.target.parts, s);
      out = v.is_known && v.set.size() == 1 ? Stream::of(v.set.front() + "\n") : Stream::unknown();
      out.is_decoded = v.is_known && decoded_.contains(v.set.front());
      out.is_secret = v.is_secret;
      out.keys = v.keys;
      out.is_fetched = v.is_fetched;
      continue;
    }
    if (r.op == RedirectOp::kDupIn && r.fd <= 0) out = Stream::unknown();
    if (r.op == RedirectOp::kIn || r.op == RedirectOp::kReadWrite) {
      const Arg target{.value = value_of(r.target.parts, s), .span = r.span};
      const std::string path = target.is_exact() ? target.text() : "";
      out = Stream::unknown();
      if (is_socket(path) && dialect_ != Dialect::kPosix) {
        add(EffectKind::kSends, Scope::kNone, path, r.span,
            cat("opens a connection to ", path.substr(9)));
        out.is_socket = true;
        out.is_fetched = true;
        continue;
      }
      touch(r.op == RedirectOp::kIn ? EffectKind::kReadsContent : EffectKind::kCreates, target, s,
            {});
      out.is_secret = is_credential(path, profile_.home);
      out.is_endless = is_endless_device(path);
      if (const auto file = files_.find(file_of(path, s)); file != files_.end()) out = file->second;
    }
  }
  return out;
}

// What the command prints goes where the redirections say; `out` becomes what is left for a pipe.
void Evaluator::redirects_out(const Node& node, State& s, Stream& out) {
  bool is_copied = false;
  for (const Redirect& r : node.redirects) {
    const bool is_dup = r.op == RedirectOp::kDupOut || r.op == RedirectOp::kDupIn;
    const bool is_out = r.op == RedirectOp::kOut || r.op == RedirectOp::kAppend ||
                        r.op == RedirectOp::kClobber || r.op == RedirectOp::kBoth ||
                        r.op == RedirectOp::kBothAppend || is_dup;
    if (!is_out || r.here_doc) continue;
    const Stream before = without_text(out);
    given_ = r.fd <= 1 ? &before : nullptr;  // > >(…)
    const Arg target{.value = value_of(r.target.parts, s), .span = r.span};
    given_ = nullptr;
    if (is_dup) {
      const std::string text = target.is_exact() ? target.text() : "?";
      const bool is_number = text.find_first_not_of("0123456789-") == std::string::npos;
      if (is_number || target.value.is_number) {
        const bool goes_elsewhere = r.fd <= 1 && text != "1";
        const bool brings_errors = r.fd == 2 && text == "1" && out.is_none;
        if (r.op == RedirectOp::kDupOut && (goes_elsewhere || brings_errors))
          out = without_text(out);
        continue;
      }
      if (r.op == RedirectOp::kDupIn) {
        unknown(r.span, text, "a descriptor that is not known");
        continue;
      }
    }
    const bool is_append = r.op == RedirectOp::kAppend || r.op == RedirectOp::kBothAppend;
    const bool is_stdout = r.fd <= 1;
    Stream none = Stream::of("");
    const Stream& content = is_stdout ? out : none;
    write_stream(target, is_stdout ? content : Stream::unknown(), is_append, s);
    // zsh copies it to each file and to the pipe (MULTIOS).
    if (is_stdout && dialect_ != Dialect::kZsh) out = Stream::of("");
    if (is_stdout) is_copied = true;
  }
  if (is_copied && dialect_ == Dialect::kZsh) {
    out.is_known = false;
    out.text.clear();
  }
}

void Evaluator::write_stream(const Arg& target, const Stream& out, bool is_append, State& s) {
  const std::string path = target.is_exact() ? file_of(target.text(), s) : "";
  if (is_socket(path) && dialect_ != Dialect::kPosix) {
    const EffectKind kind = out.is_secret                 ? EffectKind::kSendsCredentials
                            : out.is_known || out.is_none ? EffectKind::kSends
                                                          : EffectKind::kSendsUnknown;
    return add(kind, Scope::kNone, path, target.span, cat("sends output to ", path.substr(9)));
  }
  if (out.is_secret)
    add(EffectKind::kReadsCredentials, Scope::kNamed, path, target.span,
        "writes what may be a credential to a file");
  if (out.is_endless)
    add(EffectKind::kFloods, Scope::kNone, path, target.span, "writes without end to a file");
  // Constant code that is judged no worse than moderate may go into one's own rc file.
  const bool is_mild = is_append && out.is_known && is_own_rc(path, profile_.home) &&
                       !out.is_decoded && level_of_code(out.text, s) <= Level::kModerate;
  if (is_mild) {
    add(EffectKind::kShellHooks, Scope::kNone, path, target.span,
        cat("appends known lines to ", path));
  } else {
    touch(is_append ? EffectKind::kCreates : EffectKind::kOverwrites, target, s, {});
  }
  if (path.empty()) {  // any file may have been written
    for (auto& [name, stream] : files_)
      stream = Stream::unknown();
    return;
  }
  if (is_sink(path) || files_.size() >= kMaxRead) return;
  const auto old = files_.find(path);
  if (old == files_.end() && !is_append) {
    files_[path] = out;
  } else {  // also: a loop or branch that writes it again
    Stream mixed = old != files_.end() && is_append && old->second.is_known && out.is_known
                       ? Stream::of(old->second.text + out.text)
                       : Stream::unknown();
    mixed.is_fetched = out.is_fetched || (old != files_.end() && old->second.is_fetched);
    mixed.is_decoded = out.is_decoded || (old != files_.end() && old->second.is_decoded);
    mixed.is_secret = out.is_secret;
    mixed.keys = out.keys;
    files_[path] = mixed;
  }
}

namespace {

// Assignments before it stay, in some shells and modes: a special builtin of POSIX. They hold
// within a function.
bool keeps_assignments(const Arg& name, const State& s) {
  constexpr std::string_view kSpecial =
      " : . break continue eval exec exit export readonly return set shift source times trap "
      "unset ";
  return !name.is_exact() || s.functions.contains(name.text()) ||
         kSpecial.find(cat(" ", name.text(), " ")) != std::string_view::npos;
}

// What one of two commands prints.
Stream one_of(const Stream& a, const Stream& b) {
  Stream out = without_text(a);
  out.is_fetched = a.is_fetched || b.is_fetched;
  out.is_decoded = a.is_decoded || b.is_decoded;
  out.is_secret = a.is_secret || b.is_secret;
  out.keys = std::max(a.keys, b.keys);
  return out;
}

// A variable as it was before an assignment in front of a command.
struct Before {
  std::string name = {};
  std::optional<Variable> variable = {};
  bool was_exported = false;
};

Before before_assignment(const std::string& name, const State& s) {
  const auto found = s.variables.find(name);
  Before out{.name = name, .was_exported = s.exported.contains(name)};
  if (found != s.variables.end()) out.variable = found->second;
  return out;
}

void take_back(const Before& before, bool stays, State& s) {
  if (!before.was_exported) s.exported.erase(before.name);
  if (stays) {  // perhaps
    Variable& now = s.variables[before.name];
    now.value = join(now.value, before.variable ? before.variable->value : Value::unknown());
    now.has_elements = false;
  } else if (before.variable) {
    s.variables[before.name] = *before.variable;
  } else {
    s.variables.erase(before.name);
  }
}

}  // namespace

Stream Evaluator::simple(const Node& node, State& s, const Stream& in) {
  Stream out = Stream::unknown();
  if (!step(node.span)) return out;
  const bool has_words = !node.words.empty();
  std::vector<Arg> argv = std::exchange(spare_, {});  // its memory, for one command behind another
  if (has_words) declare_maps(node, s);
  expand(node.words, s, argv);
  std::vector<Before> before;
  for (const Assignment& a : node.assignments) {
    if (has_words) before.push_back(before_assignment(a.name, s));
  }
  for (const Assignment& a : node.assignments)
    assign(a, s, has_words);
  std::optional<Stream> read;
  const bool has_redirects = !node.redirects.empty();
  if (has_redirects) read = redirects_in(node, s, in);
  const Stream& from = read ? *read : in;
  out.is_none = true;
  // zsh runs `cat` where nothing but redirections stands. bash prints a file in $(<file) alone.
  if (!has_words && node.assignments.empty()) {
    const bool is_copy = dialect_ == Dialect::kZsh && !from.is_none;
    const bool may_print = dialect_ == Dialect::kZsh ||
                           std::any_of(node.redirects.begin(), node.redirects.end(), is_input);
    if (may_print) out = is_copy ? from : without_text(from);
  }
  const bool stays = !before.empty() && !argv.empty() && keeps_assignments(argv[0], s);
  for (const Before& one : before) {
    s.exported.insert(one.name);
    if (stays && one.name == "IFS")
      add(EffectKind::kShellHooks, Scope::kNone, one.name, node.span,
          "sets IFS, which changes how later commands read words");
  }
  const bool was_path = s.is_path_changed;
  if (!argv.empty()) {
    const bool has_row = has_redirects && argv[0].is_exact();
    const Row* const row = has_row ? find_row(command_name(argv[0])) : nullptr;
    const bool is_interpreter = row != nullptr && row->has_effect('C');
    const int n_shells = n_shells_;
    for (Arg& arg : argv) {
      if (arg.span.begin == arg.span.end) arg.span = node.span;
    }
    n_readers_ += has_redirects ? 1 : 0;
    const std::optional<Stream> of_alias = call_alias(node, s, from);
    out = invoke(std::move(argv), s, from);
    if (of_alias) out = one_of(*of_alias, out);
    n_readers_ -= has_redirects ? 1 : 0;
    if (is_interpreter || n_shells_ > n_shells) note_socket(node, s);
  }
  if (!before.empty()) s.is_path_changed = was_path;
  for (; !before.empty(); before.pop_back()) {
    take_back(before.back(), stays, s);
    note_change_back(before.back().name, s);
  }
  argv.clear();
  spare_ = std::move(argv);
  redirects_out(node, s, out);
  return out;
}

// A variable has the value again that it had before a command or function.
void Evaluator::note_change_back(const std::string& name, const State& s) {
  if (traps_.empty()) return;
  const auto now = s.variables.find(name);
  const bool is_one = now != s.variables.end() && !now->second.is_array;
  note_change(name, is_one ? now->second.value : Value::unknown());
}

// A shell or interpreter, perhaps behind a wrapper, whose input or output is a connection.
void Evaluator::note_socket(const Node& node, State& s) {
  for (const Redirect& r : node.redirects) {
    if (r.here_doc) continue;
    const Value target = value_of(r.target.parts, s);
    if (target.is_known && is_socket(target.set.front()))
      add(EffectKind::kSocketShell, Scope::kNone, target.set.front(), r.span,
          "ties a shell to a connection");
  }
}

// A word that is an alias by now is expanded in some shells and modes, and is the command in
// others: both are walked.
std::optional<Stream> Evaluator::call_alias(const Node& node, State& s, const Stream& in) {
  if (s.has_hidden_alias)
    unknown(node.span, "", "an alias of unknown text may stand for the command");
  const std::string* name = plain_text(node.words.front());
  const auto alias = name == nullptr ? s.aliases.end() : s.aliases.find(*name);
  if (alias == s.aliases.end()) return std::nullopt;
  std::string text = alias->second;
  for (std::size_t i = 1; i < node.words.size(); ++i)
    text += cat(" ", print(node.words[i], dialect_));
  State copy = copy_of(s);
  copy.aliases.erase(*name);
  return run_code(text, node.span, copy, in, dialect_);
}

// What a function declares as its own is as it was before, once the function has ended.
void Evaluator::keep_local(const std::string& name, State& s) {
  if (!s.is_in_function || s.locals.contains(name)) return;
  const auto found = s.variables.find(name);
  if (found == s.variables.end()) {
    s.locals[name] = {};
  } else {
    s.locals[name] = {.before = found->second};
  }
}

// Declared without a value: not set in a function (but as before in dash), as it was outside.
void Evaluator::declare_local(const std::string& name, bool is_list, State& s) {
  const auto old = s.variables.find(name);
  const bool is_new = s.is_in_function && !s.locals.contains(name);
  if (is_new) keep_local(name, s);
  if (is_new && old != s.variables.end()) {
    const Variable& before = old->second;
    old->second = {.value = before.is_array ? Value::unknown()
                                            : join(before.value, Value::exact(""))};
  }
  if (is_list) s.variables[name].is_array = true;
}

namespace {

void bring_back(const std::string& name, Local local, State& s) {
  const auto now = s.variables.find(name);
  if (!local.is_sure && now != s.variables.end()) {  // it may have been the one outside
    Variable& v = now->second;
    v.value = join(v.value, local.before ? local.before->value : Value::unknown());
    v.has_elements = v.is_map = false;
    v.is_array = v.is_array || (local.before && local.before->is_array);
  } else if (local.before) {
    s.variables[name] = *std::move(local.before);
  } else {
    s.variables.erase(name);
  }
}

}  // namespace

Stream Evaluator::call_function(const Node& body, const std::string& name,
                                const std::vector<Arg>& argv, State& s, const Stream& in) {
  for (const auto& [called, concurrency] : calls_) {
    if (called != name) continue;
    if (concurrent_ > concurrency) {
      add(EffectKind::kForkBomb, Scope::kNone, name, argv[0].span,
          cat("the function ", name, " starts itself again and again: a fork bomb"));
    } else {
      unknown(argv[0].span, name, cat("the function ", name, " calls itself without a known end"));
    }
    return Stream::unknown();
  }
  if (++nested_ > kMaxNested) {
    step(argv[0].span);
    --nested_;
    return Stream::unknown();
  }
  calls_.emplace_back(name, concurrent_);
  const std::vector<Arg> args = std::exchange(s.args, {argv.begin() + 1, argv.end()});
  const bool had_args = std::exchange(s.has_args, true);
  auto outer = std::exchange(s.locals, {});
  const bool was_in_function = std::exchange(s.is_in_function, true);
  if (const auto names = argument_names_.find(&body); names != argument_names_.end()) {
    for (std::size_t i = 0; i < names->second.size(); ++i) {
      keep_local(names->second[i], s);
      const bool is_known =
          i < s.args.size() &&
          std::none_of(s.args.begin(), s.args.end(), [](const Arg& arg) { return arg.is_many; });
      s.variables[names->second[i]] = {.value = is_known ? s.args[i].value : Value::unknown()};
    }
  }
  std::optional<State> left;
  auto* const outer_function = std::exchange(function_, &left);
  const Stream out = node(body, s, in);
  function_ = outer_function;
  if (left) s = joined(s, *left);
  s.is_in_function = was_in_function;
  std::swap(s.locals, outer);
  for (auto& [variable, local] : outer) {
    bring_back(variable, std::move(local), s);
    note_change_back(variable, s);
  }
  s.args = args;
  s.has_args = had_args;
  calls_.pop_back();
  --nested_;
  return out;
}

// A wrapper invokes what stands behind it, so a line of wrappers is as deep as it is long.
Stream Evaluator::invoke(std::vector<Arg>&& argv, State& s, const Stream& in) {
  Stream out;
  out.is_none = argv.empty();
  if (argv.empty()) return out;
  if (invoked_ >= kMaxInvoked) {
    unknown(argv[0].span, "", "too complex: commands stand behind one another too deep");
    return out;
  }
  if (invoked_ > 0) words_ += argv.size();  // behind a wrapper, all words are copied once more
  ++invoked_;
  out = invoke_one(argv, s, in);
  --invoked_;
  return out;
}

Stream Evaluator::invoke_one(std::vector<Arg>& argv, State& s, const Stream& in) {
  Arg& first = argv.front();
  const Span span = first.span;
  if (!step(span)) return Stream::unknown();
  if (!first.value.is_known || first.is_many || first.is_glob) {
    if (made_.size() <= kMaxCalls) made_.push_back({.argv = {std::nullopt}, .span = span});
    unknown(span, "",
            first.is_glob ? "the command's name is a pattern of file names"
                          : "the command's name is not known");
    return Stream::unknown();
  }
  if (first.value.set.size() == 1) {
    first.value = Value::exact(std::move(first.value.set[0]));
    const std::string name = first.text();
    return invoke_name(name, argv, s, in);
  }
  const StringSet names = first.value.set;
  first.value = Value::exact(names[0]);
  const std::vector<Arg> before = argv;
  invoke_name(names[0], argv, s, in);
  for (std::size_t i = 1; i < names.size(); ++i) {
    argv = before;
    argv.front().value = Value::exact(names[i]);
    State copy = copy_of(s);
    invoke_name(names[i], argv, copy, in);
    s = joined(s, copy);
  }
  return Stream::unknown();
}

namespace {

std::string_view system_name_of(std::string_view path) {
  if (!path.starts_with('/')) return "";
  for (const std::string_view folder : {"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"}) {
    if (path.starts_with(folder) && path.find('/', folder.size()) == std::string_view::npos)
      return path.substr(folder.size());
  }
  return "";
}

}  // namespace

std::string_view Evaluator::command_name(const Arg& arg) {
  const std::string_view plain = system_name_of(arg.text());
  return plain.empty() ? std::string_view(arg.text()) : plain;
}

namespace {

// locate id_rsa, grep '\.ssh': lines that, taken for names of files, are those of keys.
bool prints_names_of_keys(std::string_view name, const std::vector<Arg>& argv) {
  static constexpr std::string_view kPrinters[] = {
      "ls",   "locate", "mlocate", "plocate",  "fd",       "fdfind",  "grep", "egrep", "fgrep",
      "rg",   "ag",     "awk",     "gawk",     "mawk",     "sed",     "git",  "tree",  "mdfind",
      "dpkg", "rpm",    "realpath", "readlink", "basename", "dirname", "lsof"};
  if (std::find(std::begin(kPrinters), std::end(kPrinters), name) == std::end(kPrinters))
    return false;
  // Lines or names of files with a text in them, whatever they are called.
  const bool is_content = std::any_of(argv.begin(), argv.end(), [](const Arg& arg) {
    return arg.text().starts_with('-') && !arg.text().starts_with("--") &&
           arg.text().find_first_of("lLr") != std::string::npos;
  });
  const bool is_of_text = is_content && name.ends_with("grep");
  return std::any_of(argv.begin() + 1, argv.end(), [&](const Arg& arg) {
    const bool is_header = ascii_lower(arg.text()).find("private key") != std::string::npos;
    return arg.is_exact() && (is_header || (!is_of_text && mentions_keys(arg.text())));
  });
}

}  // namespace

void Evaluator::note_call(const std::string& name, const std::vector<Arg>& argv) {
  if (made_.size() > kMaxCalls) return;
  Call call{.span = argv.front().span};
  if (made_.size() == kMaxCalls) {
    call.argv.emplace_back();
  } else {
    const std::string_view plain = system_name_of(name);
    call.argv.reserve(argv.size());
    call.argv.emplace_back().emplace(plain.empty() ? std::string_view(name) : plain);
    for (std::size_t i = 1; i < argv.size(); ++i) {
      std::optional<std::string>& word = call.argv.emplace_back();
      if (argv[i].is_exact()) word = argv[i].text();
    }
  }
  if (made_.empty() || !(made_.back() == call)) made_.push_back(std::move(call));
}

Stream Evaluator::invoke_name(const std::string& name, std::vector<Arg>& argv, State& s,
                              const Stream& in) {
  const Span span = argv.front().span;
  note_call(name, argv);
  if (name.empty()) {
    unknown(span, "", "the command's name is empty");
    return Stream::unknown();
  }
  if (const auto function = s.functions.find(name); function != s.functions.end()) {
    const Node* body = function->second;
    const bool is_command = find_row(name) != nullptr;
    State copy = copy_of(s);
    Stream out = call_function(*body, name, argv, s, in);
    if (!is_command || !calls_.empty()) {
      if (!is_command) return out;
    }
    const Stream plain =
        run_command(name, argv, copy, in);  // the function may not be defined after all
    s = joined(s, copy);
    static_cast<void>(plain);
    return Stream::unknown();
  }
  std::string_view plain = name;
  if (name.find('/') != std::string::npos) {
    plain = system_name_of(name);
    if (plain.empty()) {
      run_file(argv.front(), {argv.begin() + 1, argv.end()}, s);
      return Stream::unknown();
    }
  } else if (s.is_path_changed && !is_builtin(name)) {
    unknown(span, name, cat("PATH was changed: ", name, " may be another program"));
  }
  const bool is_of_keys = n_readers_ > 0 && prints_names_of_keys(plain, argv);  // argv may change
  Stream out = plain.size() == name.size() ? run_command(name, argv, s, in)
                                           : run_command(std::string(plain), argv, s, in);
  if (is_of_keys) out.keys = Keys::kMeant;
  return out;
}

// What the command reads: nothing, a line, or what is not known. Wrappers and shells read nothing
// themselves.
void Evaluator::note_input(const std::string& name, const std::vector<Arg>& argv) {
  static constexpr std::string_view kNothing[] = {
      "cd", "echo",  "printf", "export", "local", "set", "true", "[",    "test", ":",   "mkdir",
      "ls", "umask", "eval",   "source", ".",     "sh",  "bash", "dash", "zsh",  "ksh", "trap"};
  const auto is_name = [](const Arg& arg) {
    return arg.is_exact() && !arg.is_many && (arg.text() == "-r" || is_variable_name(arg.text()));
  };
  if (std::find(std::begin(kNothing), std::end(kNothing), name) != std::end(kNothing)) return;
  const Row* const row = find_row(name);
  const bool is_wrapper = row != nullptr && name != "xargs" && name != "ssh" &&
                          row->operands().find('c') != std::string_view::npos;
  if (is_wrapper) return;
  const bool is_line = name == "read" && std::all_of(argv.begin() + 1, argv.end(), is_name);
  taken_ = std::max(taken_, is_line ? Taken::kLine : Taken::kSome);
}

Stream Evaluator::run_command(const std::string& name, std::vector<Arg>& argv, State& s,
                              const Stream& in) {
  if (n_known_inputs_ > 0) note_input(name, argv);
  const std::string_view word = name;
  if (word == "break" || word == "continue" || word == "return") leave(name, argv.size() > 1, s);
  if (dialect_ == Dialect::kZsh || dialect_ == Dialect::kFish) {
    const std::string own = (dialect_ == Dialect::kZsh ? "zsh:" : "fish:") + name;
    const Row* const row = find_row(own);
    if (const Command* command = find_command(own, row)) return command->run(*this, argv, s, in);
    if (row != nullptr) return apply_row(*row, argv, 1, s, in);
  }
  const Row* const row = find_row(name);
  // The help of a tool with a language of its own; a shell and its builtins have rows' options.
  const std::string_view asked = argv.size() == 2 ? std::string_view(argv[1].text()) : "";
  const bool asks_help = row != nullptr && (asked == "--version" || asked == "--help") &&
                         !is_builtin(name) && row->has_effect('+') && !row->has_effect('C');
  if (asks_help) {
    apply_calls(*row, asked == "--version", argv.front().span, name);
    return Stream::unknown();
  }
  if (const Command* command = find_command(name, row)) return command->run(*this, argv, s, in);
  if (row != nullptr) return apply_row(*row, argv, 1, s, in);
  unknown(argv.front().span, name, cat("the command ", printable(name), " is not known"));
  return Stream::unknown();
}

}  // namespace wick::shell
