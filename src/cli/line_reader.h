// Standard input line by line, for batches: an answer may be written before the next line comes.
// Memory is bounded by the longest line that is taken. One reader a process, one thread.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace wick {

class LineReader {
 public:
  enum class Got { kLine, kTooLong, kEnd };

  explicit LineReader(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // The next line without its line feed. A line of more than `max_bytes` is kTooLong at once; the
  // next call skips its rest (at most kMaxSkipped bytes) and reads the line after it. kIo: standard
  // input cannot be read.
  Result<Got> next(std::string& line);

  // The error for a line that is too long.
  Error too_long() const;

 private:
  static constexpr std::size_t kMaxSkipped = std::size_t{1} << 30;

  Result<bool> fill();  // true where the block has more
  std::size_t max_bytes_;
  std::string block_ = {};
  std::size_t at_ = 0;  // in the block
  bool is_within_long_ = false;
};

// How reading `name` failed with `code` of errno.
Error input_unreadable(std::string_view name, int code);

}  // namespace wick
