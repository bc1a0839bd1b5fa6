// The child is a copy of a process with threads, so between fork and exec it makes system calls
// alone: every path is ready before. Order matters: what stays writable (the copy, a few devices)
// is taken as a detached mount before all mounts become read-only and without devices, and put in
// its place after.
#include "assist/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "assist/limits.h"
#include "assist/tree_copy.h"
#include "base/clock.h"
#include "base/strings.h"

namespace wick::assist {

namespace fs = std::filesystem;

namespace {

Error no_sandbox(std::string what) {
  return {.code = ErrorCode::kUnsupported,
          .id = "no_sandbox",
          .message = cat("there is no sandbox here, so nothing was tried: ", what),
          .hint = "--dry-run lists the effects"};
}

// A step of the child that failed, through a pipe.
struct Failure {
  const char* step = nullptr;  // a literal
  int code = 0;
};

constexpr std::array kDevices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                 "/dev/urandom"};

struct Plan {
  const char* shell = nullptr;  // null: only whether it would work
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  std::string copy = {}, cwd = {};
  std::vector<std::string> parents = {};  // folders to make in an empty /tmp, to the cwd
  std::string user_map = {}, group_map = {};
  int failure = -1, output = -1;  // ends of pipes
};

[[noreturn]] void fail(const Plan& plan, const char* step) noexcept {
  const Failure one{.step = step, .code = errno};
  static_cast<void>(::write(plan.failure, &one, sizeof(one)) == sizeof(one));
  ::_exit(126);
}

bool write_file(const char* path, const char* text, std::size_t size) noexcept {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  const bool is_written = fd >= 0 && ::write(fd, text, size) == static_cast<ssize_t>(size);
  if (fd >= 0) ::close(fd);
  return is_written;
}

int detached(const char* path) noexcept {
  return ::open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

bool attach(int tree, const char* path) noexcept {
  return ::move_mount(tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

bool set_all(const char* path, std::uint64_t attributes) noexcept {
  mount_attr attr = {};
  attr.attr_set = attributes;
  return ::mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &attr, sizeof(attr)) == 0;
}

bool mount_empty(const char* path) noexcept {
  return ::mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "size=64m,mode=1777") == 0;
}

void set_up_mounts(const Plan& plan) noexcept {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) fail(plan, "mounts");
  const int copy = detached(plan.copy.c_str());
  if (copy < 0) fail(plan, "a mount of the copy");
  std::array<int, kDevices.size()> devices = {};
  for (std::size_t i = 0; i < kDevices.size(); ++i)
    devices[i] = detached(kDevices[i]);
  if (!set_all("/", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID))
    fail(plan, "a read-only file system");
  for (std::size_t i = 0; i < kDevices.size(); ++i) {
    if (devices[i] >= 0 && !attach(devices[i], kDevices[i])) fail(plan, "devices");
  }
  if (!mount_empty("/tmp")) fail(plan, "an empty /tmp");
  mount_empty("/run");      // sockets of services; absent in some containers
  mount_empty("/dev/shm");  // likewise
  for (const std::string& parent : plan.parents)
    ::mkdir(parent.c_str(), 0755);
  if (!attach(copy, plan.cwd.c_str())) fail(plan, "the copy in its place");
  if (::chdir(plan.cwd.c_str()) != 0) fail(plan, "the working directory");
}

// No Unix sockets (they lead to services that are outside), no io_uring (it makes sockets without
// the call), no keyrings.
bool forbid_calls() noexcept {
#if defined(__x86_64__)
  constexpr std::uint32_t kArch = AUDIT_ARCH_X86_64, kHighest = 0x3fffffff;  // x32 is above
#elif defined(__aarch64__)
  constexpr std::uint32_t kArch = AUDIT_ARCH_AARCH64, kHighest = 0x3fffffff;
#else
  return false;
#endif
  constexpr auto kLoad = static_cast<std::uint16_t>(BPF_LD | BPF_W | BPF_ABS);
  constexpr auto kEqual = static_cast<std::uint16_t>(BPF_JMP | BPF_JEQ | BPF_K);
  constexpr auto kAbove = static_cast<std::uint16_t>(BPF_JMP | BPF_JGT | BPF_K);
  constexpr auto kReturn = static_cast<std::uint16_t>(BPF_RET | BPF_K);
  constexpr std::uint32_t kDenied = SECCOMP_RET_ERRNO | EACCES;
  sock_filter program[] = {
      {kLoad, 0, 0, offsetof(seccomp_data, arch)},
      {kEqual, 1, 0, kArch},
      {kReturn, 0, 0, SECCOMP_RET_KILL_PROCESS},
      {kLoad, 0, 0, offsetof(seccomp_data, nr)},
      {kAbove, 8, 0, kHighest},
      {kEqual, 7, 0, SYS_io_uring_setup},
      {kEqual, 6, 0, SYS_add_key},
      {kEqual, 5, 0, SYS_request_key},
      {kEqual, 4, 0, SYS_keyctl},
      {kEqual, 0, 2, SYS_socket},
      {kLoad, 0, 0, offsetof(seccomp_data, args)},
      {kEqual, 1, 0, AF_UNIX},
      {kReturn, 0, 0, SECCOMP_RET_ALLOW},
      {kReturn, 0, 0, kDenied},
  };
  const sock_fprog filter = {.len = static_cast<unsigned short>(std::size(program)),
                             .filter = program};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Also where the user is root: no capability outlives this.
bool drop_rights() noexcept {
  for (int one = 0; one <= CAP_LAST_CAP; ++one)
    ::prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
  constexpr unsigned long kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                  SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                  SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (::prctl(PR_SET_SECUREBITS, kBits, 0, 0, 0) != 0) return false;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return ::syscall(SYS_capset, &header, none) == 0;
}

void set_limits() noexcept {
  const auto limit = [](__rlimit_resource what, rlim_t most) {
    const rlimit both = {.rlim_cur = most, .rlim_max = most};
    ::setrlimit(what, &both);
  };
  limit(RLIMIT_FSIZE, kMaxSandboxWritten);
  limit(RLIMIT_DATA, kMaxSandboxMemory);
  limit(RLIMIT_NPROC, kMaxSandboxProcesses);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, kMaxSandboxMs / 1000 + 1);
}

// Process 1 of the namespace: with it everything in it ends.
[[noreturn]] void be_command(const Plan& plan) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A fresh /proc shows this namespace alone; where it may not be mounted, the old one is
  // read-only.
  ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, nullptr);
  if (!drop_rights()) fail(plan, "fewer rights");
  if (!forbid_calls()) fail(plan, "a filter of system calls");
  if (plan.shell == nullptr) ::_exit(0);
  ::setsid();
  set_limits();
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(plan.output, STDOUT_FILENO);
  ::dup2(plan.output, STDERR_FILENO);
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGBUS, SIGTTOU})
    ::signal(number, SIG_DFL);
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execve(plan.shell, plan.arguments, plan.environment);
  fail(plan, "the shell");
}

