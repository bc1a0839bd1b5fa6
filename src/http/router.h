// Which route a request is for. Immutable; any thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "http/handler.h"

namespace wick::http {

class Router {
 public:
  explicit Router(std::vector<Route> routes);
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  struct Match {
    const Route* route = nullptr;  // nullptr: the path has none for this method
    std::string rest = {};         // what "*" stands for
    std::string_view allow = {};   // what the path has: "GET, HEAD, OPTIONS"; empty: no such path
    bool wants_upgrade = false;    // it has a WebSocket and nothing else
  };

  // GET answers HEAD, too. A whole path goes before a prefix, a longer prefix before a shorter.
  Match find(std::string_view method, std::string_view path, bool is_upgrade) const;

 private:
  struct Path {
    std::vector<const Route*> routes = {};
    std::string allow = {};
    bool has_websocket = false, has_other = false;
  };

  const Path* find_path(std::string_view path) const;

  const std::vector<Route> routes_;
  std::map<std::string, Path, std::less<>> paths_ = {};  // by Route::path
  std::vector<std::string_view> prefixes_ = {};          // "/x/*" of these, the longest first
};

}  // namespace wick::http
