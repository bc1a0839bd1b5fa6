// A caller's constraints (wick/constraint.h) as recognizers. The texts of a caller's object are no
// small integers, so a state is a node of a tree of bytes: its parent, its byte, and what is known
// there. States of different texts are never equal; masks are not cached across tokens.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "grammar/recognizer.h"
#include "wick/constraint.h"

namespace wick::grammar {

// The states: nodes of a tree of bytes. The nodes that a walk adds are forgotten at its end.
class ByteTree {
 public:
  struct Node {
    StateId parent = kDeadState, inner = kDeadState;
    std::uint32_t depth = 0;
    unsigned char byte = 0;
    signed char accepts = -1;  // -1: not asked yet
  };

  explicit ByteTree(StateId inner) : nodes_{{}, {.inner = inner}} {}

  static constexpr StateId kRoot = 1;

  // kFailedState if the memory limit is reached.
  StateId add(StateId parent, unsigned char byte, StateId inner);

  void cut(std::size_t n_nodes) { nodes_.resize(n_nodes); }

  Node& at(StateId state) noexcept { return nodes_[state]; }

  const Node& at(StateId state) const noexcept { return nodes_[state]; }

  std::size_t size() const noexcept { return nodes_.size(); }

  std::string text(StateId state) const;

 private:
  std::vector<Node> nodes_;  // the first is kDeadState's
};

// The texts of a ByteRecognizer. Errors: the caller's code throws (id "callback_failed"), or push()
// refuses a byte that it took before ("recognizer_changed").
class CustomRecognizer final : public Recognizer {
 public:
  static Result<std::unique_ptr<CustomRecognizer>> make(const RecognizerFactory& factory);

  explicit CustomRecognizer(std::unique_ptr<ByteRecognizer> bytes) : bytes_(std::move(bytes)) {}

  StateId start() const noexcept override { return ByteTree::kRoot; }

  StateId step(StateId state, unsigned char byte) override;
  bool accepts(StateId state) const noexcept override;
  Result<std::string> forced(StateId& state, std::size_t max_bytes) override;
  Result<std::string> shortest(StateId state) override;

  void begin(std::uint64_t fuel) override { fuel_ = fuel; }

  void begin_walk() override { n_before_walk_ = tree_.size(); }

  void end_walk() override { forget(n_before_walk_); }

  Error failure() const override { return failure_; }

 private:
  template <class Call>
  bool guarded(const Call& call) const;
  bool move_to(StateId state) const;
  void forget(std::size_t n_nodes);

  std::unique_ptr<ByteRecognizer> bytes_;
  // accepts() is const for its callers; it asks the caller's object.
  mutable ByteTree tree_{kDeadState};
  mutable std::vector<StateId> pushed_ = {ByteTree::kRoot};  // where `bytes_` stands
  mutable Error failure_ = {};
  mutable bool is_failed_ = false;
  std::size_t n_before_walk_ = 0;
  std::uint64_t fuel_ = 0;
};

// The texts of another recognizer for which a predicate is true. A text that is whole and cannot
// go on is dead if the predicate is false for it.
class PredicateRecognizer final : public Recognizer {
 public:
  PredicateRecognizer(std::unique_ptr<Recognizer> inner, TextPredicate predicate)
      : inner_(std::move(inner)), predicate_(std::move(predicate)), tree_(inner_->start()) {}

  StateId start() const noexcept override;
  StateId step(StateId state, unsigned char byte) override;
  bool accepts(StateId state) const noexcept override;
  Result<std::string> shortest(StateId state) override;

  void begin(std::uint64_t fuel) override { inner_->begin(fuel); }

  void begin_walk() override;
  void end_walk() override;

  std::size_t used_bytes() const noexcept override { return inner_->used_bytes(); }

  bool is_worn() const noexcept override { return inner_->is_worn(); }

  Error failure() const override { return is_failed_ ? failure_ : inner_->failure(); }

 private:
  bool may_go_on(StateId inner);

  std::unique_ptr<Recognizer> inner_;
  TextPredicate predicate_;
  mutable ByteTree tree_;
  mutable Error failure_ = {};
  mutable bool is_failed_ = false;
  std::size_t n_before_walk_ = 0;
};

}  // namespace wick::grammar
