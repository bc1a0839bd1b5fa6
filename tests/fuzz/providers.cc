// Any bytes as the tables of providers, a price file and a file of API keys, with a NUL byte
// between them; those at the end may be absent. Each is refused with its place, or what was read is
// in its range, reads back as the same from what is shown of it, and decides and counts any
// request.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "config/price_file.h"
#include "config/routing.h"
#include "config/table_text.h"
#include "fuzz/refusal.h"
#include "http/keys.h"
#include "route/ledger_counters.h"
#include "route/rules.h"

namespace {

using namespace wick;

// The last second of a month, a leap day, and one of no bucket's beginning.
constexpr std::int64_t kTimes[] = {1'796'083'199, 1'835'395'200, 1'796'123'457};

void check_price(const route::MemberModel& model) {
  if (!model.price) return;
  const route::Price& price = *model.price;
  WICK_CHECK(price.input >= 0 && price.output >= 0 && price.cached >= -1, "a price is no gain");
  const route::Nanos cost = route::cost_of(price, 1 << 24, 1 << 24);
  WICK_CHECK(cost >= 0 && cost <= route::kMaxNanos, "a cost is in its range");
}

void check_provider(const ProviderSetting& one) {
  const remote::Endpoint& endpoint = one.endpoint;
  WICK_CHECK(endpoint.kind != nullptr && !endpoint.name.empty(), "a provider has kind and name");
  WICK_CHECK(remote::address_kind(endpoint) != AddressKind::kForbidden, "its place is allowed");
  WICK_CHECK(one.weight > 0 && std::isfinite(one.weight), "a weight is a share");
  for (const std::int64_t ms :
       {endpoint.connect_ms, endpoint.first_token_ms, endpoint.idle_ms, endpoint.total_ms})
    WICK_CHECK(ms >= 0 && ms <= 86'400'000, "times are in their range");
  for (const route::MemberModel& model : one.models)
    check_price(model);
}

// A budget holds what is counted for it, and nothing is counted for it twice.
void check_budgets(const std::vector<route::Budget>& budgets) {
  for (const route::Budget& budget : budgets) {
    WICK_CHECK(budget.cap >= 0 && budget.cap <= route::kMaxNanos, "a cap is in its range");
    if (budget.window == route::BudgetWindow::kRequest) continue;
    const route::Charge charge{
        .provider = budget.subject, .key = budget.subject, .tag = budget.subject};
    for (const std::int64_t now : kTimes) {
      const route::Buckets buckets = route::buckets_of(budget, now);
      WICK_CHECK(buckets.first <= buckets.current && buckets.current <= now, "a window ends now");
      const std::string marks = route::marks_of(charge, budgets, now);
      WICK_CHECK(route::holds(marks, budget.name, buckets), "a budget holds its requests");
      const std::string mark = cat("\n", buckets.current, " ", budget.name, "\n");
      const std::string all = cat("\n", marks);
      WICK_CHECK(all.find(mark) == all.rfind(mark), "and each of them once");
    }
  }
}

// Any request has candidates that may be asked, or are rejected with a reason.
void check_decisions(const RoutingSettings& settings) {
  std::vector<route::Member> members = {{.name = "local", .is_local = true}};
  for (const ProviderSetting& one : settings.providers)
    members.push_back({.name = one.endpoint.name,
                       .models = one.models,
                       .is_free = one.is_free,
                       .limits = one.limits,
                       .weight = one.weight});
  std::vector<std::string> names = {"", "auto", "remote/x", "x"};
  for (const route::Rule& rule : settings.rules) {
    names.push_back(rule.alias);
    names.insert(names.end(), rule.to.begin(), rule.to.end());
  }
  for (const std::string& name : names) {
    const route::Facts facts{.model = name,
                             .tag = "t",
                             .prompt_tokens = 5000,
                             .most_tokens = 21'000,
                             .has_tools = true,
                             .text = "a text"};
    const route::Decision decision = route::decide(settings.rules, members, facts, {});
    for (const route::Candidate& one : decision.candidates) {
      WICK_CHECK(one.most_cost >= 0 && one.most_cost <= route::kMaxNanos, "costs are in range");
      if (!one.rejected.empty()) continue;
      const route::Member& member = members[one.member];
      WICK_CHECK(member.is_local || (!decision.is_private && one.about.price),
                 "privacy and prices hold");
    }
  }
}

std::string shown(const TomlTables& tables) {
  std::string text;
  for (const TableLine& line : table_lines(tables))
    text += line.text + "\n";
  return text;
}

void check_tables(std::string_view text, const PriceFile* prices) {
  auto tables = parse_toml_tables(text, "fuzz.toml");
  if (!tables) return test::check_refusal(tables.error());
  // The file that is named there may be any file of this machine; the prices are the second text.
  if (JsonValue* const budget = tables->values.find("budget"); budget != nullptr) {
    if (budget->object() != nullptr) budget->object()->erase("prices");
    for (std::size_t i = 0; budget->array() != nullptr && i < budget->array()->size(); ++i) {
      if (Object* const one = (*budget->array())[i].object()) one->erase("prices");
    }
  }
  auto settings = routing_settings(*tables);
  if (!settings) {
    WICK_CHECK(settings.error().message.starts_with("fuzz.toml:"), "an error says where");
    return test::check_refusal(settings.error());
  }
  const std::string lines = shown(*tables);
  const auto again = parse_toml_tables(lines, "shown");
  WICK_CHECK(static_cast<bool>(again), "what is shown is valid");
  WICK_CHECK(shown(*again) == lines, "and says the same");
  for (ProviderSetting& one : settings->providers) {
    for (route::MemberModel& model : one.models) {
      if (prices != nullptr) prices->complete(one.endpoint.kind->name, model);
    }
    check_provider(one);
  }
  check_budgets(settings->budgets);
  check_decisions(*settings);
}

void check_keys(std::string_view text) {
  const auto keys = http::Keys::parse(text, "keys");
  if (!keys) {
    WICK_CHECK(keys.error().message.starts_with("keys:"), "an error says where");
    return test::check_refusal(keys.error());
  }
  for (const http::Key& key : keys->all()) {
    WICK_CHECK(key.tenant != 0 && key.end_s >= 0, "a key is a tenant");
    for (const std::string& budget : key.rules.budgets) {
      const auto read = route::parse_key_budget(budget, key.id);
      if (read) check_budgets({*read});
      if (!read) test::check_refusal(read.error());
    }
    const auto line = http::limits_line(key.rules);
    if (!line) {
      test::check_refusal(line.error());
      continue;
    }
    const auto again = http::Keys::parse(
        cat(key.id, " ", std::string(64, '0'), key.rules.may_admin ? " infer,admin" : " infer",
            *line),
        "again");
    WICK_CHECK(static_cast<bool>(again), "what is written is valid");
    http::KeyRules rules = again->all().front().rules;
    rules.may_infer = key.rules.may_infer;
    WICK_CHECK(rules == key.rules, "and says the same");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::array<std::string_view, 3> texts;  // of no bytes: absent
  for (std::string_view& text : texts) {
    text = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
  }
  const auto prices = PriceFile::parse(texts[1], "prices.json");
  if (!prices) test::check_refusal(prices.error());
  check_tables(texts[0], prices ? &*prices : nullptr);
  check_keys(texts[2]);
  return 0;
}
