#include "base/log.h"

#include <memory>
#include <mutex>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/printable.h"

namespace wick {

namespace {

constexpr std::size_t kMaxLogBytes = 2000;  // of a message

struct Log {
  std::mutex mutex;
  std::shared_ptr<const LogSink> sink;
};

Log& process_log() noexcept {
  static Log* const log = new Log;  // never destroyed: threads may outlive main()
  return *log;
}

thread_local bool is_telling = false;

std::shared_ptr<const LogSink> exchange(std::shared_ptr<const LogSink> next) {
  Log& log = process_log();
  const std::lock_guard lock(log.mutex);
  return std::exchange(log.sink, std::move(next));
}

}  // namespace

void set_log(LogSink sink) noexcept {
  static_cast<void>(catch_bad_alloc([&]() -> Result<void> {
    // Destroys the previous sink outside of the lock.
    const auto before = exchange(sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr);
    return {};
  }));
}

void log_message(LogLevel level, std::string_view message) noexcept {
  if (is_telling) return;
  static_cast<void>(catch_bad_alloc([&]() -> Result<void> {
    Log& log = process_log();
    std::unique_lock lock(log.mutex);
    const std::shared_ptr<const LogSink> sink = log.sink;
    lock.unlock();
    if (sink == nullptr) return {};
    const Printable line = printable(message, kMaxLogBytes);
    is_telling = true;
    auto told = catch_bad_alloc([&]() -> Result<void> {
      (*sink)(level, line.view());
      return {};
    });
    is_telling = false;
    return told;
  }));
}

}  // namespace wick
