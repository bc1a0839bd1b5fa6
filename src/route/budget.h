// Budgets: limits on the cost of requests within a window of time. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "route/money.h"

namespace wick::route {

enum class BudgetScope : std::uint8_t { kAll, kProvider, kKey, kTag };
enum class BudgetWindow : std::uint8_t { kRequest, kDay, kMonth, kRolling, kTotal };

struct Budget {
  // Unique, of one line; the ledger counts under it: "monthly", "daily of provider openai".
  std::string name = {};
  BudgetScope scope = BudgetScope::kAll;
  std::string subject = {};  // the provider, key or tag
  BudgetWindow window = BudgetWindow::kMonth;
  std::int64_t rolling_s = 0;  // of kRolling
  Nanos cap = 0;

  bool operator==(const Budget&) const = default;
};

// The origin of a cost, which decides which budgets it counts for.
struct Charge {
  std::string provider = {}, model = {};
  std::string key = {}, tag = {};  // of the client; "" = none
  std::string price = {};          // MemberModel::price_version; "" = it costs nothing

  bool operator==(const Charge&) const = default;
};

// The budget of an API key: "5" in all, "5/day", "5/month" (UTC), "5/30d" and "5/12h" (any so many
// days or hours); dollars. LiteLLM's "1mo" is a month, too. kInvalid, id "bad_budget".
Result<Budget> parse_key_budget(std::string_view text, const std::string& key);

bool applies(const Budget& budget, const Charge& charge);

// The ledger counts in buckets; a window is the sum of those that begin within [first, now].
struct Buckets {
  std::int64_t first = 0, current = 0;  // Unix time of their starts
};

// Days and months are UTC's. A rolling window has 24 buckets and the one that it begins in, so it
// is never shorter than it says.
Buckets buckets_of(const Budget& budget, std::int64_t unix_s);

}  // namespace wick::route
