#include "grammar/token_masks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "grammar/limits.h"

namespace wick::grammar {

bool TokenMask::allows(TokenId id) const noexcept {
  if (id < 0) return false;
  if (is_sparse) return std::binary_search(ids.begin(), ids.end(), id);
  const auto i = static_cast<std::size_t>(id);
  return i / 64 < bits.size() && ((bits[i / 64] >> (i % 64)) & 1U) != 0;
}

void TokenMask::fill(std::span<std::uint64_t> out) const noexcept {
  std::fill(out.begin(), out.end(), 0);
  if (!is_sparse) {
    std::copy_n(bits.begin(), std::min(bits.size(), out.size()), out.begin());
    return;
  }
  for (const TokenId id : ids) {
    const auto i = static_cast<std::size_t>(id);
    if (i / 64 < out.size()) out[i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

Result<std::shared_ptr<const TokenMask>> TokenMasks::mask(StateId state) {
  if (state == kFailedState) return recognizer_->failure();
  recognizer_->begin(kMaskFuel);
  const StateId near = recognizer_->near_form(state, trie_->longest_token_bytes());
  if (const auto known = cache_.find(near); known != cache_.end()) return known->second;
  recognizer_->begin_walk();
  auto walked = compute(near);
  recognizer_->end_walk();
  WICK_TRY(auto computed, std::move(walked));
  const std::size_t bytes = sizeof(TokenMask) + computed->ids.capacity() * sizeof(TokenId) +
                            computed->bits.capacity() * sizeof(std::uint64_t) + 64;
  if (cache_bytes_ + bytes > kMaxMaskCacheBytes) {
    cache_.clear();
    cache_bytes_ = 0;
  }
  cache_bytes_ += bytes;
  cache_.emplace(near, computed);
  return computed;
}

Result<std::shared_ptr<const TokenMask>> TokenMasks::compute(StateId state) {
  ++n_computed_;
  scratch_.assign((static_cast<std::size_t>(trie_->size()) + 63) / 64, 0);
  path_.resize(trie_->longest_token_bytes() + 1);
  path_[0] = state;
  const auto allow = [&](TokenId id) {
    const auto i = static_cast<std::size_t>(id);
    if (id >= 0 && i / 64 < scratch_.size()) scratch_[i / 64] |= std::uint64_t{1} << (i % 64);
  };
  const auto nodes = trie_->nodes();
  for (std::size_t i = 0; i < nodes.size();) {
    const TokenTrie::Node& node = nodes[i];
    const StateId next = recognizer_->step(path_[node.depth], node.byte);
    if (next == kFailedState) return recognizer_->failure();
    if (next == kDeadState) {
      i = node.end;
      continue;
    }
    path_[node.depth + 1U] = next;
    for (const TokenId id : trie_->tokens_at(node)) {
      allow(id);
    }
    ++i;
  }
  if (recognizer_->accepts(state)) {
    for (const TokenId id : trie_->ends()) {
      allow(id);
    }
  }
  auto out = std::make_shared<TokenMask>();
  for (const std::uint64_t word : scratch_) {
    out->n_allowed += std::popcount(word);
  }
  out->is_sparse = static_cast<std::size_t>(out->n_allowed) <= kMaxSparseIds;
  if (!out->is_sparse) {
    out->bits = scratch_;
    return std::shared_ptr<const TokenMask>(std::move(out));
  }
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    for (std::uint64_t word = scratch_[i]; word != 0; word &= word - 1) {
      out->ids.push_back(
          static_cast<TokenId>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
    }
  }
  return std::shared_ptr<const TokenMask>(std::move(out));
}

}  // namespace wick::grammar
