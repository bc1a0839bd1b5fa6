#include "config/routing.h"

#include <algorithm>
#include <initializer_list>

#include "base/nearest.h"
#include "base/strings.h"
#include "config/presets.h"
#include "config/price_file.h"

namespace wick {

namespace {

// One table: its fields are taken by name, and what is left over is an error.
class Table {
 public:
  Table(std::string place, const JsonValue& value) : place_(std::move(place)) {
    if (const Object* const object = value.object()) {
      fields_ = *object;
    } else {
      fail("", "is no table");
    }
  }

  std::string text(std::string_view key) {
    const JsonValue* const value = take(key);
    if (value != nullptr && value->string() == nullptr) fail(key, "must be a text");
    return value == nullptr || value->string() == nullptr ? "" : *value->string();
  }

  std::int64_t whole(std::string_view key, std::int64_t fallback, std::int64_t most) {
    const JsonValue* const value = take(key);
    if (value == nullptr) return fallback;
    if (value->integer() != nullptr && *value->integer() >= 0 && *value->integer() <= most)
      return *value->integer();
    fail(key, cat("must be a whole number from 0 to ", most));
    return fallback;
  }

  double number(std::string_view key, double fallback, double most) {
    const JsonValue* const value = take(key);
    if (value == nullptr) return fallback;
    double seen = -1;
    if (value->integer() != nullptr) seen = static_cast<double>(*value->integer());
    if (const double* const real = value->number()) seen = *real;
    if (seen > 0 && seen <= most) return seen;
    fail(key, cat("must be a number above 0, at most ", most));
    return fallback;
  }

  std::optional<bool> truth(std::string_view key) {
    const JsonValue* const value = take(key);
    if (value == nullptr) return std::nullopt;
    if (value->boolean() == nullptr) fail(key, "must be true or false");
    return value->boolean() != nullptr && *value->boolean();
  }

  // A text counts as a list of one.
  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> out;
    const JsonValue* const value = take(key);
    if (value == nullptr) return out;
    if (value->string() != nullptr) return {*value->string()};
    for (const JsonValue& item : items(key, *value)) {
      if (item.string() == nullptr) fail(key, "must be a list of texts");
      out.push_back(item.string() == nullptr ? "" : *item.string());
    }
    return out;
  }

  const JsonValue* take(std::string_view key) {
    known_.emplace_back(key);
    return fields_.find(key);
  }

  const Array& items(std::string_view key, const JsonValue& value) {
    static const Array kNone;
    if (value.array() == nullptr) fail(key, "must be a list");
    return value.array() == nullptr ? kNone : *value.array();
  }

  // Of "5 USD" and the like.
  template <class T>
  std::optional<T> parsed(std::string_view key, Result<T> (*parse)(std::string_view)) {
    const std::string written = text(key);
    if (written.empty()) return std::nullopt;
    auto value = parse(written);
    if (value) return *value;
    fail(key, cat("is wrong: ", value.error().message, "; ", value.error().hint));
    return std::nullopt;
  }

  void fail(std::string_view key, std::string_view what) {
    if (error_) return;
    error_ = Error{.code = ErrorCode::kInvalid,
                   .id = "bad_setting",
                   .message = cat(place_, key.empty() ? "" : ": ", printable(key), " ", what)};
  }

  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }

