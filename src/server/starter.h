// Threads for calls that would block the loop, such as Provider::start() for a WebSocket's message.
// They start with the first task. The destructor waits for the running task and drops the others;
// it must not run on one of these threads. Any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"

namespace wick::server {

class Starter {
 public:
  explicit Starter(int max_threads = 4) : max_threads_(max_threads) {}

  ~Starter();
  Starter(const Starter&) = delete;
  Starter& operator=(const Starter&) = delete;

  // kUnavailable if there is no thread and none can be had.
  Result<void> post(std::function<void()> task);

 private:
  void run();

  const int max_threads_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> tasks_;
  int n_idle_ = 0;
  bool is_over_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace wick::server
