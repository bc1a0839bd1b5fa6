#include "base/stack_space.h"

#include <pthread.h>

#include <cstdint>

namespace wick {

namespace {

// The lowest address of this thread's stack, 0 if the system does not say.
std::uintptr_t find_end() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  return is_known ? reinterpret_cast<std::uintptr_t>(lowest) : 0;
}

}  // namespace

bool has_stack(std::size_t bytes) noexcept {
  // In the block that every thread has: one that is made later may find no memory.
  [[gnu::tls_model("initial-exec")]] static thread_local std::uintptr_t end = 0;
  if (end == 0) end = find_end();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here < end || here - end > bytes;  // below: a stack that the program allocated itself
}

}  // namespace wick
