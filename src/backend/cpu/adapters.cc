// LoRA adapters: a product W x with changes becomes W x + B (scale * (A x)). A x is a phase of its
// own before the step's product; B is multiplied by the chunk that has the same rows of W. A row's
// sums are the float kernels' alone, so neither other tokens nor their adapters change a bit.
#include <algorithm>

#include "backend/cpu/cpu_backend.h"
#include "base/check.h"
#include "kernels/cpu/matmul.h"

namespace wick {

Result<void> CpuBackend::prepare_adapters(const BackendLimits& limits) {
  const auto tokens = static_cast<std::size_t>(limits.max_batch_tokens);
  const auto adapters = static_cast<std::size_t>(limits.max_adapters);
  // Each token with each adapter, in each matrix of a step.
  low_.resize(kMaxMatrices * tokens * adapters);
  WICK_TRY(low_values_, AlignedBuffer::create(low_.size() * sizeof(float) *
                                              static_cast<std::size_t>(limits.max_rank)));
  changes_floats_ = static_cast<std::size_t>(kFewTokens) *
                    static_cast<std::size_t>(std::max(kMaxChunkRows, limits.max_head_dim));
  WICK_TRY(changes_, AlignedBuffer::create(static_cast<std::size_t>(team_.size()) *
                                           changes_floats_ * sizeof(float)));
  return {};
}

std::size_t CpuBackend::adapter_bytes() const noexcept {
  return low_.capacity() * sizeof(LowProduct) + low_values_.bytes() + changes_.bytes() +
         expert_low_.bytes() + expert_low_values_.bytes();
}

bool CpuBackend::is_adapted(const Weight& weight) const noexcept {
  return !adapter_runs_.empty() && !as_cpu(weight).adapters.empty();
}

// The products of `change` with rows of a step's x, kFewTokens at a time. `index`: the token of
// each row, ascending; nullptr = row t is token t.
void CpuBackend::list_low(const LowRank& change, int matrix, const int* index, int n) noexcept {
  const auto row_of = [&](int token) {
    if (index == nullptr) return token;
    return static_cast<int>(std::lower_bound(index, index + n, token) - index);
  };
  for (const AdapterRun& run : adapter_runs_) {
    if (run.adapter != change.adapter) continue;
    const int end = row_of(run.first + run.count);
    for (int first = row_of(run.first); first < end; first += kFewTokens) {
      LowProduct& one = low_[n_low_++];
      one = {.change = &change,
             .matrix = matrix,
             .first = first,
             .count = std::min(kFewTokens, end - first),
             .scale = change.scale * run.scale,
             .values = low_values_.as<float>() + n_low_floats_};
      n_low_floats_ +=
          static_cast<std::size_t>(one.count) * static_cast<std::size_t>(as_cpu(*change.a).rows);
    }
  }
}

void CpuBackend::multiply_low(const Linear& step, const int* index,
                              const PreparedRows& rows) noexcept {
  n_low_ = n_low_floats_ = 0;
  if (adapter_runs_.empty()) return;
  for (std::size_t i = 0; i < step.w.size(); ++i) {
    for (const LowRank& change : as_cpu(*step.w[i]).adapters) {
      WICK_CHECK(
          change.adapter < limits_.max_adapters && as_cpu(*change.a).rows <= limits_.max_rank,
          "adapters stay within the limits given to prepare()");
      list_low(change, static_cast<int>(i), index, rows.n);
    }
  }
  if (n_low_ == 0) return;
  team_.run(static_cast<int>(n_low_), [&](int task, int) noexcept {
    const LowProduct& one = low_[static_cast<std::size_t>(task)];
    const CpuWeight& a = as_cpu(*one.change->a);
    const PreparedRows some{.n = one.count,
                            .floats = rows.floats + one.first * rows.float_stride,
                            .float_stride = rows.float_stride};
    multiply(a, nullptr, 0, some,
             {.data = one.values, .rows = one.count, .cols = a.rows, .row_stride = a.rows});
    for (int i = 0; i < one.count * a.rows; ++i)
      one.values[i] *= one.scale;
  });
}

// y = rows [row, row + columns of y) of a step's matrix times its x: adds what adapters change.
void CpuBackend::add_adapters(int matrix, int row, Tensor y, int member) noexcept {
  for (std::size_t i = 0; i < n_low_; ++i) {
    const LowProduct& one = low_[i];
    if (one.matrix != matrix) continue;
    const int rank = as_cpu(*one.change->a).rows;
    float* const r = changes_.as<float>() + static_cast<std::size_t>(member) * changes_floats_;
    multiply(as_cpu(*one.change->b), nullptr, row,
             {.n = one.count, .floats = one.values, .float_stride = rank},
             {.data = r, .rows = one.count, .cols = y.cols, .row_stride = y.cols});
    for (int t = 0; t < one.count; ++t) {
      float* const to = y.data + static_cast<std::ptrdiff_t>(one.first + t) * y.row_stride;
      vector_.add_scaled(to, r + static_cast<std::ptrdiff_t>(t) * y.cols, 1, y.cols);
    }
  }
}

}  // namespace wick
