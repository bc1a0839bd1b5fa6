// How an answer ended and what it took. Plain data.
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
  kEos,            // the model ended its answer
  kStop,       // one of Generation::stop
  kLength,         // max_tokens, or the context's end
  kCancelled,      // by Generation::cancel, Stream::cancel() or a sink
  kToolCalls,      // the model waits for the results of the tools it called
  kContentFilter,  // the provider withheld the rest
  kError,          // what came before it stands
  kNone,           // it has not ended yet
};

// "stop" (the first two), "length", "cancelled", "tool_calls", "content_filter", "error", "":
// OpenAI's words where it has one.
WICK_API std::string_view name(FinishReason reason) noexcept;

struct Usage {
  int prompt_tokens = 0;
  int cached_tokens = 0;     // of the prompt: already in the cache, not computed again
  int generated_tokens = 0;  // the end token included
  int reasoning_tokens = 0;  // of these, where a provider counts them
  int draft_tokens = 0;      // proposed by speculative decoding
  int accepted_tokens = 0;   // of these
  int preemptions = 0;       // how often it gave its place to another request and went on later
  CacheMiss miss = {};       // why not more of the prompt was cached
  double queue_ms = 0;       // from the call to admission
  double prompt_ms = 0;      // from admission to the first generated token
  double generate_ms = 0;    // from the first to the last generated token
};

}  // namespace wick
