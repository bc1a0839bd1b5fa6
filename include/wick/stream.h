// An answer on its way, to be pulled piece by piece. It belongs to one thread at a time; only
// cancel() may be called from another meanwhile. A reader that pauses pauses its own answer, never
// others'. Dropped before its end, it is cancelled. It keeps its model loaded.
//
//   for (std::string_view piece : stream) std::cout << piece << std::flush;
//   auto answer = stream.finish();                // Result<Completion>: the whole text, the
//   figures
#pragma once

#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "wick/event.h"
#include "wick/generation.h"
#include "wick/result.h"

namespace wick {

class WICK_API Stream {
 public:
  struct State;
  explicit Stream(std::unique_ptr<State> state) noexcept;  // the library's: see Model::stream()
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Waits for the next piece: whole characters, never empty, valid until the next call. Nothing
  // once the answer is over, or has failed: finish() tells which.
  std::optional<std::string_view> next();
  // The same, but all that comes: reasoning, tool calls, logprobs, the end (wick/event.h).
  std::optional<Event> next_event();
  // What is there of either, without waiting. Nothing: later, which Generation::wake tells, or
  // never, if is_over().
  std::optional<std::string_view> poll();
  std::optional<Event> poll_event();
  bool is_over() const noexcept;  // all was read: finish() does not wait
  // Reads the rest. The answer, or why it failed; text() and Error::partial_text then hold what
  // came before. Asked again, it says the same again.
  Result<Completion> finish();
  // With Generation::logprobs: the tokens that came with what next(), poll() or finish() read last,
  // valid until the next call. Those of all pieces and of the end, in order, are
  // Completion::logprobs; a stream that failed has told those of what it said.
  //
  // A token comes with the first text that appeared when it or a later one was drawn, however the
  // reader's pace cuts the text into pieces: one that shows nothing yet (half a character, what may
  // become a stop sequence) with the text of the next one that does. What no text follows (the end
  // token, those of a stop sequence) comes when next() returns nothing. A piece of text that was
  // held back until the end may have none.
  std::span<const TokenLogprob> logprobs() const noexcept;
  std::string_view text() const noexcept;  // all that next() and finish() have read
  void cancel() noexcept;                  // any thread; takes effect at the model's next step

  class Iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(Stream& stream) : stream_(&stream), piece_(stream.next()) {}

    std::string_view operator*() const { return *piece_; }

    Iterator& operator++() {
      piece_ = stream_->next();
      return *this;
    }

    void operator++(int) { ++*this; }

    bool operator==(std::default_sentinel_t) const { return !piece_.has_value(); }

   private:
    Stream* stream_;
    std::optional<std::string_view> piece_;
  };

  Iterator begin() { return Iterator(*this); }  // once

  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace wick
