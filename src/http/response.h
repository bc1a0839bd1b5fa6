// A response's head as bytes. Control characters in headers become "?", so a handler cannot inject
// lines. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/handler.h"

namespace wick::http {

struct Framing {
  std::optional<std::size_t> length = {};  // of the body; none: chunks, in HTTP/1.0 up to the end
  bool is_1_0 = false;
  bool keeps_alive = true;
  std::string_view date = {}, request_id = {};
};

void append_head(std::string& out, const Response& response, const Framing& framing);
void append_chunk(std::string& out, std::string_view piece);  // nothing for an empty one
void append_last_chunk(std::string& out);

std::string_view reason(int status) noexcept;  // "Not Found"
std::string http_date(std::int64_t unix_seconds);

}  // namespace wick::http
