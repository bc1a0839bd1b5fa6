#include "grammar/framed.h"

#include <string_view>

#include "grammar/plain_text.h"

namespace wick::grammar {

namespace {

bool is_byte(char c, unsigned char byte) noexcept {
  return static_cast<unsigned char>(c) == byte;
}

}  // namespace

StateId FramedRecognizer::of_inner(StateId state) const noexcept {
  if (state == kDeadState || state == kFailedState) return state;
  return state < kFailedState - inner_at() ? state + inner_at() : kFailedState;
}

StateId FramedRecognizer::start() const noexcept {
  if (inner_->start() == kDeadState) return kDeadState;
  return frame_.prefix.empty() ? enter() : 1;
}

// From a state where a whole text may end: the first byte of the next one.
StateId FramedRecognizer::step_ends(StateId state, unsigned char byte) const noexcept {
  if (!accepts(state) || frame_.again.empty() || !is_byte(frame_.again[0], byte)) return kDeadState;
  return frame_.again.size() == 1 ? enter() : again_at() + 1;
}

StateId FramedRecognizer::step(StateId state, unsigned char byte) {
  const auto along = [&](const std::string& text, StateId first, StateId behind) {
    const StateId i = state - first;
    if (!is_byte(text[i], byte)) return kDeadState;
    return i + 1 == text.size() ? behind : state + 1;
  };
  if (state == kDeadState || state == kFailedState) return state;
  if (state < again_at()) return along(frame_.prefix, 1, enter());
  if (state < suffix_at()) return along(frame_.again, again_at(), enter());
  if (state + 1 < inner_at()) return along(frame_.suffix, suffix_at(), inner_at() - 1);
  if (state < inner_at()) return step_ends(state, byte);
  const StateId within = state - inner_at();
  if (inner_->accepts(within)) {
    if (!frame_.suffix.empty() && is_byte(frame_.suffix[0], byte)) return suffix_at() + 1;
    const StateId next = frame_.suffix.empty() ? step_ends(state, byte) : kDeadState;
    if (next != kDeadState) return next;
  }
  return of_inner(inner_->step(within, byte));
}

bool FramedRecognizer::accepts(StateId state) const noexcept {
  if (state == kFailedState) return false;
  if (!frame_.suffix.empty()) return state + 1 == inner_at();
  return state >= inner_at() && inner_->accepts(state - inner_at());
}

Result<std::string> FramedRecognizer::shortest(StateId state) {
  if (accepts(state)) return std::string();
  if (state == kDeadState || state == kFailedState) return Recognizer::shortest(state);
  if (state >= suffix_at() && state < inner_at()) return frame_.suffix.substr(state - suffix_at());
  std::string text;
  StateId within = inner_->start();
  if (state < again_at()) {
    text = frame_.prefix.substr(state - 1);
  } else if (state < suffix_at()) {
    text = frame_.again.substr(state - again_at());
  } else {
    within = state - inner_at();
  }
  WICK_TRY(const std::string rest, inner_->shortest(within));
  return text + rest + frame_.suffix;
}

StateId FramedRecognizer::near_form(StateId state, std::size_t max_bytes) {
  if (state < inner_at() || state == kFailedState) return state;
  return of_inner(inner_->near_form(state - inner_at(), max_bytes));
}

// The inner text's, if no plain byte can begin what follows it.
std::optional<Recognizer::PlainText> FramedRecognizer::plain_text(StateId state) {
  if (state < inner_at() || state == kFailedState) return std::nullopt;
  const std::string& behind = frame_.suffix.empty() ? frame_.again : frame_.suffix;
  if (!behind.empty() && is_plain_byte(static_cast<unsigned char>(behind[0]))) return std::nullopt;
  return inner_->plain_text(state - inner_at());
}

}  // namespace wick::grammar
