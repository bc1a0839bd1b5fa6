#include "http/router.h"

#include <algorithm>

#include "base/strings.h"

namespace wick::http {

Router::Router(std::vector<Route> routes) : routes_(std::move(routes)) {
  for (const Route& route : routes_) {
    Path& path = paths_[route.path];
    path.routes.push_back(&route);
    if (route.method == "WEBSOCKET") {
      path.has_websocket = true;
      continue;
    }
    path.has_other = true;
    path.allow += cat(path.allow.empty() ? "" : ", ", route.method);
    if (route.method == "GET") path.allow += ", HEAD";
  }
  for (auto& [name, path] : paths_) {
    if (path.has_websocket && path.allow.find("GET") == std::string::npos)
      path.allow += path.allow.empty() ? "GET" : ", GET";
    path.allow += ", OPTIONS";
    if (name.ends_with('*')) prefixes_.push_back(name);
  }
  std::stable_sort(prefixes_.begin(), prefixes_.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

const Router::Path* Router::find_path(std::string_view path) const {
  const auto whole = paths_.find(path);
  if (whole != paths_.end() && !path.ends_with('*')) return &whole->second;
  for (const std::string_view prefix : prefixes_) {
    if (path.starts_with(prefix.substr(0, prefix.size() - 1))) return &paths_.find(prefix)->second;
  }
  return nullptr;
}

Router::Match Router::find(std::string_view method, std::string_view path, bool is_upgrade) const {
  const Path* const found = find_path(path);
  if (found == nullptr) return {};
  const std::string_view wanted = is_upgrade ? "WEBSOCKET" : method == "HEAD" ? "GET" : method;
  Match match{.allow = found->allow, .wants_upgrade = found->has_websocket && !found->has_other};
  for (const Route* const route : found->routes) {
    if (route->method != wanted) continue;
    match.route = route;
    const std::size_t fixed = std::min(route->path.size() - 1, path.size());
    if (route->path.ends_with('*')) match.rest = path.substr(fixed);
  }
  // A request to upgrade where there is nothing to upgrade to is a request like any other.
  if (match.route == nullptr && is_upgrade && !found->has_websocket)
    return find(method, path, false);
  return match;
}

}  // namespace wick::http
