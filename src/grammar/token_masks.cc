#include "grammar/token_masks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "base/mix.h"
#include "grammar/limits.h"

namespace wick::grammar {
namespace {

constexpr std::size_t kStateBytes = 16;  // of a state whose mask is stored

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

std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) noexcept {
  return (std::uint64_t{a} << 32U) | b;
}

}  // namespace

TokenMasks::TokenMasks(std::unique_ptr<Recognizer> recognizer,
                       std::shared_ptr<const TokenTrie> trie,
                       std::shared_ptr<SharedStrings> strings)
    : recognizer_(std::move(recognizer)),
      trie_(std::move(trie)),
      strings_(std::move(strings)),
      path_(trie_->longest_token_bytes() + 1),
      bytes_(path_.size()) {
  WICK_CHECK(strings_ == nullptr || strings_->trie() == trie_, "strings of another trie");
}

Result<TokenMasks::Mask> TokenMasks::mask(StateId state) {
  if (state == kFailedState) return recognizer_->failure();
  recognizer_->begin(kMaskFuel);
  const StateId near = recognizer_->near_form(state, trie_->longest_token_bytes());
  if (const std::uint32_t known = cache_.find(near); known != FlatHashMap::kNone)
    return cached_[known];
  forget_if_full();
  Mask out;
  if (const auto parts = recognizer_->parts(near)) out = joined(*parts);
  if (out == nullptr) {
    WICK_TRY(out, compute(near));
  }
  const auto [id, is_new] =
      cached_ids_.try_emplace(out.get(), static_cast<std::uint32_t>(cached_.size()));
  if (is_new) cached_.push_back(out);
  cache_bytes_ += is_new ? kEntryBytes : kStateBytes;
  cache_.add(near, id->second);
  return out;
}

void TokenMasks::forget_if_full() {
  if (cache_bytes_ <= kMaxMaskCacheBytes) return;
  cache_.clear();
  cached_.clear();
  cached_ids_.clear();
  masks_.clear();
  bits_.clear();
  within_.clear();
  within_behind_.clear();
  joined_.clear();
  joined_behind_.clear();
  signatures_.clear();
  signature_ids_.clear();
  behind_.clear();
  name_masks_.clear();
  name_mask_ids_.clear();
  item_ends_.clear();
  for (auto& masks : string_masks_)
    masks.clear();
  name_texts_.clear();
  behind_names_.clear();
  plain_parts_.clear();
  cache_bytes_ = 0;
}

TokenMasks::Mask TokenMasks::joined(const Parts& parts) {
  const auto behind = signature(parts.behind);
  if (!behind) return nullptr;
  const std::uint64_t key = pair_of(parts.within, *behind);
  if (const auto known = joined_.find(key); known != joined_.end()) return known->second;
  const MaskPart* const value = within(parts.within);
  if (value == nullptr) return nullptr;
  scratch_.resize(trie_->plain_bits().size());
  value->mask->fill(scratch_);
  if (!walk_exits(value->exits, parts.behind)) return nullptr;
  cache_bytes_ += kEntryBytes;
  return joined_[key] = mask_of_scratch(value->mask);
}

const MaskPart* TokenMasks::within(StateId state) {
  if (const auto known = within_.find(state); known != within_.end()) return known->second.get();
  const auto text = recognizer_->plain_text(state);
  const bool is_alone = text && text->alone != PlainText::Alone::kNo;
  const auto key = is_alone ? shared_key(*text, text->alone == PlainText::Alone::kBeforeSpace
                                                    ? SharedStrings::Kind::kAloneBeforeSpace
                                                    : SharedStrings::Kind::kAlone)
                            : std::nullopt;
  std::shared_ptr<const MaskPart> out = key ? strings_->find(*key) : nullptr;
  if (out == nullptr) {
    auto made = std::make_shared<MaskPart>();
    exits_ = &made->exits;
    const bool is_found = find_allowed(state);
    exits_ = nullptr;
    if (!is_found) return nullptr;
    made->exits.shrink_to_fit();
    made->mask = mask_of_scratch(base_);
    cache_bytes_ += made->exits.size() * sizeof(TrieExit);
    out = std::move(made);
    if (key) strings_->add(*key, out);
  }
  cache_bytes_ += kEntryBytes;
  return (within_[state] = std::move(out)).get();
}

std::optional<TokenMasks::Signature> TokenMasks::signature(StateId state) {
  if (const auto known = signatures_.find(state); known != signatures_.end()) return known->second;
  std::optional<Signature> out;
  recognizer_->begin(kMaskFuel);
  if (const auto parts = recognizer_->parts(state)) out = joined_signature(*parts);
  if (!out) {
    if (!walk_behind(state)) return std::nullopt;
    out = signature_of_scratch();
  }
  cache_bytes_ += kEntryBytes;
  signatures_.emplace(state, *out);
  return out;
}

std::optional<TokenMasks::Signature> TokenMasks::joined_signature(const Parts& parts) {
  const auto behind = signature(parts.behind);
  if (!behind) return std::nullopt;
  const std::uint64_t key = pair_of(parts.within, *behind);
  if (const auto known = joined_behind_.find(key); known != joined_behind_.end())
    return known->second;
  const WithinBehind* const value = within_behind(parts.within);
  if (value == nullptr) return std::nullopt;
  scratch_ = behind_[value->set];
  if (!walk_exits(value->exits, parts.behind)) return std::nullopt;
  cache_bytes_ += kEntryBytes;
  return joined_behind_[key] = signature_of_scratch();
}

