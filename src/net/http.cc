#include "net/http.h"

#include <charconv>
#include <chrono>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "base/strings.h"
#include "net/curl_handles.h"
#include "net/url.h"

namespace wick {

namespace {

using Clock = std::chrono::steady_clock;

constexpr long kReceiveBytes = 256 * 1024;
constexpr std::size_t kMaxPostAnswer = 64 * 1024;

// One hop: what has been read of its answer, and why it was ended, if we ended it.
struct Exchange {
  const HttpRequest& request;
  const HttpHeadSink& head;
  const HttpBodySink& body;
  HttpResponse response = {};
  std::size_t header_bytes = 0;
  Clock::time_point last_byte = Clock::now();
  bool is_head_sent = false;
  bool is_cancelled = false;
  bool is_header_too_long = false;
  bool is_idle = false;
  bool is_encoded = false;

  bool is_redirect() const {
    const int s = response.status;
    return s == 301 || s == 302 || s == 303 || s == 307 || s == 308;
  }

  bool send_head() {
    if (is_head_sent) return true;
    is_head_sent = true;
    if (head && !head(response)) is_cancelled = true;
    return !is_cancelled;
  }
};

std::string_view trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

bool is_named(std::string_view line, std::string_view lower_name, std::string_view& value) {
  if (line.size() <= lower_name.size() || line[lower_name.size()] != ':') return false;
  for (std::size_t i = 0; i < lower_name.size(); ++i) {
    const char c = line[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) != lower_name[i]) return false;
  }
  value = trim(line.substr(lower_name.size() + 1));
  return true;
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// "bytes 0-99/1234", "bytes 0-99/*", "bytes */1234" (RFC 9110, 14.4).
void read_content_range(std::string_view value, HttpResponse& response) {
  if (value.substr(0, 6) != "bytes ") return;
  value.remove_prefix(6);
  if (value.substr(0, 1) == "*") {
    value.remove_prefix(1);
  } else {
    const auto from = take_number(value);
    if (!from || value.substr(0, 1) != "-") return;
    value.remove_prefix(1);
    if (!take_number(value)) return;
    response.range_from = from;
  }
  if (value.substr(0, 1) != "/") return;
  value.remove_prefix(1);
  response.total_bytes = take_number(value);
}

void read_header_line(std::string_view line, HttpResponse& response) {
  if (line.substr(0, 5) == "HTTP/") {  // a 100 or a proxy's answer may come before the real one
    response = HttpResponse{};
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return;
    std::string_view rest = trim(line.substr(blank));
    response.status = static_cast<int>(take_number(rest).value_or(0));
    return;
  }
  std::string_view value;
  if (is_named(line, "content-length", value)) {
    response.content_length = take_number(value);
  } else if (is_named(line, "content-range", value)) {
    read_content_range(value, response);
  } else if (is_named(line, "etag", value)) {
    response.etag = value;
  } else if (is_named(line, "content-encoding", value) && value != "identity") {
    response.content_encoding = value;
  }
}

std::size_t on_header(char* data, std::size_t size, std::size_t n, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  exchange.last_byte = Clock::now();
  if (exchange.is_head_sent) return size * n;  // trailers say nothing that we use
  exchange.header_bytes += size * n;
  if (exchange.header_bytes > kMaxHeaderBytes) {
    exchange.is_header_too_long = true;
    return 0;
  }
  read_header_line(std::string_view(data, size * n), exchange.response);
  if (exchange.response.status == 200) {
    exchange.response.total_bytes = exchange.response.content_length;
  }
  return size * n;
}

std::size_t on_body(char* data, std::size_t size, std::size_t n, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  if (exchange.is_redirect()) return size * n;
  // The request forbids encodings: records and hashes refer to the file's own bytes.
  exchange.is_encoded =
      exchange.response.status < 400 && !exchange.response.content_encoding.empty();
  if (exchange.is_encoded || !exchange.send_head()) return 0;
  const auto bytes = std::as_bytes(std::span(data, size * n));
  if (exchange.body && !exchange.body(bytes)) {
    exchange.is_cancelled = true;
    return 0;
  }
  // After the sink: time that it takes (a flush to disk) is not the server's.
  exchange.last_byte = Clock::now();
  return size * n;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& exchange = *static_cast<Exchange*>(user);
  if (exchange.request.stop.stop_requested()) {
    exchange.is_cancelled = true;
    return 1;
  }
  const auto idle = Clock::now() - exchange.last_byte;
  exchange.is_idle = idle > std::chrono::milliseconds(exchange.request.idle_timeout_ms);
  return exchange.is_idle ? 1 : 0;
}

Result<CurlHeaders> header_list(const HttpRequest& request, bool is_first_origin) {
  std::vector<std::string> lines = {"Accept-Encoding: identity"};
  if (is_first_origin) lines.insert(lines.end(), request.headers.begin(), request.headers.end());
  if (request.from || request.to) {
    std::string range = cat("Range: bytes=", request.from.value_or(0), "-");
    if (request.to) range += std::to_string(*request.to);
    lines.push_back(std::move(range));
    if (!request.if_range.empty()) lines.push_back(cat("If-Range: ", request.if_range));
  }
  return curl_headers(lines);
}

void set_options(CURL* easy, Exchange& exchange, const std::string& url, curl_slist* headers) {
  const HttpRequest& request = exchange.request;
  curl().easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl().easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);  // http_get follows, so that it can check
  curl().easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl().easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(request.connect_timeout_ms));
  curl().easy_setopt(easy, CURLOPT_BUFFERSIZE, kReceiveBytes);
  curl().easy_setopt(easy, CURLOPT_USERAGENT, "wick");
  curl().easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl().easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl().easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl().easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl().easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
  if (!request.post.empty()) {  // the bytes stay ours
    curl().easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.post.size()));
    curl().easy_setopt(easy, CURLOPT_POSTFIELDS, request.post.data());
  }
  curl().easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  curl().easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, &on_progress);
  curl().easy_setopt(easy, CURLOPT_XFERINFODATA, &exchange);
}

