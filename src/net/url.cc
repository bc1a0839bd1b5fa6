#include "net/url.h"

#include <memory>

#include "base/strings.h"
#include "net/curl_api.h"

namespace wick {

namespace {

constexpr std::size_t kMaxUrlBytes = 8192;

struct UrlFree {
  void operator()(CURLU* url) const { curl().url_cleanup(url); }
};

std::string url_part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl().url_get(url, part, &text, flags) != CURLUE_OK) return {};
  std::string out = text;
  curl().free(text);
  return out;
}

}  // namespace

Result<UrlParts> parse_url(const std::string& url) {
  const auto refuse = [&](std::string_view why) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_url",
                 .message = cat("'", printable(url), "' is not a usable URL: ", why),
                 .hint = "a URL looks like https://host/folder/model.gguf"};
  };
  if (url.size() > kMaxUrlBytes) return refuse(cat("it is longer than ", kMaxUrlBytes, " bytes"));
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) {
      return refuse("it holds a blank or a control character");
    }
  }
  WICK_DO(load_curl());
  const std::unique_ptr<CURLU, UrlFree> handle(curl().url());
  if (!handle) return Error{.code = ErrorCode::kNoMemory, .message = "no memory to parse a URL"};
  const CURLUcode code = curl().url_set(handle.get(), CURLUPART_URL, url.c_str(), 0);
  if (code != CURLUE_OK) return refuse(curl().url_strerror(code));
  const std::string scheme = url_part(handle.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return refuse("only http and https are fetched");
  std::string host = url_part(handle.get(), CURLUPART_HOST);
  if (host.empty()) return refuse("it names no host");
  for (char& c : host) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const std::string port = url_part(handle.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  UrlParts parts;
  parts.origin = cat(scheme, "://", host, ":", port);
  parts.path = url_part(handle.get(), CURLUPART_PATH);
  for (const CURLUPart part : {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_FRAGMENT}) {
    curl().url_set(handle.get(), part, nullptr, 0);
  }
  parts.plain = url_part(handle.get(), CURLUPART_URL);
  curl().url_set(handle.get(), CURLUPART_QUERY, nullptr, 0);
  parts.shown = url_part(handle.get(), CURLUPART_URL);
  return parts;
}

std::string last_path_part(const UrlParts& url) {
  const std::size_t slash = url.path.rfind('/');
  const std::string last = slash == std::string::npos ? url.path : url.path.substr(slash + 1);
  int n = 0;
  char* text = curl().easy_unescape(nullptr, last.c_str(), static_cast<int>(last.size()), &n);
  if (text == nullptr) return {};
  std::string out(text, static_cast<std::size_t>(n));
  curl().free(text);
  return out;
}

namespace {

std::string escape(std::string_view text, bool keeps_slash) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos || (keeps_slash && c == '/')) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

}  // namespace

std::string escape_path(std::string_view text) {
  return escape(text, true);
}

std::string escape_path_part(std::string_view text) {
  return escape(text, false);
}

}  // namespace wick
