// Who computes what in the next step: a pure function of what is live, without clock, thread or
// I/O. Sequences that decode come first, one token each, so that a long prompt does not hold them
// up; the rest of the budget goes to prompts, oldest first, in chunks. The tokens a sequence gets
// never depend on this choice, only when it gets them.
#pragma once

#include <span>

namespace wick {

struct Work {              // one live sequence, in order of admission
  int known = 0;           // tokens of prompt and answer so far
  int done = 0;            // of these, already in the cache; always < known
  bool is_paused = false;  // its reader is behind
};

struct Slice {  // compute positions [begin, begin + count) of work[index]
  int index = 0;
  int begin = 0, count = 0;
  bool needs_logits = false;  // the slice reaches the last known token
};

// Fills `out` (at least work.size() long) and returns the number of slices. Their counts sum to at
// most `budget`.
int schedule(std::span<const Work> work, int budget, std::span<Slice> out) noexcept;

}  // namespace wick
