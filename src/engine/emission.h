// Text on its way to a reader: pieces gather until there are enough bytes or the first has waited
// long enough. Engine thread only; the constructor allocates for the longest that can gather.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/limits.h"

namespace wick {

class Emission {
 public:
  // Once `bytes` have gathered, or `ms` after the first of them, they are due.
  Emission(int bytes, int ms, std::size_t longest_piece)
      : bytes_(static_cast<std::size_t>(bytes)), wait_ns_(ms * std::int64_t{1'000'000}) {
    text_.reserve(most_bytes(bytes, longest_piece));
  }

  static std::size_t most_bytes(int bytes, std::size_t longest_piece) noexcept {
    return static_cast<std::size_t>(bytes) + longest_piece + kMaxStopBytes + 64;
  }

  // Hot:
  void add(std::string_view piece, std::int64_t now_ns) noexcept {
    if (text_.empty()) since_ns_ = now_ns;
    text_.append(piece);
  }

  std::string_view text() const noexcept { return text_; }

  bool is_due(std::int64_t now_ns) const noexcept {
    return !text_.empty() && (text_.size() >= bytes_ || now_ns - since_ns_ >= wait_ns_);
  }

  void taken() noexcept { text_.clear(); }

 private:
  std::size_t bytes_;
  std::int64_t wait_ns_, since_ns_ = 0;
  std::string text_;
};

}  // namespace wick
