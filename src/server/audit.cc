#include "server/audit.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "server/json_out.h"
#include "server/limits.h"

namespace wick::server {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000, kNsPerSecond = 1'000'000'000;

// "2026-11-24T20:15:00.123Z"
std::string timestamp(std::int64_t unix_ns) {
  const std::time_t second = unix_ns / kNsPerSecond;
  std::tm utc = {};
  ::gmtime_r(&second, &utc);
  std::array<char, 32> text = {};
  const std::size_t n = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  const std::string ms = std::to_string(1000 + unix_ns % kNsPerSecond / kNsPerMs);
  return cat(std::string_view(text.data(), n), ".", ms.substr(1), "Z");
}

Result<int> open_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
  if (fd >= 0) return fd;
  return Error{.code = ErrorCode::kIo,
               .id = "no_audit_log",
               .message = cat("the audit log ", printable(path),
                              " cannot be opened: ", std::strerror(errno))};
}

}  // namespace

std::string audit_line(const Span& span) {
  std::string line;
  JsonOut json(line);
  json.object().field("time", timestamp(span.end_ns)).field("request_id", span.request_id);
  json.field("operation", span.operation).field_or_null("key", span.key);
  json.field_or_null("tag", repair_utf8(span.tag)).field("model", repair_utf8(span.model));
  json.field_or_null("provider", span.provider).field_or_null("rule", span.rule);
  json.field("prompt_tokens", span.usage.prompt_tokens);
  json.field("cached_tokens", span.usage.cached_tokens);
  json.field("generated_tokens", span.usage.generated_tokens);
  json.field_or_null("finish", span.finish).field_or_null("error", span.error);
  json.field("ms", (span.end_ns - span.begin_ns) / kNsPerMs).end_object();
  return line;
}

Result<std::shared_ptr<Audit>> Audit::open(const std::string& path) {
  std::shared_ptr<Audit> audit(new Audit(path));
  WICK_TRY(audit->fd_, open_file(path));
  WICK_TRY(audit->thread_,
           start_thread([raw = audit.get()](const std::stop_token& stop) { raw->run(stop); }));
  return audit;
}

Audit::~Audit() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  if (fd_ >= 0) ::close(fd_);
}

Result<void> Audit::reopen() {
  WICK_TRY(const int fd, open_file(path_));
  const std::lock_guard lock(mutex_);
  ::close(std::exchange(fd_, fd));
  return {};
}

void Audit::add(const Span& span) {
  std::string line = cat(audit_line(span), "\n");
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxAuditLines) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(line));
  }
  more_.notify_one();
}

std::uint64_t Audit::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void Audit::run(const std::stop_token& stop) {
  for (bool is_last = false; !is_last;) {
    std::unique_lock lock(mutex_);
    more_.wait(lock, stop, [this] { return !waiting_.empty(); });
    is_last = stop.stop_requested();
    const std::vector<std::string> lines = std::exchange(waiting_, {});
    std::string text;
    for (const std::string& line : lines)
      text += line;
    const int fd = ::dup(fd_);  // reopen() may close it meanwhile
    lock.unlock();
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t n = ::write(fd, rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
    if (!rest.empty() && !std::exchange(has_failed_, true)) {
      log_message(LogLevel::kWarning, cat("the audit log ", printable(path_),
                                          " takes no lines: ", std::strerror(errno)));
    }
    if (rest.empty()) has_failed_ = false;
    ::close(fd);
    lock.lock();
    dropped_ += static_cast<std::uint64_t>(std::count(rest.begin(), rest.end(), '\n'));
  }
}

}  // namespace wick::server
