// An answer that is read while it is generated. One thread at a time; cancel(): any thread. A slow
// reader delays only its own answer. Destroying an unfinished stream cancels the request. A stream
// keeps its model loaded.
//
//   for (std::string_view piece : stream) std::cout << piece << std::flush;
//   auto answer = stream.finish();  // Result<Completion>: the whole text and usage
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
  explicit Stream(std::unique_ptr<State> state) noexcept;  // library only: use Model::stream()
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Waits for the next piece of text: complete characters, never empty, valid until the next call.
  // Empty optional: the answer has ended or failed (see finish()).
  std::optional<std::string_view> next();
  // The same for all events: text, reasoning, tool calls, logprobs, the end (wick/event.h).
  std::optional<Event> next_event();
  // next() and next_event() without waiting. Empty optional: if is_over(), the answer has ended;
  // otherwise nothing has arrived yet. Generation::wake signals new data.
  std::optional<std::string_view> poll();
  std::optional<Event> poll_event();
  bool is_over() const noexcept;  // everything was read; finish() does not wait
  // Reads the rest and returns the answer, or the error that ended it (text() and
  // Error::partial_text have the text before it). Further calls return the same.
  Result<Completion> finish();
  // With Generation::logprobs: the tokens of the piece that next(), poll() or finish() returned
  // last, valid until the next call. Completion::logprobs has the tokens of all pieces.
  //
  // A token belongs to the piece that contains the end of its text, so a piece with only the
  // beginning of a token has no tokens. Text that ends in the middle of a character, or that may
  // begin a stop sequence, is held back for a later piece. EOS and the tokens of a stop sequence
  // have no text. If text is still held back when the answer ends, it is the last piece, and these
  // tokens belong to it. Otherwise logprobs() returns them after the end.
  std::span<const TokenLogprob> logprobs() const noexcept;
  std::string_view text() const noexcept;  // all text read so far
  void cancel() noexcept;                  // any thread; takes effect at the engine's next step

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
