#include "server/openai_parts.h"

#include <algorithm>

#include "base/strings.h"
#include "server/errors.h"
#include "server/limits.h"

namespace wick::server {

void UsageSum::add(const Usage& one, bool is_first_of_prompt) {
  if (is_first_of_prompt) {
    usage.prompt_tokens += one.prompt_tokens;
    usage.cached_tokens += one.cached_tokens;
  }
  usage.generated_tokens += one.generated_tokens;
  usage.reasoning_tokens += one.reasoning_tokens;
  usage.draft_tokens += one.draft_tokens;
  usage.accepted_tokens += one.accepted_tokens;
  usage.steered_tokens += one.steered_tokens;
}

void write_usage(JsonOut& json, const Usage& u) {
  json.raw(R"({"prompt_tokens":)", u.prompt_tokens, R"(,"completion_tokens":)", u.generated_tokens,
           R"(,"total_tokens":)", std::int64_t{u.prompt_tokens} + u.generated_tokens,
           R"(,"prompt_tokens_details":{"cached_tokens":)", u.cached_tokens,
           R"(},"completion_tokens_details":{"reasoning_tokens":)", u.reasoning_tokens,
           R"(,"accepted_prediction_tokens":)", u.accepted_tokens,
           R"(,"rejected_prediction_tokens":)", std::max(0, u.draft_tokens - u.accepted_tokens),
           "}}");
}

void write_steered(JsonOut& json, const Usage& usage) {
  if (usage.steered_tokens > 0) json.key("wick").object().field("steered", true).end_object();
}

double told_logprob(double logprob) noexcept {
  return logprob > kLeastLogprob ? logprob : kLeastLogprob;  // also where it is no number
}

namespace {

void write_score(JsonOut& json, const TokenLogprob& token) {
  json.field("token", repair_utf8(token.bytes)).field("logprob", told_logprob(token.logprob));
  json.key("bytes").array();
  for (const char c : token.bytes)
    json.number(std::int64_t{static_cast<unsigned char>(c)});
  json.end_array();
}

}  // namespace

void write_scores(JsonOut& json, const std::vector<TokenLogprob>& tokens) {
  json.array();
  for (const TokenLogprob& token : tokens) {
    json.object();
    write_score(json, token);
    json.key("top_logprobs").array();
    for (const TokenLogprob& other : token.top_logprobs) {
      json.object();
      write_score(json, other);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_chat_scores(JsonOut& json, const std::vector<TokenLogprob>& tokens) {
  json.object().key("content");
  write_scores(json, tokens);
  json.field("refusal", nullptr).end_object();
}

namespace {

void write_pace(JsonOut& json, std::string_view name, int n, double ms) {
  json.field(cat(name, "_n"), n).field(cat(name, "_ms"), ms);
  json.field(cat(name, "_per_token_ms"), n > 0 ? ms / n : 0);
  json.field(cat(name, "_per_second"), ms > 0 ? n / ms * 1000 : 0);
}

void write_timings(JsonOut& json, const Usage& u) {
  json.key("timings").object().field("cache_n", u.cached_tokens).field("queue_ms", u.queue_ms);
  write_pace(json, "prompt", u.prompt_tokens - u.cached_tokens, u.prompt_ms);
  write_pace(json, "predicted", u.generated_tokens, u.generate_ms);
  json.field("draft_n", u.draft_tokens).field("draft_n_accepted", u.accepted_tokens);
  json.end_object();
}

void write_value(JsonOut& json, const ParameterValue& value) {
  if (const auto* const number = std::get_if<double>(&value)) {
    json.number(*number);
  } else if (const auto* const bits = std::get_if<std::uint64_t>(&value)) {
    json.number(*bits);
  } else {
    json.text(repair_utf8(std::get<std::string>(value)));
  }
}

void write_parameters(JsonOut& json, const std::vector<EffectiveParameter>& parameters) {
  json.key("parameters").object();
  for (const EffectiveParameter& parameter : parameters) {
    json.key(parameter.key).object().key("value");
    write_value(json, parameter.value);
    json.field("origin", repair_utf8(parameter.origin)).end_object();
  }
  json.end_object();
}

}  // namespace

void write_extras(JsonOut& json, const AnswerShape& shape, const Usage& usage,
                  const std::vector<EffectiveParameter>& parameters) {
  if (shape.wants_timings) write_timings(json, usage);
  const bool is_steered = usage.steered_tokens > 0;
  if (!shape.wants_parameters && !is_steered) return;
  json.key("wick").object();
  if (is_steered) json.field("steered", true);
  if (shape.wants_parameters) write_parameters(json, parameters);
  json.end_object();
}

void append_data(std::string& out, std::string_view json) {
  out += "data: ";
  out += json;
  out += "\n\n";
}

void append_failure(std::string& out, const ApiError& error) {
  append_data(out, cat("{\"error\":", error_object(error), "}"));
  out += kStreamEnd;
}

}  // namespace wick::server
