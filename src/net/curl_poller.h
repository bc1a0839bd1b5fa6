// A multi handle of libcurl whose sockets and timer are in a Poller, that of an event loop or one
// of its own, and sockets of others with them. For the sources of net/ alone. One thread at a time,
// but for signal().
//
//   WICK_TRY(const auto curl, CurlPoller::create(poller));
//   curl->set_owner(owner);   // its on_ready() is called for all of them, and calls:
//   curl->advance(fd, events);   // libcurl reads, writes, calls its callbacks
//   curl->arm(next);   // and once more at that time
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/poller.h"
#include "base/result.h"
#include "net/curl_api.h"

namespace wick {

inline constexpr std::int64_t kNsPerMs = 1'000'000;

// A socket that is not libcurl's.
class PolledSocket {
 public:
  virtual void on_ready(std::uint32_t events) = 0;  // EPOLLIN, …; may end the socket

 protected:
  ~PolledSocket() = default;
};

class CurlPoller {
 public:
  // After load_curl(). `poller`: null for one of its own.
  static Result<std::unique_ptr<CurlPoller>> create(std::shared_ptr<Poller> poller);
  ~CurlPoller();
  CurlPoller(const CurlPoller&) = delete;
  CurlPoller& operator=(const CurlPoller&) = delete;

  CURLM* multi() const noexcept { return multi_; }

  Poller& poller() noexcept { return *poller_; }

  Result<void> set_owner(Pollable& owner);
  void leave() noexcept;  // no descriptor is watched any more: the owner goes

  void signal() noexcept;  // any thread: the owner is called

  // kOther: a PolledSocket.
  enum class Ready : std::uint8_t { kCurl, kOther, kSignal, kTimer };

  Ready advance(int fd, std::uint32_t events);
  void run_timer();  // libcurl's, if it is due: it sends what was added

  // A connection's socket; -1 with errno. One that libcurl keeps for later stays watched, so that
  // its next exchange needs no system call for that.
  curl_socket_t open(int family, int type, int protocol);
  void close(curl_socket_t socket);
  // A socket of open() that libcurl does not know: `its` learns of these events (0: of none).
  bool watch(int fd, std::uint32_t events, PolledSocket& its);

  // The owner is called at the earlier of `at_ns` (as monotonic_ns(), 0 = never) and the timer of
  // libcurl.
  void arm(std::int64_t at_ns);

 private:
  CurlPoller() = default;
  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* user, void* known);
  static int on_timer(CURLM* multi, long timeout_ms, void* user);
  bool set_watch(int fd, std::uint32_t wanted);

  struct Watch {
    bool is_connection = false;
    PolledSocket* its = nullptr;         // null: libcurl's
    std::uint32_t wanted = 0, watched = 0;  // by libcurl, by us: EPOLLIN, EPOLLOUT; 0 = not
  };

  CURLM* multi_ = nullptr;
  std::shared_ptr<Poller> poller_ = {};
  Pollable* owner_ = nullptr;
  int event_ = -1, timer_ = -1;
  std::vector<Watch> watches_ = {};  // by descriptor
  std::int64_t due_ns_ = 0;    // libcurl's timer; 0 = none
  std::int64_t armed_ns_ = 0;  // `timer_`; 0 = it is not
};

}  // namespace wick
