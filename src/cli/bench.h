// What the kinds of wick bench share: a table for people, a line of JSON for programs, and the
// spread of their runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"

namespace wick {

struct Quartiles {
  double q1 = 0, median = 0, q3 = 0;
};

Quartiles quartiles(std::vector<double> values);  // linear between neighbours; not empty
double percentile(std::vector<double> values, double percent);  // 0 to 100; 0 if there are none

// One result: what was run, and each figure with its quartiles. A figure's name ends in its unit;
// "_per_second" is better when it is more, "_ms" when it is less.
struct BenchRecord {
  std::string test;
  int threads = 0;
  std::vector<std::pair<std::string, Quartiles>> figures;
};

// Memory of this process that no file holds, now (0 where /proc does not say); and the most memory
// it held at a time, files included.
double anonymous_mib();
double peak_rss_mib();

// {"test","threads","NAME","NAME_q1","NAME_q3",…,"peak_rss"}: what bench compare reads.
void print_json(const BenchRecord& record);

// Adds a kind of bench below `bench`; `chosen` receives what it does when it was asked for.
using ChosenAction = std::shared_ptr<Action>;
void add_bench_single(Flags& bench, const ChosenAction& chosen);
void add_bench_chat(Flags& bench, const ChosenAction& chosen);
void add_bench_serve(Flags& bench, const ChosenAction& chosen);
void add_bench_matrix(Flags& bench, const ChosenAction& chosen);
void add_bench_compare(Flags& bench, const ChosenAction& chosen);

}  // namespace wick