Error transfer_error(CURLcode code, const Exchange& exchange, const std::string& shown) {
  if (exchange.is_cancelled) {
    return {.code = ErrorCode::kCancelled, .id = "cancelled", .message = cat(shown, ": stopped")};
  }
  Error error{.code = ErrorCode::kUnavailable, .id = "no_answer"};
  if (exchange.is_header_too_long) {
    error.id = "header_too_long";
    error.message = cat(shown, ": the answer's header is longer than ", kMaxHeaderBytes, " bytes");
  } else if (exchange.is_encoded) {
    error.id = "encoded_answer";
    error.message = cat(shown, ": the server sends the file as '",
                        printable(exchange.response.content_encoding, 40),
                        "', though it was asked for as it is");
    error.hint = "a proxy between may do that; ask the server's keeper";
  } else if (exchange.is_idle) {
    error.id = "idle_timeout";
    error.message = cat(shown, ": no byte for ", exchange.request.idle_timeout_ms / 1000, " s");
  } else if (code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING) {
    error.id = "cut";
    error.message = cat(shown, ": the connection ended before the whole answer was there");
  } else {
    error.message = cat(shown, ": ", curl().easy_strerror(code));
  }
  return error;
}

struct Hop {
  HttpResponse response = {};
  std::string redirect = {};  // where to go next; empty: this is the answer
};

Result<Hop> one_hop(const HttpRequest& request, const HttpHeadSink& head, const HttpBodySink& body,
                    const std::string& url, bool is_first_origin) {
  WICK_TRY(const UrlParts parts, parse_url(url));
  const CurlEasy easy(curl().easy_init());
  if (!easy) {
    return Error{.code = ErrorCode::kNoMemory, .message = "libcurl cannot be initialized"};
  }
  WICK_TRY(const CurlHeaders headers, header_list(request, is_first_origin));
  Exchange exchange{.request = request, .head = head, .body = body};
  set_options(easy.get(), exchange, url, headers.get());
  const CURLcode code = curl().easy_perform(easy.get());
  if (code != CURLE_OK) return transfer_error(code, exchange, printable(parts.shown));
  Hop hop;
  if (exchange.is_redirect()) {
    const char* next = nullptr;
    curl().easy_getinfo(easy.get(), CURLINFO_REDIRECT_URL, &next);
    if (next == nullptr) {
      return Error{.code = ErrorCode::kUnavailable,
                   .id = "bad_redirect",
                   .message = cat(printable(parts.shown), ": status ", exchange.response.status,
                                  " without a place to go")};
    }
    hop.redirect = next;
  } else if (!exchange.send_head()) {
    return transfer_error(CURLE_OK, exchange, printable(parts.shown));
  }
  hop.response = std::move(exchange.response);
  hop.response.final_url = url;
  return hop;
}

}  // namespace

