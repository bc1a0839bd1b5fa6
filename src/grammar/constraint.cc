#include "grammar/constraint.h"

#include <algorithm>

#include "grammar/limits.h"

namespace wick::grammar {

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

Result<bool> Constraint::is_completed_by(std::span<const TokenId> tokens) {
  WICK_TRY(const int n, append(tokens));
  const bool is_end = n == static_cast<int>(tokens.size()) && is_complete();
  rollback(n);
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
  WICK_TRY(const std::string text, masks_->recognizer().shortest(states_.back().state));
  for (std::string_view rest = text; !rest.empty();) {
    const TokenId id = masks_->trie().longest_prefix(rest);
    if (id < 0) {
      return Error{ErrorCode::kUnsupported, "no_short_end",
                   "the vocabulary has no tokens for the end of the document", {}};
    }
    out.push_back(id);
    rest.remove_prefix(masks_->trie().bytes(id).size());
  }
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
