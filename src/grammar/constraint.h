// A constraint at one place of one sequence: which tokens may come next. Sequences share the
// compiled grammar (TokenMasks). A Constraint is a stack of states, one for each token. So a
// rollback by n tokens is free, and a rejected token changes nothing.
//
//   Constraint constraint(masks);
//   WICK_TRY(const auto mask, constraint.mask());
//   mask->fill(allowed);                       // the sampler chooses `id`
//   WICK_TRY(const bool ok, constraint.accept(id));
//   constraint.rollback(1);                    // a draft token that the model did not confirm
//
// Belongs to the thread that owns its TokenMasks.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "grammar/token_masks.h"

namespace wick::grammar {

class Constraint {
 public:
  explicit Constraint(std::shared_ptr<TokenMasks> masks);

  // The tokens that may come next; none after an end of generation, and none where the language is
  // empty.
  Result<std::shared_ptr<const TokenMask>> mask();

  // If `id` may come next, appends it and returns true. Accepts the tokens that mask() allows,
  // without computing a mask.
  Result<bool> accept(TokenId id);

  // How many tokens of `draft`, in order, would be accepted; appends none.
  Result<int> validate(std::span<const TokenId> draft);

  // Whether `tokens`, in order, would be accepted and complete the document; appends none.
  Result<bool> is_completed_by(std::span<const TokenId> tokens);

  // Takes back the last `n_tokens`, at most all.
  void rollback(int n_tokens) noexcept;

  // The text so far is a whole document.
  bool is_complete() const noexcept;

  // An end of generation has come.
  bool is_ended() const noexcept { return states_.back().is_ended; }

  int n_tokens() const noexcept { return static_cast<int>(states_.size()) - 1; }

  // The bytes, at most `max_bytes`, with which every document continues from here.
  Result<std::string> forced(std::size_t max_bytes);

  // Tokens that complete the document: few, for most grammars about the fewest. An error where none
  // were found.
  Result<std::vector<TokenId>> closing();

  // Some byte may follow.
  Result<bool> may_continue();

 private:
  struct Place {
    StateId state = kDeadState;
    bool is_ended = false;
  };

  // Appends tokens of `draft` up to one that may not come; how many.
  Result<int> append(std::span<const TokenId> draft);

  std::shared_ptr<TokenMasks> masks_;
  std::vector<Place> states_ = {};

  // Ends of texts before this one: those of texts that follow each other differ at their beginnings
  // alone, nearly always.
  struct Closing {
    std::string text;
    std::vector<TokenId> tokens;
  };

  struct Completion {
    std::vector<TokenId> tokens;
    std::vector<StateId> states;  // behind each token
  };

  Closing last_closing_ = {};
  Completion last_completion_ = {};
};

}  // namespace wick::grammar
