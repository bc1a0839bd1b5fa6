#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "base/strings.h"
#include "cli/bench.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/report.h"

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

Printable spread(const Quartiles& figure) {
  return joined({"(", fixed(figure.q1, 1), " to ", fixed(figure.q3, 1), ")"});
}

namespace {

void print_json(const BenchRecord& record) {
  Object line = json_object({{"test", record.test}, {"threads", record.threads}});
  for (const auto& [name, figure] : record.figures) {
    line[name] = figure.median;
    line[cat(name, "_q1")] = figure.q1;
    line[cat(name, "_q3")] = figure.q3;
  }
  line["peak_rss"] = static_cast<std::int64_t>(peak_rss_mib() * (1 << 20));
  print_json(std::move(line));
}

}  // namespace

void show(const BenchRecord& record, bool is_json, const Printable& head,
          std::initializer_list<Column> columns) {
  if (is_json) return print_json(record);
  print({head});
  for (const Column& one : columns) {
    const Quartiles& figure = record.figures[one.figure].second;
    const bool is_percent = one.form == Column::Form::kPercent;
    print({right_aligned(fixed(figure.median * (is_percent ? 100 : 1), one.decimals), one.width)});
    if (is_percent) print({" %"});
    if (one.form == Column::Form::kWithQuartiles) print({" ", spread(figure)});
  }
  print({"\n"});
  flush_output();
}

void add_common(Flags& flags, BenchOptions& options, int least_generated) {
  options.settings.add_model(flags, false);
  options.settings.add(flags,
                       {"local.device", "local.tensor_split", "local.threads", "cache.kv_type"});
  flags.integer("-n,--n-gen", options.generate, {least_generated, 1 << 20},
                "tokens to generate per answer");
  flags.integer("-r,--repetitions", options.runs, {1, 1000},
                "measured runs; the median is reported");
  flags.toggle("--json", options.is_json, "print one JSON object per line");
}

Result<BenchSetup> set_up(const BenchOptions& options) {
  WICK_TRY(const Config config, options.settings.resolve());
  BenchSetup out;
  WICK_TRY(out.path, find_model(config));
  WICK_TRY(out.local, computing_options(config));
  return out;
}

}  // namespace wick
