// Activations before a product: gathered, normalized, quantized; each row once, whatever number of
// matrices reads it.
#include <algorithm>

#include "backend/cpu/cpu_backend.h"
#include "base/check.h"
#include "kernels/cpu/activation.h"

namespace wick {

void CpuBackend::prepare_row(std::span<const float> x, int t, int member, const Linear& step,
                             const PreparedRows& rows, bool needs_floats) noexcept {
  const int cols = static_cast<int>(x.size());
  const float* from = x.data();
  float* const own = floats_.as<float>() + static_cast<std::ptrdiff_t>(t) * cols;
  if (step.gain != nullptr) {
    const CpuWeight& gain = as_cpu(*step.gain);
    (step.norm.rms ? vector_.rms_norm : vector_.layer_norm)(
        {.x = from, .gain = gain.values.data(), .eps = step.norm.eps, .n = cols, .y = own});
    from = own;
  } else if (needs_floats) {
    std::copy_n(from, cols, own);
  }
  if (rows.quantized == nullptr) return;
  const std::size_t at = static_cast<std::size_t>(t) * rows.layout.bytes;
  matmul_.quantize(from, rows.layout, quantized_.data() + at);
  if (!rows.has_residuals) return;
  float* const rest = left_over_.as<float>() + static_cast<std::ptrdiff_t>(member) * cols;
  residual(from, rows.layout, quantized_.data() + at, rest);
  matmul_.quantize(rest, rows.layout,
                   quantized_.data() + at + static_cast<std::size_t>(rows.n) * rows.layout.bytes);
}

void CpuBackend::normalize(Tensor x, const Weight& gain, const NormParams& norm) noexcept {
  const CpuWeight& weight = as_cpu(gain);
  WICK_CHECK(weight.cols == x.cols, "a gain is as wide as the activations");
  for (int t = 0; t < x.rows; ++t) {
    float* const row = x.data + static_cast<std::ptrdiff_t>(t) * x.row_stride;
    (norm.rms ? vector_.rms_norm : vector_.layer_norm)(
        {.x = row, .gain = weight.values.data(), .eps = norm.eps, .n = x.cols, .y = row});
  }
}

// PreparedRows index[0 .. n) of x, or its first n where `index` is null.
CpuBackend::PreparedRows CpuBackend::prepare_rows(Tensor x, const int* index, int n,
                                                  const Linear& step,
                                                  bool wants_residuals) noexcept {
  WICK_CHECK(n <= limits_.max_batch_tokens && x.cols <= limits_.max_cols,
             "activations stay within the limits given to prepare()");
  WICK_CHECK(step.gain == nullptr || as_cpu(*step.gain).cols == x.cols,
             "a gain is as wide as the activations");
  bool wants_quantized = false;
  bool wants_floats = false;
  bool wants_int16 = false;
  for (const Weight* w : step.w) {
    (needs_quantized(w->type) ? wants_quantized : wants_floats) = true;
    wants_int16 |= matmul_.reads_int16[static_cast<std::size_t>(w->type)];
  }
  PreparedRows rows{.n = n};
  if (wants_quantized) {
    rows.layout = activation_layout(x.cols, wants_int16);
    rows.quantized = quantized_.data();
    rows.has_residuals = wants_residuals;
  }
  const bool is_copied = step.gain != nullptr || index != nullptr;
  rows.floats = is_copied ? floats_.as<float>() : x.data;
  rows.float_stride = is_copied ? x.cols : x.row_stride;
  if (!wants_quantized && !is_copied) return rows;

  const auto one = [&](int t, int member) noexcept {
    const int row = index == nullptr ? t : index[t];
    prepare_row({x.data + static_cast<std::ptrdiff_t>(row) * x.row_stride,
                 static_cast<std::size_t>(x.cols)},
                t, member, step, rows, wants_floats && is_copied);
  };
  if (static_cast<std::int64_t>(n) * x.cols <= kInlineValues) {
    for (int t = 0; t < n; ++t)
      one(t, 0);
  } else {
    team_.run(n, one);
  }
  return rows;
}

}  // namespace wick
