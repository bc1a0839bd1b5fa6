#include "server/errors.h"

#include <algorithm>

#include "provider/rule_refusal.h"
#include "server/fields.h"
#include "server/json_out.h"
#include "server/limits.h"

namespace wick::server {

namespace {

// What the provider's errors are about, where their message does not begin with the field.
struct Subject {
  std::string_view id, param;
};

constexpr Subject kSubjects[] = {
    {"bad_message", "messages"},
    {"context_length_exceeded", "messages"},
    {"no_chat_template", "model"},
    {"response_not_found", "previous_response_id"},
    {"model_not_found", "model"},
    {"model_not_allowed", "model"},
    {"bad_budget", "max_budget"},
    {"bad_tool", "tools"},
    {"tool_schema_unsupported", "tools"},
    {"bad_tool_choice", "tool_choice"},
    {"tool_choice_unsupported", "tool_choice"},
    {"response_format_unsupported", "response_format"},
    {"schema_without_format", "response_format"},
    {"format_without_schema", "response_format"},
    {"no_document", "response_format"},
    {"bad_choice", "response_format"},
    {"bad_grammar", "response_format"},
    {"max_tokens_too_small", "max_tokens"},
    {"no_short_end", "response_format"},
    {"bad_stop", "stop"},
    {"bad_variable", "chat_template_kwargs"},
    {"bad_sampler_order", "samplers"},
    {"bad_dry_breaker", "dry_sequence_breakers"},
    {"bad_pooling", "pooling"},
    {"infill_unsupported", "model"},
};

bool is_of_format(const Error& error) {
  return error.id.starts_with("schema_") || error.id.starts_with("grammar_") ||
         error.id.starts_with("regex_");
}

std::string param_of(const Error& error) {
  const auto* const row = std::find_if(std::begin(kSubjects), std::end(kSubjects),
                                       [&](const Subject& one) { return one.id == error.id; });
  if (row != std::end(kSubjects)) return std::string(row->param);
  if (is_of_format(error)) return "response_format";
  const std::string_view message = error.message;
  const std::string_view path = message.substr(0, message.find(' '));
  return is_field(path.substr(0, path.find_first_of(".["))) ? std::string(path) : "";
}

constexpr std::string_view kQuota = "insufficient_quota";

struct Kind {
  int status;
  std::string_view type;
};

Kind kind_of(const Error& error) {
  constexpr std::string_view kRequest = "invalid_request_error", kServer = "server_error";
  if (is_rule_refusal(error)) return {429, kQuota};
  if (error.id == "loop_detected") return {508, "invalid_request_error"};
  if (error.id == "model_not_allowed" || error.id == "key_not_visible")
    return {403, "permission_error"};
  if (error.id == "rate_limit_exceeded" || error.id == "provider_rate_limit")
    return {429, "rate_limit_error"};  // route/limiter.h; remote/refusal.cc
  switch (error.code) {
    case ErrorCode::kNotFound:  // a schema may refer to a document that is not there
      return {is_of_format(error) ? 400 : 404, kRequest};
    case ErrorCode::kUnsupported:  // of the request, or of the provider as such
      return error.id == "not_supported" ? Kind{501, kServer} : Kind{400, kRequest};
    case ErrorCode::kUnavailable:
    case ErrorCode::kNoMemory:
      return {503, "overloaded_error"};
    case ErrorCode::kCancelled:
      return error.id == "time_limit" ? Kind{504, "timeout_error"} : Kind{503, kServer};
    case ErrorCode::kInvalid:
      return {400, kRequest};
    default:
      return {500, kServer};
  }
}

}  // namespace

ApiError api_error(const Error& error) {
  const Kind kind = kind_of(error);
  ApiError out{.status = kind.status,
               .type = kind.type,
               .code = error.id.empty() ? name(error.code) : error.id,
               .message = repair_utf8(to_string(error))};
  if (!error.hint.empty()) out.message += cat("; ", repair_utf8(error.hint));
  if (out.status < 500) out.param = param_of(error);
  if (out.status == 404 && error.id != "response_not_found" && error.id != "key_not_found") {
    out.code = "model_not_found";
    if (out.param.empty()) out.param = "model";
  }
  const bool is_too_large = out.status == 429 && error.code == ErrorCode::kInvalid;
  // A key that a remote API refused: this provider is not asked for a while.
  const bool is_refused_key = error.id == "provider_credential" || error.id == "provider_quota" ||
                              error.id == "no_key";
  out.is_final = is_rule_refusal(error) || is_too_large || is_refused_key;
  if (is_rule_refusal(error)) {
    out.code = kQuota;
  } else if (error.code == ErrorCode::kUnavailable) {
    out.retry_after_s = std::max(1, error.retry_after_s);
  }
  return out;
}

std::string error_object(const ApiError& error) {
  std::string out;
  JsonOut(out)
      .object()
      .field("message", error.message)
      .field("type", error.type)
      .field_or_null("param", error.param)
      .field_or_null("code", error.code)
      .end_object();
  return out;
}

http::Response error_head(const ApiError& error) {
  http::Response response{.status = error.status};
  if (error.retry_after_s > 0) {
    response.headers.push_back(
        {"retry-after", std::to_string(std::min(error.retry_after_s, kMaxRetryAfter))});
  }
  if (error.is_final) response.headers.push_back({"x-should-retry", "false"});
  return response;
}

http::Response error_response(const ApiError& error) {
  http::Response response = error_head(error);
  response.body = cat("{\"error\":", error_object(error), "}");
  return response;
}

}  // namespace wick::server
