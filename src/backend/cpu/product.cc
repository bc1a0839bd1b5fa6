// Products with weight matrices: one phase over all matrices that share x, cut into chunks of rows;
// a chunk computes its rows for every token and finishes them (bias, sum, gate) while they are in
// the cache. How rows are cut never changes a bit: a row's arithmetic is the kernel's alone.
#include <algorithm>
#include <limits>

#include "backend/cpu/cpu_backend.h"
#include "base/check.h"

namespace wick {
namespace {

constexpr int kPanel = 32;  // rows that the kernels for many tokens take at once
constexpr std::size_t kChunkBytes = 512 * 1024;  // of weights: 20 to 60 us of one thread's reading
constexpr int kChunksPerThread = 4;              // so that a late thread costs a quarter of a share

GateKind gate_kind(Act act) noexcept {
  static_assert(kGateSilu == static_cast<int>(Act::kSilu) &&
                kGateGelu == static_cast<int>(Act::kGelu) &&
                kGateGeluTanh == static_cast<int>(Act::kGeluTanh) &&
                kGateRelu2 == static_cast<int>(Act::kRelu2) &&
                kGateSigmoid == static_cast<int>(Act::kSigmoid) &&
                kGateKinds == static_cast<int>(Act::kSigmoid) + 1);
  return static_cast<GateKind>(act);
}

int rounded_up(int n, int to) noexcept {
  return (n + to - 1) / to * to;
}

void multiply_all(float scale, int n_tokens, int count, float* y,
                  std::ptrdiff_t y_stride) noexcept {
  for (int t = 0; t < n_tokens; ++t) {
    for (int i = 0; i < count; ++i)
      y[t * y_stride + i] *= scale;
  }
}

// Rows without gaps.
Tensor packed(float* data, int rows, int cols) noexcept {
  return {.data = data, .rows = rows, .cols = cols, .row_stride = cols};
}

// Every NaN becomes the same one: its bits depend on the order of operands, which kernels choose.
void unify_nans(int n_tokens, int count, float* y, std::ptrdiff_t y_stride) noexcept {
  for (int t = 0; t < n_tokens; ++t, y += y_stride) {
    int n_nans = 0;
    for (int i = 0; i < count; ++i)
      n_nans += y[i] != y[i] ? 1 : 0;
    for (int i = 0; n_nans > 0 && i < count; ++i)
      y[i] = y[i] != y[i] ? std::numeric_limits<float>::quiet_NaN() : y[i];
  }
}

}  // namespace

// bias [count] is added to each row of y.
void CpuBackend::add_bias(const float* bias, int n_tokens, int count, float* y,
                          std::ptrdiff_t y_stride) noexcept {
  for (int t = 0; t < n_tokens; ++t) {
    for (int i = 0; i < count; ++i)
      y[t * y_stride + i] += bias[i];
  }
}

// Chunks of whole granules (granule[i] rows of part i; nullptr = any number).
CpuBackend::RowPartition CpuBackend::partition_rows(const Linear& step, const int* granule,
                                                    int n_tokens) const noexcept {
  const int n = static_cast<int>(step.w.size());
  WICK_CHECK(n >= 1 && n <= kMaxMatrices, "one to four matrices share x");
  WICK_CHECK(step.bias.empty() || step.bias.size() == step.w.size(),
             "biases: none, or one for each matrix");
  RowPartition partition;
  partition.n_parts = n;
  int all_rows = 0;
  for (int i = 0; i < n; ++i) {
    const CpuWeight& weight = as_cpu(*step.w[static_cast<std::size_t>(i)]);
    partition.weight[i] = &weight;
    partition.rows[i] = weight.rows;
    partition.column[i] = all_rows;
    all_rows += weight.rows;
    if (step.bias.empty()) continue;
    if (const Weight* bias = step.bias[static_cast<std::size_t>(i)]; bias != nullptr) {
      WICK_CHECK(as_cpu(*bias).cols == weight.rows, "a bias has one value for each row");
      partition.bias[i] = as_cpu(*bias).values.data();
    }
  }
  const int share = rounded_up(all_rows / (kChunksPerThread * team_.size()) + 1, kPanel);
  for (int i = 0; i < n; ++i) {
    const auto by_bytes = static_cast<int>(
        std::min<std::size_t>(kChunkBytes / partition.weight[i]->row_bytes + 1, kMaxChunkRows));
    const int most = n_tokens <= kFewTokens ? kMaxChunkRows : kManyChunkRows;
    int rows = std::min({most, share, std::max(rounded_up(by_bytes, kPanel), 2 * kPanel)});
    if (granule != nullptr) rows = std::max(1, rows / granule[i]) * granule[i];
    partition.chunk_rows[i] = rows;
    partition.first_chunk[i] = partition.n_chunks;
    partition.n_chunks += (partition.rows[i] + rows - 1) / rows;
  }
  return partition;
}

CpuBackend::Chunk CpuBackend::chunk_at(const RowPartition& partition, int chunk) noexcept {
  int part = partition.n_parts - 1;
  while (chunk < partition.first_chunk[part])
    --part;
  const int row = (chunk - partition.first_chunk[part]) * partition.chunk_rows[part];
  return {.part = part,
          .row = row,
          .count = std::min(partition.chunk_rows[part], partition.rows[part] - row)};
}

// y[t][i] = W[row + i] · x[t] + bias[row + i], as many i as y has columns.
void CpuBackend::multiply(const CpuWeight& w, const float* bias, int row, const PreparedRows& rows,
                          Tensor y) const noexcept {
  const bool is_quantized = needs_quantized(w.type);
  MatmulArgs args;
  args.w = w.row_map.empty() ? w.data + static_cast<std::size_t>(row) * w.row_bytes : w.data;
  args.row_bytes = w.row_bytes;
  args.row_map = w.row_map.empty() ? nullptr : w.row_map.data() + row;
  args.width = w.cols;
  args.row_end = y.cols;
  args.x = is_quantized ? rows.quantized : reinterpret_cast<const std::byte*>(rows.floats);
  args.x_stride = is_quantized ? rows.layout.bytes
                               : static_cast<std::size_t>(rows.float_stride) * sizeof(float);
  args.n_tokens = rows.n;
  args.y = y.data;
  args.y_stride = y.row_stride;
  matmul_.matmul[static_cast<std::size_t>(w.type)](args);
  if (bias != nullptr) add_bias(bias + row, rows.n, y.cols, y.data, y.row_stride);
}

// The same where x is two quantized terms, whose products are added before the bias. y is [2 *
// tokens, count]; its first half is the result.
void CpuBackend::multiply_both(const CpuWeight& w, const float* bias, int row, int count,
                               const PreparedRows& rows, float* y) const noexcept {
  PreparedRows both = rows;
  both.n = 2 * rows.n;
  multiply(w, nullptr, row, both, packed(y, both.n, count));
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(rows.n) * count;
  for (std::ptrdiff_t i = 0; i < n; ++i)
    y[i] += y[n + i];
  if (bias != nullptr) add_bias(bias + row, rows.n, count, y, count);
}

// What becomes of the rows' sums of a chunk that is stored, or activated in place.
void CpuBackend::finish_stored(Tensor y, const Linear& step) const noexcept {
  if (step.scale != 1) multiply_all(step.scale, y.rows, y.cols, y.data, y.row_stride);
  for (int t = 0; t < y.rows; ++t) {
    float* const row = y.data + static_cast<std::ptrdiff_t>(t) * y.row_stride;
    if (step.epilogue == Linear::Epilogue::kAct) {
      vector_.gate[gate_kind(step.act)](row, nullptr, y.cols, row);
    } else if (step.soft_cap > 0) {
      vector_.soft_cap(row, step.soft_cap, y.cols);
    }
  }
  unify_nans(y.rows, y.cols, y.data, y.row_stride);
}

void CpuBackend::product(Tensor y, const PreparedRows& rows, const Linear& step) noexcept {
  using Epilogue = Linear::Epilogue;
  const bool is_sum = step.epilogue == Epilogue::kAdd;
  const bool is_factor = step.epilogue == Epilogue::kMultiply;
  WICK_CHECK(((step.epilogue != Epilogue::kAct && !is_factor) || step.scale == 1) &&
                 (step.epilogue == Epilogue::kStore || step.soft_cap == 0),
             "an activated step has no scale, only a stored one a soft cap");
  const RowPartition parts = partition_rows(step, nullptr, rows.n);
  const int last = parts.n_parts - 1;
  WICK_CHECK(parts.column[last] + parts.rows[last] == y.cols && y.rows == rows.n,
             "y is [tokens, rows of all matrices]");
  team_.run(parts.n_chunks, [&](int index, int member) noexcept {
    const Chunk chunk = chunk_at(parts, index);
    const CpuWeight& w = *parts.weight[chunk.part];
    const float* bias = parts.bias[chunk.part];
    float* const to = y.data + parts.column[chunk.part] + chunk.row;
    if (!is_sum && !is_factor) {
      const Tensor part{
          .data = to, .rows = rows.n, .cols = chunk.count, .row_stride = y.row_stride};
      if (rows.has_residuals) {
        multiply_both(w, bias, chunk.row, chunk.count, rows, results(member));
        for (int t = 0; t < rows.n; ++t)
          std::copy_n(results(member) + static_cast<std::ptrdiff_t>(t) * chunk.count, chunk.count,
                      to + static_cast<std::ptrdiff_t>(t) * y.row_stride);
      } else {
        multiply(w, bias, chunk.row, rows, part);
      }
      add_adapters(chunk.part, chunk.row, part, member);
      finish_stored(part, step);
      return;
    }
    float* const r = results(member);
    multiply(w, bias, chunk.row, rows, packed(r, rows.n, chunk.count));
    add_adapters(chunk.part, chunk.row, packed(r, rows.n, chunk.count), member);
    for (int t = 0; t < rows.n; ++t) {
      float* const row = to + static_cast<std::ptrdiff_t>(t) * y.row_stride;
      const float* const own = r + static_cast<std::ptrdiff_t>(t) * chunk.count;
      if (is_factor) {
        vector_.gate[gate_kind(step.act)](own, row, chunk.count, row);
      } else {
        vector_.add_scaled(row, own, step.scale, chunk.count);
      }
    }
  });
}

// The gate is the first half of all rows, what it multiplies the second: two matrices of one
// height, or one of twice it.
void CpuBackend::gated_product(Tensor y, const PreparedRows& rows, const Linear& step) noexcept {
  WICK_CHECK(step.scale == 1, "a gated step has no scale");
  RowPartition parts = partition_rows(step, nullptr, rows.n);
  const bool is_fused = parts.n_parts == 1;
  const int half = is_fused ? parts.rows[0] / 2 : parts.rows[0];
  WICK_CHECK(is_fused ? parts.rows[0] % 2 == 0 : parts.n_parts == 2 && parts.rows[1] == half,
             "a gated step has two matrices of one height, or one of an even height");
  WICK_CHECK(y.cols == half && y.rows == rows.n, "y is [tokens, half of the rows]");
  parts.n_parts = 1;
  parts.rows[0] = half;
  parts.n_chunks = (half + parts.chunk_rows[0] - 1) / parts.chunk_rows[0];
  const CpuWeight& second = *parts.weight[is_fused ? 0 : 1];
  const float* const second_bias = parts.bias[is_fused ? 0 : 1];
  const int second_row = is_fused ? half : 0;
  const GateFn gate = vector_.gate[gate_kind(step.act)];
  team_.run(parts.n_chunks, [&](int index, int member) noexcept {
    const Chunk chunk = chunk_at(parts, index);
    const int n = chunk.count;
    float* const a = results(member);
    float* const b = a + static_cast<std::ptrdiff_t>(rows.n) * n;
    multiply(*parts.weight[0], parts.bias[0], chunk.row, rows, packed(a, rows.n, n));
    multiply(second, second_bias, second_row + chunk.row, rows, packed(b, rows.n, n));
    add_adapters(0, chunk.row, packed(a, rows.n, n), member);
    add_adapters(is_fused ? 0 : 1, second_row + chunk.row, packed(b, rows.n, n), member);
    for (int t = 0; t < rows.n; ++t) {
      gate(a + static_cast<std::ptrdiff_t>(t) * n, b + static_cast<std::ptrdiff_t>(t) * n, n,
           y.data + static_cast<std::ptrdiff_t>(t) * y.row_stride + chunk.row);
    }
  });
}

void CpuBackend::linear(Tensor y, Tensor x, const Linear& step) noexcept {
  WICK_CHECK(!step.is_fine || (step.epilogue == Linear::Epilogue::kStore && step.w.size() == 1),
             "one matrix whose product is stored may read x in two terms");
  const bool is_fine = step.is_fine && needs_quantized(step.w[0]->type);
  const PreparedRows rows = prepare_rows(x, nullptr, x.rows, step, is_fine);
  multiply_low(step, nullptr, rows);
  if (step.epilogue == Linear::Epilogue::kGate) {
    gated_product(y, rows, step);
  } else {
    product(y, rows, step);
  }
}

void CpuBackend::logits(Tensor y, Tensor x, const Linear& head,
                        std::span<const int> rows) noexcept {
  WICK_CHECK(head.epilogue == Linear::Epilogue::kStore, "logits are stored, not added or gated");
  if (rows.empty()) return;
  const PreparedRows prepared = prepare_rows(x, rows.data(), static_cast<int>(rows.size()), head);
  multiply_low(head, rows.data(), prepared);
  product(y, prepared, head);
}

}  // namespace wick
