#include "http/head.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/hex.h"
#include "base/printable.h"
#include "base/strings.h"
#include "http/control.h"

namespace wick::http {

namespace {

namespace beast = boost::beast::http;
using boost::beast::error_code;

constexpr std::size_t kUsualHeaders = 8;

Refusal bad(std::string_view code, std::string message) {
  return {.status = 400, .code = std::string(code), .message = std::move(message)};
}

// %41 as A. Nothing that is broken, and no control character.
std::optional<std::string> decode_path(std::string_view path) {
  const bool is_plain = path.find('%') == std::string_view::npos;
  if (is_plain && find_control(path) == path.size()) return std::string(path);
  std::string decoded;
  for (std::size_t at = 0; at < path.size(); ++at) {
    char c = path[at];
    if (c == '%') {
      if (path.size() - at < 3) return std::nullopt;
      const int high = hex_value(path[at + 1]), low = hex_value(path[at + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      at += 2;
    }
    if (is_control(c)) return std::nullopt;
    decoded += c;
  }
  return decoded;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

bool has_control_but_tab(std::string_view text) noexcept {
  for (;;) {
    text.remove_prefix(find_control(text));
    if (text.empty()) return false;
    if (text.front() != '\t') return true;
    text.remove_prefix(1);
  }
}

// One of the words between commas, in any case.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (ascii_lower(trimmed(list.substr(0, comma))) == word) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// Headers that decide who is asked, by whom, and where the body ends: none of them twice.
std::optional<Refusal> check_repeated(const Head& head) {
  constexpr std::string_view kOnce[] = {"host",          "content-length", "transfer-encoding",
                                        "content-type",  "authorization",  "x-api-key",
                                        "origin",        "expect",         "sec-websocket-key",
                                        "sec-fetch-site"};
  for (auto one = head.headers.begin(); one != head.headers.end(); ++one) {
    const auto is_it = [&](const Header& header) { return header.name == one->name; };
    if (std::any_of(head.headers.begin(), one, is_it) &&
        std::find(std::begin(kOnce), std::end(kOnce), one->name) != std::end(kOnce))
      return bad("repeated_header", cat("the header ", one->name, " occurs more than once"));
  }
  return std::nullopt;
}

std::optional<Refusal> read_framing(Head& head) {
  const std::string_view length = head.header("content-length");
  if (head.has("content-length")) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (length.empty() || length.size() > 18 ||
        !std::all_of(length.begin(), length.end(), is_digit))
      return bad("bad_content_length", "content-length is not one number");
    for (const char c : length)
      head.length = head.length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (!head.has("transfer-encoding")) return std::nullopt;
  if (head.has("content-length"))
    return bad("bad_framing", "a request has either content-length or transfer-encoding");
  if (head.is_1_0) return bad("bad_framing", "HTTP/1.0 has no transfer-encoding");
  if (ascii_lower(head.header("transfer-encoding")) != "chunked") {
    return Refusal{.status = 501,
                   .code = "bad_transfer_encoding",
                   .message = "the only transfer-encoding is chunked"};
  }
  head.is_chunked = true;
  return std::nullopt;
}

// "/path?query", "http://host/path?query" (whose host is the header's), "*".
std::optional<Refusal> read_target(Head& head, std::string_view target) {
  if (target.size() > kMaxTargetBytes) {
    return Refusal{.status = 414,
                   .code = "target_too_long",
                   .message = cat("the path has ", target.size(), " bytes, at most ",
                                  kMaxTargetBytes, " are allowed")};
  }
  const auto is_visible = [](char c) { return c > 0x20 && c < 0x7F && c != '#'; };
  if (!std::all_of(target.begin(), target.end(), is_visible))
    return bad("bad_target", "the path holds a character that has to be escaped as %XX");
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.starts_with('/')) break;  // nearly always
    if (ascii_lower(target.substr(0, scheme.size())) != scheme) continue;
    target.remove_prefix(scheme.size());
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    if (ascii_lower(target.substr(0, end)) != head.host)
      return bad("bad_target", "the address names another host than the header host");
    target.remove_prefix(end);
    if (target.empty()) target = "/";
  }
  if (target == "*" && head.method == "OPTIONS") {
    head.path = "*";
    return std::nullopt;
  }
  if (!target.starts_with('/')) return bad("bad_target", "the path does not begin with /");
  const std::size_t mark = std::min(target.find('?'), target.size());
  auto path = decode_path(target.substr(0, mark));
  if (!path) return bad("bad_target", "the path is not escaped as it should be");
  head.path = std::move(*path);
  head.query = target.substr(std::min(mark + 1, target.size()));
  return std::nullopt;
}

std::optional<Refusal> read_host(Head& head) {
  head.host = ascii_lower(head.header("host"));
  if (head.host.empty()) return bad("no_host", "a request needs one header host");
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' ||
           c == ':' || c == '[' || c == ']';
  };
  if (head.host.size() > kMaxHostBytes ||
      !std::all_of(head.host.begin(), head.host.end(), is_allowed))
    return bad("bad_host", "the header host is not a name with a port");
  return std::nullopt;
}

std::optional<Refusal> read_rest(Head& head) {
  if (head.has("expect")) {
    head.expects_continue = ascii_lower(head.header("expect")) == "100-continue";
    if (!head.expects_continue) {
      return Refusal{.status = 417,
                     .code = "bad_expectation",
                     .message = "the only expectation is 100-continue"};
    }
  }
  head.is_upgrade = head.method == "GET" && has_word(head.header("connection"), "upgrade") &&
                    has_word(head.header("upgrade"), "websocket");
  return std::nullopt;
}

Refusal refuse_of_beast(const error_code& error) {
  if (error == beast::error::bad_version) {
    return {
        .status = 505, .code = "bad_version", .message = "the versions are HTTP/1.1 and HTTP/1.0"};
  }
  return bad("bad_request", cat("the request is malformed: ", error.message()));
}

// The request line and the headers.
class HeadParser final : public beast::basic_parser<true> {
 public:
  explicit HeadParser(Head& head) : head_(head) { head_.headers.reserve(kUsualHeaders); }

