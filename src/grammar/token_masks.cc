#include "grammar/token_masks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/mix.h"
#include "grammar/limits.h"

namespace wick::grammar {
namespace {

constexpr std::size_t kEntryBytes = 64;  // of a state whose mask is stored

// Four independent chains, for one is as slow as its multiplications.
template <class Word>
std::uint64_t hash_words(const std::vector<Word>& words) noexcept {
  std::uint64_t h[4] = {words.size(), 1, 2, 3};
  std::size_t i = 0;
  for (; i + 4 <= words.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k)
      h[k] = mix_hash(h[k], static_cast<std::uint64_t>(words[i + k]));
  }
  for (; i < words.size(); ++i)
    h[0] = mix_hash(h[0], static_cast<std::uint64_t>(words[i]));
  return mix_hash(mix_hash(h[0], h[1]), mix_hash(h[2], h[3]));
}

std::size_t bytes_of(const TokenMask& mask) noexcept {
  return sizeof(TokenMask) + mask.ids.capacity() * sizeof(TokenId) +
         mask.bits.capacity() * sizeof(std::uint64_t) + kEntryBytes;
}

}  // namespace

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
  cache_bytes_ += kEntryBytes;
  if (cache_bytes_ > kMaxMaskCacheBytes) {
    cache_.clear();
    masks_.clear();
    cache_bytes_ = kEntryBytes;
  }
  computed = shared(std::move(computed));
  cache_.emplace(near, computed);
  return computed;
}

// A stored mask that is equal to `mask`, or `mask`, which is stored then.
std::shared_ptr<const TokenMask> TokenMasks::shared(std::shared_ptr<const TokenMask> mask) {
  const std::uint64_t hash = mask->is_sparse ? hash_words(mask->ids) : hash_words(mask->bits);
  const auto [known, is_new] = masks_.try_emplace(hash, mask);
  if (is_new) {
    cache_bytes_ += bytes_of(*mask);
    return mask;
  }
  const TokenMask& its = *known->second;
  const bool is_equal =
      its.is_sparse == mask->is_sparse && its.ids == mask->ids && its.bits == mask->bits;
  return is_equal ? known->second : mask;
}

