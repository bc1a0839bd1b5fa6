#include <sys/resource.h>

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "cli/bench.h"
#include "cli/json_out.h"

namespace wick {

double percentile(std::vector<double> values, double percent) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], at - static_cast<double>(below));
}

Quartiles quartiles(std::vector<double> values) {
  return {
      .q1 = percentile(values, 25), .median = percentile(values, 50), .q3 = percentile(values, 75)};
}

void print_json(const BenchRecord& record) {
  Object line;
  line["test"] = record.test;
  line["threads"] = record.threads;
  for (const auto& [name, spread] : record.figures) {
    line[name] = spread.median;
    line[cat(name, "_q1")] = spread.q1;
    line[cat(name, "_q3")] = spread.q3;
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  line["peak_rss"] = std::int64_t{usage.ru_maxrss} * 1024;
  print_json(Value(std::move(line)));
}

}  // namespace wick
