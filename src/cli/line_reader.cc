#include "cli/line_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/strings.h"

namespace wick {

Error input_unreadable(std::string_view name, int code) {
  const std::string why = code == EISDIR ? "is a folder, which cannot be read"
                                         : cat("cannot be read: ", std::strerror(code));
  return {
      .code = ErrorCode::kIo, .id = "input_unreadable", .message = cat(printable(name), ": ", why)};
}

Error LineReader::too_long() const {
  return {
      .code = ErrorCode::kInvalid,
      .id = "input_too_long",
      .message = cat("the line has more than ", human_bytes(max_bytes_), ", which is the limit"),
      .hint = "split it"};
}

Result<bool> LineReader::fill() {
  constexpr std::size_t kBlock = 1 << 16;
  if (at_ < block_.size()) return true;
  block_.resize(kBlock);
  ssize_t n = 0;
  do
    n = ::read(STDIN_FILENO, block_.data(), kBlock);
  while (n < 0 && errno == EINTR);
  if (n < 0) return input_unreadable("standard input", errno);
  block_.resize(static_cast<std::size_t>(n));
  at_ = 0;
  return n > 0;
}

Result<LineReader::Got> LineReader::next(std::string& line) {
  line.clear();
  std::size_t skipped = 0;
  for (bool has_any = false;; has_any = true) {
    WICK_TRY(const bool has_more, fill());
    if (!has_more) return has_any && !is_within_long_ ? Got::kLine : Got::kEnd;
    const std::size_t end = std::min(block_.find('\n', at_), block_.size());
    const std::string_view piece = std::string_view(block_).substr(at_, end - at_);
    const bool is_whole = end < block_.size();
    at_ = end + (is_whole ? 1 : 0);
    if (is_within_long_) {
      skipped += piece.size();
      if (skipped > kMaxSkipped) return too_long();
      is_within_long_ = !is_whole;
      continue;
    }
    if (line.size() + piece.size() > max_bytes_) {
      is_within_long_ = !is_whole;
      return Got::kTooLong;
    }
    line += piece;
    if (is_whole) return Got::kLine;
  }
}

}  // namespace wick
