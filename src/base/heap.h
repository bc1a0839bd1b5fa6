// The heap's free memory. Any thread.
#pragma once

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace wick {

// Gives free pages back to the system, which the allocator else keeps for each thread. Takes
// milliseconds for each 100 MB, so only behind work that used much.
inline void trim_heap() noexcept {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace wick
