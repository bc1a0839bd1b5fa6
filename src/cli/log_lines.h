// The library's messages (base/log.h) on standard error, written by its own thread, so logging
// never waits for a blocked terminal. Messages that do not fit the queue are counted, and the count
// is printed.
#pragma once

#include <memory>
#include <stop_token>
#include <thread>

#include "base/result.h"

namespace wick {

// At most one object per process. While it exists, only it writes to the terminal; its destructor
// writes the remaining lines.
class LogLines {
 public:
  static Result<std::unique_ptr<LogLines>> start();
  ~LogLines();
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

 private:
  struct Queue;

  explicit LogLines(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}

  static void write(Queue& queue, const std::stop_token& stop);

  std::shared_ptr<Queue> queue_;  // a message under way may outlive us
  std::jthread thread_;
};

}  // namespace wick
