// Problem: given x, choose a scale (and a minimum) so that quants of a few bits come near x.
// Idea: for fixed quants the best scale is a linear least-squares problem with a closed solution;
// for a fixed scale the best quants are the nearest ones. The naive scale (range / quants) is a
// good start, yet often a slightly smaller one that clips the extremes, or a larger one, is better.
// So: try kTries scales around the naive one, round, solve for the scale, keep the least error.
// Cost: kTries passes over x, no memory.
#include "quant/search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "quant/half.h"

namespace wick {
namespace {

// The number of quants that the range of x is stretched over moves by up to one quant each way.
constexpr int kTries = 21;

float quant_offset(int attempt) {
  return 0.1f * static_cast<float>(attempt - kTries / 2);
}

// Sums over a block, in double so that their order cannot matter to the choice.
struct Moments {
  double n = 0;
  double q = 0;
  double qq = 0;
  double x = 0;
  double xq = 0;

  void add(float value, int quant) {
    n += 1;
    q += quant;
    qq += static_cast<double>(quant) * quant;
    x += static_cast<double>(value);
    xq += static_cast<double>(value) * quant;
  }

  // Σ (scale q - min - x)² without the constant Σ x².
  double error(double scale, double min) const {
    return scale * scale * qq - 2 * scale * min * q - 2 * scale * xq + n * min * min + 2 * min * x;
  }
};

// The least-squares solution under scale >= 0, min >= 0.
AffineScale solve(const Moments& m) {
  const double determinant = m.n * m.qq - m.q * m.q;
  if (determinant > 0) {
    const double scale = (m.n * m.xq - m.q * m.x) / determinant;
    const double min = (m.q * m.xq - m.qq * m.x) / determinant;
    if (scale >= 0 && min >= 0) return {static_cast<float>(scale), static_cast<float>(min)};
  }
  const double scale = m.qq > 0 ? std::max(0.0, m.xq / m.qq) : 0.0;
  return {static_cast<float>(scale), 0.0f};
}

// The scale with the largest gain Σxq² / Σqq over kTries tries; quant(attempt, x) yields the
// value whose multiple is to approximate x.
template <class Quant>
float best_signed(std::span<const float> x, const Quant& quant) noexcept {
  float best = 0;
  double best_gain = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Moments m;
    for (const float value : x)
      m.add(value, quant(attempt, value));
    if (!(m.qq > 0) || m.xq * m.xq <= best_gain * m.qq) continue;
    best_gain = m.xq * m.xq / m.qq;
    best = static_cast<float>(m.xq / m.qq);
  }
  return best;
}

}  // namespace

int nearest(float value, int low, int high) noexcept {
  if (!(value > static_cast<float>(low))) return low;
  if (value >= static_cast<float>(high)) return high;
  return static_cast<int>(std::nearbyint(value));
}

int truncated(float value, int high) noexcept {
  if (!(value > 0)) return 0;
  return value >= static_cast<float>(high) ? high : static_cast<int>(value);
}

float extreme(std::span<const float> x) noexcept {
  float found = 0;
  for (const float value : x) {
    if (std::fabs(value) > std::fabs(found)) found = value;
  }
  return found;
}

bool all_finite(std::span<const float> x) noexcept {
  bool is_finite = true;
  for (const float value : x)
    is_finite &= (std::bit_cast<std::uint32_t>(value) & 0x7f800000u) != 0x7f800000u;
  return is_finite;
}

float in_steps(float x, float scale) noexcept {
  return scale == 0 ? 0.0f : x / scale;
}

int affine_quant(float x, AffineScale s, int q_max) noexcept {
  return nearest(in_steps(x + s.min, s.scale), 0, q_max);
}

