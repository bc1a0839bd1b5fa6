// What wait() has taken from the kernel may be forgotten, closed and opened anew by the owners that
// it calls first: an event counts for its own round only.
#include "base/poller.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/strings.h"

namespace wick {

namespace {

constexpr int kMaxReady = 64;  // of one wait(); the others are ready at the next

}  // namespace

Result<std::unique_ptr<Poller>> Poller::create() {
  const int fd = ::epoll_create1(EPOLL_CLOEXEC);
  if (fd < 0)
    return Error{.code = ErrorCode::kIo,
                 .id = "no_descriptor",
                 .message = cat("no epoll can be made: ", std::strerror(errno)),
                 .hint = "raise the limit of open files: ulimit -n"};
  return std::unique_ptr<Poller>(new Poller(fd));
}

Poller::~Poller() {
  ::close(epoll_);
}

bool Poller::control(int operation, int fd, const Entry& entry) const noexcept {
  epoll_event event = {};
  event.events = entry.events;
  event.data.u64 = std::uint64_t{entry.round} << 32 | static_cast<std::uint32_t>(fd);
  return ::epoll_ctl(epoll_, operation, fd, &event) == 0;
}

// A descriptor that was closed without forget() is one that the kernel does not know any more.
bool Poller::watch(int fd, std::uint32_t events, Pollable& owner) {
  const auto at = static_cast<std::size_t>(fd);
  if (at >= entries_.size()) entries_.resize(at + 1);
  Entry& entry = entries_[at];
  const bool is_known = entry.owner != nullptr;
  if (is_known && entry.events == events) {
    entry.owner = &owner;
    return true;
  }
  if (!is_known) ++entry.round;
  entry.owner = &owner;
  entry.events = events;
  const int usual = is_known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (control(usual, fd, entry)) return true;
  const bool was_closed = errno == (is_known ? ENOENT : EEXIST);
  if (was_closed && control(is_known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, entry)) return true;
  entry.owner = nullptr;
  return false;
}

void Poller::forget(int fd) noexcept {
  const auto at = static_cast<std::size_t>(fd);
  if (at >= entries_.size() || entries_[at].owner == nullptr) return;
  entries_[at].owner = nullptr;
  control(EPOLL_CTL_DEL, fd, entries_[at]);
}

void Poller::wait(int timeout_ms, const std::function<void()>& after_each,
                  const std::function<void()>& woke) {
  epoll_event ready[kMaxReady];
  const int n = ::epoll_wait(epoll_, ready, kMaxReady, timeout_ms);
  woke_ns_ = monotonic_ns();
  if (woke) woke();
  for (int i = 0; i < n; ++i) {
    const auto fd = static_cast<std::uint32_t>(ready[i].data.u64);
    const Entry& entry = entries_[fd];
    if (entry.owner == nullptr || entry.round != ready[i].data.u64 >> 32) continue;
    entry.owner->on_ready(static_cast<int>(fd), ready[i].events);
    if (after_each) after_each();
  }
}

}  // namespace wick
