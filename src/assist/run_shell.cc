#include "assist/run_shell.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "base/strings.h"

extern char** environ;

namespace wick::assist {

namespace {

std::atomic<pid_t> running = 0;

void pass_on(int number) {
  const int saved = errno;
  if (const pid_t group = running.load(); group > 0) ::kill(-group, number);
  errno = saved;
}

// A signal's action, put back with the object.
class SignalAction {
 public:
  SignalAction(int number, void (*handler)(int)) : number_(number) {
    struct sigaction action = {};
    action.sa_handler = handler;
    ::sigaction(number, &action, &before_);
  }

  ~SignalAction() { ::sigaction(number_, &before_, nullptr); }

  SignalAction(const SignalAction&) = delete;
  SignalAction& operator=(const SignalAction&) = delete;

 private:
  int number_;
  struct sigaction before_ = {};
};

Error run_error(std::string_view what, int code) {
  return {.code = ErrorCode::kIo,
          .id = "not_started",
          .message = cat(what, ": ", std::error_code(code, std::generic_category()).message())};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words)
    out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// Of the child between fork and exec: nothing but system calls.
struct ChildPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int terminal;
  int failure;  // a pipe that takes errno
};

[[noreturn]] void become_shell(const ChildPlan& plan) noexcept {
  ::setpgid(0, 0);
  if (plan.terminal >= 0) ::tcsetpgrp(plan.terminal, ::getpid());  // SIGTTOU is ignored here
  for (const int number : {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD, SIGPIPE, SIGXFSZ,
                           SIGBUS, SIGTERM, SIGHUP})
    ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(plan.program, plan.arguments, plan.environment);
  const int code = errno;
  static_cast<void>(::write(plan.failure, &code, sizeof(code)) == sizeof(code));
  ::_exit(127);
}

// Until the command ends. If it is stopped, so is this process: the shell that started both gets
// the terminal.
int wait_for(pid_t child, int terminal) {
  int status = 0;
  while (true) {
    if (::waitpid(child, &status, WUNTRACED) < 0) {
      if (errno == EINTR) continue;
      return 127;
    }
    if (!WIFSTOPPED(status)) break;
    if (terminal >= 0) ::tcsetpgrp(terminal, ::getpgrp());
    ::kill(0, SIGSTOP);
    if (terminal >= 0) ::tcsetpgrp(terminal, child);
    ::kill(-child, SIGCONT);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<std::vector<std::string>> shell_arguments(const ShellRun& run) {
  const std::string& text = run.command;
  const auto refused = [](std::string_view what) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "not_runnable",
                 .message = cat("the command ", what, ", so it cannot be run")};
  };
  if (text.find('\0') != std::string::npos) return refused("has a NUL");
  switch (run.dialect) {
    case shell::Dialect::kZsh:
      return std::vector<std::string>{run.shell, "-f", "-c", "--", text};
    case shell::Dialect::kFish:
      return std::vector<std::string>{run.shell, "-N", "-c", text};
    case shell::Dialect::kPowershell:
      return std::vector<std::string>{run.shell, "-NoProfile", "-Command", text};
    case shell::Dialect::kBash:
    case shell::Dialect::kPosix:
      break;
  }
  return std::vector<std::string>{run.shell, "-c", "--", text};
}

std::vector<std::string> shell_environment() {
  static constexpr std::string_view kLeftOut[] = {
      "BASH_ENV=",   "ENV=",     "BASH_FUNC_", "SHELLOPTS=",       "BASHOPTS=", "CDPATH=",
      "GLOBIGNORE=", "ZDOTDIR=", "FPATH=",     "POSIXLY_CORRECT=", "PS4="};
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view one = *entry;
    bool is_left_out = false;
    for (const std::string_view name : kLeftOut)
      is_left_out = is_left_out || one.starts_with(name);
    if (!is_left_out) out.emplace_back(one);
  }
  return out;
}

Result<int> run_shell(const ShellRun& run) {
  WICK_TRY(std::vector<std::string> words, shell_arguments(run));
  std::vector<std::string> variables = shell_environment();
  const std::vector<char*> arguments = pointers(words), environment = pointers(variables);
  int failure[2] = {-1, -1};
  if (::pipe2(failure, O_CLOEXEC) != 0) return run_error("no pipe could be made", errno);
  termios before = {};
  const bool has_terminal = run.terminal >= 0 && ::tcgetattr(run.terminal, &before) == 0;
  const int terminal = has_terminal ? run.terminal : -1;
  const SignalAction output(SIGTTOU, SIG_IGN), term(SIGTERM, pass_on), hangup(SIGHUP, pass_on);
  const SignalAction interrupt(SIGINT, SIG_IGN), quit(SIGQUIT, SIG_IGN);
  const pid_t child = ::fork();
  if (child == 0)
    become_shell({.program = run.shell_path.c_str(),
                  .arguments = arguments.data(),
                  .environment = environment.data(),
                  .terminal = terminal,
                  .failure = failure[1]});
  const int fork_error = errno;
  ::close(failure[1]);
  if (child < 0) {
    ::close(failure[0]);
    return run_error("no process could be started", fork_error);
  }
  ::setpgid(child, child);
  if (terminal >= 0) ::tcsetpgrp(terminal, child);
  running = child;
  int code = 0;
  const bool is_failed = ::read(failure[0], &code, sizeof(code)) == sizeof(code);
  ::close(failure[0]);
  const int status = wait_for(child, terminal);
  running = 0;
  if (terminal >= 0) {
    ::tcsetpgrp(terminal, ::getpgrp());
    ::tcsetattr(terminal, TCSADRAIN, &before);
  }
  if (is_failed) return run_error(run.shell_path, code);
  return status;
}

}  // namespace wick::assist
