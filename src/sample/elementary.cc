#include "sample/elementary.h"

#include <bit>
#include <cstdint>

namespace wick {

namespace {

constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;

}  // namespace

// x = n ln 2 + r, |r| <= ln 2 / 2; e^r by its series to r^13: the first term left out is below
// 4e-18. Below -700 the result would leave the normal range.
double exp_of_negative(double x) noexcept {
  if (!(x > -700)) return 0;
  constexpr double kLog2e = 1.4426950408889634074;
  const auto n = static_cast<std::int64_t>(x * kLog2e - 0.5);
  const double r = (x - static_cast<double>(n) * kLn2High) - static_cast<double>(n) * kLn2Low;
  double sum = 1;
  for (int i = 13; i >= 1; --i)
    sum = 1 + sum * r / i;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

// x = m 2^n with m in [sqrt(1/2), sqrt(2)]; log m = 2 artanh s, s = (m - 1) / (m + 1), |s| < 0.172,
// by its series to s^21: the first term left out is below 1e-18.
double log_of(double x) noexcept {
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;  // bits of sqrt(1/2)
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto n = static_cast<std::int64_t>(bits - kSqrtHalf) >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(n) << 52));
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 1.0 / 21;
  for (int i = 19; i >= 1; i -= 2)
    sum = sum * square + 1.0 / i;
  const auto power = static_cast<double>(n);
  return (2 * s * sum + power * kLn2Low) + power * kLn2High;
}

}  // namespace wick
