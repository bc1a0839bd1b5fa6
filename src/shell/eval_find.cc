// find: start paths, tests that narrow, and what is done with each file.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"
#include "shell/key_names.h"
#include "shell/limits.h"

namespace wick::shell {

namespace {

bool is_any(std::string_view text, std::span<const std::string_view> set) {
  return std::find(set.begin(), set.end(), text) != set.end();
}

bool is_any(std::string_view text, std::initializer_list<std::string_view> set) {
  return is_any(text, std::span(set.begin(), set.size()));
}

// A part of the expression, as far as it is true: whether it holds only for names of a pattern.
struct Action {
  char kind = 'e';  // 'e' -exec, 'i' -execdir, 'd' -delete, 'p' -print, 'w' a file is written
  std::vector<Arg> words = {};  // of a command; the file
  Span span = {};
  bool is_narrowed = false;
  Keys keys = Keys::kSome;  // of the names that come here
};

// What a part of the expression says about a file for which it is true, and for which it is not.
struct Truth {
  bool is_narrowed = false, not_narrowed = false;  // it has a name of a pattern
  Chosen names = {};

  static Truth always() {
    Truth out;
    out.names.may_not.reset();
    return out;
  }

  static Truth narrowing() { return {.is_narrowed = true}; }
};

Truth negated(const Truth& t) {
  return {.is_narrowed = t.not_narrowed,
          .not_narrowed = t.is_narrowed,
          .names = {.may = t.names.may_not, .may_not = t.names.may}};
}

Truth both_of(const Truth& a, const Truth& b) {
  return {.is_narrowed = a.is_narrowed || b.is_narrowed,
          .not_narrowed = a.not_narrowed && b.not_narrowed,
          .names = {.may = a.names.may & b.names.may,
                    .may_not = a.names.may_not | b.names.may_not}};
}

Truth either_of(const Truth& a, const Truth& b) {
  return negated(both_of(negated(a), negated(b)));
}

struct FindCall {
  std::vector<Arg> paths = {};
  std::vector<Action> actions = {};
  Truth all = {};            // the whole expression, which stands for -print where nothing is done
  Keys keys = Keys::kSome;   // of the names for which it is true
  bool is_nul = false;
  bool prints_more = false;  // -ls, -printf: lines that are no names
  std::vector<std::pair<std::string, Span>> bad = {};
};

constexpr std::string_view kPlainWords[] = {"-daystart",
                                            "-depth",
                                            "-d",
                                            "-mount",
                                            "-xdev",
                                            "-noleaf",
                                            "-follow",
                                            "-warn",
                                            "-nowarn",
                                            "-ignore_readdir_race",
                                            "-noignore_readdir_race",
                                            "-true",
                                            "-false",
                                            "-prune",
                                            "-quit",
                                            "--help",
                                            "-help",
                                            "--version",
                                            "-version",
                                            "-E",
                                            "-X",
                                            "-s"};
constexpr std::string_view kNarrowing[] = {
    "-name",  "-iname",  "-path",   "-ipath",  "-wholename", "-iwholename", "-lname", "-ilname",
    "-regex", "-iregex", "-size",   "-mtime",  "-mmin",      "-ctime",      "-cmin",  "-atime",
    "-amin",  "-newer",  "-anewer", "-cnewer", "-user",      "-group",      "-uid",   "-gid",
    "-perm",  "-links",  "-inum",   "-used",   "-samefile",  "-context",    "-flags"};

// -name, -ipath, -regex …: the pattern, and what it is compared with.
std::optional<NamePattern> name_pattern(std::string_view test, const Arg& value) {
  NamePattern out{.text = value.text(), .is_any_case = test.starts_with("-i")};
  if (is_any(test, {"-name", "-iname"})) return out;
  out.kind = NamePattern::kPath;
  if (is_any(test, {"-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname"}))
    return out;
  out.kind = NamePattern::kRegex;
  if (is_any(test, {"-regex", "-iregex"})) return out;
  return std::nullopt;
}

std::vector<NamePattern> name_patterns(const std::vector<Arg>& argv) {
  std::vector<NamePattern> out;
  for (std::size_t i = 1; i + 1 < argv.size(); ++i) {
    auto pattern = name_pattern(argv[i].text(), argv[i + 1]);
    if (pattern) out.push_back(*std::move(pattern));
  }
  return out;
}

std::vector<std::string> starts_of(const std::vector<Arg>& argv) {
  std::vector<std::string> out;
  for (std::size_t i = 1; i < argv.size() && out.size() < kMaxSet; ++i) {
    const std::string& text = argv[i].text();
    if (text.starts_with('-') || text == "(" || text == "!") break;
    out.push_back(text);
  }
  if (out.empty()) out.emplace_back(".");
  return out;
}

// find's own grammar: `,` binds least, then -o, then juxtaposition, then `!`. A file comes to a
// part of the expression if those in front of it in its conjunctions are true, and those in front
// of it in its disjunctions are not: `before` says what is known of it then.
class FindReader {
 public:
  FindReader(const std::vector<Arg>& argv, FindCall& out)
      : argv_(argv), out_(out), names_(name_patterns(argv), starts_of(argv)) {}

