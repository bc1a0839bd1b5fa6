// Recursion over foreign text asks how much of its thread's stack is left: a limit of depth alone
// does for 8 MB, not for a host's thread of 128 kB.
#pragma once

#include <cstddef>

namespace wick {

// Whether the calling thread's stack has `bytes` below this frame. True where nobody can say.
bool has_stack(std::size_t bytes) noexcept;

}  // namespace wick
