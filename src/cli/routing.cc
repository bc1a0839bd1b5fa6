#include "cli/routing.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/nearest.h"
#include "base/strings.h"
#include "cli/options.h"
#include "cli/out.h"
#include "hub/pull.h"
#include "hub/store.h"
#include "remote/remote_provider.h"

namespace wick {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kLocal = "local";

// The model of a request for "local": the first of these that does not name a route.
std::string default_model(const RoutingSettings& settings, const Config& config) {
  for (const std::string& name :
       {config.text("local.model_path"), config.text_below_flags("local.model_path")}) {
    if (!is_routed(settings, name)) return name;
  }
  return std::get<std::string>(find_option("local.model_path")->fallback);
}

class LazyLocal final : public Provider {
 public:
  LazyLocal(Config config, std::string default_model)
      : config_(std::move(config)), default_model_(std::move(default_model)) {}

  std::string_view name() const noexcept override { return kLocal; }

  Result<std::unique_ptr<Answer>> start(const Request& request,
                                        std::shared_ptr<Wake> wake) override {
    WICK_TRY(const std::shared_ptr<Provider> model, open(request.model));
    Request named = request;
    named.model.clear();
    return model->start(named, std::move(wake));
  }

  Result<std::vector<Embedding>> embed(const EmbedTexts& request) override {
    WICK_TRY(const std::shared_ptr<Provider> model, open(request.model));
    EmbedTexts named = request;
    named.model.clear();
    return model->embed(named);
  }

  Result<std::vector<TokenId>> tokenize(const std::string& name, std::string_view text) override {
    WICK_TRY(const std::shared_ptr<Provider> model, open(name));
    return model->tokenize("", text);
  }

  Result<std::vector<TokenId>> prompt_tokens(const Request& request) override {
    WICK_TRY(const std::shared_ptr<Provider> model, open(request.model));
    Request named = request;
    named.model.clear();
    return model->prompt_tokens(named);
  }

 private:
  Result<std::shared_ptr<Provider>> open(std::string name) {
    if (name.empty()) name = default_model_;
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Provider>& model = models_[name];
    if (model != nullptr) return model;
    WICK_TRY(const LocalOptions options, local_options(config_));
    WICK_TRY(const auto path, find_model(name, config_.boolean("hub.offline")));
    WICK_TRY(model, LocalModel::open(path, options));
    return model;
  }

  const Config config_;
  const std::string default_model_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Provider>> models_;
};

// Never below the current folder: budgets would begin again in each one.
Result<fs::path> default_ledger() {
  if (const char* const state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
    return fs::path(state) / "wick/usage.db";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "no_home",
                 .message = cat("HOME is ",
                                home == nullptr ? std::string("not set")
                                                : cat("'", printable(home), "', no absolute path"),
                                ", so the ledger of costs has no place"),
                 .hint = "set HOME, or ledger = \"/PATH/usage.db\" below [budget]"};
  }
  return fs::path(home) / ".local/state/wick/usage.db";
}

}  // namespace

bool is_routed(const RoutingSettings& settings, std::string_view model) {
  if (settings.empty()) return false;
  const std::string_view head = model.substr(0, model.find('/'));
  const bool has_model = head.size() < model.size();
  if (model == "auto" || (has_model && (head == "remote" || head == kLocal))) return true;
  for (const route::Rule& rule : settings.rules) {
    if (!rule.alias.empty() && rule.alias == model) return true;
  }
  return std::any_of(settings.providers.begin(), settings.providers.end(),
                     [&](const ProviderSetting& one) { return one.endpoint.name == head; });
}

std::vector<std::string> local_models(const RoutingSettings& settings,
                                      const std::string& default_model) {
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    if (name.empty()) name = default_model;
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  };
  for (const route::Rule& rule : settings.rules) {
    bool is_here = false;
    for (const std::string& to : rule.to) {
      if (to != "*" && to.substr(0, to.find('/')) != kLocal) continue;
      add(to.substr(std::min(to.size(), kLocal.size() + 1)));
      is_here = true;
    }
    if (!is_here && (rule.is_private || rule.continues)) add("");
  }
  if (const std::string& model = settings.cache.similar_by; !model.empty())
    add(model.substr(kLocal.size() + 1));
  return names;
}

LocalMember lazy_local(const RoutingSettings& settings, const Config& config) {
  const std::string name = default_model(settings, config);
  return {.provider = std::make_shared<LazyLocal>(config, name),
          .default_model = [name] { return name; }};
}

Result<std::shared_ptr<route::Ledger>> open_ledger(const RoutingSettings& settings,
                                                   bool may_be_away) {
  std::string place = settings.ledger;
  if (place.empty()) {
    WICK_TRY(const fs::path path, default_ledger());
    place = path.string();
  }
  if (place.find("://") == std::string::npos) {
    std::error_code ignored;  // opening it tells
    const fs::path folder = fs::path(place).parent_path();
    if (!folder.empty()) fs::create_directories(folder, ignored);
  }
  WICK_TRY(auto ledger, route::Ledger::open({.path = place, .may_be_away = may_be_away}));
  return std::shared_ptr<route::Ledger>(std::move(ledger));
}

Result<std::shared_ptr<route::LimitStore>> open_limits(const RoutingSettings& settings) {
  if (settings.limits.empty()) return std::shared_ptr<route::LimitStore>();
  return route::open_limit_store(settings.limits);
}