  void read() {
    while (at_ < argv_.size() && (is_any(argv_[at_].text(), {"-H", "-L", "-P", "--"}) ||
                                  argv_[at_].text().starts_with("-O")))
      ++at_;
    while (at_ < argv_.size() && !starts_expression(argv_[at_])) {
      // Not known, it may be -delete.
      if (!argv_[at_].is_exact() && !argv_[at_].is_glob && argv_[at_].may_be_option())
        bad(argv_[at_]);
      out_.paths.push_back(argv_[at_++]);
    }
    for (std::size_t i = at_; i < argv_.size(); ++i) {
      if (may_be_many_options(argv_[i])) bad(argv_[i]);
    }
    for (const Arg& path : out_.paths)
      has_dot_start_ = has_dot_start_ || !path.is_exact() || is_dot_name(path.text());
    has_dot_start_ = has_dot_start_ || out_.paths.empty();
    while (at_ < argv_.size()) {
      out_.all = either({}, 0);
      if (at_ < argv_.size()) bad(argv_[at_++]);  // a bracket that closes nothing
    }
    out_.keys = names_.keys_of(out_.all.names.may);
  }

 private:
  static bool starts_expression(const Arg& arg) {
    if (!arg.is_exact()) return false;
    const std::string& t = arg.text();
    return t.starts_with('-') || t == "(" || t == ")" || t == "!" || t == ",";
  }

  static bool is_dot_name(std::string_view path) {
    const std::size_t end = path.find_last_not_of('/');
    const std::size_t slash = end == std::string_view::npos ? end : path.rfind('/', end);
    return path.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with('.');
  }

  void bad(const Arg& arg) { out_.bad.emplace_back(arg.text(), arg.span); }

  bool is_at(std::initializer_list<std::string_view> words) const {
    return at_ < argv_.size() && argv_[at_].is_exact() && is_any(argv_[at_].text(), words);
  }

  Truth either(const Truth& before, int depth) {
    Truth all = both(before, depth);
    while (is_at({"-o", "-or", ","})) {
      const bool is_list = argv_[at_].text() == ",";
      ++at_;
      const Truth next = both(is_list ? before : both_of(before, negated(all)), depth);
      all = is_list ? next : either_of(all, next);
    }
    return all;
  }

  Truth both(const Truth& before, int depth) {
    Truth all = Truth::always();
    while (at_ < argv_.size() && !is_at({"-o", "-or", ",", ")"})) {
      if (is_at({"-a", "-and"})) {
        ++at_;
        continue;
      }
      all = both_of(all, primary(both_of(before, all), depth));
    }
    return all;
  }

  Truth primary(const Truth& before, int depth) {
    const Arg& arg = argv_[at_];
    const std::string& t = arg.text();
    if (!arg.is_exact() || !starts_expression(arg) || depth > kMaxNested) {
      bad(argv_[at_++]);
      return {};
    }
    ++at_;
    if (t == "!" || t == "-not")
      return at_ < argv_.size() ? negated(primary(before, depth + 1)) : Truth();
    if (t == "(") {
      const Truth inner = either(before, depth + 1);
      if (at_ < argv_.size()) ++at_;
      return inner;
    }
    if (t == "-false") return negated(Truth::always());
    if (is_any(t, kPlainWords)) return Truth::always();
    if (is_any(t, {"-empty", "-executable", "-nogroup", "-nouser", "-readable", "-writable"}))
      return Truth::narrowing();
    return test_or_action(arg, before);
  }

