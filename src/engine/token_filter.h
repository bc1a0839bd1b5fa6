// Decides which tokens may come next in one answer: structured output. The engine asks before each
// token it samples, so the tokens depend on the request alone, with or without draft tokens. Engine
// thread. A filter may allocate, unlike the rest of a step.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/types.h"

namespace wick {

class TokenFilter {
 public:
  virtual ~TokenFilter() = default;

  // Sets bit t of `out` if token t may come next, and clears the others. `logits` are the model's,
  // for the next token. False: failure().
  virtual bool allow(std::span<const float> logits, std::span<std::uint64_t> out) noexcept = 0;

  // The sampler chose `id`, one of the allowed tokens; after it the answer may have `n_left` more.
  // Returns the token to take, which is another one if `id` leaves too few tokens to complete the
  // text; -1: failure().
  virtual TokenId accept(TokenId id, int n_left) noexcept = 0;

  // The text is complete, and nothing may follow.
  virtual bool is_over() const noexcept = 0;

  // How many tokens of `draft`, in order, may come next.
  virtual int count_allowed(std::span<const TokenId> draft) noexcept = 0;

  virtual const Error& failure() const noexcept = 0;
};

}  // namespace wick
