// Maps cache blocks to slots of a smaller memory: window contents, or snapshots of recurrent
// states. A block has a slot or none; an unused slot keeps its content until another block needs
// it, least recently used first. Handles ids only, not bytes. Engine thread only; only the
// constructor allocates.
//
// Invariant: each slot is free, or belongs to one block; slots that belong to a block without users
// are listed by age.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace wick {

class SlotMap {
 public:
  SlotMap(int n_slots, int n_blocks);

  int total() const noexcept { return static_cast<int>(slots_.size()); }

  int filled() const noexcept { return n_filled_; }  // slots that belong to a block

  int find(BlockId block) const noexcept { return slot_of_[static_cast<std::size_t>(block)]; }

  // Hot:
  struct Taken {
    int slot = -1;        // -1: every slot is used
    bool is_new = false;  // its content is not this block's
  };

  // The slot of `block`; if it has none, a free or the least recently used one.
  Taken take(BlockId block) noexcept;
  void use(BlockId block) noexcept;  // one more sequence uses the slot of `block`
  void unuse(BlockId block) noexcept;
  // Moves the slot of `from`, with at most one user, to `to`, which has none.
  void move(BlockId from, BlockId to) noexcept;
  void forget(BlockId block) noexcept;  // frees its slot, which must be unused

  int users(BlockId block) const noexcept {
    const int slot = find(block);
    return slot < 0 ? 0 : slots_[static_cast<std::size_t>(slot)].users;
  }

  BlockId block(int slot) const noexcept { return slots_[static_cast<std::size_t>(slot)].block; }

 private:
  struct Slot {
    BlockId block = -1;  // -1 = free
    int users = 0;
    int newer = -1, older = -1;  // by age, without users; `older` chains the free ones
  };

  Slot& at(int slot) noexcept { return slots_[static_cast<std::size_t>(slot)]; }

  void link(int slot) noexcept;
  void unlink(int slot) noexcept;

  std::vector<Slot> slots_;
  std::vector<int> slot_of_;  // by block, -1 = none
  int first_free_ = -1;
  int newest_ = -1, oldest_ = -1;
  int n_filled_ = 0;
};

}  // namespace wick