[[noreturn]] void be_sandbox(const Plan& plan) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC |
                CLONE_NEWUTS) != 0)
    fail(plan, "namespaces");
  write_file("/proc/self/setgroups", "deny", 4);
  if (!write_file("/proc/self/uid_map", plan.user_map.data(), plan.user_map.size()))
    fail(plan, "a map of users");
  if (!write_file("/proc/self/gid_map", plan.group_map.data(), plan.group_map.size()))
    fail(plan, "a map of groups");
  set_up_mounts(plan);
  const pid_t child = ::fork();
  if (child == 0) be_command(plan);
  if (child < 0) fail(plan, "a process");
  ::close(plan.output);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

struct Pipe {
  int ends[2] = {-1, -1};

  Pipe() { static_cast<void>(::pipe2(static_cast<int*>(ends), O_CLOEXEC) == 0); }

  ~Pipe() {
    close_end(0);
    close_end(1);
  }

  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_end(int which) {
    if (ends[which] >= 0) ::close(ends[which]);
    ends[which] = -1;
  }
};

// Reads until the end of both pipes, or the time limit.
void gather(Pipe& output, Pipe& failure, Failure& failed, SandboxReport& report) {
  const std::int64_t end = monotonic_ns() + std::int64_t{kMaxSandboxMs} * 1'000'000;
  std::array<char, 4096> block = {};
  while (output.ends[0] >= 0 || failure.ends[0] >= 0) {
    const std::int64_t left = (end - monotonic_ns()) / 1'000'000;
    if (left <= 0) {
      report.is_late = true;
      return;
    }
    pollfd watched[] = {{.fd = output.ends[0], .events = POLLIN, .revents = 0},
                        {.fd = failure.ends[0], .events = POLLIN, .revents = 0}};
    if (::poll(watched, 2, static_cast<int>(left)) < 0 && errno != EINTR) return;
    if (watched[0].revents != 0) {
      const ssize_t n = ::read(output.ends[0], block.data(), block.size());
      if (n <= 0) output.close_end(0);
      const auto room = kMaxSandboxOutput - report.output.size();
      const auto got = static_cast<std::size_t>(n > 0 ? n : 0);
      report.output.append(block.data(), std::min(got, room));
      report.is_partial = report.is_partial || got > room;
    }
    if (watched[1].revents != 0) {
      Failure one;
      if (::read(failure.ends[0], &one, sizeof(one)) == sizeof(one)) {
        failed = one;
      } else {
        failure.close_end(0);
      }
    }
  }
}

