#include "cli/usage_report.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <tuple>

#include "base/day.h"
#include "base/printable.h"
#include "base/strings.h"
#include "cli/out.h"

namespace wick {

namespace {

using route::UsageRow;

std::string usage_name(const UsageRow& row) {
  return cat(row.provider, row.model.empty() ? "" : "/", row.model);
}

void add_row(const UsageRow& row, UsageRow& sum) {
  sum.requests += row.requests;
  sum.failed += row.failed;
  sum.estimated += row.estimated;
  sum.prompt_tokens += row.prompt_tokens;
  sum.cached_tokens += row.cached_tokens;
  sum.generated_tokens += row.generated_tokens;
  sum.cost += row.cost;
}

using Cells = std::vector<std::string>;

Cells cells_of(const UsageRow& row, const std::string& name) {
  Cells cells;
  if (!row.day.empty()) cells.push_back(row.day);
  cells.push_back(name);
  for (const std::int64_t count :
       {row.requests, row.failed, row.prompt_tokens, row.cached_tokens, row.generated_tokens})
    cells.push_back(std::to_string(count));
  cells.push_back(route::to_dollars(row.cost));
  return cells;
}

std::string aligned(const std::vector<Cells>& lines, std::size_t n_text) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], printable(cells[i]).size());
  }
  std::string out;
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Printable cell = printable(cells[i]);
      out += i < n_text ? padded(cell, widths[i] + 1).view()
                        : cat(" ", right_aligned(cell, widths[i]).view());
    }
    out += '\n';
  }
  return out;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    out += c;
    if (c == '"') out += c;
  }
  return out + '"';
}

using Days = std::chrono::sys_days;

// Of "2026-11-23", as SQLite writes it.
std::int64_t day_number(const std::string& text) {
  int parts[3] = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int& part : parts) {
    at = std::from_chars(at, end, part).ptr;
    if (at != end) ++at;
  }
  const std::chrono::year_month_day date(std::chrono::year(parts[0]),
                                         std::chrono::month(static_cast<unsigned>(parts[1])),
                                         std::chrono::day(static_cast<unsigned>(parts[2])));
  return Days(date).time_since_epoch().count();
}

// The columns of a plot, and within each the parts of providers and models.
struct Columns {
  bool is_cost = false;
  std::int64_t days_each = 1, most = 0;
  std::vector<std::string> names = {};                // the largest first
  std::vector<std::vector<std::int64_t>> parts = {};  // [column][name]
  std::vector<std::int64_t> sums = {};                // [column]

  std::string value_text(std::int64_t value) const {
    return is_cost ? cat(route::to_dollars(value), " USD") : cat(value, " requests");
  }
};

Columns columns_of(const UsagePeriod& period) {
  Columns out;
  const std::int64_t n_days = std::max<std::int64_t>(period.last_day - period.first_day + 1, 1);
  out.days_each = (n_days + kPlotColumns - 1) / kPlotColumns;
  out.is_cost = std::any_of(period.rows.begin(), period.rows.end(),
                            [](const UsageRow& row) { return row.cost > 0; });
  const auto value_of = [&](const UsageRow& row) { return out.is_cost ? row.cost : row.requests; };
  std::map<std::string, std::int64_t> by_name;
  for (const UsageRow& row : period.rows)
    by_name[usage_name(row)] += value_of(row);
  for (const auto& [name, value] : by_name)
    out.names.push_back(name);
  std::stable_sort(out.names.begin(), out.names.end(),
                   [&](const auto& a, const auto& b) { return by_name[a] > by_name[b]; });
  const auto n_columns = static_cast<std::size_t>((n_days + out.days_each - 1) / out.days_each);
  out.parts.assign(n_columns, std::vector<std::int64_t>(out.names.size()));
  out.sums.assign(n_columns, 0);
  for (const UsageRow& row : period.rows) {
    const std::int64_t day = day_number(row.day) - period.first_day;
    if (day < 0 || day >= n_days) continue;
    const auto column = static_cast<std::size_t>(day / out.days_each);
    const auto name = std::find(out.names.begin(), out.names.end(), usage_name(row));
    out.parts[column][static_cast<std::size_t>(name - out.names.begin())] += value_of(row);
    out.sums[column] += value_of(row);
  }
  out.most = *std::max_element(out.sums.begin(), out.sums.end());
  return out;
}

