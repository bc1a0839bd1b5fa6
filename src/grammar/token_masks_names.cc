// Masks within names of JSON objects (Recognizer::OpenName). Behind nearly every name of an open
// object the same may come. So the tokens that end some name of the vocabulary's are not tried one
// by one: the texts that may come behind a name are found once for each object, and tokens that end
// a name are allowed if they have one of them. What is left are the tokens that end one of the few
// names that have a value of their own or have come already, and those that go as far as a second
// name.
//
// In an array whose items must differ the same holds for strings: which of them has come matters
// from the next item on. What else may come in a string does not depend on which have come.
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "grammar/limits.h"
#include "grammar/token_masks.h"

namespace wick::grammar {
namespace {

bool has_bit(const TokenBits& bits, std::uint32_t i) noexcept {
  return i / 64 < bits.size() && (bits[i / 64] >> (i % 64) & 1U) != 0;
}

}  // namespace

// False where the recognizer failed, and within a character.
bool TokenMasks::find_in_string(StateId state, const PlainText& text,
                                const Recognizer::AnyItem& item) {
  const MaskPart* const plain = plain_part(text);
  if (plain == nullptr || plain->is_within_character) return false;
  const ItemEnds* const ends = ends_of(item);
  if (ends == nullptr) return false;
  const Mask known = mask_of_strings(item, *ends);
  if (known == nullptr) return false;
  scratch_.resize(trie_->plain_bits().size());
  known->fill(scratch_);
  base_ = plain->mask;
  recognizer_->begin(kMaskFuel);
  recognizer_->begin_walk();
  const bool is_found = forbid_excluded(text, item) && walk_ends(state, ends->farther);
  recognizer_->end_walk();
  return is_found;
}

// Takes back the tokens that end a string that may not come.
bool TokenMasks::forbid_excluded(const PlainText& text, const Recognizer::AnyItem& item) {
  if (item.excluded == regex::kEmptySet) return true;
  for (const auto& [rest, tokens] : trie_->string_rests()) {
    regex::ExprId at = item.excluded;
    for (std::size_t i = 0; i < rest.size() && at != regex::kEmptySet; ++i)
      at = text.automaton->step(at, static_cast<unsigned char>(rest[i]));
    if (at == regex::kNoExpr) return false;
    if (!text.automaton->pool().is_nullable(at)) continue;
    for (const TokenId token : tokens)
      forbid(token);
  }
  return true;
}

// The tokens in a string before `ends`, where all strings may come; null where the recognizer
// failed.
TokenMasks::Mask TokenMasks::mask_of_strings(const Recognizer::AnyItem& item,
                                             const ItemEnds& ends) {
  auto& masks = string_masks_[item.within_value ? 1 : 0];
  const std::uint64_t key = std::uint64_t{item.within} << 32U | ends.texts;
  if (const auto known = masks.find(key); known != masks.end()) return known->second;
  const MaskPart* const value = within(item.within);
  if (value == nullptr) return nullptr;
  scratch_.resize(trie_->plain_bits().size());
  value->mask->fill(scratch_);
  const std::vector<std::uint32_t>& ids = trie_->string_ends(item.within_value).ids;
  for (const TrieExit& exit : value->exits) {
    if (exit.tree != &trie_->quoted()) return nullptr;
    const TokenTrie::Node& node = exit.tree->nodes[exit.node];
    const auto tokens = exit.tree->tokens_below(node);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::uint32_t id = ids[node.first_token + i];
      if (id < TokenTrie::kNoEnd && has_bit(behind_[ends.texts], id)) allow(tokens.subspan(i, 1));
    }
  }
  cache_bytes_ += kEntryBytes;
  return masks[key] = mask_of_scratch(value->mask);
}

// Null where the recognizer failed.
const TokenMasks::ItemEnds* TokenMasks::ends_of(const Recognizer::AnyItem& item) {
  if (const auto known = item_ends_.find(item.behind); known != item_ends_.end())
    return &known->second;
  const TokenTrie::StringEnds& ends = trie_->string_ends(item.within_value);
  const auto find = [&](const TokenTrie::Tree& tree) {
    recognizer_->begin(kMaskFuel);
    recognizer_->begin_walk();
    scratch_.assign(tree.tokens.size() / 64 + 1, 0);
    const bool is_found = walk(tree, item.behind, true);
    recognizer_->end_walk();
    return is_found;
  };
  if (!find(ends.farther)) return nullptr;
  ItemEnds out;
  std::copy_if(ends.far_ends.begin(), ends.far_ends.end(), std::back_inserter(out.farther),
               [&](const TokenTrie::NameEnd& end) { return has_bit(scratch_, end.behind); });
  if (!find(ends.behind)) return nullptr;
  out.texts = signature_of_scratch();
  cache_bytes_ += kEntryBytes + out.farther.size() * sizeof(TokenTrie::NameEnd);
  return &(item_ends_[item.behind] = std::move(out));
}

