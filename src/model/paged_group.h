// Which block holds which 16 positions of which sequence. Knows nothing of bytes. Engine thread
// only; only the constructor allocates.
//
// Invariant: a sequence of n reserved positions holds ceil(n / 16) blocks, and each block has one
// reference for each table that lists it (and one more if it is kept).
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
  struct Copy {  // the first block's content belongs into the second; from -1 = nothing to copy
    BlockId from = -1, to = -1;
  };

  // Free blocks that reserve() would take.
  int blocks_needed(SeqId seq, int n_tokens) const noexcept;
  // Room for positions [0, n_tokens) that this sequence alone may write from its present end on: a
  // half-used last block that others hold too (a shared prefix, cut inside a block) is replaced by
  // a fresh one, which the caller fills. The pool must have blocks_needed() free.
  Copy reserve(SeqId seq, int n_tokens) noexcept;
  void truncate(SeqId seq, Pos end) noexcept;
  // `seq`, which ends where a block does, goes on with the first n positions of `block`, which
  // another holds too.
  void attach(SeqId seq, BlockId block, int n) noexcept;
  // Block `index` of `seq` is given back, `block`, which another holds too, stands in its place.
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
