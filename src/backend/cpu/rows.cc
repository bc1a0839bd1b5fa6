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
    normalize_row(x, *step.gain, step.shift, step.norm, own);
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

void CpuBackend::normalize_row(std::span<const float> x, const Weight& gain, const Weight* shift,
                               const NormParams& norm, float* y) const noexcept {
  (norm.rms ? vector_.rms_norm : vector_.layer_norm)(
      {.x = x.data(),
       .gain = as_cpu(gain).values.data(),
       .shift = shift == nullptr ? nullptr : as_cpu(*shift).values.data(),
       .eps = norm.eps,
       .n = static_cast<int>(x.size()),
       .y = y});
}

void CpuBackend::normalize(Tensor y, Tensor x, const Normalize& step) noexcept {
  WICK_CHECK(as_cpu(*step.gain).cols == x.cols && y.rows == x.rows && y.cols == x.cols &&
                 (step.shift == nullptr || as_cpu(*step.shift).cols == x.cols),
             "a gain and a shift are as wide as the activations");
  WICK_CHECK(step.adds || step.scale == 1, "only a sum is scaled");
  WICK_CHECK(!step.adds || std::int64_t{x.rows} * x.cols <=
                               std::int64_t{limits_.max_cols} * limits_.max_batch_tokens,
             "activations stay within the limits given to prepare()");
  const auto one = [&](int t, int) noexcept {
    const std::span row(x.data + static_cast<std::ptrdiff_t>(t) * x.row_stride,
                        static_cast<std::size_t>(x.cols));
    float* const to = y.data + static_cast<std::ptrdiff_t>(t) * y.row_stride;
    if (!step.adds) return normalize_row(row, *step.gain, step.shift, step.norm, to);
    float* const own = floats_.as<float>() + static_cast<std::ptrdiff_t>(t) * x.cols;
    normalize_row(row, *step.gain, step.shift, step.norm, own);
    vector_.add_scaled(to, own, 1, x.cols);
    if (step.scale == 1) return;
    for (int i = 0; i < x.cols; ++i)
      to[i] *= step.scale;
  };
  if (static_cast<std::int64_t>(x.rows) * x.cols <= kInlineValues || y.data == x.data) {
    for (int t = 0; t < x.rows; ++t)
      one(t, 0);
  } else {
    team_.run(x.rows, one);
  }
}

// PreparedRows index[0 .. n) of x, or its first n where `index` is null.
CpuBackend::PreparedRows CpuBackend::prepare_rows(Tensor x, const int* index, int n,
                                                  const Linear& step,
                                                  bool wants_residuals) noexcept {
  WICK_CHECK(n <= limits_.max_batch_tokens && x.cols <= limits_.max_cols,
             "activations stay within the limits given to prepare()");
  WICK_CHECK((step.gain == nullptr || as_cpu(*step.gain).cols == x.cols) &&
                 (step.shift == nullptr || as_cpu(*step.shift).cols == x.cols),
             "a gain and a shift are as wide as the activations");
  bool wants_quantized = false;
  bool wants_floats = false;
  bool wants_int16 = false;
  n_low_ = 0;
  for (const Weight* w : step.w) {
    (needs_quantized(w->type) ? wants_quantized : wants_floats) = true;
    wants_floats |= is_adapted(*w);
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