// False where the recognizer failed.
bool TokenMasks::find_in_name(StateId state, const OpenName& name) {
  const auto text = recognizer_->plain_text(state);
  if (!text) return false;
  if (name.behind == kDeadState) return find_among_names(state, *text, name);
  const Mask known = mask_of_names(name.behind, state);
  if (known == nullptr) return false;
  scratch_.assign(trie_->plain_bits().size(), 0);
  known->fill(scratch_);
  base_ = plain_mask_;
  for (const std::string& rest : name.own) {
    const auto its = trie_->name_ends().find(rest);
    if (its == trie_->name_ends().end()) continue;
    for (const TokenTrie::NameEnd& end : its->second)
      forbid(end.token);
  }
  return walk_own_names(state, name);
}

// Where other names differ from each other.
bool TokenMasks::find_among_names(StateId state, const PlainText& text, const OpenName& name) {
  const auto spelled = find_spelled(state);
  if (!spelled) return false;
  recognizer_->begin(kMaskFuel);
  const MaskPart* const part = plain_part(text);
  if (part == nullptr) return false;
  TokenBits found(trie_->plain_bits().size());
  part->mask->fill(found);
  const auto allow_spelled = [&](TokenId id) {
    const auto i = static_cast<std::uint32_t>(id);
    if (has_bit(*spelled, i)) found[i / 64] |= std::uint64_t{1} << (i % 64);
  };
  for (const TokenId id : trie_->within_names())
    allow_spelled(id);
  for (const auto& [rest, ends] : trie_->name_ends()) {
    if (std::find(name.own.begin(), name.own.end(), rest) != name.own.end()) continue;
    const auto texts = signature_of_rest(state, text, rest);
    if (!texts) return false;
    if (*texts == kNoSignature) continue;
    for (const TokenTrie::NameEnd& end : ends) {
      if (end.behind == TokenTrie::kNothing || has_bit(behind_[*texts], end.behind))
        allow_spelled(end.token);
    }
  }
  scratch_ = std::move(found);
  base_ = part->mask;
  return walk_own_names(state, name);
}

// The texts behind a name that ends after `rest`; kNoSignature where it may not come.
std::optional<TokenMasks::Signature> TokenMasks::signature_of_rest(StateId state,
                                                                   const PlainText& text,
                                                                   std::string_view rest) {
  regex::ExprId at = text.rest;
  for (std::size_t i = 0; i < rest.size() && at != regex::kNoExpr; ++i)
    at = text.automaton->step(at, static_cast<unsigned char>(rest[i]));
  if (at == regex::kNoExpr) return std::nullopt;
  if (!text.automaton->pool().is_nullable(at)) return kNoSignature;
  const StateId behind = recognizer_->behind_name(state, rest);
  if (behind == kFailedState) return std::nullopt;
  if (behind == kDeadState) return kNoSignature;
  const auto known = name_texts_.find(behind);
  if (known != name_texts_.end()) return known->second;
  const auto out = signature_of_name(behind);
  if (out) name_texts_[behind] = *out;
  return out;
}

// Adds the tokens that end one of the names that are not like others, and those that go as far as
// the next name.
bool TokenMasks::walk_own_names(StateId state, const OpenName& name) {
  recognizer_->begin(kMaskFuel);
  recognizer_->begin_walk();
  bool is_found = true;
  for (const std::string& rest : name.own) {
    const auto its = trie_->name_ends().find(rest);
    if (its != trie_->name_ends().end()) is_found = is_found && walk_ends(state, its->second);
  }
  is_found = is_found && walk(trie_->behind_members(), state, true);
  recognizer_->end_walk();
  return is_found;
}

// Tries tokens one by one; those that begin alike are neighbors.
bool TokenMasks::walk_ends(StateId state, std::span<const TokenTrie::NameEnd> ends) {
  std::string_view before;
  std::size_t n_alive = 0;  // bytes of `before` behind which path_ has a state
  path_[0].state = state;
  for (const TokenTrie::NameEnd& end : ends) {
    const std::string_view bytes = trie_->bytes(end.token);
    std::size_t n = 0;
    while (n < before.size() && n < bytes.size() && before[n] == bytes[n])
      ++n;
    if (n > n_alive) continue;  // it has the byte that was dead
    for (; n < bytes.size(); ++n) {
      const StateId next =
          recognizer_->step(path_[n].state, static_cast<unsigned char>(bytes[n]));
      if (next == kFailedState) return false;
      if (next == kDeadState) break;
      path_[n + 1].state = next;
    }
    n_alive = n;
    before = bytes;
    if (n == bytes.size()) allow(std::span(&end.token, 1));
  }
  return true;
}

