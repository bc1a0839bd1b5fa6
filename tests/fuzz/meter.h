// What one execution of a fuzz target takes: processor time, and heap beyond what was there before
// it. More heap than a target allows ends the run with the input as an artifact; the most of both
// is printed at exit. Counts every allocation of the process, so the target stays on one thread.
#pragma once

#include <sanitizer/allocator_interface.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace fuzz {

class Meter {
 public:
  Meter() {
    counted_ = this;
    __sanitizer_install_malloc_and_free_hooks(
        [](const volatile void*, std::size_t bytes) { counted_->add(bytes); },
        [](const volatile void* at) { counted_->remove(at); });
  }

  ~Meter() {
    std::fprintf(stderr, "one execution at most: %.1f ms of processor time, %.1f MiB of heap\n",
                 static_cast<double>(slowest_ns_) * 1e-6, static_cast<double>(peak_) / (1 << 20));
  }

  // Around one execution, which may take `max_bytes` of heap.
  void begin(std::int64_t max_bytes) {
    live_ = 0;
    max_ = max_bytes;
    began_ns_ = processor_ns();
  }

  void end() {
    max_ = 0;
    slowest_ns_ = std::max(slowest_ns_, processor_ns() - began_ns_);
  }

 private:
  void add(std::size_t bytes) {
    if (max_ == 0) return;
    live_ += static_cast<std::int64_t>(bytes);
    peak_ = std::max(peak_, live_);
    if (live_ > max_) __builtin_trap();
  }

  void remove(const volatile void* at) {
    if (max_ == 0 || at == nullptr) return;
    live_ -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(at)));
  }

  static std::int64_t processor_ns() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
  }

  static inline Meter* counted_ = nullptr;
  std::int64_t live_ = 0, max_ = 0, peak_ = 0;  // bytes; max_ 0 = not within an execution
  std::int64_t began_ns_ = 0, slowest_ns_ = 0;
};

}  // namespace fuzz
