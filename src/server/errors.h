// Errors as clients get them: {"error": {"message", "type", "param", "code"}} with a status. All
// four keys are always there; Anthropic's and Ollama's routes write the same ApiError their way.
// Pure functions, any thread.
//
// A message about a field begins with the field's path, "messages[2].role is missing", "top_p is 7,
// allowed are 0 to 1": `param` is that path, for errors of the provider, too.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/strings.h"
#include "http/handler.h"

namespace wick::server {

struct ApiError {
  int status = 400;
  std::string_view type = "invalid_request_error";
  std::string code = {}, param = {};  // empty = null
  std::string message = {};
  int retry_after_s = 0;  // with 503; 0 = not told
  bool is_final = false;  // x-should-retry: false, which clients obey
};

ApiError api_error(const Error& error);

// {"message": …, "type": …, "param": …, "code": …}
std::string error_object(const ApiError& error);
// The whole answer.
http::Response error_response(const ApiError& error);
// The status and the headers of it, for another body.
http::Response error_head(const ApiError& error);

// kInvalid, id "invalid_value": `path` is the field's, and begins the message.
template <class... Parts>
Error bad_field(std::string_view path, const Parts&... parts) {
  return {.code = ErrorCode::kInvalid, .id = "invalid_value", .message = cat(path, " ", parts...)};
}

// kUnsupported, of the same form.
template <class... Parts>
Error unsupported_field(std::string id, std::string_view path, const Parts&... parts) {
  return {
      .code = ErrorCode::kUnsupported, .id = std::move(id), .message = cat(path, " ", parts...)};
}

}  // namespace wick::server
