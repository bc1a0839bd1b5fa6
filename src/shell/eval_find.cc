// find: start paths, tests that narrow, and what is done with each file.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "shell/commands.h"

namespace wick::shell {

namespace {

bool is_any(std::string_view text, std::initializer_list<std::string_view> set) {
  return std::find(set.begin(), set.end(), text) != set.end();
}

struct FindCall {
  std::vector<Arg> paths;
  bool is_narrowed = false, has_or = false, deletes = false, is_nul = false;
  Span delete_span;
  std::vector<std::pair<char, std::vector<Arg>>> commands;  // 'e' -exec, with its words
  std::vector<Arg> writes;
  std::vector<std::pair<std::string, Span>> bad;
};

class FindReader {
 public:
  FindReader(const std::vector<Arg>& argv, FindCall& out) : argv_(argv), out_(out) {}

  void read() {
    std::size_t i = 1;
    while (i < argv_.size() &&
           (is_any(argv_[i].text(), {"-H", "-L", "-P", "--"}) || argv_[i].text().starts_with("-O")))
      ++i;
    while (i < argv_.size() && !starts_expression(argv_[i]))
      out_.paths.push_back(argv_[i++]);
    while (i < argv_.size())
      i = primary(i);
    out_.is_narrowed = out_.is_narrowed && !out_.has_or;
  }

 private:
  static bool starts_expression(const Arg& arg) {
    if (!arg.is_exact()) return false;
    const std::string& t = arg.text();
    return t.starts_with('-') || t == "(" || t == ")" || t == "!" || t == ",";
  }

  std::size_t primary(std::size_t i) {
    const Arg& arg = argv_[i];
    const std::string& t = arg.text();
    if (!arg.is_exact() || !starts_expression(arg)) {
      out_.bad.emplace_back(t, arg.span);
      return i + 1;
    }
    if (is_any(t, {"-o", "-or", ",", "!", "-not"})) {
      out_.has_or = true;
      return i + 1;
    }
    if (is_any(t, {"(",
                   ")",
                   "-a",
                   "-and",
                   "-daystart",
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
                   "-print",
                   "-prune",
                   "-quit",
                   "-ls",
                   "--help",
                   "-help",
                   "--version",
                   "-version",
                   "-E",
                   "-X",
                   "-s"}))
      return i + 1;
    if (t == "-print0") {
      out_.is_nul = true;
      return i + 1;
    }
    if (is_any(t, {"-empty", "-executable", "-nogroup", "-nouser", "-readable", "-writable"})) {
      out_.is_narrowed = true;
      return i + 1;
    }
    if (t == "-delete") {
      out_.deletes = true;
      out_.delete_span = arg.span;
      return i + 1;
    }
    if (is_any(t, {"-exec", "-execdir", "-ok", "-okdir"})) return command(i);
    if (i + 1 >= argv_.size()) {
      out_.bad.emplace_back(t, arg.span);
      return i + 1;
    }
    return with_argument(i);
  }

  std::size_t with_argument(std::size_t i) {
    const std::string& t = argv_[i].text();
    const std::string& value = argv_[i + 1].text();
    if (is_any(t, {"-type", "-xtype", "-maxdepth", "-mindepth", "-printf", "-regextype", "-fstype",
                   "-D"}))
      return i + 2;
    if (is_any(t, {"-fprint", "-fprint0", "-fls"})) {
      out_.writes.push_back(argv_[i + 1]);
      return i + 2;
    }
    if (t == "-fprintf") {
      out_.writes.push_back(argv_[i + 1]);
      return i + 3;
    }
    const bool is_test =
        is_any(t, {"-name",   "-iname",  "-path",  "-ipath",    "-wholename", "-iwholename",
                   "-lname",  "-ilname", "-regex", "-iregex",   "-size",      "-mtime",
                   "-mmin",   "-ctime",  "-cmin",  "-atime",    "-amin",      "-newer",
                   "-anewer", "-cnewer", "-user",  "-group",    "-uid",       "-gid",
                   "-perm",   "-links",  "-inum",  "-samefile", "-used",      "-context",
                   "-flags"}) ||
        (t.starts_with("-newer") && t.size() == 8);
    if (!is_test) {
      out_.bad.emplace_back(t, argv_[i].span);
      return i + 1;
    }
    const bool is_all = argv_[i + 1].is_exact() &&
                        value.find_first_not_of("*?/.") == std::string::npos &&
                        t.find("name") != std::string::npos;
    if (!is_all && argv_[i + 1].value.is_known) out_.is_narrowed = true;
    return i + 2;
  }

  std::size_t command(std::size_t i) {
    std::vector<Arg> words;
    std::size_t k = i + 1;
    while (k < argv_.size()) {
      const std::string& t = argv_[k].text();
      if (t == ";" || (t == "+" && k > i + 1 && argv_[k - 1].text() == "{}")) break;
      words.push_back(argv_[k++]);
    }
    if (k >= argv_.size() || words.empty()) {
      out_.bad.emplace_back(argv_[i].text(), argv_[i].span);
    } else {
      out_.commands.emplace_back('e', std::move(words));
    }
    return k + 1;
  }

  const std::vector<Arg>& argv_;
  FindCall& out_;
};

}  // namespace

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
  for (const Arg& path : call.writes)
    e.write_stream(path, Stream::unknown(), false, s);
  Stream out = Stream::unknown();
  for (const Arg& path : call.paths) {
    e.touch(EffectKind::kReadsNames, path, s, {});
    const Reach reach{.is_tree = true, .is_glob = path.is_glob, .is_narrowed = call.is_narrowed};
    if (call.deletes) {
      Arg target = path;
      target.span = {path.span.begin, std::max(path.span.end, call.delete_span.end)};
      e.touch(EffectKind::kDeletes, target, s, reach);
    }
    Value found = Value::unknown();
    if (path.is_exact() && !path.is_glob) {
      const std::string& start = path.text();
      found = Value::below(start.ends_with('/') ? start : start + "/");
      found.is_everything = !call.is_narrowed;
      out.is_names = call.paths.size() == 1;
      out.prefix = found.prefix;
      out.is_everything = found.is_everything;
      out.is_nul = call.is_nul;
    }
    for (const auto& [kind, words] : call.commands) {
      static_cast<void>(kind);
      Argv one;
      for (const Arg& word : words) {
        Arg arg = word;
        const std::size_t at = word.is_exact() ? word.text().find("{}") : std::string::npos;
        if (at != std::string::npos) {
          arg.value = concat(concat(Value::exact(word.text().substr(0, at)), found),
                             Value::exact(word.text().substr(at + 2)));
          if (word.text().find("{}", at + 2) != std::string::npos) arg.value = Value::unknown();
        }
        one.push_back(std::move(arg));
      }
      State copy = s;
      copy.functions.clear();
      copy.aliases.clear();
      e.invoke(std::move(one), copy, Stream::none());
    }
  }
  return out;
}

}  // namespace wick::shell
