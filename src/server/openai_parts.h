// Parts of JSON that OpenAI's APIs share: usage, logprobs, and wick's own fields. One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/errors.h"
#include "server/json_out.h"
#include "server/parsed_request.h"
#include "wick/event.h"
#include "wick/generation.h"

namespace wick::server {

// Of several answers: each prompt counts once.
struct UsageSum {
  Usage usage = {};

  void add(const Usage& one, bool is_first_of_prompt);
};

// {"prompt_tokens": …, "completion_tokens": …, "total_tokens": …, …details}
void write_usage(JsonOut& json, const Usage& usage);

// "wick": {"steered": true} where tokens were chosen to complete structured output in time.
void write_steered(JsonOut& json, const Usage& usage);

// [{"token", "logprob", "bytes", "top_logprobs"}]
void write_scores(JsonOut& json, const std::vector<TokenLogprob>& tokens);
// {"content": [{"token", "logprob", "bytes", "top_logprobs"}], "refusal": null}
void write_chat_scores(JsonOut& json, const std::vector<TokenLogprob>& tokens);

// "timings" in llama.cpp's shape and "wick": {"parameters": …}, as far as `shape` wants them:
// fields of the object that is open.
void write_extras(JsonOut& json, const AnswerShape& shape, const Usage& usage,
                  const std::vector<EffectiveParameter>& parameters);

// Minus infinity has no place in JSON.
double told_logprob(double logprob) noexcept;

// data: …
void append_data(std::string& out, std::string_view json);
// The error, and the end of a stream.
void append_failure(std::string& out, const ApiError& error);
inline constexpr std::string_view kStreamEnd = "data: [DONE]\n\n";

}  // namespace wick::server
