// Reference counts and the free list of cache blocks, in one array. A reference belongs to a
// sequence, or to the prefix cache, which pins a block at most once. Knows nothing of bytes. Engine
// thread only; only the constructor allocates.
//
// Invariant: a block is either free (on the free list exactly once, or never used yet) or has at
// least one reference. free() counts free blocks; evictable() counts blocks whose only reference is
// the pin.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace wick {

class BlockPool {
 public:
  explicit BlockPool(int n_blocks);

  int total() const noexcept { return static_cast<int>(state_.size()); }

  int free() const noexcept { return n_free_; }

  int evictable() const noexcept { return n_idle_; }

  int references(BlockId block) const noexcept;  // 0 = free

  bool is_pinned(BlockId block) const noexcept;

  // Blocks from this one on were never used.
  BlockId first_unused() const noexcept { return fresh_; }

  // Hot:
  // A block with one reference. Blocks given back last come first (their memory is warm), then
  // those never used. At least one must be free.
  BlockId take() noexcept;
  void add_reference(BlockId block) noexcept;   // of a block in use
  void drop_reference(BlockId block) noexcept;  // the last one frees it
  void pin(BlockId block) noexcept;  // adds the prefix cache's reference, once for each block
  void unpin(BlockId block) noexcept;

 private:
  // state_[b] > 0: references of b. state_[b] <= 0: b is free, the next free block is
  // -state_[b] - 1 (-1 = none). Blocks from fresh_ on were never used and are not on the list.
  std::vector<std::int32_t> state_;
  std::vector<std::uint8_t> kept_;
  BlockId first_free_ = -1;
  BlockId fresh_ = 0;
  int n_free_ = 0, n_idle_ = 0;
};

}  // namespace wick
