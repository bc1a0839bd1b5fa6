// An error response: its status, and {"error":{"message","type","param","code"}} with all four
// keys, as in OpenAI's API. Plain data; any thread.
//
//   return to_response({.status = 404, .code = "model_not_found", .message = "…"});
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/handler.h"

namespace wick::http {

struct Refusal {
  int status = 400;
  std::string code = {};  // stable name for programs: "host_not_allowed"
  std::string message = {};
  std::optional<std::string> param = {};  // the field at fault
  int retry_after_s = 0;                  // > 0: a header Retry-After
  std::vector<Header> headers = {};
};

Response to_response(const Refusal& refusal);

// "invalid_request_error", "authentication_error", "permission_error", "rate_limit_error",
// "server_error".
std::string_view error_type(int status) noexcept;

// `text` in quotes; what is not UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace wick::http