// The tokens that may come in a name that has no own way on, from `state` within one; null where
// the recognizer failed.
TokenMasks::Mask TokenMasks::mask_of_names(StateId behind, StateId state) {
  if (const auto known = name_masks_.find(behind); known != name_masks_.end()) return known->second;
  const auto texts = signature_of_name(behind);
  if (!texts) return nullptr;
  Mask& out = name_mask_ids_[*texts];
  if (out == nullptr) {
    if (spelled_.empty()) {
      auto spelled = find_spelled(state);
      if (!spelled) return nullptr;
      spelled_ = *std::move(spelled);
    }
    scratch_ = trie_->plain_bits();
    if (plain_mask_ == nullptr) plain_mask_ = mask_of_scratch(nullptr);
    const auto allow_spelled = [&](TokenId id) {
      if (has_bit(spelled_, static_cast<std::uint32_t>(id))) allow(std::span(&id, 1));
    };
    for (const TokenId id : trie_->within_names())
      allow_spelled(id);
    for (const auto& [name, ends] : trie_->name_ends()) {
      for (const TokenTrie::NameEnd& end : ends) {
        if (end.behind == TokenTrie::kNothing || has_bit(behind_[*texts], end.behind))
          allow_spelled(end.token);
      }
    }
    out = mask_of_scratch(plain_mask_);
    cache_bytes_ += kEntryBytes;
  }
  cache_bytes_ += kEntryBytes;
  return name_masks_[behind] = out;
}

// The tokens of quoted() that may come in a name, as far as it goes. Where all names may come they
// are the same in each.
std::optional<TokenBits> TokenMasks::find_spelled(StateId state) {
  auto* const exits = std::exchange(exits_, nullptr);
  recognizer_->begin(kMaskFuel);
  recognizer_->begin_walk();
  scratch_.assign(trie_->plain_bits().size(), 0);
  allows_quotes_ = true;
  const bool is_found = walk(trie_->quoted(), state, true);
  allows_quotes_ = false;
  recognizer_->end_walk();
  exits_ = exits;
  return is_found ? std::optional(scratch_) : std::nullopt;
}

// Which of TokenTrie::behind_names() may come at `behind`.
std::optional<TokenMasks::Signature> TokenMasks::signature_of_name(StateId behind) {
  auto* const exits = std::exchange(exits_, nullptr);
  const TokenTrie::Tree& tree = trie_->behind_names();
  TokenBits found(tree.tokens.size() / 64 + 1);
  bool is_found = true;
  for (std::size_t i = 0; i < tree.nodes.size() && is_found; i = tree.nodes[i].end) {
    scratch_.assign(found.size(), 0);
    recognizer_->begin(kMaskFuel);
    const StateId value = tree.nodes[i].byte == ':' ? recognizer_->step(behind, ':') : kDeadState;
    const auto parts = recognizer_->parts(value);
    if (const WithinBehind* its = parts ? value_behind_name(parts->within, i) : nullptr) {
      scratch_ = behind_[its->set];
      allow(tree.tokens_at(tree.nodes[i]));
      is_found = walk_exits(its->exits, parts->behind);
    } else {
      recognizer_->begin(kMaskFuel);
      recognizer_->begin_walk();
      is_found = walk(tree, i, tree.nodes[i].end, behind, true);
      recognizer_->end_walk();
    }
    for (std::size_t k = 0; k < found.size(); ++k)
      found[k] |= scratch_[k];
  }
  exits_ = exits;
  if (!is_found) return std::nullopt;
  scratch_ = std::move(found);
  return signature_of_scratch();
}

// The texts within a value that begins at `state`, behind the node `colon`; null where the
// recognizer failed.
const TokenMasks::WithinBehind* TokenMasks::value_behind_name(StateId state, std::size_t colon) {
  const auto known = behind_names_.find(state);
  if (known != behind_names_.end()) return &known->second;
  const TokenTrie::Tree& tree = trie_->behind_names();
  WithinBehind out;
  exits_ = &out.exits;
  recognizer_->begin(kMaskFuel);
  recognizer_->begin_walk();
  scratch_.assign(tree.tokens.size() / 64 + 1, 0);
  const bool is_found = walk(tree, colon + 1, tree.nodes[colon].end, state, true);
  recognizer_->end_walk();
  exits_ = nullptr;
  if (!is_found) return nullptr;
  out.set = signature_of_scratch();
  out.exits.shrink_to_fit();
  cache_bytes_ += kEntryBytes + out.exits.size() * sizeof(TrieExit);
  return &(behind_names_[state] = std::move(out));
}

}  // namespace wick::grammar
