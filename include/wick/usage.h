// Finish reason, token counts and times of an answer. Plain data.
//
//   if (answer->finish == wick::FinishReason::kLength) std::cout << "cut after "
//       << answer->usage.generated_tokens << " tokens\n";
#pragma once

#include <cstdint>
#include <string_view>

#include "wick/estimate.h"
#include "wick/result.h"

namespace wick {

enum class FinishReason : std::uint8_t {
  kEos,            // an EOG token (end of generation, such as EOS), a token of
                   // Generation::stop_token_ids, or the end of structured output
  kStop,           // a stop sequence of Generation::stop
  kLength,         // max_tokens, or the end of the context
  kCancelled,      // by Generation::cancel, Stream::cancel() or a sink
  kToolCalls,      // the model called tools and expects their results
  kContentFilter,  // the provider withheld the rest
  kError,          // an error; the text before it is kept
  kNone,           // not yet ended
};

// OpenAI's names where it has one: "stop" (kEos and kStop), "length", "cancelled", "tool_calls",
// "content_filter", "error", "".
WICK_API std::string_view name(FinishReason reason) noexcept;

struct Usage {
  int prompt_tokens = 0;
  int cached_tokens = 0;     // prompt tokens found in the prefix cache
  int generated_tokens = 0;  // including EOS (OpenAI: completion_tokens)
  int reasoning_tokens = 0;  // the part of generated_tokens that is reasoning; 0 = not counted
  int draft_tokens = 0;      // proposed by speculative decoding
  int accepted_tokens = 0;   // accepted draft tokens
  int steered_tokens = 0;    // forced, to complete structured output within max_tokens
  int preemptions = 0;       // how often the request was preempted and resumed
  CacheMiss miss = {};       // why the other prompt tokens were not cached
  double queue_ms = 0;       // from the call to admission
  double prompt_ms = 0;      // from admission to the first generated token
  double generate_ms = 0;    // from the first to the last generated token
};

}  // namespace wick
