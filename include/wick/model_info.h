// Facts about a loaded model and its memory. Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace wick {

// Upper limits of the memory of a model. Weights are in the memory-mapped file, so the system can
// page them out. The KV cache grows as it fills. Scratch is activations and cache tables. The
// draft_ fields are those of the draft model. Tokenizer and request texts are not included.
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
  std::string name = {};
  std::string architecture = {};  // empty: the model of a remote API, of which nothing is loaded
  std::string source = {};  // path or name it was loaded from
  int context = 0;          // context size in tokens, prompt and answer together; 0 = unknown
  int vocabulary = 0;       // tokens; 0 = unknown
  ModelMemory memory = {};
  bool is_pinned = false;
  bool is_used = false;  // some Model, Session or Stream uses it (wick/pool.h)
};

}  // namespace wick
