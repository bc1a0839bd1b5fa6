#include "http/router.h"

#include <algorithm>

#include "base/strings.h"

namespace wick::http {

namespace {

// How many bytes of `path` the route's path fixes, plus 1 if it is whole; 0: none of its paths.
std::size_t fit(const Route& route, std::string_view path) noexcept {
  std::string_view pattern = route.path;
  if (!pattern.ends_with('*')) return pattern == path ? pattern.size() + 1 : 0;
  pattern.remove_suffix(1);
  return path.starts_with(pattern) ? pattern.size() : 0;
}

}  // namespace

Router::Match Router::find(std::string_view method, std::string_view path, bool is_upgrade) const {
  std::size_t best = 0;
  for (const Route& route : routes_)
    best = std::max(best, fit(route, path));
  Match match;
  if (best == 0) return match;
  const std::string_view wanted = is_upgrade ? "WEBSOCKET" : method == "HEAD" ? "GET" : method;
  bool has_websocket = false;
  for (const Route& route : routes_) {
    if (fit(route, path) != best) continue;
    if (route.method == wanted) {
      match.route = &route;
      const std::size_t fixed = std::min(route.path.size() - 1, path.size());
      if (route.path.ends_with('*')) match.rest = path.substr(fixed);
    }
    if (route.method == "WEBSOCKET") {
      has_websocket = true;
      continue;
    }
    match.allow += cat(match.allow.empty() ? "" : ", ", route.method);
    if (route.method == "GET") match.allow += ", HEAD";
  }
  match.wants_upgrade = has_websocket && match.allow.empty();
  if (has_websocket && match.allow.find("GET") == std::string::npos)
    match.allow += match.allow.empty() ? "GET" : ", GET";
  match.allow += ", OPTIONS";
  // A request to upgrade where there is nothing to upgrade to is a request like any other.
  if (match.route == nullptr && is_upgrade && !has_websocket) return find(method, path, false);
  return match;
}

}  // namespace wick::http
