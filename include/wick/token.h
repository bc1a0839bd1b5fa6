// A token, and how likely the model thought it. Plain data.
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

// Scores are those of the model's own distribution, before any sampler, bias or LogitsHook: the
// softmax of its logits, in double precision. What else runs changes no bit of them.
struct TokenLogprob {
  TokenId id = -1;
  std::string bytes = {};  // its text, maybe a part of a character; the name of a control token
  double logprob = 0;      // natural
  // What else could have stood here, the likeliest first; the token itself may be among them.
  std::vector<TokenLogprob> top_logprobs = {};
};

}  // namespace wick
