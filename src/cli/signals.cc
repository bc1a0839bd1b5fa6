// The handler of SIGBUS runs amid any computation, so it calls nothing that is not
// async-signal-safe: no heap, no stdio, no lock. The kernel knows which file lies at an address and
// tells it in /proc/self/maps, one mapping a line:
//
//   7f52c0000000-7f52c5e00000 r--s 00000000 08:01 4711      /models/m.gguf
#include "cli/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/hex.h"
#include "cli/cli.h"

namespace wick {

namespace {

volatile sig_atomic_t reports_json = 0;
std::atomic_flag is_told = ATOMIC_FLAG_INIT;

void put(int fd, std::string_view text) noexcept {
  static_cast<void>(::write(fd, text.data(), text.size()) >= 0);
}

// The path of the file at an address; of foreign bytes only what may stand on a terminal and in
// JSON.
class FileAt {
 public:
  explicit FileAt(std::uintptr_t address) noexcept : address_(address) {
    const int fd = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    std::array<char, 4096> block;
    ssize_t n = 0;
    while (fd >= 0 && !is_found_ && (n = ::read(fd, block.data(), block.size())) > 0) {
      for (ssize_t i = 0; i < n && !is_found_; ++i)
        take(block[static_cast<std::size_t>(i)]);
    }
    if (fd >= 0) ::close(fd);
  }

  std::string_view path() const noexcept { return {path_.data(), is_found_ ? length_ : 0}; }

 private:
  void take(char c) noexcept {
    if (c == '\n') {
      is_found_ = begin_ <= address_ && address_ < end_ && length_ > 0;
      if (!is_found_) length_ = 0;
      field_ = kBegin;
      begin_ = end_ = 0;
    } else if (field_ == kBegin) {
      if (c == '-') field_ = kEnd;
      if (c != '-') begin_ = begin_ * 16 + digit(c);
    } else if (field_ == kEnd) {
      if (c == ' ') field_ = kRest;
      if (c != ' ') end_ = end_ * 16 + digit(c);
    } else if (length_ > 0 || c == '/') {  // nothing before the path has a slash
      const bool is_plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
      if (length_ < path_.size()) path_[length_++] = is_plain ? c : '?';
    }
  }

  static std::uintptr_t digit(char c) noexcept { return static_cast<std::uintptr_t>(hex_value(c)); }

  enum Field { kBegin, kEnd, kRest };

  std::uintptr_t address_;
  Field field_ = kBegin;
  std::uintptr_t begin_ = 0, end_ = 0;
  bool is_found_ = false;
  std::size_t length_ = 0;
  std::array<char, 4096> path_;
};

void on_bus_error(int number, siginfo_t* info, void* /*context*/) {
  while (is_told.test_and_set())  // threads of a team meet the hole together: one speaks
    ::pause();
  const FileAt file(reinterpret_cast<std::uintptr_t>(info->si_addr));
  if (file.path().empty()) {  // not ours to explain: ends as it would have without us
    ::signal(number, SIG_DFL);
    ::raise(number);
    return;
  }
  constexpr std::string_view kMessage =
      " ended while it was being read: it was truncated meanwhile, or its disk failed";
  constexpr std::string_view kHint =
      "fetch it again, and replace a model by renaming, not in place";
  const int fd = reports_json != 0 ? STDOUT_FILENO : STDERR_FILENO;
  put(fd, reports_json != 0 ? R"({"error":{"code":"file_truncated","message":")" : "wick: ");
  put(fd, file.path());
  put(fd, kMessage);
  put(fd, reports_json != 0 ? R"(","hint":")" : "\nhint: ");
  put(fd, kHint);
  put(fd, reports_json != 0 ? "\"}}\n" : "\n");
  ::_exit(kExitFailure);
}

}  // namespace

void set_up_signals(bool as_json) noexcept {
  reports_json = as_json ? 1 : 0;
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace wick
