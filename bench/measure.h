// What the benchmarks share: processor time and the spread of rounds.
#pragma once

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wick {

// Processor time of this thread: what a busy machine's other work takes is not counted.
inline double seconds() {
  timespec t = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A chain of additions, each a cycle: the clock in GHz. Of registers: constants are added without a
// cycle by some processors (Golden Cove: 14 GHz).
inline double clock_ghz() {
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    constexpr int kSteps = 10'000'000;
    std::uint64_t x = 1;
    const std::uint64_t y = 1;
    const double t0 = seconds();
    for (int i = 0; i < kSteps; ++i)
      asm volatile("add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0" : "+r"(x) : "r"(y));
    best = std::max(best, 4.0 * kSteps / (seconds() - t0) * 1e-9);
  }
  return best;
}

struct Spread {
  double median = 0;
  double mad = 0;
};

inline Spread spread(std::vector<double> values) {
  const auto median = [](std::vector<double>& v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  };
  Spread out = {.median = median(values)};
  for (double& v : values)
    v = std::fabs(v - out.median);
  out.mad = median(values);
  return out;
}

}  // namespace wick
