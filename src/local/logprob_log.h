// Passes the logprobs of an answer from the engine thread to one reader, beside the text in the
// ring. Logprobs are written before their text, so a reader finds the tokens of all text it has
// read, and none of later text. Everything is allocated before the first token.
//
//   log.add(delta.logprobs, bytes_so_far);    // the engine's thread; then the text
//   for (const IdLogprob& score : log.take(bytes_read)) …
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sample/logprobs.h"

namespace wick {

class LogprobLog {
 public:
  // Of what stands behind all text.
  static constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

  // Before anyone writes: for so many tokens of so many entries each.
  void reserve(std::size_t n_tokens, std::size_t per_token) {
    scores_.reserve(n_tokens * per_token);
    marks_.reserve(n_tokens);  // who adds, adds a token at least
  }

  // The writer. Hot: `logprobs` came with the text that ends at byte `text_end`.
  void add(std::span<const IdLogprob> logprobs, std::uint64_t text_end) noexcept {
    if (logprobs.empty()) return;
    scores_.insert(scores_.end(), logprobs.begin(), logprobs.end());  // within their capacity
    marks_.push_back({.text_end = text_end, .n_scores = scores_.size()});
    n_marks_.store(marks_.size(), std::memory_order_release);
  }

  // The reader: what came with text up to byte `text_end` and was not taken yet.
  std::span<const IdLogprob> take(std::uint64_t text_end) noexcept {
    const std::span marks(marks_.data(), n_marks_.load(std::memory_order_acquire));
    const std::size_t begin = n_taken_;
    for (; next_mark_ < marks.size() && marks[next_mark_].text_end <= text_end; ++next_mark_)
      n_taken_ = marks[next_mark_].n_scores;
    return {scores_.data() + begin, n_taken_ - begin};
  }

 private:
  struct Mark {
    std::uint64_t text_end = 0;
    std::size_t n_scores = 0;  // of all text up to there
  };

  std::vector<IdLogprob> scores_;
  std::vector<Mark> marks_;
  std::atomic<std::size_t> n_marks_ = 0;     // that the reader may look at
  std::size_t next_mark_ = 0, n_taken_ = 0;  // the reader's
};

}  // namespace wick