Result<HttpResponse> http_get(const HttpRequest& request, const HttpHeadSink& head,
                              const HttpBodySink& body) {
  WICK_TRY(const UrlParts first, parse_url(request.url));
  std::string url = request.url;
  bool is_first_origin = true;  // once left, credentials stay off, also on the way back
  for (int hops = 0; hops <= kMaxRedirects; ++hops) {
    WICK_TRY(Hop hop, one_hop(request, head, body, url, is_first_origin));
    if (hop.redirect.empty()) return std::move(hop.response);
    WICK_TRY(const UrlParts next, parse_url(hop.redirect));
    if (url.substr(0, 6) == "https:" && next.origin.substr(0, 6) != "https:") {
      return Error{.code = ErrorCode::kUnavailable,
                   .id = "bad_redirect",
                   .message = cat(printable(first.shown), " leads from https to plain http (",
                                  printable(next.shown), "); refused")};
    }
    is_first_origin = is_first_origin && next.origin == first.origin;
    url = hop.redirect;
  }
  return Error{
      .code = ErrorCode::kUnavailable,
      .id = "too_many_redirects",
      .message = cat(printable(first.shown), " redirects more than ", kMaxRedirects, " times")};
}

Result<int> http_post(const HttpRequest& request) {
  WICK_CHECK(!request.post.empty(), "there is something to send");
  std::size_t n_read = 0;
  const auto body = [&](std::span<const std::byte> bytes) {
    n_read += bytes.size();
    return n_read <= kMaxPostAnswer;
  };
  WICK_TRY(const Hop hop, one_hop(request, {}, body, request.url, true));
  return hop.response.status;
}

Result<std::string> http_get_text(const HttpRequest& request, std::size_t limit) {
  std::string text;
  int status = 0;
  bool is_too_long = false;
  const auto head = [&](const HttpResponse& response) {
    status = response.status;
    return status == 200;
  };
  const auto body = [&](std::span<const std::byte> bytes) {
    is_too_long = bytes.size() > limit - text.size();
    if (is_too_long) return false;
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  };
  auto response = http_get(request, head, body);
  if (is_too_long) {
    return Error{
        .code = ErrorCode::kUnavailable,
        .id = "answer_too_long",
        .message = cat(printable(request.url), ": the answer is longer than ", limit, " bytes")};
  }
  if (status != 0 && status != 200) return http_status_error(status, request.url);
  if (!response) return std::move(response).error();
  return text;
}

Result<std::string> http_library() {
  WICK_DO(load_curl());
  const std::string_view all = curl().version();
  return std::string(all.substr(0, all.find(' ')));
}

Error http_status_error(int status, std::string_view url) {
  const auto parts = parse_url(std::string(url));
  const std::string shown = printable(parts ? parts->shown : std::string(url));
  if (status == 404 || status == 410) {
    return {.code = ErrorCode::kNotFound,
            .id = "no_such_page",
            .message = cat(shown, " does not exist (status ", status, ")"),
            .hint = "check the spelling of the name"};
  }
  if (status == 401 || status == 403) {
    return {.code = ErrorCode::kInvalid,
            .id = "no_permission",
            .message = cat(shown, " may not be read without permission (status ", status, ")"),
            .hint = "check the name; a gated model needs its license accepted and HF_TOKEN set"};
  }
  return {.code = ErrorCode::kUnavailable,
          .id = "bad_status",
          .message = cat(shown, ": the server answers with status ", status),
          .hint = "try again later"};
}

}  // namespace wick
