// Shared by the subcommands of wick bench: flags, tables, JSON lines, and statistics over runs.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/out.h"
#include "cli/option_flags.h"
#include "local/local.h"

namespace wick {

struct Quartiles {
  double q1 = 0, median = 0, q3 = 0;
};

Quartiles quartiles(std::vector<double> values);  // linear between neighbors; not empty
double percentile(std::vector<double> values, double percent);  // 0 to 100; 0 if there are none

// One result: the test, and each figure with its quartiles. A figure's name ends in its unit; more
// is better for "_per_second", less for "_ms".
struct BenchRecord {
  std::string test;
  int threads = 0;
  std::vector<std::pair<std::string, Quartiles>> figures;
};

// How a row shows a figure, right-aligned.
struct Column {
  std::size_t figure, width;
  enum class Form : std::uint8_t { kMedian, kWithQuartiles, kPercent } form = Form::kMedian;
  int decimals = 1;
};

// A row, `head` and then the columns; as JSON the line that bench compare reads:
// {"test","threads","NAME","NAME_q1","NAME_q3",…,"peak_rss"}.
void show(const BenchRecord& record, bool is_json, const Printable& head,
          std::initializer_list<Column> columns);
Printable spread(const Quartiles& figure);  // "(1.2 to 1.4)"

template <std::integral T>
Printable column(T value, std::size_t width) {
  return right_aligned(joined({value}), width);
}

// Current memory of this process without mapped files (0 if /proc does not have it); and its peak
// memory, mapped files included.
double anonymous_mib();
double peak_rss_mib();

struct BenchOptions {
  OptionFlags settings = {};
  int prompt = 128, generate = 64, runs = 3, warm_up = 1;
  bool is_json = false;
};

// What they come to, with the settings.
struct BenchSetup {
  std::filesystem::path path = {};
  LocalOptions local = {};
};

void add_common(Flags& flags, BenchOptions& options, int least_generated);
Result<BenchSetup> set_up(const BenchOptions& options);

// Adds a kind of bench below `bench`; `chosen` receives what it does when it was asked for.
using ChosenAction = std::shared_ptr<Action>;
void add_bench_single(Flags& bench, const ChosenAction& chosen);
void add_bench_chat(Flags& bench, const ChosenAction& chosen);
void add_bench_serve(Flags& bench, const ChosenAction& chosen);
void add_bench_matrix(Flags& bench, const ChosenAction& chosen);
void add_bench_compare(Flags& bench, const ChosenAction& chosen);

}  // namespace wick
