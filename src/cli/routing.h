// The router that the config files describe ([[provider]], [[route]], [budget]), for run, chat,
// serve, route and usage.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/routing.h"
#include "net/transfers.h"
#include "route/ledger.h"
#include "route/router.h"
#include "server/routes.h"

namespace wick {

// Whether the rules choose who answers for this model's name: "auto", an alias, "remote/…",
// "local/…", or "NAME/…" of a provider.
bool is_routed(const RoutingSettings& settings, std::string_view model);

struct LocalMember {
  std::shared_ptr<Provider> provider = {};
  std::function<std::string()> default_model = {};  // the name of "", for the ledger
};

// A local provider that opens a model when it is first asked for one; "" is that of
// local.model_path. Where a flag names a route, it is that of the environment or a file, else the
// default.
LocalMember lazy_local(const RoutingSettings& settings, const Config& config);

// The local models that the rules may ask for, in their words ("qwen3-0.6b"), or `default_model`
// where they name none. Empty: all is answered by other providers.
std::vector<std::string> local_models(const RoutingSettings& settings,
                                      const std::string& default_model);

using KeyBudgets = std::function<std::vector<route::Budget>(const std::string& key)>;

// `default_model` is that of a request without one. A ledger that cannot be opened is a warning:
// what has a price is refused until it can. `transfers`: null for some with a thread of their own.
Result<std::shared_ptr<route::Router>> open_router(const RoutingSettings& settings,
                                                   LocalMember local, std::string default_model,
                                                   KeyBudgets key_budgets = {},
                                                   std::shared_ptr<Transfers> transfers = {});

// That of [budget], else ~/.local/state/wick/usage.db; without a home it is kInvalid.
// `may_be_away`: see LedgerOptions.
Result<std::shared_ptr<route::Ledger>> open_ledger(const RoutingSettings& settings,
                                                   bool may_be_away = false);

// That of [limits]; null if there is none.
Result<std::shared_ptr<route::LimitStore>> open_limits(const RoutingSettings& settings);

// "openai" of "opnai/gpt-4o": the providers whose names are near; "" if there are none.
std::string near_providers(const RoutingSettings& settings, std::string_view model);

// What keeps the candidates from answering on this machine, which the router finds when it asks
// them: a key or a model file that is not there. Nothing is fetched.
void add_obstacles(const RoutingSettings& settings, const route::Router& router, bool is_offline,
                   route::Decision& decision);

// The names that requests to a server may have besides those of its own models: "auto", aliases,
// "NAME/model" with the aliases "remote/model" and "model". Where several providers have a model,
// these two mean any of them.
std::vector<server::ServedModel> routed_names(const RoutingSettings& settings);

}  // namespace wick
