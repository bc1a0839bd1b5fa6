// An estimate of a request: its tokens, cache blocks, memory and wait, without running it. Plain
// data.
//
//   auto estimate = model->estimate("Once upon a time", {.max_tokens = 200});
//   if (estimate) std::cout << estimate->prompt_tokens - estimate->cached_tokens << " tokens to
//   compute\n";
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "wick/result.h"
#include "wick/token.h"

namespace wick {

// Why prefix caching reused no more of a prompt.
enum class MissReason : std::uint8_t {
  kNone,         // nothing is missing: all but the last token is cached
  kNew,          // the cached text ends here, the prompt goes on
  kEdited,       // the cache has another token here
  kEvicted,      // the blocks were evicted
  kOtherTenant,  // another tenant has it cached (reported only if tenants may know of each other)
  kNeverSeen,    // no text of this tenant begins with these tokens
  kOff,          // prefix caching is off, or the prompt's own logprobs are wanted
};

// "none", "new", "edited", "evicted", "other tenant", "never seen", "off".
WICK_API std::string_view name(MissReason reason) noexcept;

struct CacheMiss {
  MissReason reason = MissReason::kNone;
  int position = 0;     // of the first token that has to be computed
  TokenId wanted = -1;  // the token there
  TokenId cached = -1;  // kEdited: the cached token there
};

struct RequestEstimate {
  int prompt_tokens = 0;
  int max_tokens = 0;     // of the answer
  int cached_tokens = 0;  // of the prompt: reused, not computed
  CacheMiss miss = {};    // why no more are cached
  int blocks = 0;         // of 16 tokens, for the prompt and the longest answer
  int free_blocks = 0;    // not used by running requests; cached prefixes in them may be evicted
  std::uint64_t cache_bytes = 0;  // of `blocks`
  int requests_before = 0;        // running or waiting
  // Estimated time to first token in milliseconds, from the measured prompt speed and the work
  // queued before. Empty until a prompt has run, and for requests with prompt_logprobs.
  std::optional<double> ttft_ms = {};
};

}  // namespace wick
