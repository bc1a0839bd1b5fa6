// A token and its logprob. Plain data.
//
//   auto answer = model->complete("Once", {.logprobs = true, .top_logprobs = 5});
//   for (const wick::TokenLogprob& token : answer->logprobs)
//     std::cout << token.bytes << ' ' << std::exp(token.logprob) << '\n';
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wick {

using TokenId = std::int32_t;  // 0 .. vocabulary-1

// Logprobs are those of the model's own distribution, before samplers, logit bias and LogitsHook:
// the log of the softmax of its logits, in double precision.
struct TokenLogprob {
  TokenId id = -1;
  std::string bytes = {};  // its text, maybe a part of a UTF-8 character; a control token's name
  double logprob = 0;      // natural logarithm
  // The most likely tokens at this position, in descending order; may include the token itself.
  std::vector<TokenLogprob> top_logprobs = {};
};

}  // namespace wick
