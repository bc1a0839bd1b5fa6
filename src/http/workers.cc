#include "http/workers.h"

#include <algorithm>

#include "base/thread.h"

namespace wick::http {

Result<std::unique_ptr<Workers>> Workers::start(int n_threads, std::size_t max_queued,
                                                int niceness) {
  auto workers = std::unique_ptr<Workers>(new Workers(max_queued));
  for (int i = 0; i < n_threads; ++i) {
    WICK_TRY(std::jthread thread,
             start_thread([self = workers.get(), niceness](const std::stop_token& stop) {
               lower_priority(niceness);
               self->work(stop);
             }));
    workers->threads_.push_back(std::move(thread));
  }
  return workers;
}

Workers::~Workers() {
  for (std::jthread& thread : threads_)
    thread.request_stop();
  threads_.clear();
}

bool Workers::submit(std::uint64_t key, Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= max_queued_) return false;
    queue_.push_back({key, std::move(task)});
  }
  has_task_.notify_one();
  return true;
}

void Workers::withdraw(std::uint64_t key) {
  Task gone;  // destroyed outside of the lock
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(queue_.begin(), queue_.end(),
                                  [&](const Queued& queued) { return queued.key == key; });
  if (found == queue_.end()) return;
  gone = std::move(found->task);
  queue_.erase(found);
}

std::size_t Workers::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void Workers::work(const std::stop_token& stop) {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      if (!has_task_.wait(lock, stop, [&] { return !queue_.empty(); }) || stop.stop_requested())
        return;
      task = std::move(queue_.front().task);
      queue_.pop_front();
    }
    task();
  }
}

}  // namespace wick::http