  std::string_view target() const noexcept { return target_; }  // within the block

 private:
  void on_request_impl(beast::verb /*verb*/, boost::beast::string_view method,
                       boost::beast::string_view target, int version,
                       error_code& /*error*/) override {
    head_.method = {method.data(), method.size()};
    head_.is_1_0 = version == 10;
    target_ = {target.data(), target.size()};
  }

  void on_field_impl(beast::field /*field*/, boost::beast::string_view name,
                     boost::beast::string_view value, error_code& /*error*/) override {
    head_.headers.push_back({ascii_lower({name.data(), name.size()}),
                             std::string(trimmed({value.data(), value.size()}))});
  }

  void on_header_impl(error_code& /*error*/) override {}

  void on_response_impl(int /*code*/, boost::beast::string_view /*reason*/, int /*version*/,
                        error_code& /*error*/) override {}

  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                         error_code& /*error*/) override {}

  std::size_t on_body_impl(boost::beast::string_view body, error_code& /*error*/) override {
    return body.size();
  }

  void on_chunk_header_impl(std::uint64_t /*size*/, boost::beast::string_view /*extensions*/,
                            error_code& /*error*/) override {}

  std::size_t on_chunk_body_impl(std::uint64_t /*left*/, boost::beast::string_view body,
                                 error_code& /*error*/) override {
    return body.size();
  }

  void on_finish_impl(error_code& /*error*/) override {}

  Head& head_;
  std::string_view target_ = {};
};

}  // namespace

std::string_view Head::header(std::string_view name) const noexcept {
  for (const Header& header : headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

bool Head::has(std::string_view name) const noexcept {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const Header& header) { return header.name == name; });
}

std::optional<Refusal> parse_head(std::string_view block, Head& head) {
  HeadParser parser(head);
  parser.eager(false);
  parser.header_limit(static_cast<std::uint32_t>(block.size() + 1));
  parser.body_limit(boost::none);  // decided by who reads the body
  error_code error;
  parser.put(boost::asio::buffer(block.data(), block.size()), error);
  if (error && error != beast::error::need_more) return refuse_of_beast(error);
  if (!parser.is_header_done()) return bad("bad_request", "the request is malformed");
  head.keeps_alive = parser.keep_alive();
  if (head.method.size() > kMaxMethodBytes) return bad("bad_method", "the method is too long");
  if (auto refusal = check_repeated(head)) return refusal;
  if (auto refusal = read_framing(head)) return refusal;
  if (auto refusal = read_host(head)) return refusal;
  if (auto refusal = read_target(head, parser.target())) return refusal;
  return read_rest(head);
}

std::variant<std::size_t, Refusal> HeadLines::find_end(std::string_view all) {
  const auto too_large = [&](std::string_view what, std::size_t limit) {
    return Refusal{.status = 431,
                   .code = "head_too_large",
                   .message = cat("the request has more than ", limit, " ", what)};
  };
  for (;;) {
    const std::size_t feed = all.find('\n', seen_);
    const bool has_line = feed != std::string_view::npos;
    if ((has_line ? feed + 1 : all.size()) > limits_->head_bytes)
      return too_large("bytes of headers", limits_->head_bytes);
    if (!has_line) {
      seen_ = all.size();
      return std::size_t{0};
    }
    const std::string_view line = all.substr(line_, feed - line_);
    if (!line.ends_with('\r')) return bad("bare_line_feed", "a line ends with LF instead of CRLF");
    const std::string_view text = line.substr(0, line.size() - 1);
    if (has_control_but_tab(text))
      return bad("control_character", "a header holds a control character");
    line_ = seen_ = feed + 1;
    if (text.empty()) {
      if (lines_ > 0) return line_;
      return bad("bad_request", "the request begins with an empty line");
    }
    if (text.starts_with(' ') || text.starts_with('\t'))
      return bad("folded_header", "a header goes on in the next line");
    if (++lines_ > limits_->headers + 1)
      return too_large("headers", static_cast<std::size_t>(limits_->headers));
  }
}

}  // namespace wick::http
