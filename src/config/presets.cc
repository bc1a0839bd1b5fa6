#include "config/presets.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "base/nearest.h"
#include "base/strings.h"

namespace wick {

namespace {

constexpr double kMaxBudgetDollars = 1e9;

Error bad_setting(std::string_view table, std::string_view key, std::string_view what) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_setting",
          .message = cat("[", table, "]: ", key, " ", what)};
}

Result<void> check_keys(std::string_view table, const Object& fields,
                        const std::vector<std::string>& known) {
  for (const auto& [key, value] : fields) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return Error{.code = ErrorCode::kInvalid,
                 .id = "unknown_setting",
                 .message = cat("[", table, "] has no setting '", printable(key), "'"),
                 .hint = cat("there are: ", nearest_names(key, known))};
  }
  return {};
}

// "5 USD" of 5.0, to the nano-dollar.
Result<std::string> amount_of(std::string_view key, const JsonValue& value) {
  double dollars = -1;
  if (const std::int64_t* const whole = value.integer()) dollars = static_cast<double>(*whole);
  if (const double* const real = value.number()) dollars = *real;
  if (!(dollars >= 0 && dollars <= kMaxBudgetDollars))
    return bad_setting("fallback", key, "must be a number of dollars");
  return cat(decimal(dollars, 9), " USD");
}

// "30s", "5m", "1h", or a number of seconds.
Result<JsonValue> seconds_of(std::string_view key, const JsonValue& value) {
  if (value.integer() != nullptr) return value;
  const std::string* const text = value.string();
  std::int64_t n = 0;
  if (text != nullptr && !text->empty()) {
    const char* const last = text->data() + text->size() - 1;
    const auto read = std::from_chars(text->data(), last, n);
    const std::size_t unit = std::string_view("smh").find(*last);
    constexpr std::int64_t kSeconds[] = {1, 60, 3600};
    const bool is_duration =
        read.ec == std::errc() && read.ptr == last && n >= 0 && n < 1'000'000 && unit < 3;
    if (is_duration) return JsonValue(n * kSeconds[unit]);
  }
  return bad_setting("performance", key, "must be a duration, such as \"30s\" or \"1h\"");
}

const Object* table_of(const Object& tables, std::string_view name) {
  const JsonValue* const value = tables.find(name);
  return value == nullptr ? nullptr : value->object();
}

void append(Object& tables, std::string_view name, JsonValue item) {
  Array list;
  if (const JsonValue* const there = tables.find(name))
    list = there->array() == nullptr ? Array{*there} : *there->array();
  list.push_back(std::move(item));
  tables.set(name, std::move(list));
}

Result<std::optional<Object>> provider_of(const Object& remote) {
  static const std::pair<const char*, const char*> kKeys[] = {{"provider", "name"},
                                                              {"api_endpoint", "endpoint"},
                                                              {"api_key_env", "key_env"},
                                                              {"rate_limit", "requests_per_minute"},
                                                              {"models", "models"}};
  WICK_DO(check_keys("remote", remote,
                     {"provider", "api_endpoint", "api_key_env", "rate_limit", "models"}));
  if (remote.find("provider") == nullptr) return bad_setting("remote", "provider", "is missing");
  Object provider;
  for (const auto& [key, name] : kKeys) {
    if (const JsonValue* const value = remote.find(key)) provider.set(name, *value);
  }
  return std::optional(std::move(provider));
}

Result<std::string> strategy_of(const JsonValue& value) {
  static const std::pair<const char*, const char*> kStrategies[] = {
      {"local_first", "local-first"},
      {"cost_optimized", "cost"},
      {"performance_first", "performance"}};
  for (const auto& [name, strategy] : kStrategies) {
    if (value.string() != nullptr && *value.string() == name) return std::string(strategy);
  }
  return bad_setting("fallback", "strategy",
                     "must be local_first, cost_optimized or performance_first");
}

Result<void> add_fallback(const Object& fallback, const std::optional<Object>& provider,
                          Object& out) {
  WICK_DO(check_keys("fallback", fallback, {"strategy", "cost_threshold", "monthly_budget"}));
  if (const JsonValue* const value = fallback.find("strategy")) {
    WICK_TRY(std::string strategy, strategy_of(*value));
    Array to = {"local"};
    if (provider) to.push_back(*provider->find("name"));
    append(out, "route",
           json_object(
               {{"name", "fallback"}, {"to", std::move(to)}, {"strategy", std::move(strategy)}}));
  }
  Object budget;
  for (const auto& [key, name] :
       {std::pair("cost_threshold", "request"), std::pair("monthly_budget", "monthly")}) {
    const JsonValue* const value = fallback.find(key);
    if (value == nullptr) continue;
    WICK_TRY(std::string amount, amount_of(key, *value));
    budget.set(name, std::move(amount));
  }
  if (!budget.empty()) append(out, "budget", std::move(budget));
  return {};
}

Result<void> add_performance(const Object& performance, std::optional<Object>& provider,
                             Object& out) {
  WICK_DO(check_keys("performance", performance,
                     {"response_timeout", "stream_chunk_size", "cache_enabled", "cache_ttl"}));
  if (const JsonValue* const value = performance.find("response_timeout")) {
    WICK_TRY(JsonValue seconds, seconds_of("response_timeout", *value));
    if (provider) provider->set("total_s", std::move(seconds));
  }
  const JsonValue* const is_on = performance.find("cache_enabled");
  if (is_on != nullptr && is_on->boolean() == nullptr)
    return bad_setting("performance", "cache_enabled", "must be true or false");
  Object cache;
  if (const JsonValue* const value = performance.find("cache_ttl")) {
    WICK_TRY(JsonValue seconds, seconds_of("cache_ttl", *value));
    cache.set("ttl_s", std::move(seconds));
  }
  const bool is_wanted = is_on != nullptr && *is_on->boolean();
  if (is_wanted && out.find("response_cache") == nullptr)
    out.set("response_cache", std::move(cache));
  return {};
}

}  // namespace

Result<Object> expand_presets(const Object& tables) {
  for (const std::string_view name : {"remote", "fallback", "performance"}) {
    if (tables.find(name) != nullptr && table_of(tables, name) == nullptr)
      return bad_setting(name, "", "is no table");
  }
  Object out = tables;
  std::optional<Object> provider;
  if (const Object* const remote = table_of(tables, "remote")) {
    WICK_TRY(provider, provider_of(*remote));
  }
  if (const Object* const performance = table_of(tables, "performance"))
    WICK_DO(add_performance(*performance, provider, out));
  if (const Object* const fallback = table_of(tables, "fallback"))
    WICK_DO(add_fallback(*fallback, provider, out));
  if (provider) append(out, "provider", *std::move(provider));
  return out;
}

bool expand_preset(TomlEntry& entry) {
  if (entry.key == "local.gpu_memory_limit") entry.key = "local.memory_limit";
  if (entry.key == "local.max_concurrent_requests") entry.key = "server.parallel";
  if (entry.key != "local.gpu_enabled") return true;
  const bool* const is_enabled = std::get_if<bool>(&entry.value);
  if (is_enabled != nullptr && *is_enabled) return false;  // as device = "auto"
  entry.key = "local.device";
  if (is_enabled != nullptr) entry.value = std::string("cpu");
  return true;
}

}  // namespace wick
