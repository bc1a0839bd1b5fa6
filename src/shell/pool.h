// Memory of what a verdict makes many of, all alive until its end: nodes, words, parts, calls. The
// heap keeps only a few freed blocks of each size at hand, so the next verdict would search it for
// each block anew; these lists keep more. A block may be freed on another thread than its own.
#pragma once

#include <cstddef>
#include <vector>

namespace wick::shell {

void* take_block(std::size_t bytes);
void give_block(void* block, std::size_t bytes) noexcept;

template <class T>
struct PoolAllocator {
  using value_type = T;

  PoolAllocator() = default;

  template <class U>
  PoolAllocator(const PoolAllocator<U>&) noexcept {}  // implicit: std::vector converts it

  T* allocate(std::size_t n) { return static_cast<T*>(take_block(n * sizeof(T))); }

  void deallocate(T* block, std::size_t n) noexcept { give_block(block, n * sizeof(T)); }

  bool operator==(const PoolAllocator&) const = default;
};

template <class T>
using List = std::vector<T, PoolAllocator<T>>;

}  // namespace wick::shell
