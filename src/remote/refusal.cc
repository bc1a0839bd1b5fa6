#include "remote/refusal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

#include "base/strings.h"
#include "remote/json_read.h"
#include "remote/limits.h"

namespace wick::remote {

namespace {

// Names that APIs give to errors, in `type`, `code` or `status`, and the status of HTTP they mean.
struct NamedStatus {
  std::string_view name;
  int status;
};

constexpr NamedStatus kNamed[] = {
    {"rate_limit_error", 429},
    {"rate_limit_exceeded", 429},
    {"RESOURCE_EXHAUSTED", 429},
    {"overloaded_error", 529},
    {"UNAVAILABLE", 503},
    {"api_error", 500},
    {"server_error", 500},
    {"INTERNAL", 500},
    {"DEADLINE_EXCEEDED", 504},
    {"timeout_error", 504},
    {"authentication_error", 401},
    {"UNAUTHENTICATED", 401},
    {"permission_error", 403},
    {"PERMISSION_DENIED", 403},
    {"billing_error", 402},
    {"not_found_error", 404},
    {"NOT_FOUND", 404},
    {"invalid_request_error", 400},
    {"INVALID_ARGUMENT", 400},
    {"request_too_large", 413},
    {"insufficient_quota", 429},
};

// Words of codes and messages that tell more than the status.
struct Telling {
  std::string_view words;
  Failure failure;
};

constexpr Telling kTelling[] = {
    {"context_length_exceeded", Failure::kContextLength},
    {"maximum context length", Failure::kContextLength},
    {"prompt is too long", Failure::kContextLength},
    {"exceeds the maximum number of tokens", Failure::kContextLength},
    {"input token count", Failure::kContextLength},
    {"exceed context limit", Failure::kContextLength},      // Anthropic's, with max_tokens
    {"maximum model length", Failure::kContextLength},      // vLLM's
    {"model's context length", Failure::kContextLength},    // SGLang's
    {"available context size", Failure::kContextLength},    // llama.cpp's
    {"content_policy", Failure::kContentPolicy},
    {"content_filter", Failure::kContentPolicy},
    {"content management policy", Failure::kContentPolicy},
    {"was flagged", Failure::kContentPolicy},               // OpenAI's 400, OpenRouter's 403
    {"credit balance is too low", Failure::kQuota},         // Anthropic's, with 400
    {"api key not valid", Failure::kCredential},            // Gemini's, with 400
    {"model_not_found", Failure::kNoModel},
    {"deploymentnotfound", Failure::kNoModel},
};

constexpr std::string_view kQuotaWords[] = {"insufficient_quota", "spend_limit", "billing",
                                            "exceeded your current quota"};

Failure failure_of(int status, const std::string& words) {
  if (status == 429 || status == 402) {
    for (const std::string_view quota : kQuotaWords) {
      if (words.find(quota) != std::string::npos) return Failure::kQuota;
    }
  }
  if (status >= 400 && status < 500 && status != 429) {
    for (const Telling& telling : kTelling) {
      if (words.find(telling.words) != std::string::npos) return telling.failure;
    }
  }
  if (status < 400) return Failure::kBadAnswer;  // of a wrong address, mostly
  switch (status) {
    case 401:
    case 402:
    case 403:
      return Failure::kCredential;
    case 404:
      return Failure::kNoModel;
    case 408:
      return Failure::kTimeout;
    case 409:
      return Failure::kConflict;
    case 425:
      return Failure::kOverload;
    case 429:
      return Failure::kRateLimit;
    default:
      // 508: two gateways ask each other; again would be more of it.
      return status >= 500 && status != 501 && status != 508 ? Failure::kOverload
                                                             : Failure::kRequest;
  }
}

struct ErrorForm {
  ErrorCode code;
  std::string_view id;
};

ErrorForm form_of(Failure failure) {
  switch (failure) {
    case Failure::kRequest:
      return {ErrorCode::kInvalid, "provider_refused"};
    case Failure::kContextLength:
      return {ErrorCode::kInvalid, "context_length_exceeded"};
    case Failure::kContentPolicy:
      return {ErrorCode::kInvalid, "content_policy"};
    case Failure::kNoModel:
      return {ErrorCode::kNotFound, "model_not_found"};
    case Failure::kCredential:
      return {ErrorCode::kUnavailable, "provider_credential"};
    case Failure::kQuota:
      return {ErrorCode::kUnavailable, "provider_quota"};
    case Failure::kRateLimit:
      return {ErrorCode::kUnavailable, "provider_rate_limit"};
    case Failure::kTimeout:
      return {ErrorCode::kUnavailable, "provider_timeout"};
    case Failure::kBadAnswer:
      return {ErrorCode::kUnavailable, "bad_answer"};
    default:
      return {ErrorCode::kUnavailable, "provider_unavailable"};
  }
}

Refusal refusal_of(Failure failure, int status, std::string message) {
  const ErrorForm form = form_of(failure);
  return {.failure = failure,
          .error = {.code = form.code, .id = std::string(form.id), .message = std::move(message)},
          .status = status};
}

// {"error": {…}}, {"error": "…"}, {"message": …, "type": …}, [{"error": {…}}] (Gemini's array).
const JsonValue* error_in(const JsonValue* body) {
  const Array* const array = body == nullptr ? nullptr : body->array();
  if (array != nullptr && !array->empty()) body = &array->front();
  const JsonValue* const error = find(body, "error");
  return error != nullptr ? error : body;
}

constexpr std::string_view kWrongPlace = "check the provider's endpoint, most end in /v1";

}  // namespace

Refusal read_refusal(int status, const JsonValue* body) {
  const JsonValue* const error = error_in(body);
  std::string message = text_of(error);
  if (message.empty()) message = text_of(error, "message");
  std::string words = message;
  for (const std::string_view key : {"code", "type", "status"})
    words += cat(" ", text_of(error, key));
  const bool is_silent = message.empty();
  message = is_silent ? cat("status ", status)
                      : cat("status ", status, ": ", printable(message, kMaxMessageBytes));
  Refusal out = refusal_of(failure_of(status, ascii_lower(words)), status, std::move(message));
  if (is_silent && (status == 404 || status == 405 || status < 400)) out.error.hint = kWrongPlace;
  return out;
}

std::optional<Refusal> stream_refusal(Json view) {
  const auto [may_be, type] = view.find_all({"error", "type"});
  if (!may_be && type.text() != "error" && !view.is_array()) return std::nullopt;
  const JsonValue frame = view.copy();
  const JsonValue* error = find(&frame, "error");
  if (error == nullptr && text_of(&frame, "type") == "error") error = &frame;
  if (error == nullptr && frame.array() != nullptr) error = error_in(&frame);
  if (error == nullptr) return std::nullopt;
  int status = count_of(error, "code", 0);
  for (const std::string_view key : {"type", "code", "status"}) {
    const std::string name = text_of(error, key);
    for (const NamedStatus& named : kNamed) {
      if (status < 400 && name == named.name) status = named.status;
    }
  }
  if (status < 400 || status > 599) status = 502;
  return read_refusal(status, error);
}

Refusal transfer_refusal(const Error& error) {
  if (error.id == "cancelled") return {.failure = Failure::kNone, .error = error};
  Failure failure = Failure::kNetwork;
  if (error.id.ends_with("_timeout")) failure = Failure::kTimeout;
  if (error.id == "answer_too_long" || error.id == "bad_answer") failure = Failure::kBadAnswer;
  if (error.id == "address_refused") failure = Failure::kRequest;
  Refusal out = refusal_of(failure, 0, error.message);
  if (error.id == "address_refused")
    out.error = {.code = ErrorCode::kInvalid, .id = error.id, .message = error.message};
  return out;
}

Refusal bad_answer(std::string_view what) {
  return refusal_of(Failure::kBadAnswer, 0, std::string(what));
}

Refusal no_json(std::string_view content_type) {
  const std::string type =
      content_type.empty() ? "of no type" : cat(printable(content_type, kMaxMessageBytes));
  Refusal out = bad_answer(cat("the answer is ", type, ", wanted is JSON or a stream of it"));
  out.error.hint = kWrongPlace;
  return out;
}

std::int64_t retry_after_ms(const TransferHead& head, std::int64_t unix_s) {
  const auto number = [](std::string_view text) {
    double value = -1;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() && end == text.data() + text.size() && std::isfinite(value) ? value
                                                                                           : -1.0;
  };
  const auto bounded = [](double ms) {
    return static_cast<std::int64_t>(std::ceil(std::clamp(ms, 0.0, double{kMaxRetryAfterMs})));
  };
  if (const double ms = number(head.header("retry-after-ms")); ms >= 0) return bounded(ms);
  const std::string after(head.header("retry-after"));
  if (after.empty()) return -1;
  if (const double s = number(after); s >= 0) return bounded(s * 1000);
  std::tm date = {};
  if (::strptime(after.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date) == nullptr) return -1;
  return bounded(static_cast<double>(::timegm(&date) - unix_s) * 1000);
}

std::string without_key(std::string_view message, const Secret& key) {
  const std::string& secret = key.reveal();
  if (secret.empty()) return std::string(message);
  constexpr std::size_t kLeast = 16;  // longer than what keys of one API have in common
  const bool is_short = secret.size() < kLeast;
  const auto is_same = [&](char a, char b) {
    return a == b || (!is_short && ascii_lower({&a, 1}) == ascii_lower({&b, 1}));
  };
  std::string out;
  while (!message.empty()) {
    const auto [end, ignored] =
        std::mismatch(message.begin(), message.end(), secret.begin(), secret.end(), is_same);
    const auto n = static_cast<std::size_t>(end - message.begin());
    const bool is_key = n == secret.size() || n >= kLeast;
    out += is_key ? std::string_view("[key]") : message.substr(0, 1);
    message.remove_prefix(is_key ? n : 1);
  }
  return out;
}

}  // namespace wick::remote
