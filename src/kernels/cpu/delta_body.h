// The two parts of a gated delta layer that are no products with weights: the causal convolution
// and the recurrence, in terms of Lanes. Included by vector_body.h; everything is local to the
// including file. docs/numerics.md, "Gated delta rule", has the order of arithmetic: tokens one
// after another, every sum one chain over ascending indices, so a chunk's size changes no bit.
// Hot: all of it.
#pragma once

#include "kernels/cpu/elementary_body.h"
#include "kernels/cpu/vector.h"

namespace wick {
namespace {

inline Lanes load_up_to_16(const float* p, int left) {
  return left >= 16 ? load(p) : load_part(p, left);
}

inline void store_up_to_16(float* p, int left, Lanes a) {
  if (left >= 16) {
    store(p, a);
  } else {
    store_part(p, left, a);
  }
}

// Sixteen channels from `c` on (or the `left` that there are).
inline void convolve(const ConvArgs& a, int c, int left) {
  alignas(64) float columns[kMaxConvWidth][16] = {};
  const int n = left < 16 ? left : 16;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < a.width; ++j)
      columns[j][i] = a.weight[static_cast<std::ptrdiff_t>(c + i) * a.width + j];
  }
  Lanes weight[kMaxConvWidth];
  Lanes window[kMaxConvWidth];  // the inputs that the next output sees, oldest first
  for (int j = 0; j < a.width; ++j)
    weight[j] = load(columns[j]);
  for (int j = 0; j + 1 < a.width; ++j)
    window[j] = load_up_to_16(a.past + j * a.past_stride + c, left);
  for (int t = 0; t < a.n_tokens; ++t) {
    float* const at = a.x + t * a.stride + c;
    window[a.width - 1] = load_up_to_16(at, left);
    Lanes sum = all(0.0F);
    for (int j = 0; j < a.width; ++j)
      sum = fma(weight[j], window[j], sum);
    store_up_to_16(at, left, Silu::of(sum));
    for (int j = 0; j + 1 < a.width; ++j)
      window[j] = window[j + 1];
  }
  for (int j = 0; j + 1 < a.width; ++j)
    store_up_to_16(a.past + j * a.past_stride + c, left, window[j]);
}

void conv_silu_kernel(const ConvArgs& a) noexcept {
  for (int c = 0; c < a.n_channels; c += 16)
    convolve(a, c, a.n_channels - c);
}

// out = x / |x| * scale
inline void to_length(const float* x, int n, float eps, float scale, float* out) {
  Lanes sum = all(0.0F);
  for (int i = 0; i < n; i += 16) {
    const Lanes part = load_up_to_16(x + i, n - i);
    sum = fma(part, part, sum);
  }
  const Lanes by = all(1.0F / __builtin_sqrtf(sum_of_lanes(sum) + eps));
  for (int i = 0; i < n; i += 16)
    store_up_to_16(out + i, n - i, mul(mul(load_up_to_16(x + i, n - i), by), all(scale)));
}

struct DeltaToken {
  const float* q;
  const float* k;
  const float* v;
  float decay;
  Lanes beta;
  float* y;
};

// Sixteen columns of the state from `c` on.
inline void advance_columns(const DeltaArgs& a, const DeltaToken& t, int c) {
  const int left = a.v_dim - c;
  float* const state = a.state + c;
  Lanes seen = all(0.0F);
  for (int i = 0; i < a.k_dim; ++i) {
    float* const row = state + static_cast<std::ptrdiff_t>(i) * a.v_dim;
    const Lanes s = mul(all(t.decay), load_up_to_16(row, left));
    store_up_to_16(row, left, s);
    seen = fma(all(t.k[i]), s, seen);
  }
  const Lanes delta = mul(sub(load_up_to_16(t.v + c, left), seen), t.beta);
  Lanes out = all(0.0F);
  for (int i = 0; i < a.k_dim; ++i) {
    float* const row = state + static_cast<std::ptrdiff_t>(i) * a.v_dim;
    const Lanes s = fma(all(t.k[i]), delta, load_up_to_16(row, left));
    store_up_to_16(row, left, s);
    out = fma(all(t.q[i]), s, out);
  }
  store_up_to_16(t.y + c, left, out);
}

void delta_kernel(const DeltaArgs& a) noexcept {
  float* const q = a.scratch;
  float* const k = a.scratch + a.k_dim;
  for (int t = 0; t < a.n_tokens; ++t) {
    const std::ptrdiff_t at = t * a.stride;
    to_length(a.q + at, a.k_dim, a.eps, a.scale, q);
    to_length(a.k + at, a.k_dim, a.eps, 1.0F, k);
    const DeltaToken token{.q = q,
                           .k = k,
                           .v = a.v + at,
                           .decay = a.decay[t],
                           .beta = sigmoid(all(a.beta[at])),
                           .y = a.y + t * a.y_stride};
    for (int c = 0; c < a.v_dim; c += 16)
      advance_columns(a, token, c);
  }
}

}  // namespace
}  // namespace wick