AffineScale fit_affine(std::span<const float> x, int q_max) noexcept {
  float low = 0;  // min >= 0: zero is always representable
  float high = x.empty() ? 0.0f : x[0];
  for (const float value : x) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  AffineScale best{0.0f, -low};
  if (!(high > low)) return best;
  double best_error = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const float steps = static_cast<float>(q_max) + quant_offset(attempt);
    const AffineScale tried{(high - low) / steps, -low};
    Moments m;
    for (const float value : x)
      m.add(value, affine_quant(value, tried, q_max));
    const AffineScale solved = solve(m);
    const double error =
        m.error(static_cast<double>(solved.scale), static_cast<double>(solved.min));
    if (!(error < best_error)) continue;
    best_error = error;
    best = solved;
  }
  return best;
}

float fit_signed(std::span<const float> x, int half) noexcept {
  const float peak = extreme(x);
  return best_signed(x, [&](int attempt, float value) {
    const float scale = peak / -(static_cast<float>(half) + quant_offset(attempt));
    return nearest(in_steps(value, scale), -half, half - 1);
  });
}

int nearest_iq4(float value) noexcept {
  int index = 0;
  for (std::size_t i = 1; i < std::size(kIq4Values); ++i) {
    const int doubled_middle = kIq4Values[i - 1] + kIq4Values[i];
    index += 2 * value > static_cast<float>(doubled_middle) ? 1 : 0;
  }
  return index;
}

float fit_iq4(std::span<const float> x) noexcept {
  const float peak = extreme(x);
  return best_signed(x, [&](int attempt, float value) {
    // A step of the offset is 0.1 of 8 quants; the table's -127 stands for quant -8.
    const float scale =
        peak / (static_cast<float>(kIq4Values[0]) * (1 + quant_offset(attempt) / 8));
    return static_cast<int>(iq4_value(nearest_iq4(in_steps(value, scale))));
  });
}

AffineScale TwoLevel::part(int j) const noexcept {
  const auto at = static_cast<std::size_t>(j);
  return {f16_to_f32(d_f16) * static_cast<float>(scale[at]),
          f16_to_f32(dmin_f16) * static_cast<float>(min[at])};
}

float TwoLevelSigned::part(int j) const noexcept {
  return f16_to_f32(d_f16) * static_cast<float>(scale[static_cast<std::size_t>(j)]);
}

TwoLevel fit_two_level(std::span<const float, kSuperBlock> x, int n_parts, int q_max,
                       int level_max) noexcept {
  const std::size_t len = kSuperBlock / static_cast<std::size_t>(n_parts);
  std::array<AffineScale, kMaxSearchParts> parts = {};
  AffineScale largest = {};
  for (std::size_t j = 0; j < static_cast<std::size_t>(n_parts); ++j) {
    parts[j] = fit_affine(x.subspan(j * len, len), q_max);
    largest.scale = std::max(largest.scale, parts[j].scale);
    largest.min = std::max(largest.min, parts[j].min);
  }
  TwoLevel out;
  out.d_f16 = f32_to_f16(largest.scale / static_cast<float>(level_max));
  out.dmin_f16 = f32_to_f16(largest.min / static_cast<float>(level_max));
  const float d = f16_to_f32(out.d_f16);
  const float dmin = f16_to_f32(out.dmin_f16);
  for (std::size_t j = 0; j < static_cast<std::size_t>(n_parts); ++j) {
    out.scale[j] = static_cast<std::uint8_t>(nearest(in_steps(parts[j].scale, d), 0, level_max));
    out.min[j] = static_cast<std::uint8_t>(nearest(in_steps(parts[j].min, dmin), 0, level_max));
  }
  return out;
}

TwoLevelSigned round_scales(std::span<const float> wanted, int level_half) noexcept {
  TwoLevelSigned out;
  out.d_f16 = f32_to_f16(extreme(wanted) / static_cast<float>(-level_half));
  const float d = f16_to_f32(out.d_f16);
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    const int level = nearest(in_steps(wanted[j], d), -level_half, level_half - 1);
    out.scale[j] = static_cast<std::int8_t>(level);
  }
  return out;
}

}  // namespace wick
