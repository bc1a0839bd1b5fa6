#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/notation.h"

namespace wick::grammar {

NotationRecognizer::NotationRecognizer(std::unique_ptr<Recognizer> json,
                                       std::unique_ptr<Notation> notation)
    : json_(std::move(json)), notation_(std::move(notation)) {
  json_->begin(kMaskFuel);
  const StateId begun = read(json_->start(), notation_->before());
  if (begun != kDeadState && begun != kFailedState) start_ = state_of(begun, notation_->start());
}

StateId NotationRecognizer::read(StateId json, std::string_view bytes) {
  for (const char c : bytes) {
    if (json == kDeadState || json == kFailedState) break;
    json = json_->step(json, static_cast<unsigned char>(c));
  }
  return json;
}

StateId NotationRecognizer::state_of(StateId json, Notation::Mode mode) {
  auto& of_json = ids_[json];
  if (const auto known = of_json.find(mode); known != of_json.end()) return known->second;
  bool accepts = false;
  if (notation_->may_end(mode)) {
    const StateId end = read(json, notation_->behind());
    if (end == kFailedState) return end;
    accepts = json_->accepts(end);
  }
  is_full_ = is_full_ || states_.size() >= kMaxSchemaStates;
  if (is_full_) return kFailedState;
  const auto id = static_cast<StateId>(states_.size());
  states_.push_back({json, mode, accepts});
  of_json.emplace(mode, id);
  return id;
}

StateId NotationRecognizer::step(StateId state, unsigned char byte) {
  if (state == kDeadState || state == kFailedState) return state;
  Notation::Mode mode = states_[state].mode;
  std::string json;
  if (!notation_->read(mode, byte, json)) return kDeadState;
  const StateId next = read(states_[state].json, json);
  if (next == kDeadState || next == kFailedState) return next;
  return state_of(next, mode);
}

Result<std::string> NotationRecognizer::shortest(StateId state) {
  if (state == kDeadState || state == kFailedState) return Recognizer::shortest(state);
  if (accepts(state)) return std::string();
  WICK_TRY(const std::string json, json_->shortest(states_[state].json));
  auto text = notation_->write(states_[state].mode, json);
  if (!text) return Recognizer::shortest(state);
  return *std::move(text);
}

void NotationRecognizer::begin_walk() {
  n_kept_ = states_.size();
  json_->begin_walk();
}

void NotationRecognizer::end_walk() {
  for (; states_.size() > n_kept_; states_.pop_back()) {
    const auto of_json = ids_.find(states_.back().json);
    of_json->second.erase(states_.back().mode);
    if (of_json->second.empty()) ids_.erase(of_json);
  }
  json_->end_walk();
}

std::size_t NotationRecognizer::used_bytes() const noexcept {
  return states_.size() * sizeof(states_[0]) + json_->used_bytes();
}

bool NotationRecognizer::is_worn() const noexcept {
  return states_.size() > kMaxSchemaStates / 8 || json_->is_worn();
}

Error NotationRecognizer::failure() const {
  if (!is_full_) return json_->failure();
  return {.code = ErrorCode::kUnsupported,
          .id = "grammar_memory",
          .message = cat("the schema's documents need more than ", kMaxSchemaStates, " states")};
}

}  // namespace wick::grammar