const TokenMasks::WithinBehind* TokenMasks::within_behind(StateId state) {
  const auto known = within_behind_.find(state);
  if (known != within_behind_.end()) return &known->second;
  WithinBehind out;
  exits_ = &out.exits;
  const bool is_found = walk_behind(state);
  exits_ = nullptr;
  if (!is_found) return nullptr;
  out.set = signature_of_scratch();
  out.exits.shrink_to_fit();
  cache_bytes_ += kEntryBytes + out.exits.size() * sizeof(TrieExit);
  return &(within_behind_[state] = std::move(out));
}

TokenMasks::Signature TokenMasks::signature_of_scratch() {
  std::vector<Signature>& alike = signature_ids_[hash_words(scratch_)];
  for (const Signature known : alike) {
    if (behind_[known] == scratch_) return known;
  }
  const auto id = static_cast<Signature>(behind_.size());
  alike.push_back(id);
  behind_.push_back(scratch_);
  cache_bytes_ += scratch_.size() * sizeof(std::uint64_t) + kEntryBytes;
  return id;
}

// A stored mask that is equal to `mask`, or `mask`, which is stored then.
TokenMasks::Mask TokenMasks::shared(Mask mask) {
  const std::uint64_t hash =
      mix_hash(hash_words(mask->ids), reinterpret_cast<std::uintptr_t>(mask->bits.get()));
  const auto [known, is_new] = masks_.try_emplace(hash, mask);
  if (is_new) {
    cache_bytes_ += mask->bytes() + kEntryBytes;
    return mask;
  }
  const TokenMask& its = *known->second;
  return its.bits == mask->bits && its.ids == mask->ids ? known->second : mask;
}

// Those of scratch_.
std::shared_ptr<const TokenBits> TokenMasks::shared_bits() {
  if (scratch_ == trie_->plain_bits()) return {trie_, &trie_->plain_bits()};
  auto& known = bits_[hash_words(scratch_)];
  if (known != nullptr && *known == scratch_) return known;
  auto bits = std::make_shared<const TokenBits>(scratch_);
  cache_bytes_ += scratch_.size() * sizeof(std::uint64_t) + kEntryBytes;
  if (known == nullptr) known = bits;
  return bits;
}

// The tokens of scratch_, which has those of `base` (none if it is null).
TokenMasks::Mask TokenMasks::mask_of_scratch(const Mask& base) {
  auto out = std::make_shared<TokenMask>();
  const std::shared_ptr<const TokenBits> bits = base == nullptr ? nullptr : base->bits;
  int n_bits = bits == nullptr ? 0 : base->n_allowed - static_cast<int>(base->ids.size());
  out->n_allowed = n_bits;
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    const std::uint64_t more = bits == nullptr ? scratch_[i] : scratch_[i] & ~(*bits)[i];
    if (more != 0) out->n_allowed += std::popcount(more);
  }
  const auto is_few = [](int n) { return static_cast<std::size_t>(n) <= kMaxSparseIds; };
  if (is_few(out->n_allowed)) {
    n_bits = 0;
  } else if (bits != nullptr && is_few(out->n_allowed - n_bits)) {
    out->bits = bits;
  } else {
    out->bits = shared_bits();
    n_bits = out->n_allowed;
  }
  out->ids.reserve(static_cast<std::size_t>(out->n_allowed - n_bits));
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    const std::uint64_t shared = out->bits == nullptr ? 0 : (*out->bits)[i];
    for (std::uint64_t word = scratch_[i] & ~shared; word != 0; word &= word - 1) {
      out->ids.push_back(
          static_cast<TokenId>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
    }
  }
  return shared(std::move(out));
}

std::optional<SharedStrings::Key> TokenMasks::shared_key(const PlainText& text,
                                                         SharedStrings::Kind kind) {
  if (strings_ == nullptr) return std::nullopt;
  return strings_->key(text.automaton->pool(), text.rest, kind, copies_);
}

// From a cache, if it can be; null if the automaton failed.
const MaskPart* TokenMasks::plain_part(const PlainText& whole) {
  PlainText text = whole;
  text.rest = exclusions_.without(*whole.automaton, whole.rest);
  const auto known = plain_parts_.find(text.rest);
  if (known != plain_parts_.end()) return known->second.get();
  const auto key = shared_key(text, SharedStrings::Kind::kPlain);
  std::shared_ptr<const MaskPart> out = key ? strings_->find(*key) : nullptr;
  if (out == nullptr) {
    if (!walk_plain(text)) return nullptr;
    auto made = std::make_shared<MaskPart>();
    made->mask = mask_of_scratch(nullptr);
    made->is_within_character = true;
    if (const auto edges = text.automaton->edges(text.rest)) {
      const auto sets = text.automaton->pool().sets();
      constexpr regex::ByteSet kContinuation = regex::ByteSet::range(0x80, 0xBF);
      made->is_within_character = std::any_of(
          edges->begin(), edges->end(),
          [&](const regex::Edge& edge) { return !(sets[edge.set] & kContinuation).is_empty(); });
    }
    out = std::move(made);
    if (key) strings_->add(*key, out);
  }
  cache_bytes_ += kEntryBytes;
  return (plain_parts_[text.rest] = std::move(out)).get();
}

Result<TokenMasks::Mask> TokenMasks::compute(StateId state) {
  if (!find_allowed(state)) return recognizer_->failure();
  if (recognizer_->accepts(state)) allow(trie_->ends());
  return mask_of_scratch(base_);
}

}  // namespace wick::grammar
