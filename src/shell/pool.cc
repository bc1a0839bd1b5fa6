// Lists of freed blocks, one for each size, of each thread. They are plain data, so that blocks may
// be freed while a thread ends; its Cleaner then returns them to the heap and closes the lists.
#include "shell/pool.h"

#include <array>
#include <new>
#include <utility>

#include "shell/limits.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WICK_HAS_ASAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define WICK_HAS_ASAN 1
#endif

namespace wick::shell {

#ifdef WICK_HAS_ASAN  // which finds a block that is used after it was freed

void* take_block(std::size_t bytes) {
  return ::operator new(bytes);
}

void give_block(void* block, std::size_t) noexcept {
  ::operator delete(block);
}

#else

namespace {

constexpr std::size_t kStep = 16;  // sizes are multiples of it

struct Block {
  Block* next;
};

struct Blocks {
  std::array<Block*, kMaxPooled / kStep + 1> first = {};  // by size in steps
  std::array<std::size_t, kMaxPooled / kStep + 1> n = {};
  bool is_open = false;  // a Cleaner will return them
};

thread_local constinit Blocks blocks = {};

struct Cleaner {
  Cleaner() noexcept { blocks.is_open = true; }

  ~Cleaner() {
    blocks.is_open = false;
    for (Block*& first : blocks.first) {
      while (first != nullptr)
        ::operator delete(std::exchange(first, first->next));
    }
  }
};

constexpr std::size_t steps_of(std::size_t bytes) noexcept {
  return (bytes + kStep - 1) / kStep;
}

}  // namespace

void* take_block(std::size_t bytes) {
  if (bytes > kMaxPooled) return ::operator new(bytes);
  const std::size_t steps = steps_of(bytes);
  if (Block* const block = blocks.first[steps]) {
    blocks.first[steps] = block->next;
    --blocks.n[steps];
    return block;
  }
  static thread_local Cleaner cleaner;  // made with the thread's first block
  return ::operator new(steps * kStep);
}

void give_block(void* block, std::size_t bytes) noexcept {
  const std::size_t steps = steps_of(bytes);
  if (bytes > kMaxPooled || !blocks.is_open || blocks.n[steps] == kMaxPooledBlocks)
    return ::operator delete(block);
  blocks.first[steps] = ::new (block) Block{blocks.first[steps]};
  ++blocks.n[steps];
}

#endif

}  // namespace wick::shell
