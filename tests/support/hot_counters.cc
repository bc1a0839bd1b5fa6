// Replacements that count and then do what the originals do. Memory comes from malloc and goes back
// with free, so the sanitizers, which watch those, still see every block. The mutex functions of
// this program hide the C library's; the next definition along the search order (a sanitizer's, or
// the C library's) is asked to do the work.
#include "support/hot_counters.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/hot_scope.h"

namespace {

std::atomic<long> allocations{0};
std::atomic<long> frees{0};
std::atomic<long> locks{0};
std::atomic<long> live{0};
std::atomic<long> live_size{0};
std::atomic<long> peak_size{0};
std::atomic<long> given_size{0};

void count(std::atomic<long>& counter) noexcept {
  if (wick::HotScope::is_active()) counter.fetch_add(1, std::memory_order_relaxed);
}

thread_local long allocations_left = 0;  // until one fails; 0 = none does
thread_local bool has_failed = false;

std::atomic<long> left_anywhere{0};
std::atomic<bool> has_failed_anywhere{false};

bool fails_anywhere() noexcept {
  if (left_anywhere.load(std::memory_order_relaxed) == 0) return false;
  if (left_anywhere.fetch_sub(1) != 1) return false;  // past it the count is negative: none fails
  has_failed_anywhere = true;
  return true;
}

bool fails_now() noexcept {
  if (fails_anywhere()) return true;
  if (allocations_left == 0 || --allocations_left > 0) return false;
  has_failed = true;
  return true;
}

// Counts a block that was made; null passes through.
void* noted(void* at) noexcept {
  if (at == nullptr) return at;
  live.fetch_add(1, std::memory_order_relaxed);
  const auto size = static_cast<long>(::malloc_usable_size(at));
  given_size.fetch_add(size, std::memory_order_relaxed);
  const long now = live_size.fetch_add(size, std::memory_order_relaxed) + size;
  long peak = peak_size.load(std::memory_order_relaxed);
  while (now > peak && !peak_size.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return at;
}

void* allocate(std::size_t bytes) noexcept {
  count(allocations);
  if (fails_now()) return nullptr;
  return noted(std::malloc(bytes == 0 ? 1 : bytes));
}

void* allocate(std::size_t bytes, std::align_val_t align) noexcept {
  count(allocations);
  if (fails_now()) return nullptr;
  const auto alignment = static_cast<std::size_t>(align);
  return noted(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
}

void* or_throw(void* at) {
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

void release(void* at) noexcept {
  if (at != nullptr) {
    count(frees);
    live.fetch_sub(1, std::memory_order_relaxed);
    live_size.fetch_sub(static_cast<long>(::malloc_usable_size(at)), std::memory_order_relaxed);
  }
  std::free(at);
}

}  // namespace

namespace wick::test {

HotCounts hot_counts() noexcept {
  return {.allocations = allocations.load(), .frees = frees.load(), .locks = locks.load()};
}

void reset_hot_counts() noexcept {
  allocations = 0;
  frees = 0;
  locks = 0;
}

long live_allocations() noexcept {
  return live.load(std::memory_order_relaxed);
}

long live_bytes() noexcept {
  return live_size.load(std::memory_order_relaxed);
}

long peak_bytes() noexcept {
  return peak_size.load(std::memory_order_relaxed);
}

long given_bytes() noexcept {
  return given_size.load(std::memory_order_relaxed);
}

void reset_peak_bytes() noexcept {
  peak_size = live_size.load();
}

void fail_allocation(long n) noexcept {
  allocations_left = n;
  has_failed = false;
}

void fail_allocation_anywhere(long n) noexcept {
  has_failed_anywhere = false;
  left_anywhere = n;
}

bool allocation_has_failed() noexcept {
  return has_failed || has_failed_anywhere;
}

}  // namespace wick::test

void* operator new(std::size_t bytes) {
  return or_throw(allocate(bytes));
}

void* operator new[](std::size_t bytes) {
  return or_throw(allocate(bytes));
}

void* operator new(std::size_t bytes, std::align_val_t a) {
  return or_throw(allocate(bytes, a));
}

void* operator new[](std::size_t bytes, std::align_val_t a) {
  return or_throw(allocate(bytes, a));
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}

void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}

void* operator new(std::size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(bytes, a);
}

void* operator new[](std::size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(bytes, a);
}

void operator delete(void* at) noexcept {
  release(at);
}

void operator delete[](void* at) noexcept {
  release(at);
}

void operator delete(void* at, std::size_t) noexcept {
  release(at);
}

void operator delete[](void* at, std::size_t) noexcept {
  release(at);
}

void operator delete(void* at, std::align_val_t) noexcept {
  release(at);
}

void operator delete[](void* at, std::align_val_t) noexcept {
  release(at);
}

void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  release(at);
}

void operator delete[](void* at, std::size_t, std::align_val_t) noexcept {
  release(at);
}

void operator delete(void* at, const std::nothrow_t&) noexcept {
  release(at);
}

void operator delete[](void* at, const std::nothrow_t&) noexcept {
  release(at);
}

void operator delete(void* at, std::align_val_t, const std::nothrow_t&) noexcept {
  release(at);
}

void operator delete[](void* at, std::align_val_t, const std::nothrow_t&) noexcept {
  release(at);
}

// clang links ThreadSanitizer's interceptors into the program itself: hiding them would blind it.
#if defined(__clang__)
#if __has_feature(thread_sanitizer)
#define WICK_TEST_LEAVES_MUTEXES
#endif
#endif
#ifndef WICK_TEST_LEAVES_MUTEXES

namespace {

using MutexCall = int (*)(pthread_mutex_t*);

int call_next(std::atomic<MutexCall>& next, const char* name, pthread_mutex_t* mutex) noexcept {
  MutexCall call = next.load(std::memory_order_relaxed);
  if (call == nullptr) {
    call = reinterpret_cast<MutexCall>(::dlsym(RTLD_NEXT, name));
    if (call == nullptr) std::abort();
    next.store(call, std::memory_order_relaxed);
  }
  return call(mutex);
}

std::atomic<MutexCall> next_lock{nullptr};
std::atomic<MutexCall> next_trylock{nullptr};

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  count(locks);
  return call_next(next_lock, "pthread_mutex_lock", mutex);
}

extern "C" int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  count(locks);
  return call_next(next_trylock, "pthread_mutex_trylock", mutex);
}

#endif
