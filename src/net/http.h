// A thin wrapper of libcurl: downloads (GET with Range, redirects within http/https, limits on
// header size and idle time) and small POSTs. No knowledge of models. A request blocks its calling
// thread; separate requests may run in separate threads. Proxies are taken from the environment, as
// libcurl does.
//
//   WICK_TRY(const std::string json, http_get_text({.url = "https://host/list"}, 1 << 20));
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wick {

inline constexpr int kMaxRedirects = 5;
inline constexpr std::size_t kMaxHeaderBytes = 16 * 1024;  // of one answer, all lines together

struct HttpRequest {
  std::string url = {};
  // "Authorization: Bearer …"; bound to the first origin: dropped on a redirect elsewhere.
  std::vector<std::string> headers = {};
  std::optional<std::uint64_t> from = {};  // Range: bytes=from-
  std::optional<std::uint64_t> to = {};    // … to, inclusive
  std::string if_range = {};               // ETag that must still hold for a range to be served
  int connect_timeout_ms = 5000;           // name look-up, TCP and TLS together
  int idle_timeout_ms = 30000;             // no byte for so long ends the request
  std::stop_token stop = {};               // ends the request within a second (kCancelled)
  std::string post = {};                   // of http_post() alone: what is sent
};

struct HttpResponse {  // what is known once the headers are there
  int status = 0;
  std::optional<std::uint64_t> content_length = {};
  std::optional<std::uint64_t> range_from = {};  // of a 206
  // Of the whole resource, from Content-Range or a 200's length.
  std::optional<std::uint64_t> total_bytes = {};
  std::string etag = {};              // as sent, with its quotes and W/
  std::string content_encoding = {};  // other than "identity"; such a body is refused
  std::string final_url = {};
};

// Called once with the headers before any body byte; false ends the request (kCancelled).
using HttpHeadSink = std::function<bool(const HttpResponse&)>;
// Called with each piece of the body; false ends the request (kCancelled).
using HttpBodySink = std::function<bool(std::span<const std::byte>)>;

// A status ≥ 400 is returned, not an error. Errors: the response was not received completely
// (kUnavailable: no network, timeout, a body shorter than announced).
Result<HttpResponse> http_get(const HttpRequest& request, const HttpHeadSink& head,
                              const HttpBodySink& body);
// Sends `request.post` once and returns the status; follows no redirect. At most 64 KiB of the
// response are read.
Result<int> http_post(const HttpRequest& request);
// The whole body as a string, at most `limit` bytes; a status other than 200 is an error.
Result<std::string> http_get_text(const HttpRequest& request, std::size_t limit);

// "libcurl/7.88.1", or why it cannot be loaded (kUnavailable).
Result<std::string> http_library();

// The error for an unexpected status: 404 is kNotFound, 401 and 403 are kInvalid, others are
// kUnavailable.
Error http_status_error(int status, std::string_view url);

}  // namespace wick
