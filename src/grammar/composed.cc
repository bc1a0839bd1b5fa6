#include "grammar/composed.h"

#include <algorithm>

#include "base/strings.h"
#include "grammar/limits.h"

namespace wick::grammar {

using Kind = Program::Kind;

ComposedRecognizer::ComposedRecognizer(Program program) : program_(std::move(program)) {
  states_.emplace_back();  // kDeadState
  seen_.resize(program_.steps.size());
  begin(kMaskFuel);
  Threads threads;
  bool accepts = false;
  ++round_;
  enter(program_.start, threads, accepts);
  start_ = state_of(std::move(threads), accepts);
}

void ComposedRecognizer::begin(std::uint64_t fuel) {
  for (const auto& one : program_.documents)
    one->begin(fuel);
}

// The threads that begin at a step, and whether the text may end there.
void ComposedRecognizer::enter(std::uint32_t at, Threads& out, bool& accepts) {
  std::vector<std::uint32_t> todo = {at};
  while (!todo.empty()) {
    at = todo.back();
    todo.pop_back();
    const Program::Step& step = program_.steps[at];
    if (!step.can_end || seen_[at] == round_) continue;
    seen_[at] = round_;
    switch (step.kind) {
      case Kind::kText:
        out.push_back({at, 0, 0});
        break;
      case Kind::kDocument: {
        const Recognizer& language = *program_.documents[step.index];
        out.push_back({at, language.start(), 0});
        if (language.accepts(language.start())) todo.push_back(step.next);
        break;
      }
      case Kind::kFree:
        out.push_back({at, 0, program_.free_bytes(step)});
        if (step.until == Triggers::kNone) todo.push_back(step.next);
        break;
      case Kind::kSplit:
        if (step.other != Program::kNowhere) todo.push_back(step.other);
        [[fallthrough]];
      case Kind::kOpen:
      case Kind::kClose:
        if (step.next != Program::kNowhere) todo.push_back(step.next);
        break;
      case Kind::kEnd:
        accepts = true;
        break;
    }
  }
}

// False if a document failed.
bool ComposedRecognizer::advance(const Thread& thread, unsigned char byte, Threads& out,
                                 bool& accepts) {
  const Program::Step& step = program_.steps[thread.step];
  if (step.kind == Kind::kText) {
    const std::string& text = program_.texts[step.index];
    if (static_cast<unsigned char>(text[thread.place]) != byte) return true;
    if (thread.place + 1 < text.size()) {
      out.push_back({thread.step, thread.place + 1, 0});
    } else {
      enter(step.next, out, accepts);
    }
    return true;
  }
  if (step.kind == Kind::kDocument) {
    Recognizer& language = *program_.documents[step.index];
    const StateId next = language.step(thread.place, byte);
    if (next == kFailedState) failed_ = &language;
    if (next == kFailedState || next == kDeadState) return next == kDeadState;
    out.push_back({thread.step, next, 0});
    if (language.accepts(next)) enter(step.next, out, accepts);
    return true;
  }
  const Triggers& triggers = program_.frees[step.index];
  const std::uint32_t place = triggers.step(thread.place, byte);
  const std::uint32_t found = triggers.found(place);
  if (found != Triggers::kNone) {
    if (found == step.until) enter(step.next, out, accepts);
    return true;
  }
  const bool is_until = step.until != Triggers::kNone;
  Thread next{thread.step, place, 0};
  if (step.max_bytes != Program::kAnyLength) {
    if (thread.bytes_left == 0) return true;
    next.bytes_left = thread.bytes_left - 1;
    if (is_until && triggers.rest(place, step.until).size() > next.bytes_left) return true;
  }
  out.push_back(next);
  if (!is_until) enter(step.next, out, accepts);
  return true;
}

StateId ComposedRecognizer::state_of(Threads threads, bool accepts) {
  if (threads.empty() && !accepts) return kDeadState;
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  std::pair<Threads, bool> key(std::move(threads), accepts);
  if (const auto known = ids_.find(key); known != ids_.end()) return known->second;
  n_threads_ += key.first.size() + 4;
  is_full_ = is_full_ || n_threads_ > kMaxComposedThreads;
  if (is_full_) return kFailedState;
  const auto id = static_cast<StateId>(states_.size());
  states_.push_back({.threads = key.first, .accepts = accepts});
  ids_.emplace(std::move(key), id);
  return id;
}

StateId ComposedRecognizer::computed(StateId state, unsigned char byte) {
  Threads threads;
  bool accepts = false;
  ++round_;
  for (const Thread& thread : states_[state].threads) {
    if (!advance(thread, byte, threads, accepts)) return kFailedState;
  }
  return state_of(std::move(threads), accepts);
}

StateId ComposedRecognizer::step(StateId state, unsigned char byte) {
  if (state == kDeadState || state == kFailedState) return state;
  if (states_[state].next == nullptr) {
    states_[state].next = std::make_unique<std::array<StateId, 256>>();
    states_[state].next->fill(kUnknown);
  }
  const StateId known = (*states_[state].next)[byte];
  if (known != kUnknown) return known;
  const StateId next = computed(state, byte);
  if (next == kFailedState) return next;
  (*states_[state].next)[byte] = next;
  if (is_walking_ && state < n_kept_ && next >= n_kept_) walked_.emplace_back(state, byte);
  return next;
}

void ComposedRecognizer::begin_walk() {
  is_walking_ = true;
  n_kept_ = states_.size();
  for (const auto& one : program_.documents)
    one->begin_walk();
}

void ComposedRecognizer::end_walk() {
  is_walking_ = false;
  for (const auto& [state, byte] : walked_)
    (*states_[state].next)[byte] = kUnknown;
  walked_.clear();
  for (; states_.size() > n_kept_; states_.pop_back()) {
    State& last = states_.back();
    n_threads_ -= last.threads.size() + 4;
    ids_.erase({std::move(last.threads), last.accepts});
  }
  for (const auto& one : program_.documents)
    one->end_walk();
}

Result<std::string> ComposedRecognizer::shortest(StateId state) {
  if (state == kDeadState || state == kFailedState) return Recognizer::shortest(state);
  if (accepts(state)) return std::string();
  std::optional<std::string> best;
  for (const Thread& thread : states_[state].threads) {
    const Program::Step& step = program_.steps[thread.step];
    const std::optional<std::string>& behind = program_.steps[step.next].shortest;
    if (!behind) continue;
    std::string text;
    if (step.kind == Kind::kText) {
      text = program_.texts[step.index].substr(thread.place);
    } else if (step.kind == Kind::kDocument) {
      auto rest = program_.documents[step.index]->shortest(thread.place);
      if (!rest) continue;
      text = *std::move(rest);
    } else if (step.until != Triggers::kNone) {
      text = program_.frees[step.index].rest(thread.place, step.until);
    }
    text += *behind;
    if (!best || text.size() < best->size()) best = std::move(text);
  }
  if (!best) return Recognizer::shortest(state);
  return *std::move(best);
}

StateId ComposedRecognizer::near_form(StateId state, std::size_t max_bytes) {
  if (state == kDeadState || state == kFailedState) return state;
  Threads threads = states_[state].threads;
  const auto farthest = static_cast<std::uint32_t>(max_bytes + kMaxTriggerBytes);
  for (Thread& thread : threads) {
    const Program::Step& step = program_.steps[thread.step];
    if (step.kind == Kind::kDocument)
      thread.place = program_.documents[step.index]->near_form(thread.place, max_bytes);
    thread.bytes_left = std::min(thread.bytes_left, farthest);
  }
  const StateId near = state_of(std::move(threads), states_[state].accepts);
  return near == kFailedState ? state : near;
}

std::optional<Recognizer::PlainText> ComposedRecognizer::plain_text(StateId state) {
  if (state == kFailedState || states_[state].threads.size() != 1) return std::nullopt;
  // TokenMasks keeps what it knows of plain text by expression, of one automaton.
  if (program_.documents.size() != 1) return std::nullopt;
  const Thread& thread = states_[state].threads[0];
  const Program::Step& step = program_.steps[thread.step];
  if (step.kind != Kind::kDocument) return std::nullopt;
  auto text = program_.documents[step.index]->plain_text(thread.place);
  // Elsewhere the document may end amid plain text, and what is behind it go on.
  if (!text || !text->is_json_string) return std::nullopt;
  text->alone = PlainText::Alone::kNo;
  return text;
}

bool ComposedRecognizer::is_worn() const noexcept {
  return n_threads_ > kMaxComposedThreads / 2 ||
         std::any_of(program_.documents.begin(), program_.documents.end(),
                     [](const auto& one) { return one->is_worn(); });
}

Error ComposedRecognizer::failure() const {
  if (failed_ != nullptr) return failed_->failure();
  return {.code = ErrorCode::kUnsupported,
          .id = "grammar_memory",
          .message = cat("the format needs more than ", kMaxComposedThreads, " places")};
}

}  // namespace wick::grammar
