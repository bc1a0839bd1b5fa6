// A conversation with a model that remembers what was said. Its past stays in the model's cache: a
// new question costs its own tokens only (Usage::cached_tokens tells), for as long as other
// requests leave it room there; then it is computed again, with the same result. One thread at a
// time; several sessions of one model run side by side. It keeps its model loaded.
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
  explicit Session(std::shared_ptr<State> state) noexcept;  // the library's: see Model::session()
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Asks and waits for the answer; both then belong to the conversation, also when the answer was
  // cut or cancelled. On an error the question is taken back.
  Result<Completion> say(std::string_view text, const Generation& generation = {},
                         const TextSink& sink = {});
  // The same, to be pulled; the answer joins the conversation at the stream's end, or as far as it
  // came when the stream is dropped. Until then say(), stream() and estimate() are refused (id
  // "session_busy").
  Result<Stream> stream(std::string_view text, const Generation& generation = {});

  // The same with any message: the result of a tool that the model called, for one.
  Result<Stream> send(const Message& message, const Generation& generation = {});

  // What say() with the same arguments would take now; refused as that would be. The conversation
  // stays as it is.
  Result<RequestEstimate> estimate(std::string_view text, const Generation& generation = {}) const;

  // The conversation, and what the cache holds of it, to a file from which Model::load_session()
  // goes on without computing it again. Appears whole or not at all.
  Result<void> save(std::string_view path) const;

  const std::vector<Message>& messages() const noexcept;
  bool undo();   // takes back the last question and its answer; false if there is none
  void reset();  // forgets all but the system message

 private:
  std::shared_ptr<State> state_;
};

}  // namespace wick
