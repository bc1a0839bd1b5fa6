#include "config/routing.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/nearest.h"
#include "base/strings.h"
#include "config/presets.h"
#include "config/price_file.h"
#include "config/table_reader.h"

namespace wick {

namespace {

constexpr std::string_view kReserved[] = {"auto", "remote", "local"};
constexpr std::string_view kNameRule =
    "must be a name without '/', '*' and control characters, and not auto, remote or local";

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
  });
}

bool is_name(std::string_view name) {
  return !name.empty() && name.find_first_of("/*") == std::string_view::npos &&
         !has_control(name) &&
         std::find(std::begin(kReserved), std::end(kReserved), name) == std::end(kReserved);
}

Result<route::MemberModel> model_of(const std::string& shown, const std::string& path,
                                    const JsonValue& value, bool is_free,
                                    const TomlPlaces& places) {
  const route::Price nothing;
  if (value.string() != nullptr) {
    route::MemberModel model{.name = *value.string()};
    if (is_free) model.price = nothing;
    return model;
  }
  TableReader table(model_fields(), shown, path, value, places);
  route::MemberModel model{.name = table.text("name")};
  model.context = static_cast<int>(table.whole("context", 0));
  model.max_tokens = static_cast<int>(table.whole("max_tokens", model.max_tokens));
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

void read_limits(TableReader& table, remote::Endpoint& endpoint) {
  const auto seconds = [&](std::string_view key, std::int64_t& ms) {
    ms = 1000 * table.whole(key, ms / 1000);
  };
  seconds("connect_s", endpoint.connect_ms);
  seconds("first_token_s", endpoint.first_token_ms);
  seconds("idle_s", endpoint.idle_ms);
  seconds("total_s", endpoint.total_ms);
}

Result<ProviderSetting> provider_of(std::size_t index, const JsonValue& value,
                                    const TomlPlaces& places) {
  TableReader table(config_table("provider"), cat("[[provider]] ", index + 1),
                    cat("provider/", index), value, places);
  ProviderSetting out;
  remote::Endpoint& endpoint = out.endpoint;
  endpoint.name = table.text("name");
  const std::string kind = table.text("kind");
  if (endpoint.name.empty()) endpoint.name = kind;
  if (!is_name(endpoint.name)) table.fail("name", kNameRule);
  endpoint.url = table.text("endpoint");
  endpoint.api_version = table.text("api_version");
  endpoint.is_private = table.truth("private_network").value_or(false);
  out.key = {.variable = table.text("key_env"),
             .file = table.text("key_file"),
             .credential = table.text("key_credential")};
  read_limits(table, endpoint);
  out.limits = {.requests_per_minute = table.whole("requests_per_minute", 0),
                .tokens_per_minute = table.whole("tokens_per_minute", 0),
                .parallel = static_cast<int>(table.whole("parallel", 0))};
  out.weight = table.number("weight", 1);
  const std::optional<bool> is_free = table.truth("free");
  WICK_DO(table.end());
  const auto known = remote::find_kind(kind.empty() ? endpoint.name : kind);
  if (!known) table.fail("kind", known.error());
  WICK_DO(table.end());
  endpoint.kind = *known;
  auto complete = remote::complete(std::move(endpoint));
  if (!complete) table.fail("endpoint", complete.error());
  WICK_DO(table.end());
  endpoint = *std::move(complete);
  const bool has_source =
      !out.key.variable.empty() || !out.key.file.empty() || !out.key.credential.empty();
  if (!has_source) out.key.variable = endpoint.kind->variable;
  // A provider on this machine or network costs nothing unless it says so.
  const bool costs_nothing =
      is_free.value_or(remote::address_kind(endpoint) != AddressKind::kPublic);
  out.needs_key = has_source || (!endpoint.kind->variable.empty() &&
                                 remote::address_kind(endpoint) == AddressKind::kPublic);
  out.is_free = costs_nothing;
  const JsonValue* const models = table.value("models");
  if (models == nullptr) return out;
  for (const JsonValue& one : *models->array()) {
    WICK_TRY(route::MemberModel model, model_of(cat("[[provider]] ", endpoint.name, ", models"),
                                                cat(table.path(), "/models/", out.models.size()),
                                                one, costs_nothing, places));
    endpoint.models.push_back(model.name);
    out.models.push_back(std::move(model));
  }
  return out;
}

Result<route::When> when_of(const TableReader& rule, const std::string& shown,
                            const JsonValue& value, const TomlPlaces& places) {
  TableReader table(when_fields(), cat(shown, ", when"), cat(rule.path(), "/when"), value, places);
  route::When when;
  const auto limit = [&](std::string_view key) -> std::optional<std::int64_t> {
    const std::int64_t tokens = table.whole(key, -1);
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

void read_strategy(TableReader& table, route::Rule& rule) {
  const std::string written = table.text("strategy");
  for (const auto& [name, strategy] : kStrategies) {
    if (written == name) rule.strategy = strategy;
  }
}

std::vector<std::pair<std::string, route::BudgetScope>> budget_scopes() {
  return {{"provider", route::BudgetScope::kProvider},
          {"key", route::BudgetScope::kKey},
          {"tag", route::BudgetScope::kTag}};
}

// The caps of one table of budgets.
void read_caps(TableReader& table, const route::Budget& base, const std::string& subject,
               std::vector<route::Budget>& out) {
  static constexpr std::pair<const char*, route::BudgetWindow> kWindows[] = {
      {"request", route::BudgetWindow::kRequest},
      {"daily", route::BudgetWindow::kDay},
      {"monthly", route::BudgetWindow::kMonth},
      {"rolling", route::BudgetWindow::kRolling},
      {"total", route::BudgetWindow::kTotal}};
  for (const auto& [name, window] : kWindows) {
    const auto cap = table.parsed(name, route::parse_amount);
    if (!cap) continue;
    route::Budget budget = base;
    budget.window = window;
    budget.cap = *cap;
    budget.name = cat(name, subject);
    if (window == route::BudgetWindow::kRolling)
      budget.name += cat(" over ", base.rolling_s / 3600, " hours");
    // The ledger counts under the name: a second one would count each request twice.
    if (std::any_of(out.begin(), out.end(), [&](const auto& b) { return b.name == budget.name; }))
      table.fail(name, "is there twice for the same requests");
    out.push_back(std::move(budget));
  }
}

// Reads all tables of a file.
class Reader {
 public:
  explicit Reader(const TomlTables& tables) : tables_(tables) {}

  Result<RoutingSettings> read() {
    WICK_DO(
        each("provider", [&](std::size_t i, const JsonValue& one) { return provider(i, one); }));
    WICK_DO(each("route", [&](std::size_t i, const JsonValue& one) { return rule(i, one); }));
    WICK_DO(aliases());
    WICK_DO(budgets());
    WICK_DO(cache());
    WICK_DO(limits());
    WICK_DO(check_names());
    return std::move(out_);
  }

 private:
  struct NamedProvider {
    std::string shown, path, name;  // where it is named: "[alias] fast", "alias/fast"
  };

  Error bad(std::string message, std::string_view path, std::string hint = {}) const {
    return placed({.code = ErrorCode::kInvalid,
                   .id = "bad_setting",
                   .message = std::move(message),
                   .hint = std::move(hint)},
                  place_of(tables_.places, path));
  }

  template <class Read>
  Result<void> each(std::string_view key, const Read& read) {
    const JsonValue* const value = tables_.values.find(key);
    if (value == nullptr) return {};
    if (value->array() == nullptr)
      return bad(cat("'", key, "' must be written as [[", key, "]]"), key);
    for (std::size_t i = 0; i < value->array()->size(); ++i)
      WICK_DO(read(i, (*value->array())[i]));
    return {};
  }

  Result<void> provider(std::size_t index, const JsonValue& value) {
    WICK_TRY(ProviderSetting one, provider_of(index, value, tables_.places));
    for (const ProviderSetting& other : out_.providers) {
      if (other.endpoint.name == one.endpoint.name)
        return bad(cat("two providers are called '", one.endpoint.name, "'"),
                   cat("provider/", index, "/name"));
    }
    out_.providers.push_back(std::move(one));
    return {};
  }

  Result<void> rule(std::size_t index, const JsonValue& value) {
    const std::string shown = cat("[[route]] ", index + 1);
    TableReader table(config_table("route"), shown, cat("route/", index), value, tables_.places);
    route::Rule rule{.name = table.text("name")};
    if (rule.name.empty()) rule.name = cat("route ", index + 1);
    rule.to = table.texts("to");
    rule.is_private = table.truth("private").value_or(false);
    rule.continues = table.truth("continue").value_or(false);
    read_strategy(table, rule);
    WICK_DO(table.end());
    if (rule.to.empty() && !rule.is_private) table.fail("to", "is missing");
    WICK_DO(table.end());
    if (const JsonValue* const when = table.value("when")) {
      WICK_TRY(rule.when, when_of(table, shown, *when, tables_.places));
    }
    note_names(rule, cat("[[route]] ", rule.name), cat(table.path(), "/to"));
    out_.rules.push_back(std::move(rule));
    return {};
  }

  Result<void> aliases() {
    const JsonValue* const value = tables_.values.find("alias");
    if (value == nullptr) return {};
    if (value->object() == nullptr) return bad("'alias' must be a table: [alias]", "alias");
    for (const auto& [name, one] : *value->object())
      WICK_DO(alias(name, one));
    return {};
  }

  // A name for a model of a provider, or for equal ones of several: a text, a list, or a table.
  Result<void> alias(const std::string& name, const JsonValue& value) {
    route::Rule rule{.name = cat("alias ", name), .alias = name};
    JsonValue fields = value;
    if (value.object() == nullptr) fields = json_object({{"to", value}});
    const std::string shown = cat("[alias] ", printable(name));
    TableReader table(config_table("alias"), shown, cat("alias/", name), fields, tables_.places);
    rule.to = table.texts("to");
    rule.continues = table.truth("continue").value_or(false);
    read_strategy(table, rule);
    WICK_DO(table.end());
    if (rule.to.empty()) table.fail("to", "is missing");
    if (!is_name(name)) table.fail("", kNameRule);
    WICK_DO(table.end());
    note_names(rule, shown, cat(table.path(), "/to"));
    for (const ProviderSetting& one : out_.providers) {
      if (one.endpoint.name == name)
        return bad(cat(shown, " has the name of a provider"), table.path());
    }
    out_.rules.push_back(std::move(rule));
    return {};
  }

  // A [budget], or one of several [[budget]].
  Result<void> budgets() {
    const JsonValue* const value = tables_.values.find("budget");
    if (value == nullptr) return {};
    if (value->array() == nullptr) return budget("budget", *value);
    return each("budget", [&](std::size_t i, const JsonValue& one) {
      return budget(cat("budget/", i), one);
    });
  }

  Result<void> budget(const std::string& path, const JsonValue& value) {
    TableReader table(config_table("budget"), "[budget]", path, value, tables_.places);
    route::Budget base;
    std::string subject;
    for (const auto& [name, scope] : budget_scopes()) {
      const std::string text = table.text(name);
      if (text.empty()) continue;
      if (!subject.empty()) table.fail(name, "cannot stand beside another subject");
      if (has_control(text)) table.fail(name, "must have no control characters");
      base.scope = scope;
      base.subject = text;
      subject = cat(" of ", name, " ", text);
      if (scope == route::BudgetScope::kProvider)
        named_.push_back({"[budget]", cat(path, "/provider"), text});
    }
    base.rolling_s = 3600 * table.whole("rolling_hours", 24);
    read_caps(table, base, subject, out_.budgets);
    if (const std::string file = table.text("ledger"); !file.empty()) out_.ledger = file;
    const std::string prices = table.text("prices");
    WICK_DO(table.end());
    if (prices.empty()) return {};
    const auto file = PriceFile::read(prices);
    if (!file) table.fail("prices", file.error());
    WICK_DO(table.end());
    for (ProviderSetting& provider : out_.providers) {
      for (route::MemberModel& model : provider.models)
        file->complete(provider.endpoint.kind->name, model);
    }
    return {};
  }

  Result<void> cache() {
    const JsonValue* const value = tables_.values.find("response_cache");
    if (value == nullptr) return {};
    TableReader table(config_table("response_cache"), "[response_cache]", "response_cache", *value,
                      tables_.places);
    out_.cache = {.max_bytes = static_cast<std::size_t>(table.whole("max_mb", 64)) << 20U,
                  .ttl_ms = 1000 * table.whole("ttl_s", 3600),
                  .has_sampled = table.truth("sampled").value_or(false),
                  .similar_by = table.text("similar_by"),
                  .similarity = table.number("similarity", 0.95),
                  .store = table.text("store")};
    if (!out_.cache.similar_by.empty() && !out_.cache.similar_by.starts_with("local/"))
      table.fail("similar_by", "must be an embedding model of this machine: \"local/NAME\"");
    if (const auto store = route::open_cache_store(out_.cache); !store)
      table.fail("store", store.error());
    return table.end();
  }

  Result<void> limits() {
    const JsonValue* const value = tables_.values.find("limits");
    if (value == nullptr) return {};
    TableReader table(config_table("limits"), "[limits]", "limits", *value, tables_.places);
    WICK_DO(table.end());
    out_.limits = table.text("store");
    if (const auto store = route::open_limit_store(out_.limits); !store)
      table.fail("store", store.error());
    return table.end();
  }

  void note_names(const route::Rule& rule, const std::string& shown, const std::string& path) {
    for (const std::string& to : rule.to)
      named_.push_back({shown, path, to.substr(0, to.find('/'))});
  }

  // A rule or a budget that names nothing there is would be silently off.
  Result<void> check_names() const {
    std::vector<std::string> names = {"local", "*"};
    for (const ProviderSetting& one : out_.providers)
      names.push_back(one.endpoint.name);
    for (const NamedProvider& one : named_) {
      if (std::find(names.begin(), names.end(), one.name) != names.end()) continue;
      const std::string near = nearest_names(one.name, names);
      return bad(
          cat(one.shown, " names the provider '", printable(one.name), "', which there is not"),
          one.path,
          near.empty() ? cat("a [[provider]] with name = \"", printable(one.name),
                             "\" would be one; local/MODEL is a model of this machine")
                       : cat("the nearest are: ", near));
    }
    return {};
  }

  const TomlTables& tables_;
  RoutingSettings out_;
  std::vector<NamedProvider> named_;
};

}  // namespace

Result<RoutingSettings> routing_settings(const TomlTables& given) {
  WICK_TRY(const TomlTables tables, expand_presets(given));
  return Reader(tables).read();
}

}  // namespace wick
