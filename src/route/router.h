// The router: a provider that answers by one of several, by rules of money, privacy and health.
// Any thread.
//
//   const auto router = make_router({.members = {local, openai}, .rules = rules, …});
//   WICK_TRY(const auto answer, router->start({.model = "auto", .prompt = messages}));
//
// One attempt follows another until the first event with content; after it no other provider is
// asked. A paid attempt is reserved in the ledger before it is sent, and settled at its end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "provider/provider.h"
#include "route/budget.h"
#include "route/clock.h"
#include "route/ledger.h"
#include "route/response_cache.h"
#include "route/retry.h"
#include "route/rules.h"

namespace wick::route {

struct RouterOptions {
  std::vector<Member> members = {};  // in the order that "*" means
  std::vector<Rule> rules = {};
  std::vector<Budget> budgets = {};
  // Those of a client's key, besides. Called for each paid attempt, on any thread; empty: none.
  std::function<std::vector<Budget>(const std::string& key)> key_budgets = {};
  std::shared_ptr<Ledger> ledger = {};      // null: what has a price is refused
  std::shared_ptr<LimitStore> limits = {};  // null: rate limits are this process's own
  std::shared_ptr<RouteClock> clock = {};
  RetryOptions retry = {};
  HealthOptions health = {};
  CacheOptions cache = {};
  std::shared_ptr<CacheStore> cache_store = {};  // null: answers are kept in this process alone
  std::int64_t total_ms = 600'000;     // of all attempts, if the request has no time limit
  std::uint64_t seed = 1;              // of the pauses between attempts
  std::string default_model = "auto";  // of a request that names none
};

class Router : public Provider {
 public:
  // What start() would do now, without doing it.
  virtual Decision explain(const Request& request) = 0;
  virtual const std::vector<Member>& members() const noexcept = 0;
};

std::shared_ptr<Router> make_router(RouterOptions options);

// The decision as lines for a person.
std::string to_text(const Decision& decision, const std::vector<Member>& members);

}  // namespace wick::route
