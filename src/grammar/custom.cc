// Argument. A walk over the token trie asks for the children of a node one after another, depth
// first. So the caller's object moves like the walk: a few bytes back, one byte on. The path
// `pushed_` says where it stands; move_to() pops to the common ancestor and pushes the rest.
//
// The search for a short end has no states to merge. It keeps kEndWidth texts of each length, and
// tries closing bytes first. So it finds the end of a document with strings and brackets, and of a
// text with a fixed length, but not the end of every set of texts.
#include "grammar/custom.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "base/strings.h"
#include "grammar/limits.h"

namespace wick::grammar {

namespace {

constexpr std::size_t kEndWidth = 16;

Error callback_failed(std::string_view whose, std::string_view what) {
  return {.code = ErrorCode::kInvalid,
          .id = "callback_failed",
          .message = cat("the ", whose, " failed: ", printable(what))};
}

Error out_of_fuel() {
  return {
      .code = ErrorCode::kUnsupported,
      .id = "grammar_fuel",
      .message = cat("the caller's constraint took more than ", kMaskFuel, " steps for one token"),
      .hint = "accept fewer continuations at one place"};
}

Error out_of_states() {
  return {.code = ErrorCode::kUnsupported,
          .id = "grammar_memory",
          .message = cat("an answer under a caller's constraint has more than ", kMaxCustomStates,
                         " states"),
          .hint = "lower max_tokens"};
}

// All bytes: those that often end a text, digits and letters, the others.
constexpr std::array<unsigned char, 256> bytes_by_use() {
  std::array<unsigned char, 256> out = {};
  std::array<bool, 256> is_used = {};
  std::size_t n = 0;
  const auto add = [&](unsigned char byte) {
    if (!is_used[byte]) out[n++] = byte;
    is_used[byte] = true;
  };
  for (const char c : std::string_view("\"}])>01234567890abcdefghijklmnopqrstuvwxyz"))
    add(static_cast<unsigned char>(c));
  for (unsigned byte = ' '; byte < 0x7F; ++byte)
    add(static_cast<unsigned char>(byte));
  for (unsigned byte = 0; byte < 256; ++byte)
    add(static_cast<unsigned char>(byte));
  return out;
}

constexpr auto kBytesByUse = bytes_by_use();

struct Beginning {
  StateId state;
  std::string bytes;
};

// The bytes of a text that ends, of few bytes.
Result<std::string> search_end(Recognizer& recognizer, StateId from) {
  recognizer.begin(kMaskFuel);
  std::uint64_t n_steps = 0;
  std::vector<Beginning> now = {{from, ""}}, next;
  if (recognizer.accepts(from)) return std::string();
  while (!now.empty() && n_steps < kCustomEndSteps) {
    const std::size_t children = kEndWidth / now.size();  // of each
    next.clear();
    for (const Beginning& one : now) {
      std::size_t n = 0;
      for (const unsigned char byte : kBytesByUse) {
        const StateId state = recognizer.step(one.state, byte);
        ++n_steps;
        if (state == kFailedState) return recognizer.failure();
        if (state == kDeadState) continue;
        next.push_back({state, one.bytes + static_cast<char>(byte)});
        if (recognizer.accepts(state)) return std::move(next.back().bytes);
        if (++n == children) break;
      }
    }
    now.swap(next);
  }
  return Error{.code = ErrorCode::kUnsupported,
               .id = "no_short_end",
               .message = "no short end of the text was found"};
}

}  // namespace

StateId ByteTree::add(StateId parent, unsigned char byte, StateId inner) {
  if (nodes_.size() >= kMaxCustomStates) return kFailedState;
  nodes_.push_back(
      {.parent = parent, .inner = inner, .depth = nodes_[parent].depth + 1, .byte = byte});
  return static_cast<StateId>(nodes_.size() - 1);
}

std::string ByteTree::text(StateId state) const {
  std::string out(nodes_[state].depth, '\0');
  for (; state != kRoot; state = nodes_[state].parent)
    out[nodes_[state].depth - 1] = static_cast<char>(nodes_[state].byte);
  return out;
}

// Runs the caller's code; false if it threw.
template <class Call>
bool CustomRecognizer::guarded(const Call& call) const {
  if (is_failed_) return false;
  try {
    call();
    return true;
  } catch (const std::exception& e) {
    failure_ = callback_failed("recognizer", e.what());
  } catch (...) {
    failure_ = callback_failed("recognizer", "it threw something that is no std::exception");
  }
  is_failed_ = true;
  return false;
}

Result<std::unique_ptr<CustomRecognizer>> CustomRecognizer::make(const RecognizerFactory& factory) {
  std::unique_ptr<ByteRecognizer> bytes;
  try {
    bytes = factory();
  } catch (const std::exception& e) {
    return callback_failed("recognizer", e.what());
  } catch (...) {
    return callback_failed("recognizer", "it threw something that is no std::exception");
  }
  if (bytes == nullptr) return callback_failed("recognizer", "its factory gave none");
  return std::make_unique<CustomRecognizer>(std::move(bytes));
}

// Lets `bytes_` stand at `state`.
bool CustomRecognizer::move_to(StateId state) const {
  std::vector<StateId> missing;
  const auto is_on_path = [&](StateId at) {
    const std::uint32_t depth = tree_.at(at).depth;
    return depth < pushed_.size() && pushed_[depth] == at;
  };
  StateId common = state;
  for (; !is_on_path(common); common = tree_.at(common).parent)
    missing.push_back(common);
  return guarded([&] {
           for (; pushed_.back() != common; pushed_.pop_back())
             bytes_->pop();
           for (; !missing.empty(); missing.pop_back()) {
             if (!bytes_->push(tree_.at(missing.back()).byte)) {
               is_failed_ = true;
               failure_ = {.code = ErrorCode::kInvalid,
                           .id = "recognizer_changed",
                           .message = "the recognizer refuses a byte that it took before",
                           .hint =
                               "pop() must restore the state before the last push() that returned "
                               "true; a push() that returns false must change nothing"};
               return;
             }
             pushed_.push_back(missing.back());
           }
         }) &&
         !is_failed_;
}

void CustomRecognizer::forget(std::size_t n_nodes) {
  guarded([&] {
    for (; pushed_.back() >= n_nodes; pushed_.pop_back())
      bytes_->pop();
  });
  tree_.cut(n_nodes);
}

StateId CustomRecognizer::step(StateId state, unsigned char byte) {
  if (fuel_ == 0) {
    failure_ = out_of_fuel();
    return kFailedState;
  }
  --fuel_;
  if (!move_to(state)) return kFailedState;
  bool is_taken = false;
  if (!guarded([&] { is_taken = bytes_->push(byte); })) return kFailedState;
  if (!is_taken) return kDeadState;
  const StateId next = tree_.add(state, byte, kDeadState);
  if (next == kFailedState) {
    failure_ = out_of_states();
    is_failed_ = true;
    return next;
  }
  pushed_.push_back(next);
  return next;
}

bool CustomRecognizer::accepts(StateId state) const noexcept {
  if (state == kDeadState || state == kFailedState) return false;
  signed char& known = tree_.at(state).accepts;
  if (known >= 0) return known == 1;
  bool is_end = false;
  if (!move_to(state) || !guarded([&] { is_end = bytes_->accepting(); })) return false;
  known = is_end ? 1 : 0;
  return is_end;
}

Result<std::string> CustomRecognizer::forced(StateId& state, std::size_t max_bytes) {
  std::string bytes;
  if (!move_to(state) || !guarded([&] { bytes = bytes_->forced(); })) return failure_;
  if (bytes.size() > max_bytes) bytes.resize(max_bytes);
  for (const char c : bytes) {
    state = step(state, static_cast<unsigned char>(c));
    if (state == kFailedState) return failure_;
    if (state == kDeadState) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "recognizer_changed",
                   .message = cat("the recognizer's forced() has the bytes '", printable(bytes),
                                  "', which its push() refuses")};
    }
  }
  return bytes;
}

