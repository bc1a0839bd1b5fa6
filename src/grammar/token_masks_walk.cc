// The walks over the token trie that find which tokens are allowed.
#include <algorithm>

#include "grammar/limits.h"
#include "grammar/token_masks.h"

namespace wick::grammar {

void TokenMasks::allow(std::span<const TokenId> ids) noexcept {
  for (const TokenId id : ids) {
    const auto i = static_cast<std::size_t>(id);
    if (id >= 0 && i / 64 < scratch_.size()) scratch_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

void TokenMasks::forbid(TokenId id) noexcept {
  const auto i = static_cast<std::size_t>(id);
  scratch_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
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

bool TokenMasks::walk(const TokenTrie::Tree& tree, StateId state, bool uses_text) {
  return walk(tree, 0, tree.nodes.size(), state, uses_text);
}

// Nodes `from` to `to`, which are siblings and what is below them, from `state` before them. Within
// plain text the automaton knows what is dead; the recognizer's states are made at the first byte
// that is not plain.
bool TokenMasks::walk(const TokenTrie::Tree& tree, std::size_t from, std::size_t to, StateId state,
                      bool uses_text) {
  if (from == to) return true;
  Step& first = path_[tree.nodes[from].depth];
  first.state = state;
  place(first, uses_text);
  for (std::size_t i = from; i < to;) {
    const TokenTrie::Node& node = tree.nodes[i];
    const Step& at = path_[node.depth];
    Step& next_step = path_[node.depth + 1U];
    if (allows_quotes_ && at.is_text && node.byte == '"') {
      allow(tree.tokens_below(node));
      i = node.end;
      continue;
    }
    bytes_[node.depth] = node.byte;
    StateId next = kDeadState;
    if (at.is_text && is_plain_byte(node.byte)) {
      next = automaton_->step(at.rest, node.byte);
      next_step = {.rest = next, .is_text = true, .is_json_string = at.is_json_string};
    } else if (!at.is_text || !at.is_json_string || node.byte == '\\' ||
               (node.byte == '"' && automaton_->pool().is_nullable(at.rest))) {
      next = recognizer_->step(made(node.depth), node.byte);
      next_step.state = next;
      if (next != kDeadState && next != kFailedState) place(next_step, uses_text);
    }
    if (next == kFailedState) return false;
    const bool is_exit = next == kDeadState && exits_ != nullptr && !at.is_text &&
                         may_follow_value(node.byte) && recognizer_->accepts(at.state);
    if (is_exit) exits_->push_back({&tree, static_cast<std::uint32_t>(i)});
    if (next != kDeadState) allow(tree.tokens_at(node));
    i = next == kDeadState ? node.end : i + 1;
  }
  return true;
}

bool TokenMasks::walk_exits(const std::vector<TrieExit>& exits, StateId state) {
  recognizer_->begin(kMaskFuel);
  recognizer_->begin_walk();
  const bool is_found = std::all_of(exits.begin(), exits.end(), [&](const TrieExit& exit) {
    return walk(*exit.tree, exit.node, exit.tree->nodes[exit.node].end, state, true);
  });
  recognizer_->end_walk();
  return is_found;
}

bool TokenMasks::walk_behind(StateId state) {
  recognizer_->begin(kMaskFuel);
  recognizer_->begin_walk();
  scratch_.assign(trie_->behind().tokens.size() / 64 + 1, 0);
  const bool is_found = walk(trie_->behind(), state, true);
  recognizer_->end_walk();
  return is_found;
}

// Allows all plain tokens, then takes back those that lead to a dead state. Subtrees without a
// token that is longer than the reach need no look. Without a reach most are dead, and a walk is
// shorter.
bool TokenMasks::walk_plain(const PlainText& text) {
  const TokenTrie::Tree& tree = trie_->plain();
  regex::Automaton& automaton = *text.automaton;
  const int reach = reach_.of(automaton, text.rest);
  recognizer_->begin(kMaskFuel);  // reach_ has spent some
  if (reach > 0) {
    scratch_ = trie_->plain_bits();
  } else {
    scratch_.assign(trie_->plain_bits().size(), 0);
  }
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

// Names of a closed object: the walk goes along them alone.
bool TokenMasks::has_few_texts(StateId state) {
  const auto text = recognizer_->plain_text(state);
  return text && text->automaton->pool().at(text->rest).max_len != regex::kUnbounded;
}

bool TokenMasks::find_allowed(StateId state) {
  recognizer_->begin(kMaskFuel);
  ++n_computed_;
  if (!has_few_texts(state)) {
    const auto name = recognizer_->open_name(state);
    if (name && find_in_name(state, *name)) return true;
  }
  const auto item = exits_ == nullptr ? recognizer_->any_item(state) : std::nullopt;
  const auto text = item ? recognizer_->plain_text(state) : std::nullopt;
  if (text && find_in_string(state, *text, *item)) return true;
  recognizer_->begin(kMaskFuel);
  recognizer_->begin_walk();
  base_ = nullptr;
  if (exits_ != nullptr) exits_->clear();
  scratch_.assign(trie_->plain_bits().size(), 0);
  const bool is_found = walk_all(state) || walk_each(state);
  recognizer_->end_walk();
  return is_found;
}

// What is plain text is not walked if its automaton knows enough of it.
bool TokenMasks::walk_all(StateId state) {
  const auto text = recognizer_->plain_text(state);
  if (!text)
    return walk(trie_->plain(), state, true) && walk(trie_->quoted(), state, true) &&
           walk(trie_->others(), state, true);
  const MaskPart* const part = plain_part(*text);
  if (part == nullptr) return false;
  scratch_.resize(trie_->plain_bits().size());
  part->mask->fill(scratch_);
  base_ = part->mask;
  recognizer_->begin(kMaskFuel);
  const bool has_others = !text->is_json_string || part->is_within_character;
  return walk(trie_->quoted(), state, true) && (!has_others || walk(trie_->others(), state, true));
}

bool TokenMasks::walk_each(StateId state) {
  base_ = nullptr;
  std::fill(scratch_.begin(), scratch_.end(), 0);
  if (exits_ != nullptr) exits_->clear();
  recognizer_->begin(kMaskFuel);
  return walk(trie_->plain(), state, false) && walk(trie_->quoted(), state, false) &&
         walk(trie_->others(), state, false);
}

}  // namespace wick::grammar
