#include "hub/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/strings.h"
#include "hub/durable.h"

extern char** environ;

namespace wick {

namespace {

constexpr auto kTick = std::chrono::milliseconds(100);
constexpr auto kPause = std::chrono::milliseconds(10);

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts)
    out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& own) {
  std::vector<std::string> all = own;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string head = text.substr(0, text.find('=') + 1);
    bool is_replaced = false;
    for (const std::string& replacement : own)
      is_replaced |= replacement.starts_with(head);
    if (!is_replaced) all.push_back(text);
  }
  return all;
}

struct Pipes {
  FileHandle null, log, report_in, report_out;
};

// Between fork and exec only async-signal-safe calls are allowed: everything is prepared before.
[[noreturn]] void become(const Pipes& pipes, pid_t parent, char* const* argv, char* const* envp) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) {  // else the parent died before the line above
    ::setpgid(0, 0);            // Ctrl-C is ours to pass on
    ::dup2(pipes.null.fd(), 0);
    ::dup2(pipes.null.fd(), 1);
    ::dup2(pipes.log.fd(), 2);
    ::execvpe(argv[0], argv, envp);
  }
  const int code = errno;
  static_cast<void>(!::write(pipes.report_in.fd(), &code, sizeof code));
  ::_exit(127);
}

int status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<int> wait_for(pid_t child, const std::stop_token& stop, const std::function<void()>& tick) {
  auto next_tick = std::chrono::steady_clock::now() + kTick;
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status_of(status);
    if (ended < 0 && errno != EINTR) return file_error("process", "wait for", errno);
    if (stop.stop_requested()) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      return Error{.code = ErrorCode::kCancelled, .id = "cancelled", .message = "stopped"};
    }
    if (std::chrono::steady_clock::now() >= next_tick) {
      if (tick) tick();
      next_tick += kTick;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

Result<int> run_command(const ChildProgram& command, const std::stop_token& stop,
                        const std::function<void()>& tick) {
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = merged_environment(command.environment);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  Pipes pipes;
  pipes.null = FileHandle(::open("/dev/null", O_RDWR | O_CLOEXEC));
  WICK_TRY(pipes.log, open_for_writing(command.error_log));
  std::array<int, 2> report = {};
  if (pipes.null.fd() < 0 || ::pipe2(report.data(), O_CLOEXEC) != 0) {
    return file_error("/dev/null", "open", errno);
  }
  pipes.report_out = FileHandle(report[0]);
  pipes.report_in = FileHandle(report[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return file_error(arguments[0], "start", errno);
  if (child == 0) become(pipes, parent, argv.data(), envp.data());
  pipes.report_in = FileHandle();  // so that the read below ends once the child has its program
  int code = 0;
  ssize_t n = -1;
  do {
    n = ::read(pipes.report_out.fd(), &code, sizeof code);
  } while (n < 0 && errno == EINTR);
  if (n == sizeof code) {
    int ignored = 0;
    ::waitpid(child, &ignored, 0);
    Error error = file_error(arguments[0], "start", code);
    if (error.code == ErrorCode::kNotFound) error.id = "no_such_program";
    return error;
  }
  return wait_for(child, stop, tick);
}

}  // namespace wick