  Result<void> end() {
    for (const auto& [key, value] : fields_) {
      if (error_ || std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      const std::string near = nearest_names(key, known_);
      error_ = Error{
          .code = ErrorCode::kInvalid,
          .id = "unknown_setting",
          .message = cat(place_, " has no setting '", printable(key), "'"),
          .hint = near.empty() ? "docs/providers.md lists them" : cat("the nearest are: ", near)};
    }
    if (error_) return *error_;
    return {};
  }

 private:
  std::string place_;
  Object fields_;
  std::vector<std::string> known_;
  std::optional<Error> error_;
};

constexpr int kMaxTokens = 1 << 24;
constexpr std::int64_t kMaxSeconds = 86'400;
constexpr std::int64_t kMaxPerMinute = 1'000'000'000;
constexpr std::int64_t kMaxParallel = 100'000;
constexpr double kMaxWeight = 1e6;
constexpr std::int64_t kMaxCacheMb = 1 << 20;
constexpr double kLeastSimilarity = 0.8;

Result<route::MemberModel> model_of(const std::string& place, const JsonValue& value,
                                    bool is_free) {
  const route::Price nothing;
  if (value.string() != nullptr) {
    route::MemberModel model{.name = *value.string()};
    if (is_free) model.price = nothing;
    return model;
  }
  Table table(place, value);
  route::MemberModel model{.name = table.text("name")};
  if (model.name.empty()) table.fail("name", "is missing");
  model.context = static_cast<int>(table.whole("context", 0, kMaxTokens));
  model.max_tokens = static_cast<int>(table.whole("max_tokens", model.max_tokens, kMaxTokens));
  model.has_tools = table.truth("tools").value_or(true);
  model.has_schema = table.truth("schema").value_or(true);
  model.has_images = table.truth("images").value_or(false);
  const auto input = table.parsed("input", route::parse_price);
  const auto output = table.parsed("output", route::parse_price);
  const auto cached = table.parsed("cached", route::parse_price);
  if (input.has_value() != output.has_value())
    table.fail("", "needs both prices, input and output");
  const bool costs_nothing = table.truth("free").value_or(is_free);
  if (input && output) {
    model.price = route::Price{.input = *input, .output = *output, .cached = cached.value_or(-1)};
    model.price_version = cat(route::to_text(*model.price), " (config)");
  } else if (costs_nothing) {
    model.price = nothing;
  }
  WICK_DO(table.end());
  return model;
}

void read_limits(Table& table, remote::Endpoint& endpoint) {
  const auto seconds = [&](std::string_view key, std::int64_t& ms) {
    ms = 1000 * table.whole(key, ms / 1000, kMaxSeconds);
  };
  seconds("connect_s", endpoint.connect_ms);
  seconds("first_token_s", endpoint.first_token_ms);
  seconds("idle_s", endpoint.idle_ms);
  seconds("total_s", endpoint.total_ms);
}

Result<ProviderSetting> provider_of(std::size_t index, const JsonValue& value) {
  Table table(cat("[[provider]] ", index + 1), value);
  ProviderSetting out;
  remote::Endpoint& endpoint = out.endpoint;
  endpoint.name = table.text("name");
  const std::string kind = table.text("kind");
  if (endpoint.name.empty()) endpoint.name = kind;
  if (endpoint.name.empty() || endpoint.name.find_first_of("/*") != std::string::npos ||
      endpoint.name == "auto" || endpoint.name == "remote" || endpoint.name == "local")
    table.fail("name", "must be a name without '/' and '*', and not auto, remote or local");
  endpoint.url = table.text("endpoint");
  endpoint.api_version = table.text("api_version");
  endpoint.is_private = table.truth("private_network").value_or(false);
  out.key = {.variable = table.text("key_env"),
             .file = table.text("key_file"),
             .credential = table.text("key_credential")};
  read_limits(table, endpoint);
  out.limits = {.requests_per_minute = table.whole("requests_per_minute", 0, kMaxPerMinute),
                .tokens_per_minute = table.whole("tokens_per_minute", 0, kMaxPerMinute),
                .parallel = static_cast<int>(table.whole("parallel", 0, kMaxParallel))};
  out.weight = table.number("weight", 1, kMaxWeight);
  const JsonValue* const models = table.take("models");
  const std::optional<bool> is_free = table.truth("free");
  WICK_DO(table.end());
  WICK_TRY(endpoint.kind, remote::find_kind(kind.empty() ? endpoint.name : kind));
  WICK_TRY(endpoint, remote::complete(std::move(endpoint)));
  const bool has_source =
      !out.key.variable.empty() || !out.key.file.empty() || !out.key.credential.empty();
  if (!has_source) out.key.variable = endpoint.kind->variable;
  // A provider on this machine or network costs nothing unless it says so.
  const bool costs_nothing =
      is_free.value_or(remote::address_kind(endpoint) != AddressKind::kPublic);
  out.needs_key = has_source || (!endpoint.kind->variable.empty() &&
                                 remote::address_kind(endpoint) == AddressKind::kPublic);
  out.is_free = costs_nothing;
  if (models == nullptr) return out;
  if (models->array() == nullptr) table.fail("models", "must be a list");
  WICK_DO(table.end());
  for (const JsonValue& one : *models->array()) {
    WICK_TRY(route::MemberModel model,
             model_of(cat("[[provider]] ", endpoint.name, ", models"), one, costs_nothing));
    endpoint.models.push_back(model.name);
    out.models.push_back(std::move(model));
  }
  return out;
}

Result<route::When> when_of(const std::string& place, const JsonValue& value) {
  Table table(place, value);
  route::When when;
  const auto limit = [&](std::string_view key) -> std::optional<std::int64_t> {
    const std::int64_t tokens = table.whole(key, -1, kMaxTokens);
    return tokens < 0 ? std::nullopt : std::optional(tokens);
  };
  when.tokens_over = limit("tokens_over");
  when.tokens_under = limit("tokens_under");
  when.has_tools = table.truth("tools");
  when.has_schema = table.truth("schema");
  when.models = table.texts("model");
  when.tags = table.texts("tag");
  when.contains = table.texts("contains");
  WICK_DO(table.end());
  return when;
}

void read_strategy(Table& table, route::Rule& rule) {
  const std::string written = table.text("strategy");
  static const std::pair<const char*, route::Strategy> kStrategies[] = {
      {"tiers", route::Strategy::kTiers},
      {"local-first", route::Strategy::kLocalFirst},
      {"cost", route::Strategy::kCost},
      {"performance", route::Strategy::kPerformance},
      {"least-busy", route::Strategy::kLeastBusy},
      {"weighted", route::Strategy::kWeighted},
      {"prefix-affinity", route::Strategy::kAffinity}};
  bool is_known = written.empty();
  for (const auto& [name, known] : kStrategies) {
    if (written != name) continue;
    rule.strategy = known;
    is_known = true;
  }
  if (!is_known) {
    table.fail("strategy",
               "must be tiers, local-first, cost, performance, least-busy, weighted or "
               "prefix-affinity");
  }
}

Result<route::Rule> rule_of(std::size_t index, const JsonValue& value) {
  Table table(cat("[[route]] ", index + 1), value);
  route::Rule rule{.name = table.text("name")};
  if (rule.name.empty()) rule.name = cat("route ", index + 1);
  rule.to = table.texts("to");
  rule.is_private = table.truth("private").value_or(false);
  rule.continues = table.truth("continue").value_or(false);
  read_strategy(table, rule);
  const JsonValue* const when = table.take("when");
  WICK_DO(table.end());
  if (rule.to.empty() && !rule.is_private) table.fail("to", "is missing");
  WICK_DO(table.end());
  if (when != nullptr) {
    WICK_TRY(rule.when, when_of(cat("[[route]] ", index + 1, ", when"), *when));
  }
  return rule;
}

// A name for a model of a provider, or for equal ones of several: a text, a list, or a table.
Result<route::Rule> alias_of(const std::string& name, const JsonValue& value) {
  route::Rule rule{.name = cat("alias ", name), .alias = name};
  Object fields;
  if (value.object() == nullptr) fields["to"] = value;
  Table table(cat("[alias] ", printable(name)),
              value.object() == nullptr ? JsonValue(fields) : value);
  rule.to = table.texts("to");
  rule.continues = table.truth("continue").value_or(false);
  read_strategy(table, rule);
  WICK_DO(table.end());
  if (rule.to.empty()) table.fail("to", "is missing");
  if (name.empty() || name.find_first_of("/*") != std::string::npos || name == "auto" ||
      name == "remote" || name == "local")
    table.fail("", "must be a name without '/' and '*', and not auto, remote or local");
  WICK_DO(table.end());
  return rule;
}

// A [budget], or one of several [[budget]].
Result<void> read_budget(const JsonValue& value, RoutingSettings& out) {
  Table table("[budget]", value);
  route::Budget base;
  std::string subject;
  const std::pair<const char*, route::BudgetScope> scopes[] = {
      {"provider", route::BudgetScope::kProvider},
      {"key", route::BudgetScope::kKey},
      {"tag", route::BudgetScope::kTag}};
  for (const auto& [name, scope] : scopes) {
    const std::string text = table.text(name);
    if (text.empty()) continue;
    if (!subject.empty()) table.fail(name, "cannot stand beside another subject");
    base.scope = scope;
    base.subject = text;
    subject = cat(" of ", name, " ", text);
  }
  base.rolling_s = 3600 * table.whole("rolling_hours", 24, 24 * 366);
  const std::pair<const char*, route::BudgetWindow> windows[] = {
      {"request", route::BudgetWindow::kRequest},
      {"daily", route::BudgetWindow::kDay},
      {"monthly", route::BudgetWindow::kMonth},
      {"rolling", route::BudgetWindow::kRolling},
      {"total", route::BudgetWindow::kTotal}};
  for (const auto& [name, window] : windows) {
    const auto cap = table.parsed("" + std::string(name), route::parse_amount);
    if (!cap) continue;
    route::Budget budget = base;
    budget.window = window;
    budget.cap = *cap;
    budget.name = cat(name, subject);
    if (window == route::BudgetWindow::kRolling)
      budget.name += cat(" over ", base.rolling_s / 3600, " hours");
    out.budgets.push_back(std::move(budget));
  }
  if (const std::string path = table.text("ledger"); !path.empty()) out.ledger = path;
  const std::string prices = table.text("prices");
  WICK_DO(table.end());
  if (prices.empty()) return {};
  WICK_TRY(const PriceFile file, PriceFile::read(prices));
  for (ProviderSetting& provider : out.providers) {
    for (route::MemberModel& model : provider.models)
      file.complete(provider.endpoint.kind->name, model);
  }
  return {};
}

Result<void> read_cache(const JsonValue& value, RoutingSettings& out) {
  Table table("[response_cache]", value);
  const auto max_mb = static_cast<std::size_t>(table.whole("max_mb", 64, kMaxCacheMb));
  out.cache = {.max_bytes = max_mb << 20U,
               .ttl_ms = 1000 * table.whole("ttl_s", 3600, 30 * kMaxSeconds),
               .has_sampled = table.truth("sampled").value_or(false),
               .similar_by = table.text("similar_by"),
               .similarity = table.number("similarity", 0.95, 1),
               .store = table.text("store")};
  if (!out.cache.similar_by.empty() && !out.cache.similar_by.starts_with("local/"))
    table.fail("similar_by", "must be an embedding model of this machine: \"local/NAME\"");
  if (out.cache.similarity < kLeastSimilarity) table.fail("similarity", "must be at least 0.8");
  if (const auto store = route::open_cache_store(out.cache); !store)
    table.fail("store", cat("is wrong: ", store.error().message));
  return table.end();
}

Result<void> read_shared_limits(const JsonValue& value, RoutingSettings& out) {
  Table table("[limits]", value);
  out.limits = table.text("store");
  if (out.limits.empty()) {
    table.fail("store", "is missing");
  } else if (const auto store = route::open_limit_store(out.limits); !store) {
    table.fail("store", cat("is wrong: ", store.error().message));
  }
  return table.end();
}

const Array* list_of(const Object& tables, std::string_view key) {
  const JsonValue* const value = tables.find(key);
  return value == nullptr ? nullptr : value->array();
}

Error no_list(std::string_view key) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_setting",
          .message = cat("'", key, "' must be written as [[", key, "]]")};
}

