// wick usage: what the ledger knows of requests and their cost.
#include <ctime>
#include <memory>

#include "base/strings.h"
#include "cli/flags.h"
#include "cli/option_flags.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/routing.h"
#include "cli/usage_report.h"
#include "hub/atomic_file.h"

namespace wick {

namespace {

struct UsageFlags {
  OptionFlags settings = {};
  int days = 30;
  std::string out = {};
  route::UsageFilter filter = {};
  bool by_day = false, is_json = false, is_csv = false, has_plot = false;
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
  if (!row.price.empty()) out["price"] = row.price;
  return out;
}

constexpr std::int64_t kDaySeconds = 86'400;

Result<std::string> file_text(const std::string& path, const UsagePeriod& period,
                              const JsonValue& value) {
  if (path.ends_with(".svg")) return usage_svg(period);
  if (path.ends_with(".csv")) return usage_csv(period.rows);
  if (path.ends_with(".json")) return cat(to_json(value), "\n");
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_output",
               .message = cat("the name '", printable(path), "' does not say what to write"),
               .hint = "it must end in .svg, .csv or .json"};
}

void show_usage(const UsageFlags& o, const UsagePeriod& period, const Array& budgets) {
  for (const JsonValue& one : budgets) {
    const auto text = [&](const char* key) {
      return printable(*one.object()->find(key)->string());
    };
    print({padded(text("budget"), 32), text("used_usd"), " of ", text("cap_usd"), " USD used, ",
           text("reserved_usd"), " reserved\n"});
  }
  if (period.rows.empty())
    print({"no requests in the last ", printable(std::to_string(o.days)), " days\n"});
  print({printable_lines(usage_table(summed(period.rows, o.by_day, false)))});
  if (o.has_plot || is_terminal(1)) print({printable_lines(usage_plot(period))});
}

Result<int> run_usage(const UsageFlags& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  WICK_TRY(const RoutingSettings settings, routing_settings(config.tables()));
  WICK_TRY(const auto ledger, open_ledger(settings));
  const std::int64_t now = std::time(nullptr);
  UsagePeriod period{.last_day = now / kDaySeconds};
  period.first_day = period.last_day - o.days + 1;
  WICK_TRY(period.rows, ledger->usage(kDaySeconds * period.first_day, true, o.filter));
  Array budgets, list;
  for (const route::Budget& budget : settings.budgets) {
    if (budget.window == route::BudgetWindow::kRequest) continue;
    WICK_TRY(const route::BudgetState state, ledger->state(budget, now));
    budgets.emplace_back(json_object({{"budget", budget.name},
                                      {"cap_usd", route::to_dollars(budget.cap)},
                                      {"used_usd", route::to_dollars(state.used)},
                                      {"reserved_usd", route::to_dollars(state.reserved)}}));
  }
  for (const route::UsageRow& row : summed(period.rows, o.by_day, true))
    list.push_back(to_value(row));
  const JsonValue value = json_object({{"budgets", budgets}, {"usage", std::move(list)}});
  if (!o.out.empty()) {
    WICK_TRY(const std::string text, file_text(o.out, period, value));
    WICK_TRY(AtomicFile file, AtomicFile::create(o.out, config.files()));
    WICK_DO(file.add(text));
    WICK_DO(file.commit());
  } else if (o.is_json) {
    print_json(value);
  } else if (o.is_csv) {
    print_text(usage_csv(period.rows));
  } else {
    show_usage(o, period, budgets);
  }
  return kExitOk;
}

}  // namespace

Action setup_usage(Flags flags) {
  const auto o = std::make_shared<UsageFlags>();
  o->settings.add_file(flags);
  flags.integer("--days", o->days, {1, 3660}, "days to include");
  flags.text("--key", o->filter.key, "only requests of the API key with this public part");
  flags.text("--tag", o->filter.tag, "only requests with this tag");
  flags.toggle("--by-day", o->by_day, "print a line per day");
  flags.toggle("--plot", o->has_plot, "plot the cost of each day (default on a terminal)");
  flags.toggle("--csv", o->is_csv, "print CSV, a line for each day, provider, model and price");
  flags.toggle("--json", o->is_json, "print JSON");
  flags.exclude("--csv", "--json");
  flags.text("-o,--out", o->out, "write a file: a plot (.svg), CSV (.csv) or JSON (.json)");
  return [o] { return run_usage(*o); };
}

}  // namespace wick
