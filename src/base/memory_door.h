// Where the end of memory becomes an error: loading and asking allocate all over the house, in the
// standard library too, so one door at the outside turns std::bad_alloc into a Result. What was
// half made has been destroyed by then.
//
//   return memory_door([&]() -> Result<Engine> { … });
#pragma once

#include <new>
#include <utility>

#include "base/result.h"

namespace wick {

template <class Work>
auto memory_door(Work&& work) noexcept -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {  // texts this short need no memory
    return Error{.code = ErrorCode::kNoMemory, .id = "out_of_memory", .message = "out of memory"};
  }
}

}  // namespace wick
