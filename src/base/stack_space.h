// Recursion over foreign text checks the remaining stack: a depth limit is enough for 8 MB stacks,
// not for a host's thread of 128 kB.
#pragma once

#include <cstddef>

namespace wick {

// Whether the calling thread's stack has `bytes` below this frame. True if unknown.
bool has_stack(std::size_t bytes) noexcept;

}  // namespace wick
