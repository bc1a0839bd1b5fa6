#include "config/presets.h"

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "base/strings.h"
#include "config/table_reader.h"

namespace wick {

namespace {

// "5 USD" of 5.0, to the nano-dollar.
std::string amount_of(double dollars) {
  return cat(decimal(dollars, 9), " USD");
}

// Seconds of "30s", "5m", "1h", or of a whole number; nullopt if there are none, or wrong ones.
std::optional<std::int64_t> seconds_of(TableReader& table, std::string_view key) {
  const JsonValue* const value = table.value(key);
  if (value == nullptr) return std::nullopt;
  if (value->integer() != nullptr) return *value->integer();
  const std::string text = table.text(key);
  std::int64_t n = 0;
  if (!text.empty()) {
    const char* const last = text.data() + text.size() - 1;
    const auto read = std::from_chars(text.data(), last, n);
    const std::size_t unit = std::string_view("smh").find(*last);
    constexpr std::int64_t kSeconds[] = {1, 60, 3600};
    const bool is_duration =
        read.ec == std::errc() && read.ptr == last && n >= 0 && n < 1'000'000 && unit < 3;
    if (is_duration) return n * kSeconds[unit];
  }
  table.fail(key, "must be a duration, such as \"30s\" or \"1h\"");
  return std::nullopt;
}

// Long forms, with the places of what they stand for.
class Expansion {
 public:
  explicit Expansion(TomlTables& out) : out_(out) {}

  // Key and value of the long form, and the path of the short one.
  void set(std::string_view key, JsonValue value, const std::string& path) {
    places_.emplace_back(key, path);
    fields_.set(key, std::move(value));
  }

  // As one more [[name]].
  void append(const std::string& name, const std::string& path) {
    Array list;
    if (const JsonValue* const there = out_.values.find(name)) {
      if (there->array() == nullptr) copy_places(name, cat(name, "/0"));
      list = there->array() == nullptr ? Array{*there} : *there->array();
    }
    add(cat(name, "/", list.size()), path);
    list.emplace_back(std::move(fields_));
    out_.values.set(name, std::move(list));
  }

  // As [name].
  void put(const std::string& name, const std::string& path) {
    add(name, path);
    out_.values.set(name, std::move(fields_));
  }

  bool empty() const noexcept { return fields_.empty(); }

 private:
  void add(const std::string& to, const std::string& path) {
    out_.places[to] = place_of(out_.places, path);
    for (const auto& [key, from] : places_)
      copy_places(from, cat(to, "/", key));
  }

  void copy_places(const std::string& from, const std::string& to) {
    TomlPlaces copies;
    for (const auto& [path, place] : out_.places) {
      if (path == from || path.starts_with(from + "/"))
        copies[to + path.substr(from.size())] = place;
    }
    out_.places.merge(copies);
  }

  TomlTables& out_;
  Object fields_;
  std::vector<std::pair<std::string, std::string>> places_;
};

void add_provider(TableReader& remote, Expansion& provider) {
  static constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
      {"provider", "name"},
      {"api_endpoint", "endpoint"},
      {"api_key_env", "key_env"},
      {"rate_limit", "requests_per_minute"},
      {"models", "models"}};
  for (const auto& [key, name] : kKeys) {
    if (const JsonValue* const value = remote.value(key))
      provider.set(name, *value, cat("remote/", key));
  }
}

void add_fallback(TableReader& fallback, const std::string& provider, TomlTables& out) {
  for (const auto& [name, strategy] : kPresetStrategies) {
    if (fallback.text("strategy") != name) continue;
    Array to = {"local"};
    if (!provider.empty()) to.emplace_back(provider);
    Expansion route(out);
    route.set("name", "fallback", "fallback");
    route.set("to", std::move(to), "fallback/strategy");
    route.set("strategy", strategy, "fallback/strategy");
    route.append("route", "fallback");
  }
  Expansion budget(out);
  for (const auto& [key, name] :
       {std::pair("cost_threshold", "request"), std::pair("monthly_budget", "monthly")}) {
    if (fallback.value(key) != nullptr)
      budget.set(name, amount_of(fallback.number(key, 0)), cat("fallback/", key));
  }
  if (!budget.empty()) budget.append("budget", "fallback");
}

void add_performance(TableReader& performance, bool has_provider, Expansion& provider,
                     TomlTables& out) {
  performance.value("stream_chunk_size");  // no effect
  const auto timeout = seconds_of(performance, "response_timeout");
  if (timeout && has_provider) provider.set("total_s", *timeout, "performance/response_timeout");
  Expansion cache(out);
  if (const auto ttl = seconds_of(performance, "cache_ttl"))
    cache.set("ttl_s", *ttl, "performance/cache_ttl");
  const bool is_wanted = performance.truth("cache_enabled").value_or(false);
  if (is_wanted && out.values.find("response_cache") == nullptr)
    cache.put("response_cache", "performance");
}

}  // namespace

Result<TomlTables> expand_presets(const TomlTables& tables) {
  TomlTables out = tables;
  const auto reader = [&](std::string name) -> std::optional<TableReader> {
    const JsonValue* const value = tables.values.find(name);
    if (value == nullptr) return std::nullopt;
    return TableReader(config_table(name), cat("[", name, "]"), name, *value, tables.places);
  };
  Expansion provider(out);
  std::string name;
  if (auto remote = reader("remote")) {
    WICK_DO(remote->end());
    name = remote->text("provider");
    add_provider(*remote, provider);
  }
  if (auto performance = reader("performance")) {
    add_performance(*performance, !name.empty(), provider, out);
    WICK_DO(performance->end());
  }
  if (auto fallback = reader("fallback")) {
    WICK_DO(fallback->end());
    add_fallback(*fallback, name, out);
  }
  if (!name.empty()) provider.append("provider", "remote");
  return out;
}

bool expand_preset(TomlEntry& entry) {
  for (const auto& [key, meant] : kPresetKeys) {
    if (entry.key == key) entry.key = meant;
  }
  if (entry.key != kPresetDevice) return true;
  const bool* const is_enabled = std::get_if<bool>(&entry.value);
  if (is_enabled != nullptr && *is_enabled) return false;  // as device = "auto"
  entry.key = "local.device";
  if (is_enabled != nullptr) entry.value = std::string("cpu");
  return true;
}

}  // namespace wick
