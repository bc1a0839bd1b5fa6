// Collects the events of an answer into a Completion. One thread.
//
//   WICK_TRY(const auto answer, provider->start(request));
//   const Gather whole = read_all(*answer, {}, request.generation.cancel);
//   whole.completion.text;             // also when whole.error ended it
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "provider/answer.h"
#include "provider/provider.h"
#include "wick/event.h"
#include "wick/generation.h"

namespace wick {

struct Gather {
  Completion completion = {};       // so far; `finish` is kNone until the end
  std::optional<Error> error = {};  // why the answer ended, with kError
  // Indexes in completion.logprobs of the tokens of completion.text.
  std::vector<std::size_t> text_tokens = {};

  Gather() { completion.finish = FinishReason::kNone; }

  void add(Event event);

  // There is something that an error must not take away.
  bool has_said() const noexcept {
    return !completion.text.empty() || !completion.reasoning.empty() ||
           !completion.tool_calls.empty();
  }

 private:
  std::size_t n_told_ = 0;  // logprobs of tokens whose text, reasoning or call has come
};

// Called with each event first; return false to cancel the answer.
using EventSink = std::function<bool(const Event& event)>;

// Waits for the end. A request of `stop` cancels.
Gather read_all(Answer& answer, const EventSink& sink = {}, const std::stop_token& stop = {});

// The same, with the error alone where one ended the answer.
Result<Completion> ask(Provider& provider, const Request& request, const EventSink& sink = {});

}  // namespace wick
