// [[provider]], [[route]], [alias], [budget], [limits] and [response_cache] of the config files,
// checked. Keys of APIs are not read here, so that a command without network needs none.
//
//   [[provider]]
//   name = "openai"            # and kind, unless it is the name of a kind
//   models = [{ name = "gpt-4o-mini", input = "0.15 USD/M", output = "0.60 USD/M" }]
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/toml_file.h"
#include "remote/endpoint.h"
#include "route/budget.h"
#include "route/response_cache.h"
#include "route/rules.h"

namespace wick {

struct ProviderSetting {
  remote::Endpoint endpoint = {};  // without its key
  remote::SecretSource key = {};
  std::vector<route::MemberModel> models = {};
  route::LimitOptions limits = {};
  double weight = 1;
  bool needs_key = false;
  bool is_free = false;  // models that are not listed
};

struct RoutingSettings {
  std::vector<ProviderSetting> providers = {};
  std::vector<route::Rule> rules = {};
  std::vector<route::Budget> budgets = {};
  route::CacheOptions cache = {};
  std::string ledger = {};  // the file or PostgreSQL's URI; "" = the default file

  std::string limits = {};  // the URI of the store that shares rate limits; "" = none

  bool empty() const noexcept { return providers.empty() && rules.empty(); }
};

// kInvalid, ids "unknown_setting", "bad_setting" and those of endpoints, prices and stores: names
// the place in the file, the table, the key and what is allowed.
Result<RoutingSettings> routing_settings(const TomlTables& tables);

}  // namespace wick
