// The only place that starts threads. The system may refuse (process or memory limits), and
// std::thread then throws; here that is an error. tools/tidy.py refuses a thread constructed
// anywhere else under src/.
//
//   WICK_TRY(thread_, start_thread([this](const std::stop_token& stop) { engine_->run(stop); }));
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"

namespace wick {

// kUnavailable, id "no_thread".
Error thread_refused(const std::system_error& error);

template <class Work>
Result<std::jthread> start_thread(Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    return thread_refused(error);
  }
}

// Of the calling thread, by so much (nice(2)): then other threads that can run go first. In Linux a
// thread has a priority of its own, elsewhere nothing happens.
void lower_priority(int niceness) noexcept;

}  // namespace wick
