#include "assist/machine.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "assist/limits.h"
#include "base/strings.h"

namespace wick::assist {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kTools[] = {
    "apt",     "awk",   "bat",        "brew",    "bzip2",     "cargo",   "clang",     "cmake",
    "convert", "curl",  "dnf",        "docker",  "fd",        "ffmpeg",  "fzf",       "gawk",
    "gcc",     "gh",    "git",        "go",      "gpg",       "gzip",    "htop",      "ip",
    "java",    "jq",    "journalctl", "kubectl", "lsof",      "magick",  "make",      "mysql",
    "ncdu",    "nginx", "ninja",      "node",    "npm",       "openssl", "pacman",    "parallel",
    "perl",    "pip",   "podman",     "psql",    "python3",   "rg",      "rsync",     "ruby",
    "sqlite3", "ss",    "ssh",        "sudo",    "systemctl", "tar",     "terraform", "tmux",
    "tree",    "unzip", "uv",         "wget",    "xz",        "yq",      "zip",       "zstd"};

constexpr int kMaxParents = 6;

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// "bash5", "-zsh", "bash-5.2" name the shell that they begin with.
std::string shell_name(std::string_view program) {
  std::string name = base_name(program);
  if (name.starts_with('-')) name.erase(0, 1);
  if (const std::size_t blank = name.find(' '); blank != std::string::npos) name.resize(blank);
  for (const char* const known : {"bash", "zsh", "fish", "dash", "ksh", "mksh", "ash", "pwsh"}) {
    if (name.starts_with(known) &&
        name.find_first_not_of("0123456789.-", std::string_view(known).size()) == std::string::npos)
      return known;
  }
  return name;
}

bool is_shell(std::string_view name) {
  static constexpr std::string_view kShells[] = {"bash", "zsh", "fish", "dash", "ksh",  "mksh",
                                                 "ash",  "sh",  "pwsh", "nu",   "tcsh", "csh"};
  return std::find(std::begin(kShells), std::end(kShells), name) != std::end(kShells);
}

// Programs that stand between a shell and what it starts.
bool is_wrapper(std::string_view name) {
  static constexpr std::string_view kWrappers[] = {"sudo", "doas",  "env",     "nice",
                                                   "time", "nohup", "timeout", "setsid"};
  return std::find(std::begin(kWrappers), std::end(kWrappers), name) != std::end(kWrappers);
}

// "PID (name) S PARENT …"; the name may hold anything.
pid_t parent_of(pid_t pid) {
  std::ifstream in(cat("/proc/", pid, "/stat"));
  std::string line;
  std::getline(in, line);
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos || end + 4 >= line.size()) return 0;
  return static_cast<pid_t>(std::strtol(line.c_str() + end + 4, nullptr, 10));
}

std::string read_link(const std::string& path) {
  std::error_code failed;
  const fs::path target = fs::read_symlink(path, failed);
  return failed ? "" : target.string();
}

