// Norms, activation functions and rotations in terms of Lanes. Included by vector_body.h after one
// of the lanes_*.h; everything is local to the including file. docs/numerics.md, "Elementary
// functions", has the formulas and their errors.
// Hot: all of it.
#pragma once

#include "kernels/cpu/vector.h"

namespace wick {
namespace {

// 2^f for f in [-0.5, 0.5]: the Taylor series of 2^f = e^(f ln 2) to degree 6, by Horner's rule.
inline Lanes exp2_fraction(Lanes f) {
  Lanes y = fma(all(0.000154035303933816F), f, all(0.00133335581464284F));
  y = fma(y, f, all(0.00961812910762848F));
  y = fma(y, f, all(0.0555041086648216F));
  y = fma(y, f, all(0.240226506959101F));
  y = fma(y, f, all(0.693147180559945F));
  return fma(y, f, all(1.0F));
}

// 2^t for t <= 0, clamped at 2^-120 so that the result is never subnormal.
inline Lanes exp2_weight(Lanes t) {
  t = max(all(-120.0F), t);  // in this order NaN stays NaN
  const Lanes n = round(t);
  return scale_by_power(exp2_fraction(sub(t, n)), n);
}

// e^x, x clamped to [-87, 88]. x log2(e) = n + f with f exact to the last place: log2(e) is split
// in two, the first product is rounded only after n is taken away.
inline Lanes exponential(Lanes x) {
  x = max(all(-87.0F), min(all(88.0F), x));
  const Lanes n = round(mul(x, all(1.44269502F)));
  Lanes f = fma(x, all(1.44269502F), sub(all(0.0F), n));
  f = fma(x, all(1.92596299e-8F), f);
  return scale_by_power(exp2_fraction(f), n);
}

inline Lanes sigmoid(Lanes x) {
  return div(all(1.0F), add(all(1.0F), exponential(sub(all(0.0F), x))));
}

// tanh u = 1 - 2 / (1 + e^(2 u)): an absolute error of a rounding of 1, also near 0.
inline Lanes hyperbolic_tangent(Lanes u) {
  const Lanes power = exponential(add(u, u));
  return sub(all(1.0F), div(all(2.0F), add(all(1.0F), power)));
}

struct Sigmoid {
  static Lanes of(Lanes x) { return sigmoid(x); }
};

struct Silu {
  static Lanes of(Lanes x) { return mul(x, sigmoid(x)); }
};

// x (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), and (1 + tanh u) / 2 = sigmoid(2 u).
struct GeluTanh {
  static Lanes of(Lanes x) {
    const Lanes cube = mul(mul(x, x), x);
    const Lanes inner = fma(cube, all(0.044715F), x);
    return mul(x, sigmoid(mul(inner, all(1.59576912F))));
  }
};

// x Phi(x). With z = |x| / sqrt 2: erfc(z) = t (a1 + t (… + t a5)) e^(-z^2), t = 1 / (1 + p z)
// (Abramowitz and Stegun, 7.1.26), |error| <= 1.5e-7; Phi(x) = erfc / 2 below zero, 1 - erfc / 2
// above.
struct Gelu {
  static Lanes of(Lanes x) {
    const Lanes z = mul(absolute(x), all(0.707106781F));
    const Lanes t = div(all(1.0F), fma(z, all(0.3275911F), all(1.0F)));
    Lanes y = fma(all(1.061405429F), t, all(-1.453152027F));
    y = fma(y, t, all(1.421413741F));
    y = fma(y, t, all(-0.284496736F));
    y = fma(y, t, all(0.254829592F));
    const Lanes erfc = mul(mul(y, t), exponential(sub(all(0.0F), mul(z, z))));
    const Lanes half = mul(erfc, all(0.5F));
    return mul(x, pick_negative(x, half, sub(all(1.0F), half)));
  }
};

struct Relu2 {
  static Lanes of(Lanes x) {
    const Lanes positive = max(all(0.0F), x);
    return mul(positive, positive);
  }
};

// Loads the first n of sixteen floats; the others are zero.
inline Lanes load_part(const float* p, int n) {
  alignas(64) float part[16] = {};
  for (int i = 0; i < n; ++i)
    part[i] = p[i];
  return load(part);
}

inline void store_part(float* p, int n, Lanes a) {
  alignas(64) float part[16];
  store(part, a);
  for (int i = 0; i < n; ++i)
    p[i] = part[i];
}

inline float largest_of_lanes(Lanes a) {
  alignas(64) float part[16];
  store(part, a);
  for (int step = 8; step >= 1; step /= 2) {
    for (int i = 0; i < step; ++i)
      part[i] = part[i] > part[i + step] ? part[i] : part[i + step];
  }
  return part[0];
}

template <class Act>
void gate_kernel(const float* gate, const float* up, int n, float* y) noexcept {
  for (int i = 0; i < n; i += 16) {
    const int left = n - i;
    Lanes a = Act::of(left >= 16 ? load(gate + i) : load_part(gate + i, left));
    if (up != nullptr) a = mul(a, left >= 16 ? load(up + i) : load_part(up + i, left));
    if (left >= 16) {
      store(y + i, a);
    } else {
      store_part(y + i, left, a);
    }
  }
}

void add_scaled_kernel(float* y, const float* r, float scale, int n) noexcept {
  int i = 0;
  for (; i + 16 <= n; i += 16)
    store(y + i, fma(all(scale), load(r + i), load(y + i)));
  for (; i < n; ++i)
    y[i] = __builtin_fmaf(scale, r[i], y[i]);
}

void soft_cap_kernel(float* x, float cap, int n) noexcept {
  const Lanes inverse = all(1.0F / cap);
  for (int i = 0; i < n; i += 16) {
    const int left = n - i;
    const Lanes a = left >= 16 ? load(x + i) : load_part(x + i, left);
    const Lanes y = mul(hyperbolic_tangent(mul(a, inverse)), all(cap));
    if (left >= 16) {
      store(x + i, y);
    } else {
      store_part(x + i, left, y);
    }
  }
}

// y = (x - mean) * inverse * gain + shift
inline void scale_by_gain(const NormArgs& a, float mean, float inverse) {
  const Lanes middle = all(mean);
  const Lanes by = all(inverse);
  int i = 0;
  for (; i + 16 <= a.n; i += 16) {
    Lanes y = mul(mul(sub(load(a.x + i), middle), by), load(a.gain + i));
    if (a.shift != nullptr) y = add(y, load(a.shift + i));
    store(a.y + i, y);
  }
  if (const int left = a.n - i; left > 0) {
    const Lanes x = sub(load_part(a.x + i, left), middle);
    Lanes y = mul(mul(x, by), load_part(a.gain + i, left));
    if (a.shift != nullptr) y = add(y, load_part(a.shift + i, left));
    store_part(a.y + i, left, y);
  }
}

inline float inverse_deviation(float sum_of_squares, int n, float eps) {
  return 1.0F / __builtin_sqrtf(sum_of_squares / static_cast<float>(n) + eps);
}

void rms_norm_kernel(const NormArgs& a) noexcept {
  Lanes sum = all(0.0F);
  int i = 0;
  for (; i + 16 <= a.n; i += 16) {
    const Lanes x = load(a.x + i);
    sum = fma(x, x, sum);
  }
  if (i < a.n) {
    const Lanes x = load_part(a.x + i, a.n - i);
    sum = fma(x, x, sum);
  }
  scale_by_gain(a, 0.0F, inverse_deviation(sum_of_lanes(sum), a.n, a.eps));
}

void layer_norm_kernel(const NormArgs& a) noexcept {
  Lanes sum = all(0.0F);
  int i = 0;
  for (; i + 16 <= a.n; i += 16)
    sum = add(sum, load(a.x + i));
  if (i < a.n) sum = add(sum, load_part(a.x + i, a.n - i));
  const float mean = sum_of_lanes(sum) / static_cast<float>(a.n);
  sum = all(0.0F);
  for (i = 0; i + 16 <= a.n; i += 16) {
    const Lanes x = sub(load(a.x + i), all(mean));
    sum = fma(x, x, sum);
  }
  if (const int left = a.n - i; left > 0) {  // lanes after the end must stay zero
    alignas(64) float part[16] = {};
    for (int j = 0; j < left; ++j)
      part[j] = a.x[i + j] - mean;
    sum = fma(load(part), load(part), sum);
  }
  scale_by_gain(a, mean, inverse_deviation(sum_of_lanes(sum), a.n, a.eps));
}

// (a, b) → (a cos - b sin, b cos + a sin); of each pair of products one is rounded by itself.
inline void rotate_pair(float& a, float& b, float cosine, float sine) {
  const float x = a;
  const float y = b;
  a = __builtin_fmaf(x, cosine, -(y * sine));
  b = __builtin_fmaf(y, cosine, x * sine);
}

void rotate_halves_kernel(float* head, const float* cosines, const float* sines, int dim) noexcept {
  const int half = dim / 2;
  int i = 0;
  for (; i + 16 <= half; i += 16) {
    const Lanes x = load(head + i);
    const Lanes y = load(head + half + i);
    const Lanes c = load(cosines + i);
    const Lanes s = load(sines + i);
    store(head + i, fma(x, c, sub(all(-0.0F), mul(y, s))));
    store(head + half + i, fma(y, c, mul(x, s)));
  }
  for (; i < half; ++i)
    rotate_pair(head[i], head[half + i], cosines[i], sines[i]);
}

void rotate_pairs_kernel(float* head, const float* cosines, const float* sines, int dim) noexcept {
  for (int i = 0; i < dim / 2; ++i) {
    rotate_pair(head[2 * i], head[2 * i + 1], cosines[i], sines[i]);
  }
}

}  // namespace
}  // namespace wick
