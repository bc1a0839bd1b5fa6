// An answer that is read while it is generated. One thread at a time, except cancel(), which any
// thread may call. A reader that pauses delays its own answer only. Destroying an unfinished stream
// cancels the request. A stream keeps its model loaded.
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
  // Empty optional: the answer has ended or failed; finish() tells which.
  std::optional<std::string_view> next();
  // The same for all events: text, reasoning, tool calls, logprobs, the end (wick/event.h).
  std::optional<Event> next_event();
  // next() and next_event() without waiting. An empty optional means the end if is_over() is true,
  // else that nothing has arrived yet; Generation::wake signals new data.
  std::optional<std::string_view> poll();
  std::optional<Event> poll_event();
  bool is_over() const noexcept;  // everything was read, so finish() does not wait
  // Reads the rest and returns the answer, or the error that ended it; text() and
  // Error::partial_text keep the text before the error. May be called again, with the same result.
  Result<Completion> finish();
  // With Generation::logprobs: the tokens of the piece that next(), poll() or finish() read last,
  // valid until the next call. Completion::logprobs is the concatenation over all pieces.
  //
  // A token belongs to the piece that contains its text. If the token ends in the middle of a
  // character, or its text may begin a stop sequence, the text is held back, and the token belongs
  // to a later piece. EOS and the tokens of a stop sequence have no text. If held-back text follows
  // at the end, they belong to that last piece; else logprobs() returns them after next() has
  // returned nothing. The last piece may have no tokens.
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