std::string shell_above() {
  pid_t pid = ::getppid();
  for (int i = 0; i < kMaxParents && pid > 1; ++i, pid = parent_of(pid)) {
    std::string program = read_link(cat("/proc/", pid, "/exe"));
    constexpr std::string_view kDeleted = " (deleted)";  // replaced by an update meanwhile
    if (program.ends_with(kDeleted)) program.resize(program.size() - kDeleted.size());
    if (!is_wrapper(base_name(program))) return program;
  }
  return "";
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Of links, where they lead: BusyBox and toybox are one program with many names.
ToolFamily family_of(std::string_view system, std::string_view path) {
  if (system != "Linux") return ToolFamily::kBsd;
  std::error_code failed;
  const fs::path tool = fs::canonical(find_on_path("ls", path), failed);
  const std::string name = failed ? "" : base_name(tool.string());
  return name == "busybox" || name == "toybox" ? ToolFamily::kBusyBox : ToolFamily::kGnu;
}

std::string first_line(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line.size() > kMaxSentence ? "" : line;
}

// Of .git/HEAD, "ref: refs/heads/main"; in a work tree .git is a file that names the folder.
std::string branch_at(fs::path folder) {
  std::error_code ignored;
  for (; !folder.empty(); folder = folder.parent_path()) {
    fs::path git = folder / ".git";
    if (fs::is_regular_file(git, ignored)) {
      constexpr std::string_view kPointer = "gitdir: ";
      const std::string line = first_line(git);
      git = line.starts_with(kPointer) ? folder / line.substr(kPointer.size()) : fs::path();
    }
    if (fs::is_directory(git, ignored)) {
      constexpr std::string_view kRef = "ref: refs/heads/";
      const std::string head = first_line(git / "HEAD");
      return head.starts_with(kRef) ? head.substr(kRef.size()) : "";
    }
    if (folder == folder.root_path()) break;
  }
  return "";
}

void read_names(Machine& machine) {
  DIR* const folder = ::opendir(machine.cwd.c_str());
  if (folder == nullptr) return;
  int n_seen = 0;
  while (const dirent* const entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name.starts_with('.')) continue;
    if (++n_seen > kMaxScanned) break;
    machine.names.push_back(cat(name, entry->d_type == DT_DIR ? "/" : ""));
  }
  ::closedir(folder);
  std::sort(machine.names.begin(), machine.names.end());
  std::size_t n_bytes = 0, n_kept = 0;
  while (n_kept < machine.names.size() && n_kept < kMaxNames) {
    n_bytes += machine.names[n_kept].size();
    if (n_bytes > kMaxListing) break;
    ++n_kept;
  }
  machine.has_more_names = n_kept < machine.names.size();
  machine.names.resize(n_kept);
}

void set_shell(Machine& machine, const MachineSources& sources) {
  std::string program = sources.asked_shell == "auto" ? "" : sources.asked_shell;
  if (program.empty() && is_shell(shell_name(sources.parent_program)))
    program = sources.parent_program;
  if (program.empty()) program = sources.shell_variable;
  if (program.empty()) program = "sh";
  machine.shell = shell_name(program);
  const auto dialect = shell::dialect_named(machine.shell);
  machine.is_shell_known = dialect.has_value();
  machine.dialect = dialect.value_or(shell::Dialect::kPosix);
  machine.shell_path = program.find('/') != std::string::npos
                           ? (::access(program.c_str(), X_OK) == 0 ? program : "")
                           : find_on_path(machine.shell, sources.path);
}

}  // namespace

std::string_view name(ToolFamily family) noexcept {
  switch (family) {
    case ToolFamily::kGnu:
      return "GNU";
    case ToolFamily::kBsd:
      return "BSD";
    case ToolFamily::kBusyBox:
      break;
  }
  return "BusyBox";
}

std::string find_on_path(std::string_view name, std::string_view path) {
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
    if (!folder.starts_with('/')) continue;  // a folder that depends on the cwd is not trusted
    const std::string file = cat(folder, "/", name);
    struct stat status = {};
    if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        ::access(file.c_str(), X_OK) == 0)
      return file;
  }
  return "";
}

MachineSources process_sources() {
  std::error_code failed;
  const fs::path cwd = fs::current_path(failed);
  return {.cwd = failed ? "" : cwd.string(),
          .home = variable("HOME"),
          .path = variable("PATH"),
          .parent_program = shell_above(),
          .shell_variable = variable("SHELL")};
}

Machine probe(const MachineSources& sources) {
  Machine machine{.cwd = sources.cwd, .home = sources.home, .is_root = ::geteuid() == 0};
  set_shell(machine, sources);
  utsname names = {};
  if (::uname(&names) == 0) machine.system = names.sysname;
  machine.family = family_of(machine.system, sources.path);
  for (const std::string_view tool : kTools) {
    if (!find_on_path(tool, sources.path).empty()) machine.tools.emplace_back(tool);
  }
  if (machine.cwd.empty()) return machine;
  machine.git_branch = branch_at(machine.cwd);
  read_names(machine);
  return machine;
}

shell::Profile profile_of(const Machine& machine) {
  shell::Profile profile{.cwd = machine.cwd, .home = machine.home, .is_root = machine.is_root};
  if (machine.family == ToolFamily::kBusyBox) profile.platform = shell::Platform::kBusyBox;
  if (machine.family == ToolFamily::kBsd) {
    profile.platform =
        machine.system == "Darwin" ? shell::Platform::kMacOs : shell::Platform::kUnknown;
  }
  return profile;
}

}  // namespace wick::assist
