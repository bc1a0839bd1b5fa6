#include "cli/usage_report.h"

#include <gtest/gtest.h>

namespace wick {
namespace {

const std::int64_t kSomeDay = 20'780;  // 2026-11-23

UsagePeriod some_usage() {
  UsagePeriod out{.first_day = kSomeDay - 3, .last_day = kSomeDay};
  out.rows = {{.provider = "a<b",
               .model = "x,\"y\"",
               .day = "2026-11-20",
               .requests = 2,
               .prompt_tokens = 10,
               .generated_tokens = 4,
               .cost = 1'000'000'000},
              {.provider = "p", .day = "2026-11-22", .requests = 1, .failed = 1},
              {.provider = "a<b",
               .model = "x,\"y\"",
               .day = "2026-11-23",
               .price = "input 1 (config)",
               .requests = 1,
               .prompt_tokens = 5,
               .generated_tokens = 2,
               .cost = 2'000'000'000}};
  return out;
}

TEST(UsageReport, RowsOfOneModelAreAddedAndTotaled) {
  const auto sums = summed(some_usage().rows, false, false);
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].requests, 3);
  EXPECT_EQ(sums[0].prompt_tokens, 15);
  EXPECT_EQ(sums[0].cost, 3'000'000'000);
  EXPECT_EQ(summed(some_usage().rows, true, false).size(), 3U);
  const auto by_price = summed(some_usage().rows, false, true);
  ASSERT_EQ(by_price.size(), 3U);
  EXPECT_EQ(by_price[0].price, "");
  EXPECT_EQ(by_price[1].price, "input 1 (config)");
  EXPECT_EQ(usage_table(sums),
            "provider/model  requests failed prompt cached generated      USD\n"
            "a<b/x,\"y\"              3      0     15      0         6 3.000000\n"
            "p                      1      1      0      0         0 0.000000\n"
            "total                  4      1     15      0         6 3.000000\n");
  EXPECT_EQ(usage_table({}), "");
}

TEST(UsageReport, CsvQuotesWhatItMust) {
  const std::string csv = usage_csv(some_usage().rows);
  EXPECT_NE(csv.find("\n2026-11-20,a<b,\"x,\"\"y\"\"\",2,0,0,10,0,4,1.000000,\n"), csv.npos) << csv;
  EXPECT_NE(csv.find("\n2026-11-22,p,,1,1,0,0,0,0,0.000000,\n"), csv.npos) << csv;
  EXPECT_NE(csv.find(",2.000000,input 1 (config)\n"), csv.npos) << csv;
}

TEST(UsageReport, ThePlotHasAColumnForEachDay) {
  EXPECT_EQ(usage_plot(some_usage()),
            "cost per day\n"
            "2.000000 USD │      ██\n"
            "             │      ██\n"
            "             │      ██\n"
            "             │      ██\n"
            "             │██    ██\n"
            "             │██    ██\n"
            "             │██    ██\n"
            "             │██    ██\n"
            "           0 └────────\n"
            "              2026-11-20  2026-11-23\n");
  UsagePeriod free = some_usage();
  for (route::UsageRow& row : free.rows)
    row.cost = 0;
  EXPECT_TRUE(usage_plot(free).starts_with("requests per day\n2 requests │██"));
  EXPECT_EQ(usage_plot({}), "");
  UsagePeriod year = some_usage();
  year.first_day = kSomeDay - 364;
  EXPECT_TRUE(usage_plot(year).starts_with("cost per 7 days\n"));
}

TEST(UsageReport, TheSvgEscapesNamesAndDrawsEveryPart) {
  const std::string svg = usage_svg(some_usage());
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find(">a&lt;b/x,&quot;y&quot;</text>"), svg.npos) << svg;
  EXPECT_EQ(svg.find("a<b"), svg.npos);
  EXPECT_NE(svg.find("height=\"220.00\" fill=\"#0072B2\""), svg.npos) << svg;
  EXPECT_NE(svg.find("height=\"110.00\" fill=\"#0072B2\""), svg.npos) << svg;
  EXPECT_TRUE(usage_svg({}).ends_with("</svg>\n"));
}

}  // namespace
}  // namespace wick
