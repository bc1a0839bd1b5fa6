// An estimate of a request's tokens, KV cache blocks, memory and TTFT, without running it. Plain
// data.
//
//   auto estimate = model->estimate("Once upon a time", {.max_tokens = 200});
//   if (estimate)
//     std::cout << estimate->prompt_tokens - estimate->cached_tokens << " tokens to compute\n";
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "wick/result.h"
#include "wick/token.h"

namespace wick {

// The reason why prefix caching reused only a part of a prompt.
enum class MissReason : std::uint8_t {
  kNone,         // everything is cached except the last prompt token, which is always computed
  kNew,          // the cached sequence ends here
  kEdited,       // the cached sequence has another token here
  kEvicted,      // the blocks were evicted
  kOtherTenant,  // another tenant has cached it; returned in tests only
  kNeverSeen,    // no prefix of the prompt is in this tenant's cache
  kOff,          // prefix caching is off, or the request sets prompt_logprobs
};

// "none", "new", "edited", "evicted", "other tenant", "never seen", "off".
WICK_API std::string_view name(MissReason reason) noexcept;

struct CacheMiss {
  MissReason reason = MissReason::kNone;
  int position = 0;     // index of the first prompt token that must be computed
  TokenId wanted = -1;  // the prompt's token at `position`
  TokenId cached = -1;  // the cached token at `position`, with kEdited; else -1
};

struct RequestEstimate {
  int prompt_tokens = 0;
  int max_tokens = 0;     // of the answer
  int cached_tokens = 0;  // prompt tokens found in the prefix cache
  CacheMiss miss = {};    // why the others are not cached
  int blocks = 0;         // KV cache blocks (16 tokens each) for prompt and max_tokens
  int free_blocks = 0;    // blocks that no running request uses, cached prefixes included
  std::uint64_t cache_bytes = 0;  // size of `blocks`
  int requests_before = 0;        // requests that run or wait now
  // Estimated time to first token in milliseconds, from the measured prompt speed and the queued
  // requests. Empty until a prompt has run, and for requests with prompt_logprobs.
  std::optional<double> ttft_ms = {};
};

}  // namespace wick
