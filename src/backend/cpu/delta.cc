// Gated delta layers as two phases: the convolution, whose chunks are (sequence, 64 channels), and
// the recurrence with its gated norm, whose chunks are (sequence, head of values). Tokens of a
// sequence follow each other inside a chunk, so the rest of the batch changes no bit.
#include <algorithm>
#include <cmath>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/series.h"
#include "base/check.h"

namespace wick {
namespace {

constexpr int kConvChannels = 64;  // of a chunk

// exp(rate * softplus(x)), rounded to f32 once. NaN stays NaN.
float decay_of(float rate, float x) noexcept {
  if (std::isnan(x) || std::isnan(rate)) return x + rate;
  const double z = x;
  const double softplus = z > 30 ? z : logarithm(1 + exponential(z));
  return static_cast<float>(exponential(static_cast<double>(rate) * softplus));
}

}  // namespace

int CpuBackend::make_runs(const Batch& batch) noexcept {
  int n_runs = 0;
  const int n = static_cast<int>(batch.seqs.size());
  for (int t = 0, end; t < n; t = end) {
    const SeqId seq = batch.seqs[static_cast<std::size_t>(t)];
    end = t + 1;
    while (end < n && batch.seqs[static_cast<std::size_t>(end)] == seq)
      ++end;
    runs_[static_cast<std::size_t>(n_runs++)] = {.token = t, .count = end - t, .seq = seq};
  }
  return n_runs;
}

void CpuBackend::delta_head(Tensor y, Tensor x, const DeltaParams& p, const StateView& states,
                            const HeadRun& part, float* scratch) noexcept {
  const auto [run, head] = part;
  const float* const row = x.data + static_cast<std::ptrdiff_t>(run.token) * x.row_stride;
  float* const out = y.data + static_cast<std::ptrdiff_t>(run.token) * y.row_stride +
                     static_cast<std::ptrdiff_t>(head) * p.v_dim;
  const int k_head = p.are_heads_tiled ? head % p.n_k_heads : head / (p.n_v_heads / p.n_k_heads);
  const float* const gate = row + p.channels() + static_cast<std::ptrdiff_t>(head) * p.v_dim;
  const float* const beta = row + p.channels() + p.values() + head;
  const float* const alpha = beta + p.n_v_heads;
  float* const decay = scratch + 2 * static_cast<std::ptrdiff_t>(p.k_dim);
  const float rate = as_cpu(*p.rate).values[static_cast<std::size_t>(head)];
  const float dt = as_cpu(*p.dt).values[static_cast<std::size_t>(head)];
  for (int t = 0; t < run.count; ++t)
    decay[t] = decay_of(rate, alpha[t * x.row_stride] + dt);
  const std::size_t conv =
      static_cast<std::size_t>(p.conv_width - 1) * static_cast<std::size_t>(p.channels());
  vector_.delta(
      {.q = row + static_cast<std::ptrdiff_t>(k_head) * p.k_dim,
       .k = row + p.keys() + static_cast<std::ptrdiff_t>(k_head) * p.k_dim,
       .v = row + 2 * p.keys() + static_cast<std::ptrdiff_t>(head) * p.v_dim,
       .beta = beta,
       .stride = x.row_stride,
       .decay = decay,
       .n_tokens = run.count,
       .k_dim = p.k_dim,
       .v_dim = p.v_dim,
       .scale = 1 / std::sqrt(static_cast<float>(p.k_dim)),
       .state = states.state + static_cast<std::size_t>(run.seq) * states.stride + conv +
                static_cast<std::size_t>(head * p.k_dim) * static_cast<std::size_t>(p.v_dim),
       .y = out,
       .y_stride = y.row_stride,
       .scratch = scratch});
  for (int t = 0; t < run.count; ++t) {
    float* const at = out + t * y.row_stride;
    vector_.rms_norm(
        {.x = at, .gain = as_cpu(*p.gain).values.data(), .eps = p.norm.eps, .n = p.v_dim, .y = at});
    vector_.gate[kGateSilu](gate + t * x.row_stride, at, p.v_dim, at);
  }
}

void CpuBackend::delta(Tensor y, Tensor x, const DeltaParams& p, const StateView& states,
                       const Batch& batch) noexcept {
  WICK_CHECK(p.n_k_heads > 0 && p.n_v_heads % p.n_k_heads == 0 && p.conv_width > 1 &&
                 p.conv_width <= kMaxConvWidth && p.norm.rms,
             "heads of values are a multiple of those of keys; the convolution is short");
  WICK_CHECK(x.cols == p.cols() && y.cols == p.values() && x.rows == y.rows &&
                 states.stride == p.state_floats() &&
                 batch.seqs.size() == static_cast<std::size_t>(x.rows),
             "x and y are as wide as the heads, a state as large as the layer's");
  WICK_CHECK(2 * static_cast<std::size_t>(p.k_dim) + batch.seqs.size() <= results_floats_,
             "a head's keys and decays fit a member's scratch");
  const int n_runs = make_runs(batch);
  const int n_parts = (p.channels() + kConvChannels - 1) / kConvChannels;
  team_.run(n_runs * n_parts, [&](int index, int) noexcept {
    const Run& run = runs_[static_cast<std::size_t>(index / n_parts)];
    const int first = index % n_parts * kConvChannels;
    vector_.conv_silu({.x = x.data + static_cast<std::ptrdiff_t>(run.token) * x.row_stride + first,
                       .stride = x.row_stride,
                       .weight = as_cpu(*p.conv).values.data() +
                                 static_cast<std::ptrdiff_t>(first) * p.conv_width,
                       .past = states.state + static_cast<std::size_t>(run.seq) * states.stride +
                               static_cast<std::size_t>(first),
                       .past_stride = p.channels(),
                       .n_tokens = run.count,
                       .n_channels = std::min(kConvChannels, p.channels() - first),
                       .width = p.conv_width});
  });
  team_.run(n_runs * p.n_v_heads, [&](int index, int member) noexcept {
    delta_head(
        y, x, p, states,
        {.run = runs_[static_cast<std::size_t>(index / p.n_v_heads)], .head = index % p.n_v_heads},
        results(member));
  });
}

}  // namespace wick
