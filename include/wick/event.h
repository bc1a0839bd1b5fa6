// What comes of a request, in order; the last event is a DoneEvent. Plain data.
//
//   while (auto event = stream.next_event())
//     if (const auto* text = std::get_if<wick::TextEvent>(&*event)) std::cout << text->text;
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "wick/parameter.h"
#include "wick/result.h"
#include "wick/token.h"
#include "wick/usage.h"

namespace wick {

struct TextEvent {
  std::string text = {};  // whole characters, never empty
};

struct ReasoningEvent {
  std::string text = {};  // likewise
};

// A call begins; its arguments follow in fragments, maybe between those of other calls.
struct ToolCallEvent {
  int index = 0;  // of the answer's calls, from 0
  std::string id = {}, name = {};
};

struct ArgumentsEvent {
  int index = 0;
  std::string text = {};  // the next bytes of its JSON
};

// With Generation::logprobs, directly before the text that these tokens came with.
struct LogprobsEvent {
  std::vector<TokenLogprob> tokens = {};
};

// What was used so far, where a provider tells it before the end.
struct UsageEvent {
  Usage usage = {};
};

struct DoneEvent {
  FinishReason finish = FinishReason::kNone;
  Usage usage = {};
  std::vector<EffectiveParameter> parameters = {};  // every one; the seed of a random answer, too
  std::vector<TokenLogprob> prompt_logprobs = {};    // with Generation::prompt_logprobs
  std::optional<Error> error = {};                  // with kError
};

using Event = std::variant<TextEvent, ReasoningEvent, ToolCallEvent, ArgumentsEvent, LogprobsEvent,
                           UsageEvent, DoneEvent>;

}  // namespace wick