std::string title_of(const Columns& columns) {
  const std::string what = columns.is_cost ? "cost" : "requests";
  return columns.days_each == 1 ? cat(what, " per day")
                                : cat(what, " per ", columns.days_each, " days");
}

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

constexpr int kSvgWidth = 760, kSvgTop = 40, kSvgLeft = 110, kSvgPlot = 220, kSvgLine = 18;
// Okabe and Ito's colors, which color-blind readers can tell apart.
constexpr const char* kSvgColors[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                      "#56B4E9", "#D55E00", "#F0E442", "#999999"};
constexpr std::size_t kSvgNames = std::size(kSvgColors);  // all behind them share the last color

std::string svg_number(double value) {
  return std::string(fixed(value, 2).view());
}

std::string svg_text(double x, double y, const char* anchor, const std::string& text) {
  return cat("<text x=\"", svg_number(x), "\" y=\"", svg_number(y), "\" text-anchor=\"", anchor,
             "\">", xml_text(std::string(printable(text).view())), "</text>\n");
}

std::string svg_columns(const Columns& columns) {
  std::string out;
  const double step =
      static_cast<double>(kSvgWidth - kSvgLeft - 20) / static_cast<double>(columns.sums.size());
  for (std::size_t i = 0; i < columns.sums.size(); ++i) {
    double y = kSvgTop + kSvgPlot;
    for (std::size_t k = 0; k < columns.names.size(); ++k) {
      if (columns.parts[i][k] == 0) continue;
      const double height =
          kSvgPlot * static_cast<double>(columns.parts[i][k]) / static_cast<double>(columns.most);
      y -= height;
      out +=
          cat("<rect x=\"", svg_number(kSvgLeft + step * (static_cast<double>(i) + 0.1)), "\" y=\"",
              svg_number(y), "\" width=\"", svg_number(0.8 * step), "\" height=\"",
              svg_number(height), "\" fill=\"", kSvgColors[std::min(k, kSvgNames - 1)], "\"/>\n");
    }
  }
  return out;
}

std::string svg_legend(const Columns& columns, double top) {
  std::string out;
  const std::size_t n = std::min(columns.names.size(), kSvgNames);
  for (std::size_t k = 0; k < n; ++k) {
    const double y = top + kSvgLine * static_cast<double>(k);
    const bool is_rest = k + 1 == kSvgNames && columns.names.size() > kSvgNames;
    out += cat("<rect x=\"", kSvgLeft, "\" y=\"", svg_number(y - 10),
               "\" width=\"12\" height=\"12\" fill=\"", kSvgColors[k], "\"/>\n");
    out += svg_text(kSvgLeft + 18, y, "start", is_rest ? "others" : columns.names[k]);
  }
  return out;
}

}  // namespace

std::vector<UsageRow> summed(std::span<const UsageRow> rows, bool by_day, bool by_price) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, UsageRow> sums;
  for (const UsageRow& row : rows) {
    const std::string day = by_day ? row.day : "";
    const std::string price = by_price ? row.price : "";
    UsageRow& sum = sums[{day, row.provider, row.model, price}];
    sum.day = day;
    sum.price = price;
    sum.provider = row.provider;
    sum.model = row.model;
    add_row(row, sum);
  }
  std::vector<UsageRow> out;
  for (auto& [key, sum] : sums)
    out.push_back(std::move(sum));
  return out;
}

std::string usage_table(std::span<const UsageRow> rows) {
  if (rows.empty()) return {};
  const bool has_day = !rows.front().day.empty();
  Cells titles = {"provider/model", "requests", "failed", "prompt", "cached", "generated", "USD"};
  if (has_day) titles.insert(titles.begin(), "day");
  std::vector<Cells> lines = {titles};
  UsageRow total{.day = has_day ? "all" : ""};
  for (const UsageRow& row : rows) {
    lines.push_back(cells_of(row, usage_name(row)));
    add_row(row, total);
  }
  if (rows.size() > 1) lines.push_back(cells_of(total, "total"));
  return aligned(lines, has_day ? 2 : 1);
}

