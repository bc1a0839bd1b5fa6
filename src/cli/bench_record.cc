#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

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

double anonymous_mib() {
  std::ifstream status("/proc/self/status");
  double kib = 0;
  for (std::string line; std::getline(status, line);)
    if (std::sscanf(line.c_str(), "RssAnon: %lf kB", &kib) == 1) break;
  return kib / 1024;
}

double peak_rss_mib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
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
  line["peak_rss"] = static_cast<std::int64_t>(peak_rss_mib() * (1 << 20));
  print_json(Value(std::move(line)));
}

}  // namespace wick
