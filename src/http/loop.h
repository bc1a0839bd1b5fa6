// The event loop of all connections: timers, descriptors, byte streams, work posted by other
// threads, Wakes. Everything but post() and stop() belongs to the thread that runs the loop.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/poller.h"
#include "base/result.h"
#include "base/wake.h"

namespace boost::asio {
class io_context;
}

namespace wick::http {

inline constexpr std::int64_t kNsPerMs = 1'000'000;

class Timer;

class Loop {
 public:
  // `poller`: null for one of its own.
  static Result<std::unique_ptr<Loop>> create(std::shared_ptr<Poller> poller = {});
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  struct Hooks {
    std::function<void(std::uint64_t key)> on_wake = {};  // of a Wake that was set
    std::function<void()> behind_each = {};               // handler
  };

  void run(const Hooks& hooks);            // until stop()
  void stop();                             // any thread
  void post(std::function<void()> work);   // any thread
  void defer(std::function<void()> work);  // behind the handler that runs now
  void finish();                           // runs pending work without waiting

  WakeSet& wakes() noexcept { return *wakes_; }

  Poller& poller() noexcept { return *poller_; }

  std::int64_t turn_ns() const noexcept { return poller_->woke_ns(); }  // when this turn began

  // For the codec of WebSockets, which posts to it. Made at its first use.
  boost::asio::io_context& context();

  // What a stream reads into, for as long as its owner looks at it.
  std::span<char> buffer() noexcept { return buffer_; }

 private:
  friend class Timer;
  class Alarm;

  Loop(std::shared_ptr<Poller> poller, std::unique_ptr<WakeSet> wakes,
       std::unique_ptr<Alarm> alarm);
  void turn(const Hooks& hooks);
  void look_after(const Hooks& hooks);
  void take_posted();
  void run_deferred();
  void fire_timers();
  int wait_ms() const;

  const std::shared_ptr<Poller> poller_;
  const std::unique_ptr<WakeSet> wakes_;
  const std::unique_ptr<Alarm> alarm_;
  std::unique_ptr<boost::asio::io_context> context_;
  std::set<std::pair<std::int64_t, Timer*>> timers_ = {};
  std::deque<std::function<void()>> deferred_ = {};
  std::vector<char> buffer_;

  std::mutex mutex_;
  std::vector<std::function<void()>> posted_ = {};  // under the mutex
  std::atomic<bool> has_posted_ = false;
  std::atomic<bool> is_stopped_ = false;
};

// Calls `fire` once, at the time last set or, by a millisecond and the turn's handlers, later.
class Timer {
 public:
  Timer(Loop& loop, std::function<void()> fire) : loop_(loop), fire_(std::move(fire)) {}

  ~Timer() { cancel(); }

  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void set(std::int64_t at_ns);  // as monotonic_ns()
  void cancel();

 private:
  friend class Loop;
  Loop& loop_;
  const std::function<void()> fire_;
  std::int64_t at_ns_ = 0;  // 0: not set
};

// Calls `readable` while the descriptor has something to read, or to accept. Does not own it.
class Watch {
 public:
  Watch(Loop& loop, int fd, std::function<void()> readable);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The bytes of one connection. Its owner outlives it, and closes it before it goes.
class Stream {
 public:
  class Owner {
   public:
    virtual void on_open(bool is_ok) = 0;  // of a handshake, if there is one
    virtual void on_bytes(std::string_view bytes) = 0;
    virtual void on_gone(bool is_clean) = 0;  // the peer has ended, or the connection is broken
    virtual void on_writable() = 0;           // after a write() that did not take all

   protected:
    ~Owner() = default;
  };

  virtual ~Stream() = default;
  virtual void open(Owner& owner) = 0;       // may call it at once
  virtual void set_reading(bool reads) = 0;  // off at first
  // The number of bytes that it took; fewer than all: on_writable() comes. Nothing: it is broken.
  virtual std::optional<std::size_t> write(std::string_view bytes) = 0;
  virtual void end() = 0;  // says that nothing more will be written
  virtual void close() = 0;
};

// A connected socket, which it owns.
std::unique_ptr<Stream> plain_stream(Loop& loop, int fd);

}  // namespace wick::http
