// The output buffer of a connection: bytes are appended to tail() and written as the client reads.
// room() is what a handler may still add; stalled_since() tells when a client has stopped reading.
// Loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "http/loop.h"

namespace wick::http {

class Outbox {
 public:
  explicit Outbox(std::size_t limit) : limit_(limit) {}

  std::string& tail() noexcept { return tail_; }

  std::size_t pending() const noexcept { return tail_.size() + writing_.size() - written_; }

  std::size_t room() const noexcept { return pending() < limit_ ? limit_ - pending() : 0; }

  // Since when the client has taken nothing of what there is, as monotonic_ns(); 0: it owes
  // nothing.
  std::int64_t stalled_since() const noexcept { return is_writing_ ? progress_ns_ : 0; }

  // Whether flush() would do anything.
  bool may_flush() const noexcept { return !is_writing_ && !tail_.empty(); }

  // Begins to write what is pending. `done`, after each part that went out: whether it did. It must
  // keep this object and the stream.
  void flush(Stream& stream, std::function<void(bool is_ok)> done);

 private:
  void write(Stream& stream, std::function<void(bool is_ok)> done);

  std::size_t limit_;
  std::string tail_, writing_;
  std::size_t written_ = 0;
  bool is_writing_ = false;
  std::int64_t progress_ns_ = 0;
};

}  // namespace wick::http
