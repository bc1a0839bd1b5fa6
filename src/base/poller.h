// The descriptors of many owners behind one epoll. A descriptor is reported as long as it is ready
// (level-triggered), so an owner may read a part of what there is, and nobody has to ask again.
// One thread at a time.
//
//   WICK_TRY(const auto poller, Poller::create());
//   poller->watch(socket, EPOLLIN, owner);
//   poller->wait(-1, [] {});   // calls owner.on_ready(socket, EPOLLIN)
//   poller->forget(socket);    // before it is closed
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace wick {

class Pollable {
 public:
  // EPOLLIN, EPOLLOUT, and EPOLLERR and EPOLLHUP, which nobody asks for. May forget any descriptor.
  virtual void on_ready(int fd, std::uint32_t events) = 0;

 protected:
  ~Pollable() = default;
};

class Poller {
 public:
  static Result<std::unique_ptr<Poller>> create();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  int fd() const noexcept { return epoll_; }  // readable while one of them is ready

  // monotonic_ns() when wait() last had its answer: for limits, which need no clock of their own.
  std::int64_t woke_ns() const noexcept { return woke_ns_; }

  // False with errno. The same events once more take no system call.
  bool watch(int fd, std::uint32_t events, Pollable& owner);
  void forget(int fd) noexcept;

  // Waits up to `timeout_ms` (-1: as long as it takes) for what is ready; `woke` before the first
  // of them, `after_each` behind each.
  void wait(int timeout_ms, const std::function<void()>& after_each,
            const std::function<void()>& woke = {});

 private:
  explicit Poller(int epoll) noexcept : epoll_(epoll) {}

  struct Entry {
    Pollable* owner = nullptr;            // null: not watched
    std::uint32_t events = 0, round = 0;  // `round`: which watch of this descriptor it is
  };

  bool control(int operation, int fd, const Entry& entry) const noexcept;

  const int epoll_;
  std::int64_t woke_ns_ = monotonic_ns();
  std::vector<Entry> entries_ = {};  // by descriptor
};

}  // namespace wick
