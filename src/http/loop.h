// The event loop of all connections: timers, file descriptors, byte streams, work posted by other
// threads. A wrapper of Boost.Asio, whose headers only loop.cc, tls.cc and websocket.cc include.
// Everything but post() and stop() belongs to the thread that runs the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"

namespace boost::asio {
class io_context;
}

namespace wick::http {

class Loop {
 public:
  static Result<std::unique_ptr<Loop>> create();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();                             // until stop()
  void stop();                            // any thread
  void post(std::function<void()> work);  // any thread
  void finish();                          // runs pending work without waiting

  boost::asio::io_context& context() noexcept { return *context_; }

 private:
  explicit Loop(std::unique_ptr<boost::asio::io_context> context) noexcept;
  std::unique_ptr<boost::asio::io_context> context_;
};

// Calls `fire` once, at the time last set.
class Timer {
 public:
  Timer(Loop& loop, std::function<void()> fire);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void set(std::int64_t at_ns);  // as monotonic_ns()
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Calls `readable` whenever the descriptor has something to read, or to accept. Does not own it.
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

// The bytes of one connection. One read and one write may be under way; what they point to stays
// until `done`, which is called later, never from within the call, also after close().
class Stream {
 public:
  using Done = std::function<void(bool is_ok, std::size_t n)>;

  virtual ~Stream() = default;
  virtual void open(Done done) = 0;                           // a handshake, if there is one
  virtual void read(std::span<char> into, Done done) = 0;     // n = 0: the peer has ended
  virtual void write(std::string_view bytes, Done done) = 0;  // some of them
  virtual void end(Done done) = 0;  // says that nothing more will be written
  virtual void close() = 0;
};

// A connected socket, which it owns. nullptr if the system refuses it.
std::unique_ptr<Stream> plain_stream(Loop& loop, int fd);

}  // namespace wick::http
