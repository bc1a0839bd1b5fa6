// The events of an answer, in order; the last one is a DoneEvent. Plain data.
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
  std::string text = {};  // complete UTF-8 characters, never empty
};

struct ReasoningEvent {
  std::string text = {};  // complete UTF-8 characters, never empty
};

// A tool call begins. Its arguments follow as ArgumentsEvents. The ArgumentsEvents of several calls
// may alternate.
struct ToolCallEvent {
  int index = 0;  // number of the call in the answer, from 0
  std::string id = {}, name = {};
};

struct ArgumentsEvent {
  int index = 0;
  std::string text = {};  // the next part of the arguments' JSON
};

// With Generation::logprobs. Comes directly before the event with the text of these tokens. Tokens
// without text (EOS) come before the DoneEvent.
struct LogprobsEvent {
  std::vector<TokenLogprob> tokens = {};
};

// Token counts so far. Some remote providers send them before the end; a local model does not.
struct UsageEvent {
  Usage usage = {};
};

struct DoneEvent {
  FinishReason finish = FinishReason::kNone;
  Usage usage = {};
  // All effective parameters, a random seed included.
  std::vector<EffectiveParameter> parameters = {};
  std::vector<TokenLogprob> prompt_logprobs = {};  // with Generation::prompt_logprobs
  std::optional<Error> error = {};                 // with kError
};

using Event = std::variant<TextEvent, ReasoningEvent, ToolCallEvent, ArgumentsEvent, LogprobsEvent,
                           UsageEvent, DoneEvent>;

}  // namespace wick
