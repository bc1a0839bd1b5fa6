#include <algorithm>

#include "base/check.h"
#include "config/tables.h"
#include "remote/endpoint.h"

namespace wick {

namespace {

constexpr double kMaxTokens = 1 << 24;
constexpr double kMaxSeconds = 86'400;
constexpr double kMaxPerMinute = 1'000'000'000;
constexpr double kMaxParallel = 100'000;
constexpr double kMaxWeight = 1e6;
constexpr double kMaxCacheMb = 1 << 20;
constexpr double kMaxCacheSeconds = 30 * kMaxSeconds;
constexpr double kMaxRollingHours = 24 * 366;
constexpr double kMaxDollars = 1e9;

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows)
    names.emplace_back(row.first);
  return names;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const remote::Kind& kind : remote::kinds())
    names.emplace_back(kind.name);
  return names;
}

Field text(std::string_view key, std::string_view help, bool is_required = false) {
  return {.key = key, .help = help, .is_required = is_required};
}

Field texts(std::string_view key, std::string_view help) {
  return {.key = key, .kind = FieldKind::kTexts, .help = help};
}

Field boolean(std::string_view key, std::string_view help) {
  return {.key = key, .kind = FieldKind::kBoolean, .help = help};
}

Field whole(std::string_view key, double max, std::string_view help) {
  return {.key = key, .kind = FieldKind::kWhole, .help = help, .max = max};
}

Field choice(std::string_view key, std::vector<std::string> choices, std::string_view help) {
  return {.key = key, .kind = FieldKind::kChoice, .help = help, .choices = std::move(choices)};
}

Field of(FieldKind kind, std::string_view key, std::string_view help) {
  return {.key = key, .kind = kind, .help = help};
}

Field strategy() {
  return choice("strategy", names_of(kStrategies), "which candidate is asked first");
}

ConfigTable provider_table() {
  return {.name = "provider",
          .form = TableForm::kList,
          .fields = {
              text("name", "name for rules and model names; default: the kind"),
              choice("kind", kind_names(), "kind of API; default: the name"),
              text("endpoint", "URL of the API; default: the kind's"),
              text("api_version", "API version of the kind azure"),
              boolean("private_network", "the host name may resolve to private addresses"),
              text("key_env", "environment variable with the key; default: the kind's"),
              text("key_file", "file of mode 0600 with the key"),
              text("key_credential", "systemd credential with the key"),
              of(FieldKind::kModels, "models", "names, or tables with prices; absent: all models"),
              boolean("free", "all models cost nothing; default on this machine or network"),
              whole("connect_s", kMaxSeconds, "timeout of connecting, in seconds"),
              whole("first_token_s", kMaxSeconds, "timeout of the first token, in seconds"),
              whole("idle_s", kMaxSeconds, "timeout between tokens, in seconds"),
              whole("total_s", kMaxSeconds, "timeout of a whole answer, in seconds"),
              whole("requests_per_minute", kMaxPerMinute, "rate limit; 0 = none"),
              whole("tokens_per_minute", kMaxPerMinute, "rate limit; 0 = none"),
              whole("parallel", kMaxParallel, "requests at a time; 0 = no limit"),
              {.key = "weight",
               .kind = FieldKind::kPositive,
               .help = "share with the strategy weighted",
               .max = kMaxWeight},
          }};
}

ConfigTable route_table() {
  return {.name = "route",
          .form = TableForm::kList,
          .fields = {text("name", "name for wick route explain"),
                     texts("to", "\"PROVIDER/model\", \"PROVIDER\", \"local/model\" or \"*\""),
                     strategy(),
                     boolean("private", "requests to which it applies stay on this machine"),
                     boolean("continue", "a local model continues an answer that failed midway"),
                     of(FieldKind::kWhen, "when", "conditions, which must all hold")}};
}

ConfigTable alias_table() {
  return {.name = "alias",
          .form = TableForm::kNamed,
          .fields = {texts("to", "\"PROVIDER/model\", or a list of these"), strategy(),
                     boolean("continue", "a local model continues an answer that failed midway")}};
}

ConfigTable budget_table() {
  return {.name = "budget",
          .form = TableForm::kEither,
          .fields = {of(FieldKind::kAmount, "request", "cap of one request"),
                     of(FieldKind::kAmount, "daily", "cap of a day (UTC)"),
                     of(FieldKind::kAmount, "monthly", "cap of a month (UTC)"),
                     of(FieldKind::kAmount, "rolling", "cap of the last rolling_hours"),
                     of(FieldKind::kAmount, "total", "cap in all"),
                     {.key = "rolling_hours",
                      .kind = FieldKind::kWhole,
                      .help = "default 24",
                      .min = 1,
                      .max = kMaxRollingHours},
                     text("provider", "only requests to this provider"),
                     text("key", "only requests with this API key (its public part)"),
                     text("tag", "only requests with this tag"),
                     text("prices", "JSON file with prices of models, in LiteLLM's format"),
                     text("ledger", "file or PostgreSQL URI of the costs")}};
}

