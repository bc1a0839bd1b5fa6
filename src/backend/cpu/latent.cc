// What latent attention (MLA) needs beside products and attend: small products for each head, whose
// chunks are (head, 32 tokens), and the rotated parts of queries and keys, whose chunks are tiles,
// so that a cache block belongs to one chunk.
#include <algorithm>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/kv_store.h"
#include "base/check.h"

namespace wick {

void CpuBackend::linear_heads(Tensor y, Tensor x, const HeadLinear& step) noexcept {
  const CpuWeight& w = as_cpu(*step.w);
  WICK_CHECK(step.n_heads > 0 && w.rows % step.n_heads == 0 && x.cols % step.n_heads == 0 &&
                 y.cols % step.n_heads == 0 && x.rows == y.rows,
             "rows and columns are whole heads");
  const int x_share = x.cols / step.n_heads, y_share = y.cols / step.n_heads;
  const int w_share = w.rows / step.n_heads;
  WICK_CHECK(w.cols <= x_share && step.rows <= y_share && step.first_row + step.rows <= w_share,
             "a head's product fits its shares");
  const bool is_quantized = needs_quantized(w.type);
  ActivationLayout layout;
  if (is_quantized) {
    layout = activation_layout(w.cols, matmul_.reads_int16[static_cast<std::size_t>(w.type)]);
  }
  const int n_most = std::min(kFewTokens, x.rows);
  WICK_CHECK(layout.bytes * static_cast<std::size_t>(n_most) <= results_floats_ * sizeof(float),
             "a head's activations fit a member's scratch");
  const int n_parts = (x.rows + kFewTokens - 1) / kFewTokens;
  team_.run(step.n_heads * n_parts, [&](int index, int member) noexcept {
    const int head = index / n_parts, first = index % n_parts * kFewTokens;
    const float* const from = x.data + static_cast<std::ptrdiff_t>(first) * x.row_stride +
                              static_cast<std::ptrdiff_t>(head) * x_share;
    PreparedRows rows{.n = std::min(kFewTokens, x.rows - first),
                      .layout = layout,
                      .floats = from,
                      .float_stride = x.row_stride};
    if (is_quantized) {
      auto* const own = reinterpret_cast<std::byte*>(results(member));
      for (int t = 0; t < rows.n; ++t) {
        matmul_.quantize(from + static_cast<std::ptrdiff_t>(t) * x.row_stride, layout,
                         own + static_cast<std::size_t>(t) * layout.bytes);
      }
      rows.quantized = own;
    }
    float* const to = y.data + static_cast<std::ptrdiff_t>(first) * y.row_stride +
                      static_cast<std::ptrdiff_t>(head) * y_share;
    multiply(w, nullptr, head * w_share + step.first_row, rows,
             {.data = to, .rows = rows.n, .cols = step.rows, .row_stride = y.row_stride});
  });
}

void CpuBackend::latent(Tensor q, Tensor x, Tensor c, const QkNormRope& head, const KvView& kv,
                        const Batch& batch) noexcept {
  const int n_heads = q.cols / kv.k_dim, rank = kv.v_dim, rotated = kv.k_dim - rank;
  WICK_CHECK(kv.v == nullptr && kv.n_kv_heads == 1 && rotated >= 0, "a latent layer's cache");
  WICK_CHECK(q.cols == n_heads * kv.k_dim && x.cols % n_heads == 0 && x.cols / n_heads >= rotated &&
                 c.cols == kv.k_dim && batch.positions.size() == static_cast<std::size_t>(x.rows),
             "q and x are heads, c is a key, one for each token");
  const int share = x.cols / n_heads;
  const RopeTable* const table = table_for(head, batch);
  const std::size_t bytes = kv_head_block_bytes(kv.k_type, kv.k_dim);
  const auto one_token = [&](int t) noexcept {
    const auto at = static_cast<std::size_t>(t);
    const Pos pos = batch.positions[at];
    for (int h = 0; h < n_heads; ++h) {
      const float* const from = x.data + static_cast<std::ptrdiff_t>(t) * x.row_stride +
                                static_cast<std::ptrdiff_t>(h + 1) * share - rotated;
      float* const to = q.data + static_cast<std::ptrdiff_t>(t) * q.row_stride +
                        static_cast<std::ptrdiff_t>(h) * kv.k_dim + rank;
      std::copy_n(from, rotated, to);
      rotate(to, head, table, pos);
    }
    float* const key = c.data + static_cast<std::ptrdiff_t>(t) * c.row_stride;
    normalize_head(key, rank, head.k_gain, head, 0);
    rotate(key + rank, head, table, pos);
    const std::int32_t block =
        kv.tables[static_cast<std::ptrdiff_t>(batch.seqs[at]) * kv.table_stride +
                  pos / kBlockTokens];
    store_key(kv.k_type, key, kv.k_dim, kv.k + static_cast<std::size_t>(block) * bytes,
              pos % kBlockTokens);
  };
  if (static_cast<std::int64_t>(x.rows) * n_heads * rotated <= kInlineValues) {
    for (int t = 0; t < x.rows; ++t)
      one_token(t);
    return;
  }
  team_.run(make_tiles(batch, {}), [&](int index, int) noexcept {
    const Tile& tile = tiles_[static_cast<std::size_t>(index)];
    for (int t = tile.token; t < tile.token + tile.count; ++t)
      one_token(t);
  });
}

}  // namespace wick
