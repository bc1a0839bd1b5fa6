#include "assist/undo.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "assist/history.h"
#include "assist/quote.h"
#include "base/strings.h"

namespace wick::assist {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

// A command of one program: words, split at the first that is no option.
struct Parts {
  Words options = {}, operands = {};
};

struct Place {
  std::string cwd;
  shell::Dialect dialect;

  std::string path(const std::string& name) const {
    return name.starts_with('/') ? name : cat(cwd, "/", name);
  }

  bool is_absent(const std::string& name) const {
    struct stat status = {};
    return ::lstat(path(name).c_str(), &status) != 0 && errno == ENOENT;
  }

  bool is_folder(const std::string& name) const {
    struct stat status = {};
    return ::stat(path(name).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  }

  // Only without `..`: behind a link it is not the folder that the text names.
  std::string shown(const std::string& name) const {
    const fs::path whole = path(name);
    const bool has_parent = std::find(whole.begin(), whole.end(), "..") != whole.end();
    return has_parent ? whole.string() : whole.lexically_normal().string();
  }

  // "mv -n -- b a": absolute, so that it holds from everywhere.
  std::string command(std::string_view beginning, std::initializer_list<std::string> names) const {
    std::string out(beginning);
    for (const std::string& name : names)
      out += cat(" ", quote_word(shown(name), dialect));
    return out;
  }
};

Parts split(const Words& argv, std::size_t first) {
  Parts out;
  bool is_over = false;
  for (std::size_t i = first; i < argv.size(); ++i) {
    if (!is_over && argv[i] == "--") {
      is_over = true;
    } else if (!is_over && argv[i].size() > 1 && argv[i].starts_with('-')) {
      out.options.push_back(argv[i]);
    } else {
      out.operands.push_back(argv[i]);
    }
  }
  return out;
}

bool has_only(const Parts& parts, std::initializer_list<std::string_view> allowed) {
  return std::all_of(parts.options.begin(), parts.options.end(), [&](const std::string& option) {
    return std::find(allowed.begin(), allowed.end(), option) != allowed.end();
  });
}

std::string last_name(std::string name) {
  while (name.size() > 1 && name.ends_with('/'))
    name.pop_back();
  return name.substr(name.rfind('/') + 1);
}

UndoPlan known(Words commands) {
  return {.is_known = true, .commands = std::move(commands)};
}

// Where each source of mv or cp ends up; nothing if one of these places is taken.
std::optional<Words> targets_of(const Words& operands, const Place& place) {
  if (operands.size() < 2) return std::nullopt;
  const std::string& last = operands.back();
  Words out;
  const bool is_into = place.is_folder(last);
  if (!is_into && (operands.size() > 2 || last.ends_with('/'))) return std::nullopt;
  for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
    const std::string name = last_name(operands[i]);
    if (name.empty() || name == "." || name == ".." || place.is_absent(operands[i]))
      return std::nullopt;
    std::string target = is_into ? cat(last, "/", name) : last;
    if (!place.is_absent(target) || std::find(out.begin(), out.end(), target) != out.end())
      return std::nullopt;
    out.push_back(std::move(target));
  }
  return out;
}

UndoPlan undo_mv(const Words& argv, const Place& place) {
  const Parts parts = split(argv, 1);
  const auto targets = targets_of(parts.operands, place);
  if (!targets || !has_only(parts, {"-n", "-v", "-i"})) return {};
  Words undo;
  for (std::size_t i = targets->size(); i-- > 0;)
    undo.push_back(place.command("mv -n --", {(*targets)[i], parts.operands[i]}));
  return known(std::move(undo));
}

UndoPlan undo_cp(const Words& argv, const Place& place) {
  const Parts parts = split(argv, 1);
  const auto targets = targets_of(parts.operands, place);
  if (!targets || !has_only(parts, {"-n", "-v", "-i", "-p"})) return {};
  Words undo;
  for (const std::string& target : *targets)
    undo.push_back(place.command("rm --", {target}));
  return known(std::move(undo));
}

UndoPlan undo_mkdir(const Words& argv, const Place& place) {
  const Parts parts = split(argv, 1);
  if (parts.operands.empty() || !has_only(parts, {"-p", "-v"})) return {};
  Words undo;
  for (const std::string& operand : parts.operands) {
    if (operand.find("..") != std::string::npos) return {};
    fs::path folder = fs::path(place.path(operand)).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    Words made;  // deepest first
    for (; place.is_absent(folder.string()); folder = folder.parent_path())
      made.push_back(place.command("rmdir --", {folder.string()}));
    undo.insert(undo.end(), made.begin(), made.end());
  }
  // A folder that two operands need is removed once, after what is in it.
  Words once;
  for (const std::string& command : undo) {
    if (std::find(once.begin(), once.end(), command) == once.end()) once.push_back(command);
  }
  std::stable_sort(once.begin(), once.end(), [](const std::string& a, const std::string& b) {
    return std::count(a.begin(), a.end(), '/') > std::count(b.begin(), b.end(), '/');
  });
  return known(std::move(once));
}

UndoPlan undo_touch(const Words& argv, const Place& place) {
  const Parts parts = split(argv, 1);
  if (parts.operands.empty() || !parts.options.empty()) return {};
  Words undo;
  for (const std::string& operand : parts.operands) {
    if (!place.is_absent(operand)) return {};  // its times are lost
    const std::string remove = place.command("rm --", {operand});
    if (std::find(undo.begin(), undo.end(), remove) == undo.end()) undo.push_back(remove);
  }
  return known(std::move(undo));
}

UndoPlan undo_ln(const Words& argv, const Place& place) {
  const Parts parts = split(argv, 1);
  if (parts.operands.size() != 2 || parts.options != Words{"-s"} ||
      !place.is_absent(parts.operands[1]))
    return {};
  return known({place.command("rm --", {parts.operands[1]})});
}

UndoPlan undo_chmod(const Words& argv, const Place& place) {
  const Parts parts = split(argv, 1);
  if (parts.operands.size() < 2 || !parts.options.empty()) return {};
  Words undo;
  for (std::size_t i = 1; i < parts.operands.size(); ++i) {
    struct stat status = {};
    if (::lstat(place.path(parts.operands[i]).c_str(), &status) != 0 || S_ISLNK(status.st_mode))
      return {};
    std::string mode;
    for (int shift = 9; shift >= 0; shift -= 3)
      mode += static_cast<char>('0' + ((status.st_mode >> static_cast<unsigned>(shift)) & 7U));
    undo.push_back(place.command(cat("chmod ", mode, " --"), {parts.operands[i]}));
  }
  std::reverse(undo.begin(), undo.end());  // a name that stands twice ends with its first mode
  return known(std::move(undo));
}

// The branch that is checked out, "" if none is; nothing if there is no commit yet.
std::optional<std::string> branch_with_commit(const Place& place) {
  for (fs::path folder = place.cwd; !folder.empty(); folder = folder.parent_path()) {
    std::error_code ignored;
    const fs::path git = folder / ".git";
    const fs::file_type type = fs::symlink_status(git, ignored).type();
    if (type != fs::file_type::not_found && type != fs::file_type::directory)
      return std::nullopt;  // a worktree or submodule: its branch is elsewhere
    if (type == fs::file_type::directory) {
      std::ifstream in(git / "HEAD");
      std::string head;
      std::getline(in, head);
      constexpr std::string_view kRef = "ref: ", kHeads = "refs/heads/";
      if (!head.starts_with(kRef)) return std::nullopt;
      const std::string ref = head.substr(kRef.size());
      std::ifstream packed(git / "packed-refs");
      bool is_packed = false;
      for (std::string line; std::getline(packed, line);)
        is_packed = is_packed || line.ends_with(" " + ref);
      if (!ref.starts_with(kHeads) || (!is_packed && !fs::exists(git / ref, ignored)))
        return std::nullopt;
      return ref.substr(kHeads.size());
    }
    if (folder == folder.root_path()) break;
  }
  return std::nullopt;
}

UndoPlan undo_git(const Words& argv, const Place& place) {
  const auto branch = branch_with_commit(place);
  if (!branch || argv.size() < 2) return {};
  const std::string inside = cat("git -C ", quote_word(place.cwd, place.dialect));
  const Parts parts = split(argv, 2);
  if (argv[1] == "commit") {
    const bool is_message = argv.size() == 4 && argv[2] == "-m";
    if (!is_message) return {};
    return known({cat(inside, " reset --soft HEAD~1")});
  }
  if (argv[1] == "switch" && parts.operands.size() == 1) {
    const std::string back = cat(inside, " switch -q ", quote_word(*branch, place.dialect));
    if (parts.options.empty()) return known({back});
    if (parts.options == Words{"-c"})
      return known(
          {back, cat(inside, " branch -D ", quote_word(parts.operands[0], place.dialect))});
  }
  return {};
}

// One command without redirection, substitution or background, each word known.
std::optional<Words> single_command(std::string_view text, shell::Dialect dialect,
                                    const shell::Verdict& verdict) {
  const shell::Parsed parsed = shell::parse(text, dialect, shell::Mode::kScript);
  const auto* const script = std::get_if<shell::Script>(&parsed);
  if (script == nullptr || script->body.size() != 1 || verdict.calls.size() != 1)
    return std::nullopt;
  const shell::Node& node = script->body.front();
  if (node.kind != shell::NodeKind::kSimple || node.is_background || !node.redirects.empty() ||
      !node.assignments.empty())
    return std::nullopt;
  Words words;
  for (const auto& word : verdict.calls.front().argv) {
    // A word with glob characters may stand for other words.
    if (!word || word->find_first_of("*?[") != std::string::npos) return std::nullopt;
    words.push_back(*word);
  }
  return words;
}

}  // namespace

UndoPlan plan_undo(std::string_view text, shell::Dialect dialect, const shell::Verdict& verdict,
                   const std::string& cwd) {
  if (!verdict.error && verdict.level == shell::Level::kSafe) return known({});
  const auto argv = single_command(text, dialect, verdict);
  if (!argv || argv->empty() || cwd.empty()) return {};

  struct Row {
    std::string_view name;
    UndoPlan (*plan)(const Words& argv, const Place& place);
  };

  static constexpr Row kRows[] = {{"mv", undo_mv},       {"cp", undo_cp}, {"mkdir", undo_mkdir},
                                  {"touch", undo_touch}, {"ln", undo_ln}, {"chmod", undo_chmod},
                                  {"git", undo_git}};
  const Place place{.cwd = cwd, .dialect = dialect};
  for (const Row& row : kRows) {
    if (row.name != argv->front()) continue;
    UndoPlan plan = row.plan(*argv, place);
    const bool is_whole = std::all_of(plan.commands.begin(), plan.commands.end(), is_kept_whole);
    return is_whole ? plan : UndoPlan();
  }
  return {};
}

}  // namespace wick::assist
