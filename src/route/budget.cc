#include "route/budget.h"

#include <algorithm>
#include <chrono>

namespace wick::route {

namespace {
constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kRollingBuckets = 24;
}  // namespace

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
  return {.first = day, .current = day};
}

}  // namespace wick::route
