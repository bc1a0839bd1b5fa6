// The logprobs of /v1/completions: {"tokens", "token_logprobs", "top_logprobs", "text_offset"}. A
// token that is not a complete character is written as "bytes:\xe2\x80". One thread.
#pragma once

#include <cstddef>
#include <vector>

#include "server/json_out.h"
#include "wick/token.h"

namespace wick::server {

// One token; without `is_told` its probability is null, as that of a text's first one.
struct TextScore {
  TokenLogprob token = {};
  bool is_told = true;
};

// `offset`: characters before these tokens; returns those with them.
std::size_t write_text_scores(JsonOut& json, const std::vector<TextScore>& tokens,
                              std::size_t offset);

}  // namespace wick::server
