#include "cli/log_lines.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "cli/out.h"

namespace wick {

namespace {

constexpr std::size_t kMaxWaitingLines = 10'000;

}  // namespace

struct LogLines::Queue {
  void add(std::string line) {
    const std::lock_guard lock(mutex);
    if (lines.size() >= kMaxWaitingLines) {
      ++n_lost;
      return;
    }
    lines.push_back(std::move(line));
    if (lines.size() == 1) has_line.notify_one();
  }

  std::mutex mutex = {};
  std::condition_variable_any has_line = {};
  std::deque<std::string> lines = {};
  std::uint64_t n_lost = 0;
};

Result<std::unique_ptr<LogLines>> LogLines::start() {
  const auto queue = std::make_shared<Queue>();
  auto log = std::unique_ptr<LogLines>(new LogLines(queue));
  WICK_TRY(log->thread_,
           start_thread([queue](const std::stop_token& stop) { write(*queue, stop); }));
  set_log([queue](LogLevel level, std::string_view message) {
    queue->add(level == LogLevel::kInfo ? std::string(message) : cat(name(level), ": ", message));
  });
  return log;
}

LogLines::~LogLines() {
  set_log(nullptr);
  thread_.request_stop();
}

void LogLines::write(Queue& queue, const std::stop_token& stop) {
  for (bool goes_on = true; goes_on;) {
    std::deque<std::string> lines;
    std::uint64_t n_lost = 0;
    {
      std::unique_lock lock(queue.mutex);
      static_cast<void>(queue.has_line.wait(lock, stop, [&] { return !queue.lines.empty(); }));
      goes_on = !stop.stop_requested();
      lines.swap(queue.lines);
      n_lost = std::exchange(queue.n_lost, 0);
    }
    std::string text;
    for (const std::string& line : lines)
      text += cat(line, "\n");
    note({printable_lines(text)});
    if (n_lost > 0) note({n_lost, " lines of the log were lost: they are read too slowly\n"});
  }
}

}  // namespace wick
