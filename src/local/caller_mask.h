// A caller's token mask (wick/constraint.h) on one answer. Engine thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"
#include "wick/constraint.h"

namespace wick {

class CallerMask {
 public:
  CallerMask(TokenMaskHook hook, const Tokenizer& tokenizer);

  // Clears bits of `allowed`. Error: the hook throws (id "callback_failed"); bits that it sets are
  // an error, too ("bad_token_mask").
  Result<void> apply(std::span<const float> logits, std::span<std::uint64_t> allowed);
  void add(TokenId id);  // the answer's next token

 private:
  TokenMaskHook hook_;
  TokenPlace place_ = {};
  std::string text_ = {};
  std::vector<TokenId> tokens_ = {};
  std::vector<std::uint64_t> before_ = {};
};

}  // namespace wick