ConfigTable cache_table() {
  return {.name = "response_cache",
          .fields = {whole("max_mb", kMaxCacheMb, "size in memory"),
                     whole("ttl_s", kMaxCacheSeconds, "time to live, in seconds"),
                     boolean("sampled", "keep sampled answers, too"),
                     text("similar_by", "embedding model for similar questions, \"local/NAME\""),
                     {.key = "similarity",
                      .kind = FieldKind::kReal,
                      .help = "minimum cosine similarity",
                      .min = 0.8,
                      .max = 1},
                     text("store", "URI of the Redis that shares answers")}};
}

ConfigTable remote_table() {
  return {.name = "remote",
          .fields = {text("provider", "name and kind of the [[provider]]", true),
                     text("api_endpoint", "its endpoint"), text("api_key_env", "its key_env"),
                     whole("rate_limit", kMaxPerMinute, "its requests_per_minute"),
                     of(FieldKind::kModels, "models",
                        "names, or tables with prices; absent: all models")}};
}

ConfigTable fallback_table() {
  const auto dollars = [](std::string_view key, std::string_view help) {
    return Field{.key = key, .kind = FieldKind::kReal, .help = help, .max = kMaxDollars};
  };
  return {.name = "fallback",
          .fields = {choice("strategy", names_of(kPresetStrategies),
                            "strategy of the last [[route]], to local and the provider"),
                     dollars("cost_threshold", "budget of a request, in dollars"),
                     dollars("monthly_budget", "budget of a month, in dollars")}};
}

ConfigTable performance_table() {
  return {
      .name = "performance",
      .fields = {of(FieldKind::kDuration, "response_timeout", "total_s of the provider"),
                 of(FieldKind::kAny, "stream_chunk_size", "no effect: text is sent as it comes"),
                 boolean("cache_enabled", "a [response_cache]"),
                 of(FieldKind::kDuration, "cache_ttl", "its ttl_s")}};
}

}  // namespace

std::span<const ConfigTable> config_tables() {
  static const std::vector<ConfigTable> kTables = {
      provider_table(),
      route_table(),
      alias_table(),
      budget_table(),
      {.name = "limits",
       .fields = {text("store", "URI of the Redis that shares rate limits", true)}},
      cache_table(),
      remote_table(),
      fallback_table(),
      performance_table()};
  return kTables;
}

const ConfigTable& model_fields() {
  static const ConfigTable kTable = {
      .name = "model",
      .fields = {
          text("name", "the provider's name of the model", true),
          whole("context", kMaxTokens, "context size in tokens; 0 = not known"),
          {.key = "max_tokens",  // without one the cost of an answer would have no bound
           .kind = FieldKind::kWhole,
           .help = "max_tokens of requests without one, at least 1",
           .min = 1,
           .max = kMaxTokens},
          of(FieldKind::kPrice, "input", "price of a million prompt tokens"),
          of(FieldKind::kPrice, "output", "price of a million generated tokens"),
          of(FieldKind::kPrice, "cached", "price of a million cached prompt tokens"),
          boolean("tools", "supports tools"), boolean("schema", "supports structured output"),
          boolean("images", "supports images; no effect yet"), boolean("free", "costs nothing")}};
  return kTable;
}

const ConfigTable& when_fields() {
  static const ConfigTable kTable = {
      .name = "when",
      .fields = {whole("tokens_over", kMaxTokens, "the prompt has more tokens"),
                 whole("tokens_under", kMaxTokens, "the prompt has fewer tokens"),
                 boolean("tools", "the request has tools"),
                 boolean("schema", "the request has structured output"),
                 texts("model", "name in the request, such as \"gpt-*\""),
                 texts("tag", "tag of the request"), texts("contains", "text in the request")}};
  return kTable;
}

const ConfigTable& config_table(std::string_view name) {
  const auto tables = config_tables();
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const ConfigTable& table) { return table.name == name; });
  WICK_CHECK(found != tables.end(), "the name is that of a table");
  return *found;
}

bool is_in_config_table(std::string_view key) {
  const std::string_view head = key.substr(0, key.find('.'));
  const auto tables = config_tables();
  return std::any_of(tables.begin(), tables.end(),
                     [&](const ConfigTable& table) { return table.name == head; });
}

}  // namespace wick
