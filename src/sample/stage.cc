#include "sample/stage.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace wick {

namespace {

// e^x for x <= 0 by multiplications and additions alone, because the C library's exp differs
// between processors and the same seed must give the same token everywhere. x = n ln 2 + r, |r| <=
// ln 2 / 2; e^r by its series to r^13: the first term left out is below 4e-18. Below -700 the
// result would leave the normal range and counts as 0.
double exp_of_negative(double x) noexcept {
  if (!(x > -700)) return 0;
  constexpr double kLog2e = 1.4426950408889634074;
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  const auto n = static_cast<std::int64_t>(x * kLog2e - 0.5);
  const double r = (x - static_cast<double>(n) * kLn2High) - static_cast<double>(n) * kLn2Low;
  double sum = 1;
  for (int i = 13; i >= 1; --i)
    sum = 1 + sum * r / i;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

}  // namespace

void sort(Candidates& c) noexcept {
  if (c.is_sorted) return;
  std::sort(c.items.begin(), c.items.end(), [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  });
  c.is_sorted = true;
}

double exp_weights(Candidates& c) noexcept {
  sort(c);
  double sum = 0;
  for (std::size_t i = 0; i < c.items.size(); ++i) {
    c.weights[i] = exp_of_negative(static_cast<double>(c.items[i].logit) -
                                   static_cast<double>(c.items[0].logit));
    sum += c.weights[i];
  }
  return sum;
}

}  // namespace wick
