#include "sample/elementary.h"

#include <bit>

namespace wick {

// x = m 2^n with m in [sqrt(1/2), sqrt(2)]; log m = 2 artanh s, s = (m - 1) / (m + 1), |s| < 0.172,
// by its series to s^21: the first term left out is below 1e-18.
double log_of(double x) noexcept {
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
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
