// wick usage: what the ledger knows of requests and their cost.
#include <algorithm>
#include <ctime>
#include <memory>

#include "base/strings.h"
#include "cli/flags.h"
#include "cli/option_flags.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/routing.h"

namespace wick {

namespace {

constexpr int kBarWidth = 24;

struct UsageFlags {
  OptionFlags settings = {};
  int days = 30;
  bool by_day = false, is_json = false;
};

JsonValue to_value(const route::UsageRow& row) {
  Object out;
  if (!row.day.empty()) out["day"] = row.day;
  const std::pair<const char*, std::int64_t> counts[] = {
      {"requests", row.requests},           {"failed", row.failed},
      {"estimated", row.estimated},         {"prompt_tokens", row.prompt_tokens},
      {"cached_tokens", row.cached_tokens}, {"generated_tokens", row.generated_tokens}};
  out["provider"] = row.provider;
  out["model"] = row.model;
  for (const auto& [name, count] : counts)
    out[name] = count;
  out["cost_usd"] = route::to_dollars(row.cost);
  return out;
}

void print_rows(const std::vector<route::UsageRow>& rows) {
  route::Nanos most = 1;
  for (const route::UsageRow& row : rows)
    most = std::max(most, row.cost);
  for (const route::UsageRow& row : rows) {
    const std::string name = cat(row.provider, row.model.empty() ? "" : "/", row.model);
    const auto width = static_cast<std::size_t>(row.cost * kBarWidth / most);
    print({printable(row.day.empty() ? "" : cat(row.day, "  ")), padded(printable(name), 32),
           right_aligned(printable(std::to_string(row.requests)), 8), " requests",
           right_aligned(printable(std::to_string(row.prompt_tokens)), 10), " + ",
           right_aligned(printable(std::to_string(row.generated_tokens)), 8), " tokens",
           right_aligned(printable(route::to_dollars(row.cost)), 14), " USD  ",
           printable(std::string(width, '#')), "\n"});
  }
}

Result<int> run_usage(const UsageFlags& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const RoutingSettings settings, routing_settings(config.tables()));
  WICK_TRY(const auto ledger, open_ledger(settings));
  const std::int64_t now = std::time(nullptr);
  WICK_TRY(const auto rows, ledger->usage(now - 86'400 * std::int64_t{o.days}, o.by_day));
  Array budgets;
  for (const route::Budget& budget : settings.budgets) {
    if (budget.window == route::BudgetWindow::kRequest) continue;
    WICK_TRY(const route::BudgetState state, ledger->state(budget, now));
    budgets.emplace_back(json_object({{"budget", budget.name},
                                      {"cap_usd", route::to_dollars(budget.cap)},
                                      {"used_usd", route::to_dollars(state.used)},
                                      {"reserved_usd", route::to_dollars(state.reserved)}}));
    if (!o.is_json)
      print({padded(printable(budget.name), 32), printable(route::to_dollars(state.used)), " of ",
             printable(route::to_dollars(budget.cap)), " USD used, ",
             printable(route::to_dollars(state.reserved)), " reserved\n"});
  }
  if (!o.is_json) {
    if (rows.empty())
      print({"no requests in the last ", printable(std::to_string(o.days)), " days\n"});
    print_rows(rows);
    return kExitOk;
  }
  Array list;
  for (const route::UsageRow& row : rows)
    list.push_back(to_value(row));
  print_json(json_object({{"budgets", std::move(budgets)}, {"usage", std::move(list)}}));
  return kExitOk;
}

}  // namespace

Action setup_usage(Flags flags) {
  const auto o = std::make_shared<UsageFlags>();
  o->settings.add_file(flags);
  flags.integer("--days", o->days, {1, 3660}, "days to include");
  flags.toggle("--by-day", o->by_day, "a line for each day");
  flags.toggle("--json", o->is_json, "print JSON");
  return [o] { return run_usage(*o); };
}

}  // namespace wick
