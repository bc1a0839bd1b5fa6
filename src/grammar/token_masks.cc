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

void TokenMasks::allow(std::span<const TokenId> ids) noexcept {
  for (const TokenId id : ids) {
    const auto i = static_cast<std::size_t>(id);
    if (id >= 0 && i / 64 < scratch_.size()) scratch_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

// The states of a walk are the recognizer's or the automaton's; both spell dead and failed alike.
static_assert(kDeadState == regex::kEmptySet && kFailedState == regex::kNoExpr);

template <class Step>
bool TokenMasks::walk(const TokenTrie::Tree& tree, StateId start, const Step& step) {
  path_[0] = start;
  for (std::size_t i = 0; i < tree.nodes.size();) {
    const TokenTrie::Node& node = tree.nodes[i];
    const StateId next = step(path_[node.depth], node.byte);
    if (next == kFailedState) return false;
    if (next == kDeadState) {
      i = node.end;
      continue;
    }
    path_[node.depth + 1U] = next;
    allow(tree.tokens_at(node));
    ++i;
  }
  return true;
}

// Allows all plain tokens, then takes back those that lead to a dead state. Subtrees without a
// token that is longer than the reach need no look. Without a reach most are dead, and a walk is
// shorter.
bool TokenMasks::walk_plain(const PlainText& text) {
  const TokenTrie::Tree& tree = trie_->plain();
  regex::Automaton& automaton = *text.automaton;
  const int reach = reach_.of(automaton, text.rest);
  recognizer_->begin(kMaskFuel);  // reach_ has spent some
  if (reach == 0)
    return walk(tree, text.rest, [&](StateId s, unsigned char b) { return automaton.step(s, b); });
  scratch_ = trie_->plain_bits();
  path_[0] = text.rest;
  for (std::size_t i = 0; i < tree.nodes.size();) {
    const TokenTrie::Node& node = tree.nodes[i];
    StateId next = kDeadState;
    if (node.longest > reach) {
      next = automaton.step(path_[node.depth], node.byte);
      if (next == kFailedState) return false;
      if (next != kDeadState) {
        path_[node.depth + 1U] = next;
        ++i;
        continue;
      }
      for (const TokenId id : tree.tokens_below(node)) {
        const auto bit = static_cast<std::size_t>(id);
        scratch_[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
      }
    }
    i = node.end;
  }
  return true;
}

// The states of the recognizer are made at the first byte that is not plain: before it the
// automaton knows what is dead.
bool TokenMasks::walk_others(StateId state, const PlainText& text) {
  const TokenTrie::Tree& tree = trie_->others();
  regex::Automaton& automaton = *text.automaton;
  path_[0] = state;
  rests_[0] = text.rest;
  std::size_t n_made = 0, n_plain = 0;  // bytes before those that path_ and rests_ know
  for (std::size_t i = 0; i < tree.nodes.size();) {
    const TokenTrie::Node& node = tree.nodes[i];
    const std::size_t depth = node.depth;
    n_made = std::min(n_made, depth);
    n_plain = std::min(n_plain, depth);
    bytes_[depth] = node.byte;
    const bool is_behind_plain = n_plain == depth;
    StateId next = kDeadState;
    if (is_behind_plain && is_plain_byte(node.byte)) {
      next = automaton.step(rests_[depth], node.byte);
      rests_[depth + 1] = next;
      n_plain = depth + 1;
    } else if (!is_behind_plain || !text.is_json_string || node.byte == '\\' ||
               (node.byte == '"' && automaton.pool().is_nullable(rests_[depth]))) {
      for (; n_made < depth; ++n_made)
        path_[n_made + 1] = recognizer_->step(path_[n_made], bytes_[n_made]);
      next = recognizer_->step(path_[depth], node.byte);
      path_[depth + 1] = next;
      n_made = depth + 1;
    }
    if (next == kFailedState) return false;
    if (next != kDeadState) allow(tree.tokens_at(node));
    i = next == kDeadState ? node.end : i + 1;
  }
  return true;
}

Result<std::shared_ptr<const TokenMask>> TokenMasks::compute(StateId state) {
  ++n_computed_;
  const std::size_t depth = trie_->longest_token_bytes() + 1;
  path_.resize(depth);
  rests_.resize(depth);
  bytes_.resize(depth);
  scratch_.assign(trie_->plain_bits().size(), 0);
  const auto text = recognizer_->plain_text(state);
  if (!text || !walk_plain(*text) || !walk_others(state, *text)) {
    std::fill(scratch_.begin(), scratch_.end(), 0);
    recognizer_->begin(kMaskFuel);
    const auto step = [&](StateId s, unsigned char b) { return recognizer_->step(s, b); };
    if (!walk(trie_->plain(), state, step) || !walk(trie_->others(), state, step))
      return recognizer_->failure();
  }
  if (recognizer_->accepts(state)) allow(trie_->ends());
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
