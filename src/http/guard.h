// Protection from web pages. A browser on the same machine reaches a server on localhost, so any
// web page can try: by DNS rebinding, forms, fetch() and WebSockets. Three rules, checked for every
// request before routing:
//
//   - the header host is a name this server has, or the address that the connection arrived at;
//   - what is not GET or HEAD, and a WebSocket, comes from the same origin, from a listed one,
//     or from no page at all (no header origin);
//   - no page of another origin reads an answer unless it is listed (CORS), and none that asks to
//     reach a private network.
//
// That a POST must be JSON (http/exchange.cc) is the fourth: a form cannot send it without asking
// first. Immutable; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/handler.h"
#include "http/head.h"
#include "http/refusal.h"

namespace wick::http {

struct GuardOptions {
  std::vector<std::string> hosts = {};    // beside localhost, 127.0.0.1 and [::1]; "*": any
  std::vector<std::string> origins = {};  // "https://chat.example.com"
};

class Guard {
 public:
  // Refuses an origin that is none: "*", one with a path.
  static Result<Guard> create(const GuardOptions& options);

  // `local` is the address that the connection arrived at, without port: "192.168.1.5", "::1",
  // empty for a Unix socket.
  std::optional<Refusal> check(const Head& head, std::string_view local) const;

  bool is_preflight(const Head& head) const;
  // The answer to one; `methods` is what the path has: "GET, HEAD, OPTIONS".
  Response preflight(const Head& head, std::string_view methods) const;

  // What lets a listed origin read an answer; nothing for others.
  void add_cors(const Head& head, std::vector<Header>& headers) const;

 private:
  bool is_listed(std::string_view origin) const;
  bool is_our_host(std::string_view host, std::string_view local) const;
  std::optional<Refusal> check_origin(const Head& head) const;

  std::vector<std::string> hosts_, origins_;
  bool takes_any_host_ = false;
};

// "localhost:8080" to "localhost", "[::1]:80" to "[::1]"; nothing if it is neither.
std::optional<std::string_view> host_name(std::string_view host);

}  // namespace wick::http
