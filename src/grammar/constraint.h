// A constraint at one place of one sequence: which tokens may come next. What was compiled is
// shared (TokenMasks); this is a stack of states, one for each token, so going back n tokens costs
// nothing, and a token that is not allowed changes nothing.
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

  // Whether `id` may come next; then it has come. Exactly what mask() allows, without making one.
  Result<bool> accept(TokenId id);

  // How many of `draft` would be accepted one after another; none of them has come.
  Result<int> validate(std::span<const TokenId> draft);

  // Takes back the last `n_tokens`, at most all.
  void rollback(int n_tokens) noexcept;

  // The text so far is a whole document.
  bool is_complete() const noexcept;

  // An end of generation has come.
  bool is_ended() const noexcept { return states_.back().is_ended; }

  int n_tokens() const noexcept { return static_cast<int>(states_.size()) - 1; }

  // The bytes, at most `max_bytes`, that any document goes on with from here.
  Result<std::string> forced(std::size_t max_bytes);

 private:
  struct Place {
    StateId state = kDeadState;
    bool is_ended = false;
  };

  std::shared_ptr<TokenMasks> masks_;
  std::vector<Place> states_ = {};
};

}  // namespace wick::grammar