  Truth test_or_action(const Arg& arg, const Truth& before) {
    const std::string& t = arg.text();
    if (is_any(t, {"-print", "-print0", "-ls"})) {
      out_.is_nul = out_.is_nul || t == "-print0";
      out_.prints_more = out_.prints_more || t == "-ls";
      act('p', {}, arg.span, before);
      return Truth::always();
    }
    if (t == "-delete") {
      act('d', {}, arg.span, before);
    } else if (is_any(t, {"-exec", "-execdir", "-ok", "-okdir"})) {
      command(arg, before);
    } else if (at_ >= argv_.size()) {
      bad(arg);
    } else {
      return with_argument(arg, before);
    }
    return {};
  }

  void act(char kind, std::vector<Arg> words, Span span, const Truth& before) {
    out_.actions.push_back({.kind = kind,
                            .words = std::move(words),
                            .span = span,
                            .is_narrowed = before.is_narrowed,
                            .keys = names_.keys_of(before.names.may)});
  }

  Truth with_argument(const Arg& arg, const Truth& before) {
    const std::string& t = arg.text();
    const Arg& value = argv_[at_++];
    if (is_any(t, {"-maxdepth", "-mindepth", "-regextype", "-D"})) return Truth::always();
    if (is_any(t, {"-type", "-xtype", "-fstype"})) return {};
    if (t == "-printf") {
      const bool is_name = is_any(value.text(), {"%p\\n", "%p\\0"});
      out_.prints_more = out_.prints_more || !is_name;
      out_.is_nul = out_.is_nul || value.text() == "%p\\0";
      act('p', {}, arg.span, before);
      return Truth::always();
    }
    if (is_any(t, {"-fprint", "-fprint0", "-fls", "-fprintf"})) {
      act('w', {value}, arg.span, before);
      if (t == "-fprintf" && at_ < argv_.size()) ++at_;
      return Truth::always();
    }
    if (!is_any(t, kNarrowing) && !(t.starts_with("-newer") && t.size() == 8)) {
      --at_;
      bad(arg);
      return {};
    }
    Truth out;
    out.is_narrowed =
        value.value.is_known && !(t.find("name") != std::string::npos && is_all(value));
    const auto pattern = name_pattern(t, value);
    if (pattern && value.is_exact()) out.names = names_.chosen_by(*pattern);
    if (t == "-samefile") out.names = names_.chosen_by_sample(value.text());
    return out;
  }

  // A pattern that every name matches; `.*` matches the start where that is `.`.
  bool is_all(const Arg& pattern) const {
    const std::string& text = pattern.text();
    if (!pattern.is_exact() || text.find_first_not_of("*?/.") != std::string::npos) return false;
    return !text.starts_with('.') || text.find('/') != std::string::npos || has_dot_start_;
  }

  void command(const Arg& arg, const Truth& before) {
    std::vector<Arg> words;
    while (at_ < argv_.size()) {
      const std::string& t = argv_[at_].text();
      if (t == ";" || (t == "+" && !words.empty() && words.back().text() == "{}")) break;
      words.push_back(argv_[at_++]);
    }
    const bool is_ended = at_ < argv_.size();
    if (is_ended) ++at_;
    if (!is_ended || words.empty()) return bad(arg);
    act(arg.text().ends_with("dir") ? 'i' : 'e', std::move(words), arg.span, before);
  }

