// What wick usage shows of the ledger: a table, CSV, a plot of text and one of SVG. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "route/ledger.h"

namespace wick {

struct UsagePeriod {
  std::vector<route::UsageRow> rows = {};    // of each day, provider, model and price
  std::int64_t first_day = 0, last_day = 0;  // since 1970-01-01, UTC; both are shown
};

// Rows of the same provider and model added, over all days and prices or within each.
std::vector<route::UsageRow> summed(std::span<const route::UsageRow> rows, bool by_day,
                                    bool by_price);

// With a line of titles, and a total below several rows. Empty without rows.
std::string usage_table(std::span<const route::UsageRow> rows);
// RFC 4180, with a line of names.
std::string usage_csv(std::span<const route::UsageRow> rows);
// Columns of the cost of each day, or of several days where they are more than kPlotColumns. Where
// nothing cost anything: of the requests. Lines of text; empty without rows.
std::string usage_plot(const UsagePeriod& period);
// The same as an SVG document, the columns divided by provider and model.
std::string usage_svg(const UsagePeriod& period);

inline constexpr std::int64_t kPlotColumns = 60;

}  // namespace wick