void TokenMasks::allow(std::span<const TokenId> ids) noexcept {
  for (const TokenId id : ids) {
    const auto i = static_cast<std::size_t>(id);
    if (id >= 0 && i / 64 < scratch_.size()) scratch_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

// Steps of the recognizer and of the automaton spell dead and failed alike.
static_assert(kDeadState == regex::kEmptySet && kFailedState == regex::kNoExpr);

void TokenMasks::place(Step& step, bool uses_text) {
  step.is_made = true;
  step.is_text = false;
  const auto text = uses_text ? recognizer_->plain_text(step.state) : std::nullopt;
  if (!text) return;
  automaton_ = text->automaton;
  step.rest = text->rest;
  step.is_text = true;
  step.is_json_string = text->is_json_string;
}

// The recognizer's state at `depth`, from the last one above it that is made.
StateId TokenMasks::made(std::size_t depth) {
  std::size_t from = depth;
  while (!path_[from].is_made)
    --from;
  for (; from < depth; ++from) {
    path_[from + 1].state = recognizer_->step(path_[from].state, bytes_[from]);
    path_[from + 1].is_made = true;
  }
  return path_[depth].state;
}

// Within plain text the automaton knows what is dead; the recognizer's states are made at the first
// byte that is not plain.
bool TokenMasks::walk(const TokenTrie::Tree& tree, StateId state, bool uses_text) {
  path_[0].state = state;
  place(path_[0], uses_text);
  for (std::size_t i = 0; i < tree.nodes.size();) {
    const TokenTrie::Node& node = tree.nodes[i];
    const Step& at = path_[node.depth];
    Step& to = path_[node.depth + 1U];
    bytes_[node.depth] = node.byte;
    StateId next = kDeadState;
    if (at.is_text && is_plain_byte(node.byte)) {
      next = automaton_->step(at.rest, node.byte);
      to = {.rest = next, .is_text = true, .is_json_string = at.is_json_string};
    } else if (!at.is_text || !at.is_json_string || node.byte == '\\' ||
               (node.byte == '"' && automaton_->pool().is_nullable(at.rest))) {
      next = recognizer_->step(made(node.depth), node.byte);
      to.state = next;
      if (next != kDeadState && next != kFailedState) place(to, uses_text);
    }
    if (next == kFailedState) return false;
    if (next != kDeadState) allow(tree.tokens_at(node));
    i = next == kDeadState ? node.end : i + 1;
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
  if (reach > 0) scratch_ = trie_->plain_bits();
  path_[0].rest = text.rest;
  for (std::size_t i = 0; i < tree.nodes.size();) {
    const TokenTrie::Node& node = tree.nodes[i];
    if (node.longest <= reach) {
      i = node.end;
      continue;
    }
    const regex::ExprId next = automaton.step(path_[node.depth].rest, node.byte);
    if (next == regex::kNoExpr) return false;
    if (next != regex::kEmptySet) {
      path_[node.depth + 1U].rest = next;
      if (reach == 0) allow(tree.tokens_at(node));
      ++i;
      continue;
    }
    for (const TokenId id : reach == 0 ? std::span<const TokenId>() : tree.tokens_below(node)) {
      const auto bit = static_cast<std::size_t>(id);
      scratch_[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
    }
    i = node.end;
  }
  return true;
}

// From the cache, if it can be; null if the automaton failed.
const TokenMasks::PlainPart* TokenMasks::plain_part(const PlainText& text) {
  const auto known = plain_parts_.find(text.rest);
  if (known != plain_parts_.end()) return &known->second;
  if (!walk_plain(text)) return nullptr;
  auto& bits = plain_bits_[hash_words(scratch_)];
  if (bits == nullptr) bits = std::make_shared<const std::vector<std::uint64_t>>(scratch_);
  PlainPart part{.bits = bits, .is_within_character = true};
  if (*bits != scratch_) part.bits = std::make_shared<const std::vector<std::uint64_t>>(scratch_);
  if (const auto edges = text.automaton->edges(text.rest)) {
    const auto sets = text.automaton->pool().sets();
    constexpr regex::ByteSet kContinuation = regex::ByteSet::range(0x80, 0xBF);
    part.is_within_character = std::any_of(
        edges->begin(), edges->end(),
        [&](const regex::Edge& edge) { return !(sets[edge.set] & kContinuation).is_empty(); });
  }
  const std::size_t n_bytes = scratch_.size() * sizeof(std::uint64_t) * plain_bits_.size() +
                              plain_parts_.size() * kEntryBytes;
  if (n_bytes > kMaxMaskCacheBytes) {
    plain_parts_.clear();
    plain_bits_.clear();
  }
  return &(plain_parts_[text.rest] = std::move(part));
}

Result<std::shared_ptr<const TokenMask>> TokenMasks::compute(StateId state) {
  ++n_computed_;
  const std::size_t depth = trie_->longest_token_bytes() + 1;
  path_.resize(depth);
  bytes_.resize(depth);
  scratch_.assign(trie_->plain_bits().size(), 0);
  const auto walk_others = [&](bool uses_text) {
    return walk(trie_->quoted(), state, uses_text) && walk(trie_->others(), state, uses_text);
  };
  bool is_done = false;
  if (const auto text = recognizer_->plain_text(state)) {
    if (const PlainPart* const part = plain_part(*text)) {
      scratch_ = *part->bits;
      recognizer_->begin(kMaskFuel);
      is_done = text->is_json_string && !part->is_within_character
                    ? walk(trie_->quoted(), state, true)
                    : walk_others(true);
    }
  } else {
    is_done = walk(trie_->plain(), state, true) && walk_others(true);
  }
  if (!is_done) {
    std::fill(scratch_.begin(), scratch_.end(), 0);
    recognizer_->begin(kMaskFuel);
    if (!walk(trie_->plain(), state, false) || !walk_others(false)) return recognizer_->failure();
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
