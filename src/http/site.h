// State shared by the connections of a server. Loop thread, except `counters`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "http/counters.h"
#include "http/guard.h"
#include "http/keys.h"
#include "http/limits.h"
#include "http/loop.h"
#include "http/router.h"
#include "http/workers.h"

namespace wick::http {

class Connection;

struct Site {
  Site(Loop& its_loop, Guard its_guard, std::vector<Route> routes)
      : loop(its_loop), guard(std::move(its_guard)), router(std::move(routes)) {}

  Loop& loop;
  Limits limits = {};
  Guard guard;
  Router router;
  std::shared_ptr<const Keys> keys = {};  // null: everybody may infer
  KeyUse key_use = {};
  std::unique_ptr<Workers> workers = {};
  std::unique_ptr<Workers> slow_workers = {};  // for bodies from kSlowBodyBytes on
  bool admits_admin_without_key = false;
  bool logs_requests = true;
  int drain_calls = 0;           // how often Work was told to end: 0, 1, 2
  std::size_t bodies_bytes = 0;  // received and not yet handled, of all connections
  Counters counters = {};

  // Requests under way by their number, which is also their Wake's key.
  std::unordered_map<std::uint64_t, Connection*> under_way = {};
  std::uint64_t last_number = 0;
  std::uint64_t seed = 0;  // of request ids

  std::function<void(Connection&)> on_closed = {};

  bool drains() const noexcept { return drain_calls > 0; }

  std::string_view date();  // of the header, made once a second

 private:
  std::int64_t date_second_ = 0;
  std::string date_ = {};
};

}  // namespace wick::http
