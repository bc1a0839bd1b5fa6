// libcurl tells the sockets that it waits for and the time at which it wants to be called
// (curl_multi_socket_action). That time moves with each step of a transfer, nearly always further
// away: `timer_` is set only if something is due before it fires.
//
// Between two exchanges libcurl wants nothing of a connection that it keeps. It stays watched for
// reading; what comes then (its end, nearly always) ends the watching, and libcurl finds it at the
// next use. Sockets that libcurl opens itself (of its resolver) are watched as it says.
#include "net/curl_poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/strings.h"

namespace wick {

namespace {

constexpr long kMaxIdleConnections = 256;
constexpr int kMaxTimerRounds = 8;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

void drain(int fd) noexcept {
  std::uint64_t count = 0;
  static_cast<void>(::read(fd, &count, sizeof(count)) == sizeof(count));
}

Error no_descriptor(const char* what) {
  return {.code = ErrorCode::kIo,
          .id = "no_descriptor",
          .message = cat("no ", what, " can be made: ", std::strerror(errno)),
          .hint = "raise the limit of open files: ulimit -n"};
}

}  // namespace

Result<std::unique_ptr<CurlPoller>> CurlPoller::create(std::shared_ptr<Poller> shared) {
  auto poller = std::unique_ptr<CurlPoller>(new CurlPoller());
  poller->poller_ = std::move(shared);
  if (poller->poller_ == nullptr) {
    WICK_TRY(poller->poller_, Poller::create());
  }
  poller->event_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (poller->event_ < 0) return no_descriptor("eventfd");
  poller->timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (poller->timer_ < 0) return no_descriptor("timerfd");
  CURLM* const multi = poller->multi_ = curl().multi_init();
  if (multi == nullptr)
    return Error{.code = ErrorCode::kNoMemory, .message = "libcurl cannot be initialized"};
  curl().multi_setopt(multi, CURLMOPT_MAXCONNECTS, kMaxIdleConnections);
  curl().multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &CurlPoller::on_socket);
  curl().multi_setopt(multi, CURLMOPT_SOCKETDATA, poller.get());
  curl().multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &CurlPoller::on_timer);
  curl().multi_setopt(multi, CURLMOPT_TIMERDATA, poller.get());
  return poller;
}

CurlPoller::~CurlPoller() {
  if (multi_ != nullptr) curl().multi_cleanup(multi_);  // calls on_socket()
  for (const int fd : {timer_, event_}) {
    if (fd >= 0) ::close(fd);
  }
}

Result<void> CurlPoller::set_owner(Pollable& owner) {
  owner_ = &owner;
  for (const int fd : {timer_, event_}) {
    if (!poller_->watch(fd, EPOLLIN, owner)) return no_descriptor("watch");
  }
  return {};
}

void CurlPoller::leave() noexcept {
  owner_ = nullptr;
  for (const int fd : {timer_, event_})
    poller_->forget(fd);
  for (std::size_t fd = 0; fd < watches_.size(); ++fd) {
    if (watches_[fd].watched != 0) poller_->forget(static_cast<int>(fd));
    watches_[fd].watched = 0;
  }
}

curl_socket_t CurlPoller::open(int family, int type, int protocol) {
  const int fd = ::socket(family, type | SOCK_CLOEXEC, protocol);
  if (fd < 0) return CURL_SOCKET_BAD;
  const auto at = static_cast<std::size_t>(fd);
  if (at >= watches_.size()) watches_.resize(at + 1);
  watches_[at] = {.is_connection = true};
  return fd;
}

void CurlPoller::close(curl_socket_t socket) {
  const auto at = static_cast<std::size_t>(socket);
  if (at < watches_.size()) {
    if (watches_[at].watched != 0) poller_->forget(socket);
    watches_[at] = {};
  }
  ::close(socket);
}

int CurlPoller::on_socket(CURL* /*easy*/, curl_socket_t socket, int what, void* user,
                          void* /*known*/) {
  CurlPoller& self = *static_cast<CurlPoller*>(user);
  std::uint32_t wanted = 0;
  if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) wanted |= EPOLLIN;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) wanted |= EPOLLOUT;
  const auto at = static_cast<std::size_t>(socket);
  if (at >= self.watches_.size()) self.watches_.resize(at + 1);
  Watch& watch = self.watches_[at];
  watch.wanted = wanted;
  const bool stays = watch.is_connection && watch.watched == EPOLLIN;
  if (stays && (wanted == 0 || wanted == EPOLLIN)) return 0;
  return self.set_watch(socket, wanted) ? 0 : -1;  // ends the transfer
}

bool CurlPoller::watch(int fd, std::uint32_t events, PolledSocket& its) {
  Watch& watch = watches_[static_cast<std::size_t>(fd)];
  watch.its = &its;
  return watch.watched == events || set_watch(fd, events);
}

bool CurlPoller::set_watch(int fd, std::uint32_t wanted) {
  std::uint32_t& watched = watches_[static_cast<std::size_t>(fd)].watched;
  watched = owner_ == nullptr ? 0 : wanted;
  if (watched != 0) return poller_->watch(fd, watched, *owner_);
  poller_->forget(fd);
  return wanted == 0;
}

int CurlPoller::on_timer(CURLM* /*multi*/, long timeout_ms, void* user) {
  CurlPoller& self = *static_cast<CurlPoller*>(user);
  self.due_ns_ = timeout_ms < 0 ? 0 : monotonic_ns() + timeout_ms * kNsPerMs;
  return 0;
}

void CurlPoller::signal() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(event_, &one, sizeof(one)) == sizeof(one));
}

CurlPoller::Ready CurlPoller::advance(int fd, std::uint32_t events) {
  if (fd == event_ || fd == timer_) {
    drain(fd);
    if (fd == event_) return Ready::kSignal;
    armed_ns_ = 0;
    run_timer();
    return Ready::kTimer;
  }
  const Watch watch = watches_[static_cast<std::size_t>(fd)];
  if (watch.its != nullptr) {
    watch.its->on_ready(events);
    return Ready::kOther;
  }
  if (watch.wanted == 0) {
    if (watch.watched != 0) set_watch(fd, 0);
  } else {
    int what = 0, n_running = 0;
    if ((events & (EPOLLIN | EPOLLHUP)) != 0) what |= CURL_CSELECT_IN;
    if ((events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
    if ((events & EPOLLERR) != 0) what |= CURL_CSELECT_ERR;
    curl().multi_socket_action(multi_, fd, what, &n_running);
    run_timer();
  }
  return Ready::kCurl;
}

// A step may set the timer to now, for the next one.
void CurlPoller::run_timer() {
  for (int i = 0; i < kMaxTimerRounds && due_ns_ != 0 && due_ns_ <= monotonic_ns(); ++i) {
    due_ns_ = 0;
    int n_running = 0;
    curl().multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &n_running);
  }
}

void CurlPoller::arm(std::int64_t at_ns) {
  std::int64_t next = at_ns;
  if (due_ns_ != 0 && (next == 0 || due_ns_ < next)) next = due_ns_;
  if (next == 0 || (armed_ns_ != 0 && armed_ns_ <= next)) return;
  armed_ns_ = next;
  const itimerspec at = {
      .it_interval = {},
      .it_value = {.tv_sec = next / kNsPerSecond, .tv_nsec = next % kNsPerSecond}};
  ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
}

}  // namespace wick
