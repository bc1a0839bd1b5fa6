#include "http/loop.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "base/catch_bad_alloc.h"
#include "base/log.h"
#include "base/strings.h"
#include "http/asio_socket.h"

namespace wick::http {

namespace {

using boost::system::error_code;

class PlainStream final : public Stream {
 public:
  explicit PlainStream(AsioSocket socket) : socket_(std::move(socket)) {}

  void open(Done done) override {
    boost::asio::post(socket_.get_executor(), [done = std::move(done)] { done(true, 0); });
  }

  void read(std::span<char> into, Done done) override { read_some(socket_, into, std::move(done)); }

  void write(std::string_view bytes, Done done) override {
    write_some(socket_, bytes, std::move(done));
  }

  void end(Done done) override {
    error_code error;
    socket_.shutdown(AsioSocket::shutdown_send, error);
    boost::asio::post(socket_.get_executor(),
                      [done = std::move(done), is_ok = !error] { done(is_ok, 0); });
  }

  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  AsioSocket socket_;
};

}  // namespace

Loop::Loop(std::unique_ptr<boost::asio::io_context> context) noexcept
    : context_(std::move(context)) {}

Loop::~Loop() = default;

Result<std::unique_ptr<Loop>> Loop::create() {
  return catch_bad_alloc([]() -> Result<std::unique_ptr<Loop>> {
    return std::unique_ptr<Loop>(new Loop(std::make_unique<boost::asio::io_context>(1)));
  });
}

// An exception of a handler (std::bad_alloc) ends that handler, not the loop.
void Loop::run() {
  const auto guard = boost::asio::make_work_guard(*context_);
  while (!context_->stopped()) {
    const auto ran = catch_bad_alloc([&]() -> Result<void> {
      context_->run();
      return {};
    });
    if (!ran) log_message(LogLevel::kWarning, cat("a connection failed: ", to_string(ran.error())));
  }
}

void Loop::stop() {
  context_->stop();
}

void Loop::post(std::function<void()> work) {
  boost::asio::post(*context_, std::move(work));
}

void Loop::finish() {
  context_->restart();
  static_cast<void>(catch_bad_alloc([&]() -> Result<void> {
    context_->poll();
    return {};
  }));
}

struct Timer::State {
  State(Loop& loop, std::function<void()> fire) : timer(loop.context()), on_fire(std::move(fire)) {}

  boost::asio::steady_timer timer;
  std::function<void()> on_fire;
  std::uint64_t round = 0;  // of set(): what an earlier one had queued is void
  bool is_gone = false;
};

Timer::Timer(Loop& loop, std::function<void()> fire)
    : state_(std::make_shared<State>(loop, std::move(fire))) {}

Timer::~Timer() {
  state_->is_gone = true;
  cancel();
}

void Timer::set(std::int64_t at_ns) {
  const std::uint64_t round = ++state_->round;
  state_->timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at_ns)));
  state_->timer.async_wait([state = state_, round](const error_code& error) {
    if (!error && !state->is_gone && state->round == round) state->on_fire();
  });
}

void Timer::cancel() {
  ++state_->round;
  state_->timer.cancel();
}

struct Watch::State : std::enable_shared_from_this<Watch::State> {
  State(Loop& loop, int fd, std::function<void()> call)
      : descriptor(loop.context(), fd), readable(std::move(call)) {}

  void wait() {
    descriptor.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [self = shared_from_this()](const error_code& error) {
                            if (error || self->is_gone) return;
                            self->readable();
                            if (!self->is_gone) self->wait();
                          });
  }

  boost::asio::posix::stream_descriptor descriptor;
  std::function<void()> readable;
  bool is_gone = false;
};

Watch::Watch(Loop& loop, int fd, std::function<void()> readable)
    : state_(std::make_shared<State>(loop, fd, std::move(readable))) {
  state_->wait();
}

Watch::~Watch() {
  state_->is_gone = true;
  state_->descriptor.release();
}

std::unique_ptr<Stream> plain_stream(Loop& loop, int fd) {
  auto socket = adopt(loop, fd);
  if (!socket) {
    ::close(fd);
    return nullptr;
  }
  return std::make_unique<PlainStream>(*std::move(socket));
}

}  // namespace wick::http
