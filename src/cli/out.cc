#include "cli/out.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

#include "base/strings.h"
#include "base/utf8.h"

namespace wick {

namespace {

constexpr std::size_t kGatheredBytes = std::size_t{1} << 15;

// The program writes from one thread at a time.
struct Output {
  std::string gathered = {};
  int failure = 0;  // errno of the first write that failed
};

Output& output() {
  static Output standard;
  return standard;
}

// As if the signal were not ignored: no reader is left for a message.
[[noreturn]] void end_by_closed_pipe() {
  ::signal(SIGPIPE, SIG_DFL);
  ::raise(SIGPIPE);
  ::_exit(128 + SIGPIPE);
}

// errno, 0 if all was written.
int write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {  // a descriptor that another program made non-blocking
      pollfd wait = {.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void gather(std::string_view text) {
  Output& out = output();
  if (out.failure != 0) return;
  out.gathered += text;
  if (out.gathered.size() >= kGatheredBytes) flush_output();
}

std::string blanks(const Printable& text, std::size_t width) {
  const std::size_t n = count_characters(text.view());
  return std::string(n < width ? width - n : 0, ' ');
}

}  // namespace

void print(std::initializer_list<Shown> parts) {
  for (const Shown& part : parts)
    gather(part.view());
  if (is_terminal(STDOUT_FILENO)) flush_output();
}

void note(std::initializer_list<Shown> parts) {
  flush_output();
  std::string line;
  for (const Shown& part : parts)
    line += part.view();
  static_cast<void>(write_all(STDERR_FILENO, line));  // there is nowhere left to tell it
}

void print_answer(std::string_view text) {
  if (is_terminal(STDOUT_FILENO)) return print({printable_answer(text)});
  gather(text);
}

void print_text(std::string_view text) {
  if (is_terminal(STDOUT_FILENO)) return print({printable_lines(text)});
  gather(text);
}

void flush_output() {
  Output& out = output();
  if (out.gathered.empty() || out.failure != 0) return;
  out.failure = write_all(STDOUT_FILENO, out.gathered);
  out.gathered.clear();
  if (out.failure == EPIPE) end_by_closed_pipe();
}

bool output_has_failed() noexcept {
  return output().failure != 0;
}

Result<void> end_output() {
  flush_output();
  const int failure = output().failure;
  if (failure == 0) return {};
  Error error{.code = ErrorCode::kIo,
              .id = "output_failed",
              .message = cat("standard output cannot be written: ",
                             std::error_code(failure, std::generic_category()).message())};
  if (failure == ENOSPC || failure == EDQUOT) error.hint = "make room there, or write elsewhere";
  return error;
}

void set_up_output() noexcept {
  ::signal(SIGPIPE,
           SIG_IGN);  // end_by_closed_pipe(); a socket that closes is a download's business
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is fd's own.
    static_cast<void>(::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) >= 0);
  }
}

Printable joined(std::initializer_list<Shown> parts) {
  std::string text;
  for (const Shown& part : parts)
    text += part.view();
  return printable_lines(text);  // it is already, so nothing changes
}

Printable fixed(double value, int decimals) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return printable(text.data());
}

Printable human(std::uint64_t bytes) {
  return printable(human_bytes(bytes));
}

Printable padded(const Printable& text, std::size_t width) {
  return printable_lines(cat(text, blanks(text, width - 1), " "));
}

Printable right_aligned(const Printable& text, std::size_t width) {
  return printable_lines(cat(blanks(text, width), text));
}

bool is_terminal(int fd) noexcept {
  return ::isatty(fd) == 1;
}

bool has_color(int fd) noexcept {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return is_terminal(fd) && (no_color == nullptr || *no_color == '\0') && term != nullptr &&
         std::string_view(term) != "dumb";
}

Shown color(int fd, Color color) noexcept {
  if (!has_color(fd)) return "";
  switch (color) {
    case Color::kDim:
      return "\x1b[2m";
    case Color::kRed:
      return "\x1b[31m";
    case Color::kGreen:
      return "\x1b[32m";
    case Color::kYellow:
      return "\x1b[33m";
    case Color::kCyan:
      return "\x1b[36m";
    case Color::kNone:
      break;
  }
  return "\x1b[0m";
}

}  // namespace wick
