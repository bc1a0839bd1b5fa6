#include "http/outbox.h"

#include <string_view>

#include "base/clock.h"

namespace wick::http {

namespace {

constexpr std::size_t kKeptBytes = std::size_t{64} << 10;

}  // namespace

bool Outbox::flush(Stream& stream) {
  if (!may_flush()) return true;
  const auto n = stream.write(std::string_view(bytes_).substr(written_));
  is_blocked_ = !n || *n < pending();
  if (!n) return false;
  written_ += *n;
  if (!is_blocked_) {
    bytes_.clear();
    written_ = 0;
    progress_ns_ = 0;
    if (bytes_.capacity() > kKeptBytes) bytes_.shrink_to_fit();
    return true;
  }
  if (*n > 0 || progress_ns_ == 0) progress_ns_ = monotonic_ns();
  if (written_ > bytes_.size() / 2) {
    bytes_.erase(0, written_);
    written_ = 0;
  }
  return true;
}

bool Outbox::resume(Stream& stream) {
  is_blocked_ = false;
  return flush(stream);
}

}  // namespace wick::http
