// Worker threads for handlers that may block, with a bounded queue. Any thread may submit and
// withdraw.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"

namespace wick::http {

class Workers {
 public:
  using Task = std::function<void()>;

  // `niceness`: what is added to that of the process; more gives way to other threads (nice(2)).
  static Result<std::unique_ptr<Workers>> start(int n_threads, std::size_t max_queued,
                                                int niceness = 0);
  ~Workers();  // waits for the tasks that run; those in the queue are dropped
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False: the queue is full. `task` does not throw.
  bool submit(std::uint64_t key, Task task);
  void withdraw(std::uint64_t key);  // if it has not begun
  std::size_t queued() const;

 private:
  struct Queued {
    std::uint64_t key;
    Task task;
  };

  explicit Workers(std::size_t max_queued) : max_queued_(max_queued) {}

  void work(const std::stop_token& stop);

  const std::size_t max_queued_;
  mutable std::mutex mutex_;
  std::condition_variable_any has_task_;
  std::deque<Queued> queue_;
  std::vector<std::jthread> threads_;
};

}  // namespace wick::http
