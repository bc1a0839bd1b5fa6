#include "route/clock.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/thread.h"

namespace wick::route {

namespace {

constexpr std::size_t kManyTimers = 1024;

class MachineClock final : public RouteClock {
 public:
  ~MachineClock() override {
    thread_.request_stop();
    {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  Result<void> begin() {
    WICK_TRY(thread_, start_thread([this](const std::stop_token& stop) { run(stop); }));
    return {};
  }

  std::int64_t now_ms() const noexcept override { return monotonic_ns() / 1'000'000; }

  std::int64_t unix_s() const noexcept override { return std::time(nullptr); }

  void at(std::int64_t ms, const std::shared_ptr<Wake>& wake) override {
    const std::lock_guard lock(mutex_);
    if (timers_.size() >= most_timers_) {
      std::erase_if(timers_, [](const auto& timer) { return timer.second.expired(); });
      most_timers_ = std::max(kManyTimers, 2 * timers_.size());
    }
    const auto added = timers_.emplace(ms, wake);
    if (added == timers_.begin()) changed_.notify_all();
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (timers_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const std::int64_t wait_ms = timers_.begin()->first - now_ms();
      if (wait_ms > 0) {
        changed_.wait_for(lock, std::chrono::milliseconds(wait_ms));
        continue;
      }
      const std::shared_ptr<Wake> wake = timers_.begin()->second.lock();
      timers_.erase(timers_.begin());
      if (wake != nullptr) wake->set();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<std::int64_t, std::weak_ptr<Wake>> timers_;
  std::size_t most_timers_ = kManyTimers;  // then those of answers that have ended are removed
  std::jthread thread_;
};

}  // namespace

Result<std::shared_ptr<RouteClock>> RouteClock::machine() {
  const auto clock = std::make_shared<MachineClock>();
  WICK_DO(clock->begin());
  return std::shared_ptr<RouteClock>(clock);
}

}  // namespace wick::route
