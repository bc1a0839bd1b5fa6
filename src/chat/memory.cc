#include "chat/memory.h"

#include <algorithm>
#include <new>

namespace wick::jinja {
namespace {

constexpr std::size_t kMostBlock = std::size_t{256} << 10;

}  // namespace

void* Memory::allocate(std::size_t bytes) {
  if (!has_room(bytes)) {
    is_over_ = true;
    throw std::bad_alloc();  // as operator new would
  }
  void* const room = ::operator new(bytes);
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return room;
}

void Memory::release(void* at, std::size_t bytes) noexcept {
  used_ -= bytes;
  ::operator delete(at);
}

Arena::~Arena() {
  while (blocks_ != nullptr) {
    Block* const block = blocks_;
    blocks_ = block->before;
    memory_.release(block, block->bytes);
  }
}

Arena::Block* Arena::new_block(std::size_t bytes) {
  void* const room = memory_.allocate(bytes);
  return blocks_ = ::new (room) Block{blocks_, bytes};
}

// What is large gets a block of its own, and the one at hand is used on.
void* Arena::allocate_block(std::size_t bytes) {
  bytes += -bytes % alignof(std::max_align_t);
  if (bytes > next_bytes_ / 4) return new_block(sizeof(Block) + bytes) + 1;
  char* const room = reinterpret_cast<char*>(new_block(next_bytes_) + 1);
  free_ = room + bytes;
  n_free_ = next_bytes_ - sizeof(Block) - bytes;
  next_bytes_ = std::min(next_bytes_ * 2, kMostBlock);
  return room;
}

}  // namespace wick::jinja
