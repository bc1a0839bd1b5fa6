// Groups generated text for a reader: pieces are collected until there are emit_tokens tokens or
// the first has waited emit_ms. Engine thread only; the constructor allocates for the longest
// group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "engine/limits.h"

namespace wick {

class Emission {
 public:
  // emit_tokens and emit_ms as in GenerateRequest.
  Emission(int tokens, int ms, std::size_t longest_piece)
      : tokens_(tokens > 0 || ms == 0 ? tokens : std::numeric_limits<int>::max()),
        wait_ns_(ms > 0 ? ms * std::int64_t{1'000'000} : std::numeric_limits<std::int64_t>::max()) {
    text_.reserve(most_bytes(longest_piece, tokens_ > 1));
  }

  static std::size_t most_bytes(std::size_t longest_piece, bool gathers) noexcept {
    return (gathers ? kMaxEmitBytes : 0) + longest_piece + kMaxStopBytes + 64;
  }

  // Hot:
  void add(std::string_view piece, std::int64_t now_ns) noexcept {
    if (text_.empty()) since_ns_ = now_ns;
    gap_ns_ = last_ns_ < 0 ? 0 : now_ns - last_ns_;
    last_ns_ = now_ns;
    text_.append(piece);
  }

  std::string_view text() const noexcept { return text_; }

  // Whether the text is due after `n_tokens` tokens. It is not asked again before the next token,
  // so it predicts when that comes.
  bool is_due(int n_tokens, std::int64_t now_ns) const noexcept {
    return !text_.empty() && (n_tokens >= tokens_ || text_.size() >= kMaxEmitBytes ||
                              now_ns - since_ns_ >= wait_ns_ - gap_ns_);
  }

  void taken() noexcept { text_.clear(); }

 private:
  int tokens_;
  std::int64_t wait_ns_;
  std::int64_t since_ns_ = 0, last_ns_ = -1, gap_ns_ = 0;  // of the first piece, the last, between
  std::string text_;
};

}  // namespace wick
