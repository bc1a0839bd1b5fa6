// The parts of OpenAI's chat API that Azure's has too. Pure functions.
#pragma once

#include "remote/dialect.h"

namespace wick::remote {

inline constexpr SentNumber kOpenAiNumbers[] = {{"temperature", "temperature"},
                                                {"top_p", "top_p"},
                                                {"presence_penalty", "presence_penalty"},
                                                {"frequency_penalty", "frequency_penalty"}};
inline constexpr std::string_view kOpenAiOthers[] = {
    "seed",  "stop",         "logit_bias",  "logprobs",            "top_logprobs",
    "tools", "tools.strict", "tool_choice", "parallel_tool_calls", "response_format",
    "reasoning.effort"};
inline constexpr SentFields kOpenAiFields = {.numbers = kOpenAiNumbers, .others = kOpenAiOthers};

// Without a path.
Result<Call> openai_call(const Endpoint& endpoint, const Request& request);
std::unique_ptr<Decoder> openai_decoder();
Result<std::vector<Embedding>> read_openai_embeddings(const JsonValue& answer);

}  // namespace wick::remote
