#include "model/slot_map.h"

#include "base/check.h"

namespace wick {

SlotMap::SlotMap(int n_slots, int n_blocks)
    : slots_(static_cast<std::size_t>(n_slots)), slot_of_(static_cast<std::size_t>(n_blocks), -1) {
  for (int slot = n_slots; slot-- > 0;) {
    at(slot).older = first_free_;
    first_free_ = slot;
  }
}

SlotMap::Taken SlotMap::take(BlockId block) noexcept {
  if (const int slot = find(block); slot >= 0) {
    if (at(slot).users == 0) {
      unlink(slot);
      link(slot);
    }
    return {.slot = slot};
  }
  int slot = first_free_;
  if (slot >= 0) {
    first_free_ = at(slot).older;
    ++n_filled_;
  } else if (slot = oldest_; slot >= 0) {
    unlink(slot);
    slot_of_[static_cast<std::size_t>(at(slot).block)] = -1;
  } else {
    return {};
  }
  at(slot) = {.block = block};
  slot_of_[static_cast<std::size_t>(block)] = slot;
  link(slot);
  return {.slot = slot, .is_new = true};
}

void SlotMap::use(BlockId block) noexcept {
  const int slot = find(block);
  WICK_CHECK(slot >= 0, "a block without a slot was used");
  if (at(slot).users++ == 0) unlink(slot);
}

void SlotMap::unuse(BlockId block) noexcept {
  const int slot = find(block);
  WICK_CHECK(slot >= 0 && at(slot).users > 0, "a slot was given back twice");
  if (--at(slot).users == 0) link(slot);
}

void SlotMap::move(BlockId from, BlockId to) noexcept {
  const int slot = find(from);
  WICK_CHECK(slot >= 0 && find(to) < 0, "a slot moves from one block to one without");
  slot_of_[static_cast<std::size_t>(from)] = -1;
  slot_of_[static_cast<std::size_t>(to)] = slot;
  at(slot).block = to;
}

void SlotMap::forget(BlockId block) noexcept {
  const int slot = find(block);
  if (slot < 0) return;
  WICK_CHECK(at(slot).users == 0, "a slot in use was forgotten");
  unlink(slot);
  slot_of_[static_cast<std::size_t>(block)] = -1;
  at(slot) = {.older = first_free_};
  first_free_ = slot;
  --n_filled_;
}

void SlotMap::link(int slot) noexcept {
  at(slot).older = newest_;
  at(slot).newer = -1;
  (newest_ >= 0 ? at(newest_).newer : oldest_) = slot;
  newest_ = slot;
}

void SlotMap::unlink(int slot) noexcept {
  const Slot& s = at(slot);
  (s.newer >= 0 ? at(s.newer).older : newest_) = s.older;
  (s.older >= 0 ? at(s.older).newer : oldest_) = s.newer;
}

}  // namespace wick
