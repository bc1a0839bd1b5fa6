#include "model/paged_group.h"

#include <algorithm>

#include "backend/backend.h"
#include "base/check.h"

namespace wick {

PagedGroup::PagedGroup(int n_blocks, int max_seqs, int stride)
    : pool_(n_blocks),
      lists_(static_cast<std::size_t>(max_seqs) * static_cast<std::size_t>(stride)),
      stride_(stride),
      ends_(static_cast<std::size_t>(max_seqs)) {}

std::span<const BlockId> PagedGroup::blocks(SeqId seq) const noexcept {
  return {row(seq), static_cast<std::size_t>(blocks_for(positions(seq)))};
}

bool PagedGroup::has_shared_tail(SeqId seq) const noexcept {
  const int end = positions(seq);
  return end % kBlockTokens != 0 && pool_.references(row(seq)[end / kBlockTokens]) > 1;
}

int PagedGroup::blocks_needed(SeqId seq, int n_tokens) const noexcept {
  const int end = positions(seq);
  if (n_tokens <= end) return 0;
  return blocks_for(n_tokens) - blocks_for(end) + (has_shared_tail(seq) ? 1 : 0);
}

PagedGroup::Copy PagedGroup::reserve(SeqId seq, int n_tokens) noexcept {
  int& end = ends_[static_cast<std::size_t>(seq)];
  Copy copy = {};
  if (n_tokens <= end) return copy;
  BlockId* const table = row(seq);
  if (has_shared_tail(seq)) {
    BlockId& tail = table[end / kBlockTokens];
    copy = {.from = tail, .to = pool_.take()};
    pool_.drop_reference(tail);
    tail = copy.to;
  }
  for (int i = blocks_for(end); i < blocks_for(n_tokens); ++i)
    table[i] = pool_.take();
  end = n_tokens;
  return copy;
}

void PagedGroup::truncate(SeqId seq, Pos end) noexcept {
  int& old_end = ends_[static_cast<std::size_t>(seq)];
  if (end >= old_end) return;
  // From the back, so that the free list hands the blocks out again in ascending order.
  for (int i = blocks_for(old_end); i-- > blocks_for(end);)
    pool_.drop_reference(row(seq)[i]);
  old_end = end;
}

void PagedGroup::attach(SeqId seq, BlockId block, int n) noexcept {
  int& end = ends_[static_cast<std::size_t>(seq)];
  WICK_CHECK(end % kBlockTokens == 0, "a block was borrowed behind a half-used one");
  WICK_CHECK(end / kBlockTokens < stride_ && n > 0 && n <= kBlockTokens, "positions borrowed");
  pool_.add_reference(block);
  row(seq)[end / kBlockTokens] = block;
  end += n;
}

void PagedGroup::replace(SeqId seq, int index, BlockId block) noexcept {
  WICK_CHECK(index * kBlockTokens < positions(seq), "a block beyond the sequence was replaced");
  BlockId& place = row(seq)[index];
  pool_.add_reference(block);
  pool_.drop_reference(place);
  place = block;
}

}  // namespace wick
