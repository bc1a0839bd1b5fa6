// e^x and the logarithm of x > 0 in double, by series of our own: the C library's differ between
// processors. About 1e-15 relative. Any thread.
// Hot: all of it.
#pragma once

#include <algorithm>
#include <cmath>

namespace wick {

inline double exponential(double x) noexcept {
  if (std::isnan(x)) return x;
  x = std::clamp(x, -700.0, 700.0);
  const double n = std::nearbyint(x * 1.4426950408889634);
  const double f = (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10;
  double term = 1, sum = 1;
  for (int i = 1; i < 20; ++i) {
    term = term * f / i;
    sum = sum + term;
  }
  return std::ldexp(sum, static_cast<int>(n));
}

inline double logarithm(double x) noexcept {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // in [0.5, 1)
  if (m < 0.70710678118654752) {
    m = m * 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double power = s, sum = 0;
  for (int i = 1; i < 40; i += 2) {
    sum = sum + power / i;
    power = power * square;
  }
  return 2 * sum + exponent * 0.69314718055994530942;
}

}  // namespace wick
