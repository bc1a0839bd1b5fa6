// Turns exceptions into errors at an API boundary. wick does not throw, but the standard library
// and others do (std::bad_alloc above all): one catch at the outside makes a Result of the
// exception, after all partial objects have been destroyed.
//
//   return catch_bad_alloc([&]() -> Result<Engine> { … });
#pragma once

#include <utility>

#include "base/result.h"

namespace wick {

// The error for the exception being handled: kNoMemory (id "out_of_memory") for std::bad_alloc and
// std::length_error, else kIo (id "unexpected") with its what(). In a catch block only.
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