// A rule or a budget that names nothing there is would be silently off.
Result<void> check_names(const RoutingSettings& settings) {
  std::vector<std::string> names = {"local", "*"};
  for (const ProviderSetting& one : settings.providers)
    names.push_back(one.endpoint.name);
  const auto check = [&](const std::string& place, const std::string& name) -> Result<void> {
    if (std::find(names.begin(), names.end(), name) != names.end()) return {};
    return Error{
        .code = ErrorCode::kInvalid,
        .id = "bad_setting",
        .message = cat(place, " names the provider '", printable(name), "', which there is not"),
        .hint = cat("there are: ", nearest_names(name, names))};
  };
  for (const route::Rule& rule : settings.rules) {
    const std::string place =
        rule.alias.empty() ? cat("[[route]] ", rule.name) : cat("[alias] ", rule.alias);
    for (const std::string& to : rule.to)
      WICK_DO(check(place, to.substr(0, to.find('/'))));
    if (!rule.alias.empty() && std::find(names.begin(), names.end(), rule.alias) != names.end()) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_setting",
                   .message = cat(place, " has the name of a provider")};
    }
  }
  for (const route::Budget& budget : settings.budgets) {
    if (budget.scope == route::BudgetScope::kProvider) WICK_DO(check("[budget]", budget.subject));
  }
  return {};
}

}  // namespace

