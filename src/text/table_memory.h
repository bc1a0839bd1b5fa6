// Memory for tables with random access, in huge pages (2 MiB) if the system has them. With small
// pages most accesses would miss the TLB.
//
//   std::vector<Slot, TableMemory<Slot>> slots;
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace wick {

template <class T>
class TableMemory {
 public:
  using value_type = T;

  TableMemory() = default;

  template <class Other>
  explicit TableMemory(const TableMemory<Other>& /*other*/) noexcept {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (bytes < kLargePage) return static_cast<T*>(::operator new(bytes));
    void* const memory = ::operator new(bytes, std::align_val_t(kLargePage));
    ::madvise(memory, bytes, MADV_HUGEPAGE);  // refused: nothing changes but speed
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t n) noexcept {
    if (n * sizeof(T) < kLargePage) return ::operator delete(memory);
    ::operator delete(memory, std::align_val_t(kLargePage));
  }

  friend bool operator==(TableMemory /*a*/, TableMemory /*b*/) noexcept { return true; }

 private:
  static constexpr std::size_t kLargePage = std::size_t{2} << 20U;
};

}  // namespace wick