Result<std::shared_ptr<route::Router>> open_router(const RoutingSettings& settings,
                                                   LocalMember local, std::string default_model,
                                                   KeyBudgets key_budgets,
                                                   std::shared_ptr<Transfers> transfers) {
  route::RouterOptions options{.rules = settings.rules,
                               .budgets = settings.budgets,
                               .key_budgets = std::move(key_budgets),
                               .cache = settings.cache,
                               .default_model = std::move(default_model)};
  options.members.push_back({.name = std::string(kLocal),
                             .provider = std::move(local.provider),
                             .is_local = true,
                             .default_model = std::move(local.default_model)});
  if (transfers == nullptr) {
    WICK_TRY(transfers, Transfers::create());
  }
  for (const ProviderSetting& one : settings.providers) {
    remote::Endpoint endpoint = one.endpoint;
    if (one.needs_key) {
      auto key = remote::read_secret(one.key);
      if (key) endpoint.key = *std::move(key);
      if (!key) endpoint.no_key = to_string(key.error());
    }
    options.members.push_back(
        {.name = endpoint.name,
         .provider = remote::make_remote_provider(std::move(endpoint), transfers),
         .models = one.models,
         .is_free = one.is_free,
         .limits = one.limits,
         .weight = one.weight});
  }
  WICK_TRY(options.clock, route::RouteClock::machine());
  WICK_TRY(options.limits, open_limits(settings));
  WICK_TRY(options.cache_store, route::open_cache_store(settings.cache));
  WICK_TRY(options.ledger, open_ledger(settings, true));
  // Nothing is settled yet, so flush() only says whether it is there.
  if (const auto there = options.ledger->flush(); !there) {
    note({"warning: providers with a price are refused for now: ",
          printable(to_string(there.error()), 4096), "\n"});
  }
  return route::make_router(std::move(options));
}

std::string near_providers(const RoutingSettings& settings, std::string_view model) {
  std::vector<std::string> names;
  for (const ProviderSetting& one : settings.providers)
    names.push_back(one.endpoint.name);
  return nearest_names(model.substr(0, model.find('/')), names);
}

namespace {

void reject(route::Candidate& candidate, std::string id, std::string why) {
  candidate.rejected_id = std::move(id);
  candidate.rejected = std::move(why);
}

void check_local(const RoutingSettings& settings, const std::string& name, bool is_offline,
                 route::Candidate& candidate) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) return;
  const auto store = Store::open();
  if (!store) return reject(candidate, store.error().id, to_string(store.error()));
  const auto found = locate(*store, name);
  if (found && !found->path.empty()) return;
  if (!found && found.error().id != "not_here") {
    const std::string near = near_providers(settings, name);
    const std::string& hint = found.error().hint;
    return reject(candidate, "no_such_model",
                  cat("there is no model '", printable(name), "' on this machine",
                      !near.empty()  ? cat("; the nearest provider is ", near)
                      : hint.empty() ? ""
                                     : cat("; ", hint)));
  }
  if (is_offline)
    return reject(candidate, "model_not_here",
                  "it is not on this machine, and hub.offline forbids fetching it");
  candidate.remark = "it is not on this machine, and is downloaded first";
  if (found && found->row != nullptr)
    candidate.remark += cat(" (", human_bytes(found->row->bytes), ")");
}

std::string known_models(const route::Member& member, const std::string& model) {
  std::vector<std::string> names;
  for (const route::MemberModel& one : member.models)
    names.push_back(one.name);
  const std::string near = nearest_names(model, names);
  if (!near.empty()) return cat("; the nearest are: ", near);
  constexpr std::size_t kShown = 5;
  std::string out = "; it has ";
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    out += cat(i == 0 ? "" : ", ", names[i]);
  return names.size() > kShown ? out + ", …" : out;
}

}  // namespace

void add_obstacles(const RoutingSettings& settings, const route::Router& router, bool is_offline,
                   route::Decision& decision) {
  for (route::Candidate& one : decision.candidates) {
    const route::Member& member = router.members()[one.member];
    if (one.rejected_id == "model_not_found") one.rejected += known_models(member, one.model);
    if (!one.rejected.empty()) continue;
    if (member.is_local) {
      const bool is_named = !one.model.empty() || !member.default_model;
      check_local(settings, is_named ? one.model : member.default_model(), is_offline, one);
      continue;
    }
    for (const ProviderSetting& provider : settings.providers) {
      if (provider.endpoint.name != member.name || !provider.needs_key) continue;
      if (const auto key = remote::read_secret(provider.key); !key)
        reject(one, key.error().id, to_string(key.error()));
    }
  }
}

std::vector<server::ServedModel> routed_names(const RoutingSettings& settings) {
  std::vector<server::ServedModel> names;
  if (settings.empty()) return names;
  names.push_back({.name = "auto"});
  for (const route::Rule& rule : settings.rules) {
    if (!rule.alias.empty()) names.push_back({.name = rule.alias});
  }
  std::map<std::string, int> counts;
  for (const ProviderSetting& provider : settings.providers) {
    for (const route::MemberModel& model : provider.models)
      ++counts[model.name];
  }
  for (const ProviderSetting& provider : settings.providers) {
    if (provider.models.empty()) names.push_back({.name = cat(provider.endpoint.name, "/*")});
    bool is_first = true;
    for (const route::MemberModel& model : provider.models) {
      names.push_back({.name = cat(provider.endpoint.name, "/", model.name)});
      std::vector<std::string>& aliases = names.back().aliases;
      if (counts[model.name] == 1) aliases = {cat("remote/", model.name), model.name};
      if (is_first) aliases.push_back(provider.endpoint.name);
      is_first = false;
    }
  }
  for (const auto& [model, count] : counts) {  // any of the providers that have it
    if (count > 1) names.push_back({.name = cat("remote/", model), .aliases = {model}});
  }
  return names;
}

}  // namespace wick
