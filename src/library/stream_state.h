// What a Stream is made of: an answer on its way and all it needs to come to its end. One thread at
// a time, but for cancel().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "provider/local.h"
#include "wick/stream.h"

namespace wick {

// A caller's LogitsHook as the engine wants it. What it throws is kept, and told by the stream.
class HookEditor final : public LogitsEditor {
 public:
  explicit HookEditor(LogitsHook hook) : hook_(std::move(hook)) {}

  bool edit(std::span<float> logits, std::span<const TokenId> history) noexcept override;

  // Once the answer is over.
  const std::optional<Error>& failure() const noexcept { return failure_; }

 private:
  LogitsHook hook_;
  std::optional<Error> failure_;
};

struct Stream::State {
  std::shared_ptr<LocalModel> model;  // outlives `answer`
  std::shared_ptr<HookEditor> hook;   // may be null
  bool keeps_logprobs = false;        // else only the prompt's were asked for, or none
  std::unique_ptr<RunningAnswer> answer;
  // Called once, at the end or when the stream is dropped, with all the text; null after an error.
  std::function<void(const std::string* text)> on_end;
  std::string text;
  std::vector<ScoredToken> scores;  // of all that was read; `result` takes them over
  std::size_t first_score = 0;      // of those that scores() tells
  std::optional<Result<Completion>> result;
  std::optional<std::stop_callback<std::function<void()>>> cancel;  // destroyed first

  State() = default;
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool read();  // more of text and scores; false at the end, `result` then holds
  void end();   // makes `result`
  const std::vector<ScoredToken>& all_scores() const noexcept;  // wherever they are
};

// Generation as the provider has it.
Result<GenerationSettings> to_settings(const Generation& generation);

// Queues `request` and makes the stream that reads its answer.
template <class Request>
Result<std::unique_ptr<Stream::State>> begin_stream(std::shared_ptr<LocalModel> model,
                                                    Request request, const Generation& generation) {
  auto state = std::make_unique<Stream::State>();
  WICK_TRY(request.settings, to_settings(generation));
  state->keeps_logprobs = generation.logprobs;
  if (generation.logits) state->hook = std::make_shared<HookEditor>(generation.logits);
  WICK_TRY(state->answer, model->begin(request, state->hook));
  state->model = std::move(model);
  state->cancel.emplace(generation.cancel, [answer = state->answer.get()] { answer->cancel(); });
  return state;
}

// The messages as chat templates want them.
Array to_array(const std::vector<Message>& messages);
ChatRequest to_request(const std::vector<Message>& messages);

// Reads the answer to its end, handing each piece to `sink`, if there is one.
Result<Completion> drain(Stream& stream, const TextSink& sink);

}  // namespace wick
