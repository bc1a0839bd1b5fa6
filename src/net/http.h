// A thin face over libcurl for downloads: GET with Range, redirects within http/https, limits on
// header size and idle time. No knowledge of models. A request blocks its calling thread; separate
// requests may run in separate threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace wick {

struct HttpRequest {
  std::string url = {};
  std::vector<std::string> headers =
      {};  // "Authorization: Bearer …"; bound to the first host: dropped on a redirect elsewhere
  std::optional<std::uint64_t> from = {};  // Range: bytes=from-
  std::optional<std::uint64_t> to = {};    // … to, inclusive
  std::string if_range = {};               // ETag that must still hold for a range to be served
  int connect_timeout_ms = 5000;
  int idle_timeout_ms = 30000;  // no byte for so long ends the request
};

struct HttpResponse {  // what is known once the headers are there
  int status = 0;
  std::optional<std::uint64_t> content_length = {};
  std::optional<std::uint64_t> range_from = {};  // of a 206
  std::optional<std::uint64_t> total_bytes =
      {};  // of the whole resource, from Content-Range or a 200's length
  std::string etag = {};
  std::string final_url = {};
};

// Called once with the headers before any body byte; false ends the request (kCancelled).
using HttpHeadSink = std::function<bool(const HttpResponse&)>;
// Called with each piece of the body; false ends the request (kCancelled).
using HttpBodySink = std::function<bool(std::span<const std::byte>)>;

// Statuses ≥ 400 are returned, not errors; errors are what kept an answer from coming
// (kUnavailable: no network, time-out).
Result<HttpResponse> http_get(const HttpRequest& request, const HttpHeadSink& head,
                              const HttpBodySink& body);
// The whole body as a string, at most `limit` bytes; a status other than 200 is an error.
Result<std::string> http_get_text(const HttpRequest& request, std::size_t limit);

}  // namespace wick
