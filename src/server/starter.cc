#include "server/starter.h"

#include "base/catch_bad_alloc.h"
#include "base/log.h"
#include "base/thread.h"

namespace wick::server {

Starter::~Starter() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  posted_.notify_all();
  threads_.clear();  // joins
}

Result<void> Starter::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (n_idle_ <= static_cast<int>(tasks_.size()) &&
      static_cast<int>(threads_.size()) < max_threads_) {
    auto thread = start_thread([this] { run(); });
    if (!thread && threads_.empty()) return std::move(thread).error();
    if (thread) threads_.push_back(*std::move(thread));
  }
  tasks_.push_back(std::move(task));
  posted_.notify_one();
  return {};
}

void Starter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++n_idle_;
    posted_.wait(lock, [this] { return is_over_ || !tasks_.empty(); });
    --n_idle_;
    if (is_over_) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();  // its exceptions are its own
    task = nullptr;
    lock.lock();
  }
}

}  // namespace wick::server
