// Which route a request is for. Immutable; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "http/handler.h"

namespace wick::http {

class Router {
 public:
  explicit Router(std::vector<Route> routes) : routes_(std::move(routes)) {}

  struct Match {
    const Route* route = nullptr;  // nullptr: the path has none for this method
    std::string rest = {};         // what "*" stands for
    std::string allow = {};        // what the path has: "GET, HEAD, OPTIONS"; empty: no such path
    bool wants_upgrade = false;    // it has a WebSocket and nothing else
  };

  // GET answers HEAD, too. A whole path goes before a prefix, a longer prefix before a shorter.
  Match find(std::string_view method, std::string_view path, bool is_upgrade) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace wick::http
