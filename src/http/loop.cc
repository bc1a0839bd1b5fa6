// A turn: wait for what is ready and call its owners; behind each of them what they deferred and
// the Wakes that they set. While a turn computes, Wakes need no eventfd.
#include "http/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/catch_bad_alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/strings.h"
#include "http/limits.h"

namespace wick::http {

namespace {

constexpr std::int64_t kMaxWaitMs = 60'000;
constexpr std::int64_t kSoonNs = 100 * kNsPerMs;  // a turn's own time matters

}  // namespace

// Ends the wait: of other threads' work, and of Wakes. What for is looked up behind it.
class Loop::Alarm final : public Pollable {
 public:
  explicit Alarm(int fd) noexcept : fd_(fd) {}

  ~Alarm() { ::close(fd_); }

  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  int fd() const noexcept { return fd_; }

  void ring() const noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(::write(fd_, &one, sizeof(one)) == sizeof(one));
  }

  void on_ready(int fd, std::uint32_t /*events*/) override {
    std::uint64_t count = 0;
    static_cast<void>(::read(fd, &count, sizeof(count)) == sizeof(count));
  }

 private:
  const int fd_;
};

Loop::Loop(std::shared_ptr<Poller> poller, std::unique_ptr<WakeSet> wakes,
           std::unique_ptr<Alarm> alarm)
    : poller_(std::move(poller)),
      wakes_(std::move(wakes)),
      alarm_(std::move(alarm)),
      buffer_(kReadBytes) {}

Loop::~Loop() {
  poller_->forget(alarm_->fd());
  poller_->forget(wakes_->fd());
}

Result<std::unique_ptr<Loop>> Loop::create(std::shared_ptr<Poller> shared) {
  return catch_bad_alloc([&]() -> Result<std::unique_ptr<Loop>> {
    std::shared_ptr<Poller> poller = std::move(shared);
    if (poller == nullptr) {
      WICK_TRY(poller, Poller::create());
    }
    WICK_TRY(auto wakes, WakeSet::create());
    const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    auto alarm = fd < 0 ? nullptr : std::make_unique<Alarm>(fd);
    if (alarm == nullptr || !poller->watch(fd, EPOLLIN, *alarm) ||
        !poller->watch(wakes->fd(), EPOLLIN, *alarm)) {
      return Error{.code = ErrorCode::kIo,
                   .id = "no_descriptor",
                   .message = cat("no event loop can be made: ", std::strerror(errno)),
                   .hint = "raise the limit of open files: ulimit -n"};
    }
    return std::unique_ptr<Loop>(new Loop(std::move(poller), std::move(wakes), std::move(alarm)));
  });
}

boost::asio::io_context& Loop::context() {
  if (context_ == nullptr) context_ = std::make_unique<boost::asio::io_context>(1);
  return *context_;
}

// An exception of a handler (std::bad_alloc) ends that handler, not the loop: what else was ready
// is so at the next turn.
void Loop::run(const Hooks& hooks) {
  while (!is_stopped_.load(std::memory_order_acquire)) {
    const auto ran = catch_bad_alloc([&]() -> Result<void> {
      turn(hooks);
      return {};
    });
    if (!ran) log_message(LogLevel::kWarning, cat("a connection failed: ", to_string(ran.error())));
  }
}

void Loop::turn(const Hooks& hooks) {
  std::optional<WakeSet::Attention> attention;
  poller_->wait(
      wait_ms(), [&] { look_after(hooks); }, [&] { attention.emplace(*wakes_); });
  fire_timers();
  take_posted();
  look_after(hooks);
}

void Loop::look_after(const Hooks& hooks) {
  run_deferred();
  wakes_->take(hooks.on_wake);
  hooks.behind_each();
}

int Loop::wait_ms() const {
  if (!deferred_.empty()) return 0;
  if (timers_.empty()) return -1;
  std::int64_t ns = timers_.begin()->first - turn_ns();
  if (ns < kSoonNs) ns = timers_.begin()->first - monotonic_ns();
  ns = std::max<std::int64_t>(0, ns);
  return static_cast<int>(std::min(kMaxWaitMs, (ns + kNsPerMs - 1) / kNsPerMs));
}

void Loop::fire_timers() {
  if (timers_.empty()) return;
  const std::int64_t now = turn_ns();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Timer& timer = *timers_.begin()->second;
    timer.cancel();
    const auto fire = timer.fire_;  // it may destroy the timer
    fire();
  }
}

void Loop::stop() {
  is_stopped_.store(true, std::memory_order_release);
  alarm_->ring();
}

void Loop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  if (!has_posted_.exchange(true, std::memory_order_acq_rel)) alarm_->ring();
}

void Loop::defer(std::function<void()> work) {
  deferred_.push_back(std::move(work));
}

void Loop::take_posted() {
  if (!has_posted_.load(std::memory_order_relaxed)) return;
  has_posted_.exchange(false, std::memory_order_acq_rel);  // before the look
  const std::lock_guard lock(mutex_);
  std::move(posted_.begin(), posted_.end(), std::back_inserter(deferred_));
  posted_.clear();
}

void Loop::run_deferred() {
  do {
    while (!deferred_.empty()) {
      const auto work = std::move(deferred_.front());
      deferred_.pop_front();
      work();
    }
    if (context_ != nullptr) context_->restart();
  } while (context_ != nullptr && context_->poll() > 0);
}

void Loop::finish() {
  static_cast<void>(catch_bad_alloc([&]() -> Result<void> {
    take_posted();
    run_deferred();
    return {};
  }));
}

void Timer::set(std::int64_t at_ns) {
  cancel();
  loop_.timers_.emplace(at_ns, this);
  at_ns_ = at_ns;
}

void Timer::cancel() {
  if (at_ns_ != 0) loop_.timers_.erase({at_ns_, this});
  at_ns_ = 0;
}

struct Watch::State final : Pollable, std::enable_shared_from_this<Watch::State> {
  State(Loop& its_loop, int its_fd, std::function<void()> call)
      : loop(its_loop), fd(its_fd), readable(std::move(call)) {}

  void on_ready(int /*fd*/, std::uint32_t /*events*/) override {
    const auto self = shared_from_this();  // the call may destroy the Watch
    readable();
  }

  Loop& loop;
  const int fd;
  const std::function<void()> readable;
};

Watch::Watch(Loop& loop, int fd, std::function<void()> readable)
    : state_(std::make_shared<State>(loop, fd, std::move(readable))) {
  loop.poller().watch(fd, EPOLLIN, *state_);
}

Watch::~Watch() {
  state_->loop.poller().forget(state_->fd);
}

}  // namespace wick::http
