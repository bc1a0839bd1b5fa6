// The state of a Stream: an answer and what it needs. One thread at a time, except cancel().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "provider/gather.h"
#include "provider/provider.h"
#include "wick/stream.h"

namespace wick {

struct Stream::State {
  std::shared_ptr<Provider> provider;  // outlives `answer`
  std::unique_ptr<Answer> answer;
  Gather whole;
  // Called once, at the end or when the stream is dropped, with the whole answer so far, or null
  // after an error. Must not throw.
  std::function<Result<void>(const Completion* whole)> on_end;
  bool has_broken = false;      // reading failed on this side: nothing more is read
  std::size_t first_score = 0;  // of those that logprobs() tells
  bool is_in_piece = false;     // poll() has read logprobs, but not yet their text
  std::optional<std::stop_callback<std::function<void()>>> cancel;  // destroyed first

  State() = default;
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The next event; nullopt once the answer is over, or if polling finds no event. A failure ends
  // the answer; it is reported as the error of `whole`.
  using Way = std::optional<Event> (Answer::*)();
  std::optional<Event> read(Way way = &Answer::wait) noexcept;

  // Reads events until there is more text. Returns the position where the new text begins.
  std::optional<std::size_t> read_piece(Way way) noexcept;

 private:
  Result<std::optional<Event>> take(Way way);
};

// Queues a request and makes the stream that reads its answer.
Result<std::unique_ptr<Stream::State>> begin_stream(const std::shared_ptr<Provider>& provider,
                                                    Prompt prompt, const Generation& generation);

// Reads the answer to its end and passes each piece to `sink`, if there is one.
Result<Completion> drain(Stream& stream, const TextSink& sink);

}  // namespace wick