std::string usage_csv(std::span<const UsageRow> rows) {
  std::string out =
      "day,provider,model,requests,failed,estimated,prompt_tokens,cached_tokens,generated_tokens,"
      "cost_usd,price\n";
  for (const UsageRow& row : rows) {
    out += cat(row.day, ",", csv_cell(row.provider), ",", csv_cell(row.model));
    for (const std::int64_t count : {row.requests, row.failed, row.estimated, row.prompt_tokens,
                                     row.cached_tokens, row.generated_tokens})
      out += cat(",", count);
    out += cat(",", route::to_dollars(row.cost), ",", csv_cell(row.price), "\n");
  }
  return out;
}

std::string usage_plot(const UsagePeriod& period) {
  constexpr int kRows = 8, kParts = 8;
  static constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (period.rows.empty()) return {};
  const Columns columns = columns_of(period);
  if (columns.most == 0) return {};
  const std::string top = columns.value_text(columns.most);
  const int wide = 2 * static_cast<std::int64_t>(columns.sums.size()) <= kPlotColumns ? 2 : 1;
  std::string out = cat(title_of(columns), "\n");
  for (int row = kRows - 1; row >= 0; --row) {
    std::string line = cat(row + 1 == kRows ? top : std::string(top.size(), ' '), " │");
    for (const std::int64_t sum : columns.sums) {
      const double share = static_cast<double>(sum) / static_cast<double>(columns.most);
      const int least = sum > 0 ? 1 : 0;
      const int parts = std::max(static_cast<int>(std::lround(share * kRows * kParts)), least);
      const char* const block = kBlocks[std::clamp(parts - row * kParts, 0, kParts)];
      for (int i = 0; i < wide; ++i)
        line += block;
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  const std::size_t width = columns.sums.size() * static_cast<std::size_t>(wide);
  out += std::string(top.size() - 1, ' ') + "0 └";
  for (std::size_t i = 0; i < width; ++i)
    out += "─";
  const std::string first = day_text(period.first_day), last = day_text(period.last_day);
  const std::size_t gap = first.size() + last.size();
  out += cat("\n", std::string(top.size() + 2, ' '), first,
             std::string(width > gap ? width - gap : 2, ' '), last, "\n");
  return out;
}

std::string usage_svg(const UsagePeriod& period) {
  const Columns columns = columns_of(period);
  const double bottom = kSvgTop + kSvgPlot, legend = bottom + 50;
  const std::size_t n_names = std::min(columns.names.size(), kSvgNames);
  const double height = legend + kSvgLine * static_cast<double>(n_names);
  const std::string title = cat("wick usage: ", title_of(columns));
  std::string out =
      cat("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"", kSvgWidth,
          "\" height=\"", svg_number(height), "\" viewBox=\"0 0 ", kSvgWidth, " ",
          svg_number(height), "\" font-family=\"sans-serif\" font-size=\"12\">\n<title>", title,
          "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
  out += svg_text(kSvgLeft, 22, "start", title);
  for (int i = 0; i <= 4; ++i) {
    const double y = bottom - kSvgPlot * i / 4.0;
    out += cat("<path d=\"M", kSvgLeft, " ", svg_number(y), "H", kSvgWidth - 20,
               "\" stroke=\"#ddd\"/>\n");
    // A quarter of few requests is no whole number, and has no line of its own.
    if (columns.most * i % 4 == 0 || columns.is_cost)
      out += svg_text(kSvgLeft - 6, y + 4, "end", columns.value_text(columns.most * i / 4));
  }
  out += svg_columns(columns);
  out += svg_text(kSvgLeft, bottom + 20, "start", day_text(period.first_day));
  out += svg_text(kSvgWidth - 20, bottom + 20, "end", day_text(period.last_day));
  return out + svg_legend(columns, legend) + "</svg>\n";
}

}  // namespace wick
