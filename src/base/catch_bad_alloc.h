// Where exceptions become errors. We do not throw, but the standard library and others do: loading
// and asking allocate all over the house, so one door at the outside turns what is thrown into a
// Result. What was half made has been destroyed by then.
//
//   return catch_bad_alloc([&]() -> Result<Engine> { … });
#pragma once

#include <utility>

#include "base/result.h"

namespace wick {

// What the exception that is being handled means: kNoMemory (id "out_of_memory") for the end of
// memory and for a length that no memory could hold, else kIo (id "unexpected") with what it says.
// In a catch block only.
Error error_of_exception() noexcept;

template <class Work>
auto catch_bad_alloc(Work&& work) noexcept -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    return error_of_exception();
  }
}

}  // namespace wick
