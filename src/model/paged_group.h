// Block tables: for each sequence the blocks that hold its positions, 16 in each. Handles block ids
// only, not their bytes. Engine thread only; only the constructor allocates.
//
// Invariant: a sequence of n reserved positions holds ceil(n / 16) blocks, and each block has one
// reference for each table that lists it (and one more if it is pinned).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "model/block_pool.h"

namespace wick {

class PagedGroup {
 public:
  // Up to `stride` blocks a sequence.
  PagedGroup(int n_blocks, int max_seqs, int stride);

  BlockPool& pool() noexcept { return pool_; }

  const BlockPool& pool() const noexcept { return pool_; }

  int positions(SeqId seq) const noexcept { return ends_[static_cast<std::size_t>(seq)]; }

  std::span<const BlockId> blocks(SeqId seq) const noexcept;

  // Hot:
  struct Copy {  // copy block `from` to block `to`; from -1 = nothing to copy
    BlockId from = -1, to = -1;
  };

  // Free blocks that reserve() would take.
  int blocks_needed(SeqId seq, int n_tokens) const noexcept;
  // Reserves positions [0, n_tokens). From its present end on, the sequence may write them. So a
  // partial last block that others reference (a prefix shared inside a block) is replaced by a new
  // block, which the caller fills (copy-on-write). The pool must have blocks_needed() free blocks.
  Copy reserve(SeqId seq, int n_tokens) noexcept;
  void truncate(SeqId seq, Pos end) noexcept;
  // Extends `seq`, which ends at a block boundary, by the first n positions of the shared `block`.
  void attach(SeqId seq, BlockId block, int n) noexcept;
  // Replaces block `index` of `seq` by the shared `block`.
  void replace(SeqId seq, int index, BlockId block) noexcept;

 private:
  BlockId* row(SeqId seq) noexcept {
    return lists_.data() + static_cast<std::ptrdiff_t>(seq) * stride_;
  }

  const BlockId* row(SeqId seq) const noexcept {
    return lists_.data() + static_cast<std::ptrdiff_t>(seq) * stride_;
  }

  bool has_shared_tail(SeqId seq) const noexcept;

  BlockPool pool_;
  std::vector<BlockId> lists_;  // [max_seqs, stride]
  int stride_;
  std::vector<int> ends_;  // positions reserved, by sequence
};

}  // namespace wick
