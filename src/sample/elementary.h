// exp and log by additions, multiplications and divisions alone, because the C library's differ
// between processors and the same seed must give the same token everywhere. Relative error below
// 1e-15.
#pragma once

namespace wick {

double exp_of_negative(double x) noexcept;  // x <= 0; 0 below -700
double log_of(double x) noexcept;           // x > 0, normal

}  // namespace wick
