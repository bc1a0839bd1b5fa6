#include "server/page.h"

#include <algorithm>

#include "base/strings.h"

namespace wick::server {

namespace {

// The libraries of the page make no code from texts; "wick" is the policy that names the worker.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types dompurify wick";

std::string_view trim(std::string_view text) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  return text;
}

// The next item of a header's list; `rest` is what follows.
std::string_view next_item(std::string_view& rest, char between = ',') noexcept {
  const std::string_view item = rest.substr(0, rest.find(between));
  rest.remove_prefix(std::min(rest.size(), item.size() + 1));
  return trim(item);
}

// Whether the client reads gzip: named, and not with "q=0".
bool takes_gzip(std::string_view accepted) {
  while (!accepted.empty()) {
    std::string_view item = next_item(accepted);
    if (ascii_lower(next_item(item, ';')) != "gzip") continue;
    const std::string weight = ascii_lower(trim(item));
    return !weight.starts_with("q=0") || weight.find_first_of("123456789") != std::string::npos;
  }
  return false;
}

bool names(std::string_view tags, std::string_view tag) {
  while (!tags.empty()) {
    std::string_view one = next_item(tags);
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == tag || one == "*") return true;
  }
  return false;
}

const PageFile* find_file(std::string_view path) noexcept {
  for (const PageFile& file : page_files()) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

}  // namespace

http::Reply page(const SharedContext& context, const http::Request& request,
                 const std::shared_ptr<Wake>& /*wake*/) {
  const PageFile* const file = find_file(request.path);
  if (file == nullptr) {
    return error_response(refusal(*context, {.code = ErrorCode::kNotFound,
                                             .id = "not_found",
                                             .message = "the web page has no such file"}));
  }
  const bool is_small = takes_gzip(request.header("accept-encoding"));
  const std::string tag = cat("\"", file->tag, is_small ? "-gzip" : "", "\"");
  const bool is_forever = file->path != "/";
  http::Response response{
      .type = std::string(file->type),
      .headers = {
          {"etag", tag},
          {"vary", "accept-encoding"},
          {"cache-control", is_forever ? "public, max-age=31536000, immutable" : "no-cache"},
          {"content-security-policy", std::string(kPolicy)},
          {"cross-origin-opener-policy", "same-origin"},
          {"referrer-policy", "no-referrer"},
          {"x-dns-prefetch-control", "off"}}};
  if (names(request.header("if-none-match"), tag)) {
    response.status = 304;
    return response;
  }
  if (is_small) response.headers.push_back({"content-encoding", "gzip"});
  response.body = is_small ? file->gzip : file->plain;
  return response;
}

}  // namespace wick::server
