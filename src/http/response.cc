#include "http/response.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <ctime>

#include "base/strings.h"
#include "http/control.h"

namespace wick::http {

namespace {

char* copy_safe(std::string_view text, char* to) noexcept {
  const auto rest = text.begin() + static_cast<std::ptrdiff_t>(find_control(text));
  to = std::copy(text.begin(), rest, to);
  return std::replace_copy_if(rest, text.end(), to, is_control, '?');
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  constexpr std::string_view kBetween = ": ", kEnd = "\r\n";
  const std::size_t begin = out.size();
  out.resize(begin + name.size() + kBetween.size() + value.size() + kEnd.size());
  char* at = out.data() + begin;
  at = copy_safe(name, at);
  at = std::copy(kBetween.begin(), kBetween.end(), at);
  at = copy_safe(value, at);
  std::copy(kEnd.begin(), kEnd.end(), at);
}

// `name` is in lower case.
bool is_name(std::string_view text, std::string_view name) {
  return text.size() == name.size() && ascii_lower(text) == name;
}

bool has(const Response& response, std::string_view name) {
  return std::any_of(response.headers.begin(), response.headers.end(),
                     [&](const Header& header) { return is_name(header.name, name); });
}

// What says where the body ends is the transport's alone.
bool is_framing(std::string_view name) {
  return is_name(name, "content-length") || is_name(name, "transfer-encoding") ||
         is_name(name, "connection");
}

bool may_have_body(int status) noexcept {
  return status >= 200 && status != 204 && status != 304;
}

}  // namespace

std::string_view reason(int status) noexcept {
  struct Row {
    int status;
    std::string_view text;
  };

  static constexpr Row kRows[] = {
      {100, "Continue"},
      {101, "Switching Protocols"},
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {422, "Unprocessable Content"},
      {426, "Upgrade Required"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
      {507, "Insufficient Storage"},
      {508, "Loop Detected"},
      {529, "Site Is Overloaded"},  // Anthropic's
  };
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [&](const Row& r) { return r.status == status; });
  return row == std::end(kRows) ? "Status" : row->text;
}

std::string http_date(std::int64_t unix_seconds) {
  const auto seconds = static_cast<std::time_t>(unix_seconds);
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> text = {};  // day and month names by hand: strftime's are the locale's
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::size_t day = std::strftime(text.data(), text.size(), "%d ", &parts);
  std::string date =
      cat(kDays.at(static_cast<std::size_t>(parts.tm_wday)), ", ",
          std::string_view(text.data(), day), kMonths.at(static_cast<std::size_t>(parts.tm_mon)));
  const std::size_t rest = std::strftime(text.data(), text.size(), " %Y %H:%M:%S GMT", &parts);
  return date.append(text.data(), rest);
}

void append_head(std::string& out, const Response& response, const Framing& framing) {
  const int status = response.status >= 100 && response.status <= 599 ? response.status : 500;
  out += cat("HTTP/1.1 ", status, " ", reason(status), "\r\n");
  append_header(out, "date", framing.date);
  if (!framing.request_id.empty()) append_header(out, "x-request-id", framing.request_id);
  if (may_have_body(status)) {
    if (!response.type.empty()) append_header(out, "content-type", response.type);
    if (framing.length) {
      append_header(out, "content-length", std::to_string(*framing.length));
    } else if (!framing.is_1_0) {
      append_header(out, "transfer-encoding", "chunked");
    }
  }
  if (!framing.keeps_alive) append_header(out, "connection", "close");
  if (framing.keeps_alive && framing.is_1_0) append_header(out, "connection", "keep-alive");
  out += "x-content-type-options: nosniff\r\n";
  if (!has(response, "cross-origin-resource-policy"))
    out += "cross-origin-resource-policy: same-origin\r\n";
  if (!has(response, "cache-control")) out += "cache-control: no-store\r\n";
  if (!framing.length && !has(response, "x-accel-buffering"))
    append_header(out, "x-accel-buffering", "no");  // nginx shall pass each piece on
  for (const Header& header : response.headers) {
    if (!is_framing(header.name)) append_header(out, header.name, header.value);
  }
  out += "\r\n";
}

void append_chunk(std::string& out, std::string_view piece) {
  if (piece.empty()) return;  // would be the last one
  std::array<char, 16> digits = {};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16);
  static_cast<void>(error);  // 16 digits hold any size
  out.append(digits.data(), end);
  out += "\r\n";
  out += piece;
  out += "\r\n";
}

void append_last_chunk(std::string& out) {
  out += "0\r\n\r\n";
}

}  // namespace wick::http
