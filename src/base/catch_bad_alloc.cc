#include "base/catch_bad_alloc.h"

#include <exception>
#include <new>
#include <stdexcept>

namespace wick {

namespace {

Error out_of_memory() noexcept {  // texts this short need no memory
  return {.code = ErrorCode::kNoMemory, .id = "out_of_memory", .message = "out of memory"};
}

}  // namespace

Error error_of_exception() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    } catch (const std::length_error&) {
      return out_of_memory();
    } catch (const std::exception& e) {
      return {.code = ErrorCode::kIo, .id = "unexpected", .message = e.what()};
    } catch (...) {
      return {.code = ErrorCode::kIo, .id = "unexpected", .message = "an unknown exception"};
    }
  } catch (...) {  // no memory for that error
    return out_of_memory();
  }
}

}  // namespace wick
