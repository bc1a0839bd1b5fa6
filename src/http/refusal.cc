#include "http/refusal.h"

#include "base/hex.h"
#include "base/strings.h"

namespace wick::http {

std::string_view error_type(int status) noexcept {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 429:
      return "rate_limit_error";
    case 501:
    case 505:
      return "invalid_request_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : repair_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      append_hex(out, byte, 2);
    } else {
      out += c;
    }
  }
  out += '"';
}

Response to_response(const Refusal& refusal) {
  Response response{.status = refusal.status, .headers = refusal.headers};
  std::string& body = response.body;
  body = R"({"error":{"message":)";
  append_json_string(body, refusal.message);
  body += cat(R"(,"type":")", error_type(refusal.status), R"(","param":)");
  if (refusal.param) {
    append_json_string(body, *refusal.param);
  } else {
    body += "null";
  }
  body += R"(,"code":)";
  append_json_string(body, refusal.code);
  body += "}}";
  if (refusal.retry_after_s > 0)
    response.headers.push_back({"retry-after", std::to_string(refusal.retry_after_s)});
  return response;
}

}  // namespace wick::http
