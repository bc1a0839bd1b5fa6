#include "http/guard.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "base/strings.h"

namespace wick::http {

namespace {

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_port(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The 4 or 16 bytes of an address; an IPv4 one mapped into IPv6 is the IPv4 one.
std::string address_bytes(std::string_view text) {
  const std::string terminated(text.substr(0, text.find('%')));  // the zone of fe80::1%eth0
  std::array<char, 16> bytes = {};
  if (::inet_pton(AF_INET, terminated.c_str(), bytes.data()) == 1) return {bytes.data(), 4};
  if (::inet_pton(AF_INET6, terminated.c_str(), bytes.data()) != 1) return {};
  const std::string all(bytes.data(), bytes.size());
  const std::string mapped("\0\0\0\0\0\0\0\0\0\0\xFF\xFF", 12);
  return all.starts_with(mapped) ? all.substr(12) : all;
}

struct Origin {
  std::string_view scheme, host;
  std::string_view port = {};  // empty: the scheme's
};

// "https://chat.example.com:8443"; nothing for "null" and for what has a path.
std::optional<Origin> parse_origin(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view rest = text.substr(colon + 3);
  const auto host = host_name(rest);
  if (!host || host->empty()) return std::nullopt;
  Origin origin{.scheme = text.substr(0, colon), .host = *host};
  if (rest.size() > host->size()) origin.port = rest.substr(host->size() + 1);
  return origin;
}

std::string_view default_port(std::string_view scheme) noexcept {
  return scheme == "https" ? "443" : "80";
}

// A page of this very server: the same name and port. The scheme is not compared, for a proxy may
// have ended TLS; two servers on one port there are not.
bool is_same(const Origin& origin, std::string_view host) {
  if (origin.scheme != "http" && origin.scheme != "https") return false;
  const auto name = host_name(host);
  if (!name || *name != origin.host) return false;
  const std::string_view fallback = default_port(origin.scheme);
  const std::string_view port =
      host.size() > name->size() ? host.substr(name->size() + 1) : fallback;
  return port == (origin.port.empty() ? fallback : origin.port);
}

Refusal forbidden(std::string_view code, std::string message) {
  return {.status = 403, .code = std::string(code), .message = std::move(message)};
}

}  // namespace

std::optional<std::string_view> host_name(std::string_view host) {
  std::size_t end = host.find(':');
  if (host.starts_with('[')) {
    const std::size_t close = host.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    end = close + 1 == host.size() ? std::string_view::npos : close + 1;
    if (address_bytes(host.substr(1, close - 1)).empty()) return std::nullopt;
  } else if (host.find_first_of("[]/@?# \t\\") != std::string_view::npos) {
    return std::nullopt;
  }
  if (end == std::string_view::npos) return host;
  if (host[end] != ':' || !is_port(host.substr(end + 1))) return std::nullopt;
  return host.substr(0, end);
}

Result<Guard> Guard::create(const GuardOptions& options) {
  Guard guard;
  guard.hosts_ = {"localhost", "127.0.0.1", "[::1]"};
  for (const std::string& host : options.hosts) {
    if (host == "*") guard.takes_any_host_ = true;
    guard.hosts_.push_back(ascii_lower(host));
  }
  for (const std::string& origin : options.origins) {
    const std::string lower = ascii_lower(origin);
    if (!parse_origin(lower)) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_origin",
                   .message = cat("'", printable(origin), "' is no origin of web pages"),
                   .hint = "name each: --allow-origin https://chat.example.com"};
    }
    guard.origins_.push_back(lower);
  }
  return guard;
}

bool Guard::is_listed(std::string_view origin) const {
  return contains(origins_, ascii_lower(origin));
}

bool Guard::is_our_host(std::string_view host, std::string_view local) const {
  if (takes_any_host_) return true;
  const auto name = host_name(host);
  if (!name) return false;
  if (contains(hosts_, *name) || contains(hosts_, host)) return true;
  // An address is no name that somebody could let point elsewhere.
  const std::string_view literal =
      name->starts_with('[') ? name->substr(1, name->size() - 2) : *name;
  const std::string asked = address_bytes(literal);
  return !asked.empty() && asked == address_bytes(local);
}

std::optional<Refusal> Guard::check_origin(const Head& head) const {
  const bool is_harmless =
      head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS";
  if (is_harmless && !head.is_upgrade) return std::nullopt;
  if (head.has("origin")) {
    const std::string text = ascii_lower(head.header("origin"));
    if (is_listed(text)) return std::nullopt;
    const auto origin = parse_origin(text);
    if (origin && is_same(*origin, head.host)) return std::nullopt;
    return forbidden("origin_not_allowed", cat("pages of '", printable(text),
                                               "' may not ask this server; its "
                                               "administrator can allow them with --allow-origin"));
  }
  const std::string_view site = head.header("sec-fetch-site");
  if (site == "cross-site" || site == "same-site")
    return forbidden("origin_not_allowed", "pages of other sites may not ask this server");
  return std::nullopt;
}

std::optional<Refusal> Guard::check(const Head& head, std::string_view local) const {
  if (!is_our_host(head.host, local)) {
    return forbidden("host_not_allowed",
                     cat("this server is not '", printable(head.host),
                         "'; if it is reached by that "
                         "name, its administrator can add it with --allow-host"));
  }
  return check_origin(head);
}

bool Guard::is_preflight(const Head& head) const {
  return head.method == "OPTIONS" && head.has("origin") &&
         head.has("access-control-request-method");
}

Response Guard::preflight(const Head& head, std::string_view methods) const {
  if (head.has("access-control-request-private-network") ||
      head.has("access-control-request-local-network")) {
    return to_response(
        forbidden("private_network", "pages of a public network may not ask this server"));
  }
  if (!is_listed(head.header("origin"))) {
    return to_response(forbidden("origin_not_allowed",
                                 "pages of this origin may not ask this "
                                 "server"));
  }
  Response response{.status = 204, .type = ""};
  add_cors(head, response.headers);
  response.headers.push_back({"access-control-allow-methods", std::string(methods)});
  response.headers.push_back({"access-control-max-age", "600"});
  const std::string_view asked = head.header("access-control-request-headers");
  if (!asked.empty())
    response.headers.push_back({"access-control-allow-headers", std::string(asked)});
  return response;
}

void Guard::add_cors(const Head& head, std::vector<Header>& headers) const {
  if (origins_.empty()) return;
  headers.push_back({"vary", "origin"});
  const std::string_view origin = head.header("origin");
  if (!is_listed(origin)) return;
  headers.push_back({"access-control-allow-origin", std::string(origin)});
  headers.push_back({"access-control-expose-headers", "x-request-id, retry-after"});
}

}  // namespace wick::http
