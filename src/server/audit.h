// The audit log: a line of JSON for each answer and each refusal, never with content. A separate
// thread writes it; answers never wait for the disk. Any thread.
//
//   WICK_TRY(const auto audit, Audit::open("/var/log/wick/audit.jsonl"));
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "server/traces.h"

namespace wick::server {

class Audit {
 public:
  // Appends; a new file is for its owner alone.
  static Result<std::shared_ptr<Audit>> open(const std::string& path);
  ~Audit();  // writes what is left
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  void add(const Span& span);
  // Opens the path again, after another program has renamed the file. On failure the old file
  // stays.
  Result<void> reopen();

  std::uint64_t dropped() const;  // lines that the disk did not take

 private:
  explicit Audit(std::string path) : path_(std::move(path)) {}

  void run(const std::stop_token& stop);

  const std::string path_;
  mutable std::mutex mutex_;
  std::condition_variable_any more_;
  std::vector<std::string> waiting_;  // these three are under the mutex
  std::uint64_t dropped_ = 0;
  int fd_ = -1;
  bool has_failed_ = false;  // the file, of late; the thread's
  std::jthread thread_;
};

// A line of the log, without its end.
std::string audit_line(const Span& span);

}  // namespace wick::server
