// What a request would take if it ran now, told without computing anything of it. Plain data.
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

// Why the reuse of a prompt ended where it did.
enum class MissReason : std::uint8_t {
  kNone,         // it did not: all but the last token was there
  kNew,          // the prompt goes on where the cached text ends
  kEdited,       // another token follows in the cache
  kEvicted,      // it was there and had to make room
  kOtherTenant,  // another tenant has it (said only where tenants may know of each other)
  kNeverSeen,    // no text of this tenant begins like this
  kOff,          // nothing is reused: the prompt is scored, or reuse is switched off
};

// "none", "new", "edited", "evicted", "other tenant", "never seen", "off".
WICK_API std::string_view name(MissReason reason) noexcept;

struct CacheMiss {
  MissReason reason = MissReason::kNone;
  int position = 0;     // of the first token that has to be computed
  TokenId wanted = -1;  // the token there
  TokenId cached = -1;  // kEdited: what the cache has there instead
};

struct RequestEstimate {
  int prompt_tokens = 0;
  int max_tokens = 0;     // of the answer
  int cached_tokens = 0;  // of the prompt: they need not be computed
  CacheMiss miss = {};    // why not more are
  int blocks = 0;         // of 16 tokens, prompt and longest answer together
  int free_blocks = 0;    // that no request under way holds; earlier texts in them would make room
  std::uint64_t cache_bytes = 0;  // of `blocks`
  int requests_before = 0;        // under way or waiting
  // The wait for the first token in milliseconds, by how long prompts took so far and what is to be
  // computed before. Nothing while no prompt has run, and for a prompt that is to be scored.
  std::optional<double> ttft_ms = {};
};

}  // namespace wick
