// exp and log that use only additions, multiplications and divisions: those of the C library differ
// between processors, but a seed must give the same token everywhere. Relative error below 1e-15
// (exp: 1e-14 near its ends, as the argument's own rounding grows). Hot: all of it.
#pragma once

#include <cstdint>
#include <cstring>

namespace wick {

// out = e^x, 0 below -700 and for NaN, for a double or a vector of them (Bits: as many 64-bit
// integers): each lane has the same bits as a single double.
//
// x = n ln 2 + r, |r| <= ln 2 / 2; e^r by its series to r^13: the first term left out is below
// 4e-18. Adding 1.5 * 2^52 rounds to a whole number, which then stands in the low bits, from where
// a shift brings it into the exponent.
template <class Real, class Bits>
[[gnu::always_inline]] inline void exp_into(const Real& x, Real& out) noexcept {
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  constexpr double kLog2e = 1.4426950408889634074, kRound = 0x1.8p52;
  const Real most = Real{} + 700, least = Real{} - 700;
  const Real below = x < most ? x : most;
  const Real clamped = below > least ? below : least;
  const Real shifted = clamped * kLog2e + kRound;
  const Real n = shifted - kRound;
  const Real r = (clamped - n * kLn2High) - n * kLn2Low;
  Real sum = Real{} + 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 1.0 / 2.0;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  Bits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023) << 52;
  Real power;
  std::memcpy(&power, &bits, sizeof power);
  const Real result = sum * power;
  out = x > least ? result : Real{};
}

inline double exp_of(double x) noexcept {
  double out = 0;
  exp_into<double, std::uint64_t>(x, out);
  return out;
}

double log_of(double x) noexcept;  // x > 0, normal

inline double power_of(double base, double exponent) noexcept {  // base > 0, normal
  return exp_of(exponent * log_of(base));
}

}  // namespace wick
