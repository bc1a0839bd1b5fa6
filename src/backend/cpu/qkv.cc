// The product of queries, keys and values in one phase. Chunks are whole heads, so a chunk norms
// and rotates its heads and writes its keys and values to the cache itself. A cache block of a head
// belongs to one chunk, its positions are written in the batch's (ascending) order.
#include <algorithm>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/kv_store.h"
#include "base/check.h"

namespace wick {

// The table of `step`'s rotation, with the angles of the batch's positions made; null = no
// rotation.
const RopeTable* CpuBackend::table_for(const QkNormRope& step, const Batch& batch) noexcept {
  if (step.rope.layout == RopeParams::kNone) return nullptr;
  for (RopeTable& table : ropes_) {
    if (!table.is_for(step.rope)) continue;
    for (const Pos pos : batch.positions)
      table.prepare(pos);
    return &table;
  }
  WICK_CHECK(false, "every rotation was announced in prepare()");
}

void CpuBackend::rotate(float* head, int dim, const float* gain, const QkNormRope& step,
                        const RopeTable* table, Pos pos) const noexcept {
  if (gain != nullptr) {
    (step.norm.rms ? vector_.rms_norm : vector_.layer_norm)(
        {.x = head, .gain = gain, .eps = step.norm.eps, .n = dim, .y = head});
  }
  if (table == nullptr) return;
  (step.rope.layout == RopeParams::kHalves ? vector_.rotate_halves : vector_.rotate_pairs)(
      head, table->cosines(pos), table->sines(pos), step.rope.dim);
}

void CpuBackend::qkv(Tensor q, Tensor x, const Linear& step, const QkNormRope& head,
                     const KvView& kv, const Batch& batch) noexcept {
  const bool has_q = q.cols > 0;
  const bool has_kv = step.w.size() > 1;
  WICK_CHECK(step.w.size() == (has_q ? 1U : 0U) + (has_kv ? 2U : 0U),
             "q, k and v; q alone; or k and v where q has no columns");
  WICK_CHECK(batch.positions.size() == static_cast<std::size_t>(x.rows) &&
                 batch.seqs.size() == batch.positions.size(),
             "a position and a sequence for each row of x");
  const RopeTable* const table = table_for(head, batch);
  // Values keep the rounding of x that wrote them as long as they lie in the cache, and every later
  // token mixes them without a softmax's damping: they alone read x in two terms.
  const bool is_fine = has_kv && needs_quantized(step.w.back()->type);
  const PreparedRows rows = prepare_rows(x, nullptr, x.rows, step, is_fine);

  enum Kind { kQuery, kKey, kValue };

  const int dims[] = {kv.k_dim, kv.k_dim, kv.v_dim};
  const int first_kind = has_q ? kQuery : kKey;
  const RowPartition parts = partition_rows(step, dims + first_kind, rows.n);
  WICK_CHECK(step.scale == 1, "queries, keys and values have no scale");
  WICK_CHECK(!has_q || parts.rows[0] == q.cols, "q has one column for each row of its matrix");
  WICK_CHECK(!has_kv || (parts.rows[parts.n_parts - 2] == kv.n_kv_heads * kv.k_dim &&
                         parts.rows[parts.n_parts - 1] == kv.n_kv_heads * kv.v_dim),
             "keys and values have the cache's heads");
  const auto gain_of = [&](int kind) {
    const Weight* gain = kind == kQuery ? head.q_gain : kind == kKey ? head.k_gain : nullptr;
    return gain == nullptr ? nullptr : as_cpu(*gain).values.data();
  };
  const std::size_t k_bytes = kv_head_block_bytes(kv.k_type, kv.k_dim);
  const std::size_t v_bytes = kv_head_block_bytes(kv.v_type, kv.v_dim);

  team_.run(parts.n_chunks, [&](int index, int member) noexcept {
    const Chunk chunk = chunk_at(parts, index);
    const int kind = first_kind + chunk.part;
    const int dim = dims[kind];
    float* const out = kind == kQuery ? q.data + chunk.row : results(member);
    const std::ptrdiff_t stride = kind == kQuery ? q.row_stride : chunk.count;
    const CpuWeight& weight = *parts.weight[chunk.part];
    const float* const bias = parts.bias[chunk.part];
    if (kind == kValue && is_fine) {
      multiply_both(weight, bias, chunk.row, chunk.count, rows, out);
    } else {
      multiply(weight, bias, chunk.row, rows,
               {.data = out,
                .rows = rows.n,
                .cols = chunk.count,
                .row_stride = static_cast<int>(stride)});
    }
    for (int t = 0; t < rows.n; ++t) {
      const auto at = static_cast<std::size_t>(t);
      const Pos pos = batch.positions[at];
      const std::int32_t* blocks =
          kv.tables + static_cast<std::ptrdiff_t>(batch.seqs[at]) * kv.table_stride;
      for (int i = 0; i < chunk.count; i += dim) {
        float* const one = out + t * stride + i;
        if (kind != kValue) rotate(one, dim, gain_of(kind), head, table, pos);
        if (kind == kQuery) continue;
        const auto block = static_cast<std::size_t>(blocks[pos / kBlockTokens]);
        const std::size_t place = block * static_cast<std::size_t>(kv.n_kv_heads) +
                                  static_cast<std::size_t>((chunk.row + i) / dim);
        if (kind == kKey) {
          store_key(kv.k_type, one, dim, kv.k + place * k_bytes, pos % kBlockTokens);
        } else {
          store_value(kv.v_type, one, dim, kv.v + place * v_bytes, pos % kBlockTokens);
        }
      }
    }
  });
}

}  // namespace wick
