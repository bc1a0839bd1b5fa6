#include "grammar/constraint.h"

#include <algorithm>

#include "grammar/limits.h"

namespace wick::grammar {
namespace {

// How many elements both end with.
template <class T>
std::size_t n_shared_at_end(std::span<const T> a, std::span<const T> b) {
  const auto end = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first;
  return static_cast<std::size_t>(end - a.rbegin());
}

}  // namespace

Constraint::Constraint(std::shared_ptr<TokenMasks> masks) : masks_(std::move(masks)) {
  states_.push_back({.state = masks_->recognizer().start()});
}

Result<std::shared_ptr<const TokenMask>> Constraint::mask() {
  if (is_ended() || states_.back().state == kDeadState) {
    return std::shared_ptr<const TokenMask>(std::make_shared<TokenMask>());
  }
  return masks_->mask(states_.back().state);
}

Result<bool> Constraint::accept(TokenId id) {
  if (is_ended()) return false;
  Recognizer& recognizer = masks_->recognizer();
  StateId state = states_.back().state;
  if (masks_->trie().is_end(id)) {
    if (!recognizer.accepts(state)) return false;
    states_.push_back({.state = state, .is_ended = true});
    return true;
  }
  const std::string_view bytes = masks_->trie().bytes(id);
  if (bytes.empty()) return false;
  recognizer.begin(kMaskFuel);
  state = recognizer.step_all(state, bytes);
  if (state == kFailedState) return recognizer.failure();
  if (state == kDeadState) return false;
  states_.push_back({.state = state});
  return true;
}

Result<int> Constraint::append(std::span<const TokenId> draft) {
  int n = 0;
  for (const TokenId id : draft) {
    auto accepted = accept(id);
    if (!accepted) {
      rollback(n);
      return std::move(accepted).error();
    }
    if (!*accepted) break;
    ++n;
  }
  return n;
}

Result<int> Constraint::validate(std::span<const TokenId> draft) {
  WICK_TRY(const int n, append(draft));
  rollback(n);
  return n;
}

// Ends where a state comes from which the same tokens completed the last text.
Result<bool> Constraint::is_completed_by(std::span<const TokenId> tokens) {
  const Completion& last = last_completion_;
  const std::size_t n_shared = n_shared_at_end<TokenId>(tokens, last.tokens);
  const std::size_t n_before = states_.size();
  std::size_t n_left = tokens.size();
  bool is_known = false;
  while (n_left > 0 && !is_known) {
    const auto n = append(tokens.subspan(tokens.size() - n_left, 1));
    if (!n) {
      states_.resize(n_before);
      return n.error();
    }
    if (*n == 0) break;
    --n_left;
    is_known = n_left <= n_shared && n_left < last.states.size() && !is_ended() &&
               states_.back().state == last.states[last.states.size() - 1 - n_left];
  }
  const bool is_end = is_known || (n_left == 0 && is_complete());
  if (is_end) {
    Completion now = {.tokens = {tokens.begin(), tokens.end()}, .states = {}};
    for (std::size_t i = n_before; i < states_.size(); ++i)
      now.states.push_back(states_[i].state);
    now.states.insert(now.states.end(), last.states.end() - static_cast<std::ptrdiff_t>(n_left),
                      last.states.end());
    last_completion_ = std::move(now);
  }
  states_.resize(n_before);
  return is_end;
}

void Constraint::rollback(int n_tokens) noexcept {
  const int n = std::clamp(n_tokens, 0, this->n_tokens());
  states_.resize(states_.size() - static_cast<std::size_t>(n));
}

bool Constraint::is_complete() const noexcept {
  return masks_->recognizer().accepts(states_.back().state);
}

Result<std::string> Constraint::forced(std::size_t max_bytes) {
  StateId state = states_.back().state;
  if (is_ended() || state == kDeadState) return std::string();
  return masks_->recognizer().forced(state, max_bytes);
}

Result<std::vector<TokenId>> Constraint::closing() {
  std::vector<TokenId> out;
  if (is_ended()) return out;
  WICK_TRY(std::string text, masks_->recognizer().shortest(states_.back().state));
  const std::size_t n_shared = n_shared_at_end<char>(text, last_closing_.text);
  auto last = last_closing_.tokens.begin();
  std::size_t n_last = last_closing_.text.size();  // bytes from there on
  for (std::string_view rest = text; !rest.empty();) {
    for (; n_last > rest.size(); ++last)
      n_last -= masks_->trie().bytes(*last).size();
    if (n_last == rest.size() && n_last <= n_shared) {
      out.insert(out.end(), last, last_closing_.tokens.end());
      break;
    }
    const TokenId id = masks_->trie().longest_prefix(rest);
    if (id < 0) {
      return Error{ErrorCode::kUnsupported, "no_short_end",
                   "the vocabulary has no tokens for the end of the document", {}};
    }
    out.push_back(id);
    rest.remove_prefix(masks_->trie().bytes(id).size());
  }
  last_closing_ = {std::move(text), out};
  return out;
}

Result<bool> Constraint::may_continue() {
  if (is_ended() || states_.back().state == kDeadState) return false;
  Recognizer& recognizer = masks_->recognizer();
  recognizer.begin(kMaskFuel);
  for (unsigned byte = 0; byte < 256; ++byte) {
    const StateId next = recognizer.step(states_.back().state, static_cast<unsigned char>(byte));
    if (next == kFailedState) return recognizer.failure();
    if (next != kDeadState) return true;
  }
  return false;
}

}  // namespace wick::grammar