  const std::vector<Arg>& argv_;
  FindCall& out_;
  KeyNames names_;
  std::size_t at_ = 1;
  bool has_dot_start_ = false;
};

// What find puts for `{}`: a name below `start`, or below the folder of a pattern of names.
Value found_below(const Arg& start, bool is_narrowed) {
  if (!start.value.is_known || start.value.set.size() != 1) return Value::unknown();
  std::string folder = start.value.set.front();
  if (start.is_glob) {
    const std::size_t slash = folder.rfind('/', folder.find_first_of("*?["));
    folder = slash == std::string::npos ? "./" : folder.substr(0, slash + 1);
    if (folder == "/") return Value::unknown();
  }
  Value found = Value::below(folder.ends_with('/') ? folder : folder + "/");
  found.is_everything = !is_narrowed && !start.is_glob;
  return found;
}

}  // namespace

// The command of an -exec for one start. -execdir runs it in each file's folder: there the start
// stands for all of them, and what is relative to a folder of the system is not known.
Stream Commands::find_exec(Evaluator& e, const FindExec& exec, const State& s) {
  Value found = exec.found;
  State copy = e.copy_of(s);
  copy.functions.clear();
  copy.aliases.clear();
  if (exec.is_in_folder) {
    const std::string folder =
        found.is_below && s.cwd.size() == 1 ? e.file_of(found.prefix, s) : "";
    copy.cwd.clear();
    if (!folder.empty()) copy.cwd.push_back(folder);
    copy.is_cwd_lost = folder.empty() || scope_of(folder, {.is_tree = true},
                                                  e.folders_at(s.cwd[0])) > Scope::kOutside;
    if (found.is_below && !copy.is_cwd_lost) found.prefix = "./";
  }
  Argv one;
  for (const Arg& word : *exec.words) {
    Arg arg = word;
    const std::size_t at = word.is_exact() ? word.text().find("{}") : std::string::npos;
    if (at != std::string::npos) {
      arg.value = concat(concat(Value::exact(word.text().substr(0, at)), found),
                         Value::exact(word.text().substr(at + 2)));
      arg.value.is_everything = found.is_everything && at + 2 == word.text().size();
      if (word.text().find("{}", at + 2) != std::string::npos) arg.value = Value::unknown();
    }
    one.push_back(std::move(arg));
  }
  return e.invoke(std::move(one), copy, Stream::none());
}

Stream Commands::find(Evaluator& e, Argv& argv, State& s, const Stream& in) {
  static_cast<void>(in);
  FindCall call;
  FindReader(argv, call).read();
  for (const auto& [text, span] : call.bad)
    e.unknown(
        span, text,
        wick::cat("find: ", text.empty() ? std::string("a word") : std::string(printable(text)),
                  " is not known here"));
  if (call.paths.empty()) call.paths.push_back({.value = Value::exact("."), .span = argv[0].span});
  Stream out = Stream::unknown();
  bool prints_names = !call.prints_more;
  bool is_printed = false;
  bool is_narrowed = true;
  Keys keys = Keys::kNone;
  for (const Action& action : call.actions) {
    prints_names = prints_names && (action.kind == 'p' || action.kind == 'd');
    is_printed = is_printed || action.kind == 'p';
    if (action.kind == 'p') {
      is_narrowed = is_narrowed && action.is_narrowed;
      keys = std::max(keys, action.keys);
    }
    if (action.kind != 'w') continue;
    Stream listed = Stream::unknown();
    listed.keys = action.keys;
    e.write_stream(action.words[0], listed, false, s);
  }
  if (!is_printed) {
    is_narrowed = call.all.is_narrowed;
    keys = call.keys;
  }
  for (const Arg& path : call.paths) {
    e.touch(EffectKind::kReadsNames, path, s, {});
    const std::string start = normal_path(path.text(), s.cwd.size() == 1 ? s.cwd[0] : "");
    const bool is_key_folder = path.is_glob && may_be_credential(start, e.profile_.home);
    for (const Action& action : call.actions) {
      const Reach reach{
          .is_tree = true, .is_glob = path.is_glob, .is_narrowed = action.is_narrowed};
      if (action.kind == 'd') {
        Arg target = path;
        target.span = {path.span.begin, std::max(path.span.end, action.span.end)};
        e.touch(EffectKind::kDeletes, target, s, reach);
      }
      if (action.kind != 'e' && action.kind != 'i') continue;
      Value found = found_below(path, action.is_narrowed);
      found.keys = is_key_folder ? Keys::kMeant : action.keys;
      const Stream printed = find_exec(e,
                                       {.words = &action.words,
                                        .found = std::move(found),
                                        .is_in_folder = action.kind == 'i'},
                                       s);
      out.is_secret = out.is_secret || printed.is_secret;
      out.keys = std::max(out.keys, printed.keys);
    }
    const Value found = found_below(path, is_narrowed);
    out.is_names = prints_names && call.paths.size() == 1 && found.is_below;
    out.prefix = found.prefix;
    out.is_everything = found.is_everything;
    out.is_nul = call.is_nul;
    out.keys = is_key_folder ? Keys::kMeant : std::max(out.keys, keys);
  }
  return out;
}

}  // namespace wick::shell
