// The output buffer of a connection: bytes are appended to tail() and written as the client reads.
// room() is what a handler may still add; stalled_since() tells when a client has stopped reading.
// Loop thread.
#pragma once

#include <cstdint>
#include <string>

#include "http/loop.h"

namespace wick::http {

class Outbox {
 public:
  explicit Outbox(std::size_t limit) : limit_(limit) {}

  std::string& tail() noexcept { return bytes_; }

  std::size_t pending() const noexcept { return bytes_.size() - written_; }

  std::size_t room() const noexcept { return pending() < limit_ ? limit_ - pending() : 0; }

  // Since when the client has taken nothing of what there is, as monotonic_ns(); 0: it owes
  // nothing.
  std::int64_t stalled_since() const noexcept { return is_blocked_ ? progress_ns_ : 0; }

  // Whether flush() would do anything.
  bool may_flush() const noexcept { return !is_blocked_ && pending() > 0; }

  // Writes what the stream takes; the rest waits for resume(). False: the connection is broken.
  bool flush(Stream& stream);

  // The stream has room again.
  bool resume(Stream& stream);

 private:
  std::size_t limit_;
  std::string bytes_;
  std::size_t written_ = 0;
  bool is_blocked_ = false;
  std::int64_t progress_ns_ = 0;  // of one that is blocked
};

}  // namespace wick::http