// Removed with everything below it.
class Scratch {
 public:
  static Result<std::unique_ptr<Scratch>> make() {
    std::error_code ignored;
    std::string pattern = (fs::temp_directory_path(ignored) / "wick-try-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return no_sandbox("no folder for a copy can be made");
    return std::unique_ptr<Scratch>(new Scratch(pattern));
  }

  ~Scratch() {
    std::error_code ignored;
    // A command may have taken its own rights away.
    for (auto it = fs::recursive_directory_iterator(
             path_, fs::directory_options::skip_permission_denied, ignored);
         !ignored && it != fs::recursive_directory_iterator(); it.increment(ignored)) {
      if (it->is_directory(ignored) && !it->is_symlink(ignored))
        fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
    }
    fs::remove_all(path_, ignored);
  }

  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const fs::path& path() const noexcept { return path_; }

 private:
  explicit Scratch(fs::path path) : path_(std::move(path)) {}

  fs::path path_;
};

Plan plan_of(const fs::path& copy, const fs::path& cwd) {
  Plan plan{.copy = copy.string(), .cwd = cwd.string()};
  for (const fs::path& hidden : {fs::path("/tmp"), fs::path("/run"), fs::path("/dev/shm")}) {
    const fs::path below = cwd.lexically_relative(hidden);
    if (below.empty() || *below.begin() == ".." || below == ".") continue;
    fs::path parent = hidden;
    for (const fs::path& part : below)
      plan.parents.push_back((parent /= part).string());
  }
  plan.user_map = cat(::geteuid(), " ", ::geteuid(), " 1\n");
  plan.group_map = cat(::getegid(), " ", ::getegid(), " 1\n");
  return plan;
}

Result<SandboxReport> run_plan(Plan& plan) {
  Pipe output, failure;
  if (output.ends[1] < 0 || failure.ends[1] < 0) return no_sandbox("no pipe can be made");
  plan.output = output.ends[1];
  plan.failure = failure.ends[1];
  const pid_t child = ::fork();
  if (child == 0) be_sandbox(plan);
  if (child < 0) return no_sandbox("no process can be started");
  output.close_end(1);
  failure.close_end(1);
  SandboxReport report;
  Failure failed;
  gather(output, failure, failed, report);
  if (report.is_late) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (failed.step != nullptr)
    return no_sandbox(cat("the system refuses ", failed.step, " (",
                          std::error_code(failed.code, std::generic_category()).message(), ")"));
  report.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return report;
}

}  // namespace

Result<SandboxReport> run_in_sandbox(const ShellRun& run, const fs::path& cwd) {
  std::error_code failed;
  const fs::path place = fs::canonical(cwd, failed);
  if (failed || place == "/" || place == "/tmp" || place == "/run")
    return no_sandbox(cat("the working directory is ", failed ? "not known" : place.string()));
  if (run.shell_path.empty()) return no_sandbox("the shell is not there");
  WICK_TRY(std::vector<std::string> words, shell_arguments(run));
  std::vector<std::string> variables = shell_environment();
  const auto pointers_to = [](std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts)
      out.push_back(text.data());
    out.push_back(nullptr);
    return out;
  };
  const std::vector<char*> arguments = pointers_to(words), environment = pointers_to(variables);
  WICK_TRY(const auto scratch, Scratch::make());
  const fs::path copy = scratch->path() / "copy";
  fs::create_directory(copy, failed);
  WICK_DO(copy_tree(place, copy));
  Plan plan = plan_of(copy, place);
  plan.shell = run.shell_path.c_str();
  plan.arguments = arguments.data();
  plan.environment = environment.data();
  WICK_TRY(SandboxReport report, run_plan(plan));
  report.changes = compare_trees(place, copy);
  if (report.changes.size() > kMaxSandboxChanges) {
    report.changes.resize(kMaxSandboxChanges);
    report.is_partial = true;
  }
  return report;
}

std::string sandbox_problem() {
  const auto scratch = Scratch::make();
  if (!scratch) return scratch.error().message;
  const fs::path copy = (*scratch)->path() / "copy", place = (*scratch)->path() / "place";
  std::error_code ignored;
  fs::create_directory(copy, ignored);
  fs::create_directory(place, ignored);
  Plan plan = plan_of(copy, place);
  const auto report = run_plan(plan);
  if (!report) return report.error().message;
  return report->status == 0 ? "" : "the sandbox does not start";
}

}  // namespace wick::assist
