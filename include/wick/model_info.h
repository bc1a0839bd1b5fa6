// A model that a provider has, and the memory it takes. Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace wick {

// At most: weights lie in the mapped file and can be given back to the system, the cache fills as
// it is used, and scratch is what a forward pass and the bookkeeping of the cache need. A draft
// model has all of these, too. Besides come the tokenizer and the requests' own texts.
struct ModelMemory {
  std::uint64_t weight_bytes = 0, cache_bytes = 0, scratch_bytes = 0;
  std::uint64_t draft_weight_bytes = 0, draft_cache_bytes = 0, draft_scratch_bytes = 0;

  std::uint64_t draft_bytes() const noexcept {
    return draft_weight_bytes + draft_cache_bytes + draft_scratch_bytes;
  }

  std::uint64_t total() const noexcept {
    return weight_bytes + cache_bytes + scratch_bytes + draft_bytes();
  }
};

struct ModelInfo {
  std::string name = {}, architecture = {};
  std::string source = {};  // path or name that it was loaded from
  int context = 0;          // positions one answer may use, prompt included; 0 = not told
  int vocabulary = 0;       // tokens; 0 = not told
  ModelMemory memory = {};
  bool is_pinned = false;
  bool is_used = false;  // someone holds it
};

}  // namespace wick
