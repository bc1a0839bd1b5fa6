// A conversation that keeps its messages. Earlier turns stay in the KV cache, so a new turn
// computes only its new tokens (see Usage::cached_tokens). After an eviction the earlier turns are
// computed again, with the same result. One thread at a time; several sessions of one model may run
// concurrently. A session keeps its model loaded.
//
//   wick::Session talk = model->session("You are brief.");
//   auto first = talk.say("Name a river in France.");
//   auto more = talk.say("And one in Japan?");
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "wick/generation.h"
#include "wick/estimate.h"
#include "wick/result.h"
#include "wick/stream.h"

namespace wick {

class WICK_API Session {
 public:
  struct State;
  // For the library only: use Model::session().
  explicit Session(std::shared_ptr<State> state) noexcept;
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Sends a message, waits for the answer, and adds both to the conversation, also if the answer
  // was cancelled or reached a limit. After an error neither is added.
  Result<Completion> say(std::string_view text, const Generation& generation = {},
                         const TextSink& sink = {});
  // say() as a stream. When the stream ends, the answer is added to the conversation; if the stream
  // is destroyed earlier, the text so far is added. While the stream runs, the session is busy:
  // say(), stream(), send(), estimate() and save() fail (id "session_busy"), undo() returns false,
  // and reset() does nothing.
  Result<Stream> stream(std::string_view text, const Generation& generation = {});

  // The same with any message, for example a tool result.
  Result<Stream> send(const Message& message, const Generation& generation = {});

  // Estimates say() with the same arguments; fails if say() would fail. Does not change the
  // conversation.
  Result<RequestEstimate> estimate(std::string_view text, const Generation& generation = {}) const;

  // Saves the conversation and its part of the KV cache; Model::load_session() resumes it without
  // computing the prefix again. The file is written atomically.
  Result<void> save(std::string_view path) const;

  const std::vector<Message>& messages() const noexcept;
  bool undo();   // removes the last question and its answer; false if there is none
  void reset();  // removes all messages but the system message

 private:
  std::shared_ptr<State> state_;
};

}  // namespace wick