Result<std::string> CustomRecognizer::shortest(StateId state) {
  const std::size_t n_before = tree_.size();
  begin(kMaskFuel);
  const auto found = [&]() -> Result<std::string> {
    WICK_TRY(std::string bytes, forced(state, kMaxShortestBytes));
    WICK_TRY(const std::string rest, search_end(*this, state));
    return bytes + rest;
  }();
  forget(n_before);
  if (!found && is_failed_) return failure_;
  return found;
}

StateId PredicateRecognizer::start() const noexcept {
  return inner_->start() == kDeadState ? kDeadState : ByteTree::kRoot;
}

bool PredicateRecognizer::accepts(StateId state) const noexcept {
  if (state == kDeadState || state == kFailedState || is_failed_) return false;
  ByteTree::Node& node = tree_.at(state);
  if (node.accepts >= 0) return node.accepts == 1;
  try {
    node.accepts = inner_->accepts(node.inner) && predicate_(tree_.text(state)) ? 1 : 0;
    return node.accepts == 1;
  } catch (const std::exception& e) {
    failure_ = callback_failed("predicate", e.what());
  } catch (...) {
    failure_ = callback_failed("predicate", "it threw something that is no std::exception");
  }
  is_failed_ = true;
  return false;
}

bool PredicateRecognizer::may_go_on(StateId inner) {
  return std::any_of(kBytesByUse.begin(), kBytesByUse.end(),
                     [&](unsigned char byte) { return inner_->step(inner, byte) != kDeadState; });
}

StateId PredicateRecognizer::step(StateId state, unsigned char byte) {
  if (is_failed_) return kFailedState;
  const StateId inner = inner_->step(tree_.at(state).inner, byte);
  if (inner == kDeadState || inner == kFailedState) return inner;
  const StateId next = tree_.add(state, byte, inner);
  if (next == kFailedState) {
    failure_ = out_of_states();
    is_failed_ = true;
    return next;
  }
  if (!inner_->accepts(inner) || may_go_on(inner)) return next;
  const bool is_right = accepts(next);
  if (is_failed_) return kFailedState;
  return is_right ? next : kDeadState;
}

void PredicateRecognizer::begin_walk() {
  n_before_walk_ = tree_.size();
  inner_->begin_walk();
}

void PredicateRecognizer::end_walk() {
  tree_.cut(n_before_walk_);
  inner_->end_walk();
}

Result<std::string> PredicateRecognizer::shortest(StateId state) {
  begin_walk();
  const auto found = [&]() -> Result<std::string> {
    const auto inner = inner_->shortest(tree_.at(state).inner);
    StateId at = state;
    inner_->begin(kMaskFuel);
    for (std::size_t i = 0; inner && i < inner->size() && at != kDeadState; ++i) {
      at = step(at, static_cast<unsigned char>((*inner)[i]));
      if (at == kFailedState) return failure();
    }
    if (inner && accepts(at)) return inner;
    return search_end(*this, state);
  }();
  end_walk();
  if (!found && is_failed_) return failure_;
  return found;
}

}  // namespace wick::grammar
