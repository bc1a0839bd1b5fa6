#include "route/budget.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/strings.h"

namespace wick::route {

namespace {
constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kRollingBuckets = 24;
constexpr std::int64_t kMaxRollingHours = std::int64_t{24} * 366;

// Of "30d" and "12h"; 0 for anything else.
std::int64_t hours_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_days = end == text.data() + text.size() - 1 && *end == 'd';
  const bool is_hours = end == text.data() + text.size() - 1 && *end == 'h';
  if (error != std::errc() || !(is_days || is_hours) || number < 1 || number > kMaxRollingHours)
    return 0;
  const std::int64_t hours = is_days ? 24 * number : number;
  return hours > kMaxRollingHours ? 0 : hours;
}

}  // namespace

Result<Budget> parse_key_budget(std::string_view text, const std::string& key) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view window = text.substr(std::min(slash + 1, text.size()));
  const auto cap = parse_amount(cat(text.substr(0, slash), " USD"));
  Budget budget{.name = cat("key ", key),
                .scope = BudgetScope::kKey,
                .subject = key,
                .window = BudgetWindow::kTotal,
                .cap = cap ? *cap : 0};
  bool is_known = cap && slash + 1 != text.size();
  if (window == "day" || window == "month" || window == "1mo") {
    budget.window = window == "day" ? BudgetWindow::kDay : BudgetWindow::kMonth;
    budget.name += window == "day" ? " daily" : " monthly";
  } else if (!window.empty()) {
    const std::int64_t hours = hours_of(window);
    is_known = is_known && hours > 0;
    budget.window = BudgetWindow::kRolling;
    budget.rolling_s = 3600 * hours;
    budget.name += cat(" rolling over ", hours, " hours");
  }
  if (is_known) return budget;
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_budget",
               .message = cat("'", printable(text, 80), "' is no budget of a key"),
               .hint = "5 (dollars in all), 5/day, 5/month, 5/30d or 5/12h"};
}

bool applies(const Budget& budget, const Charge& charge) {
  switch (budget.scope) {
    case BudgetScope::kAll:
      return true;
    case BudgetScope::kProvider:
      return budget.subject == charge.provider;
    case BudgetScope::kKey:
      return budget.subject == charge.key;
    case BudgetScope::kTag:
      return budget.subject == charge.tag;
  }
  return true;
}

Buckets buckets_of(const Budget& budget, std::int64_t unix_s) {
  const std::int64_t day = unix_s - unix_s % kDay;
  if (budget.window == BudgetWindow::kMonth) {
    const std::chrono::sys_days today{std::chrono::days(unix_s / kDay)};
    const std::chrono::year_month_day date(today);
    const std::chrono::sys_days first = date.year() / date.month() / 1;
    const std::int64_t start = first.time_since_epoch().count() * kDay;
    return {.first = start, .current = start};
  }
  if (budget.window == BudgetWindow::kRolling) {
    const std::int64_t length = std::max<std::int64_t>(budget.rolling_s / kRollingBuckets, 1);
    const std::int64_t oldest = unix_s - budget.rolling_s;
    return {.first = oldest - oldest % length, .current = unix_s - unix_s % length};
  }
  if (budget.window == BudgetWindow::kTotal) return {};
  return {.first = day, .current = day};
}

}  // namespace wick::route
