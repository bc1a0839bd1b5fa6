#include "model/block_pool.h"

#include "base/check.h"

namespace wick {

BlockPool::BlockPool(int n_blocks)
    : state_(static_cast<std::size_t>(n_blocks)),
      kept_(static_cast<std::size_t>(n_blocks)),
      n_free_(n_blocks) {}

bool BlockPool::is_pinned(BlockId block) const noexcept {
  return kept_[static_cast<std::size_t>(block)] != 0;
}

int BlockPool::references(BlockId block) const noexcept {
  const std::int32_t state = state_[static_cast<std::size_t>(block)];
  return state > 0 ? state : 0;
}

BlockId BlockPool::take() noexcept {
  WICK_CHECK(n_free_ > 0, "a block was taken from an empty pool");
  --n_free_;
  BlockId block = first_free_;
  if (block >= 0) {
    first_free_ = -state_[static_cast<std::size_t>(block)] - 1;
  } else {
    block = fresh_++;
  }
  state_[static_cast<std::size_t>(block)] = 1;
  return block;
}

void BlockPool::add_reference(BlockId block) noexcept {
  std::int32_t& state = state_[static_cast<std::size_t>(block)];
  WICK_CHECK(state > 0, "a free block was shared");
  if (++state == 2 && is_pinned(block)) --n_idle_;
}

void BlockPool::drop_reference(BlockId block) noexcept {
  std::int32_t& state = state_[static_cast<std::size_t>(block)];
  WICK_CHECK(state > 0, "a block was given back twice");
  if (--state > 0) {
    if (state == 1 && is_pinned(block)) ++n_idle_;
    return;
  }
  state = -(first_free_ + 1);
  first_free_ = block;
  ++n_free_;
}

void BlockPool::pin(BlockId block) noexcept {
  WICK_CHECK(!is_pinned(block), "a block was pinned twice");
  add_reference(block);
  kept_[static_cast<std::size_t>(block)] = 1;
}

void BlockPool::unpin(BlockId block) noexcept {
  WICK_CHECK(is_pinned(block), "a block that is not pinned was unpinned");
  if (references(block) == 1) --n_idle_;
  kept_[static_cast<std::size_t>(block)] = 0;
  drop_reference(block);
}

}  // namespace wick