Result<RoutingSettings> routing_settings(const Object& given) {
  WICK_TRY(const Object tables, expand_presets(given));
  RoutingSettings out;
  for (const std::string_view key : {"provider", "route"}) {
    const Array* const list = list_of(tables, key);
    if (tables.find(key) != nullptr && list == nullptr) return no_list(key);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      if (key == "provider") {
        WICK_TRY(ProviderSetting one, provider_of(i, (*list)[i]));
        for (const ProviderSetting& other : out.providers) {
          if (other.endpoint.name != one.endpoint.name) continue;
          return Error{.code = ErrorCode::kInvalid,
                       .id = "bad_setting",
                       .message = cat("two providers are called '", one.endpoint.name, "'")};
        }
        out.providers.push_back(std::move(one));
      } else {
        WICK_TRY(route::Rule rule, rule_of(i, (*list)[i]));
        out.rules.push_back(std::move(rule));
      }
    }
  }
  if (const JsonValue* const aliases = tables.find("alias")) {
    if (aliases->object() == nullptr) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_setting",
                   .message = "'alias' must be a table: [alias]"};
    }
    for (const auto& [name, value] : *aliases->object()) {
      WICK_TRY(route::Rule rule, alias_of(name, value));
      out.rules.push_back(std::move(rule));
    }
  }
  if (const JsonValue* const budget = tables.find("budget")) {
    const Array list = budget->array() == nullptr ? Array{*budget} : *budget->array();
    for (const JsonValue& one : list)
      WICK_DO(read_budget(one, out));
  }
  if (const JsonValue* const cache = tables.find("response_cache"))
    WICK_DO(read_cache(*cache, out));
  if (const JsonValue* const limits = tables.find("limits"))
    WICK_DO(read_shared_limits(*limits, out));
  WICK_DO(check_names(out));
  return out;
}

}  // namespace wick
