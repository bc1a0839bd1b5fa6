// The product of queries, keys and values in one phase. Chunks are whole heads, so a chunk norms
// and rotates its heads and writes its keys and values to the cache itself. A cache block of a head
// belongs to one chunk, its positions are written in the batch's (ascending) order.
#include <algorithm>
#include <cmath>

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

// Head `index` of queries or keys.
void CpuBackend::normalize_head(float* head, int dim, const Weight* gain, const QkNormRope& step,
                                int index) const noexcept {
  if (gain == nullptr) return;
  const CpuWeight& gains = as_cpu(*gain);
  const std::ptrdiff_t own = gains.cols == dim ? 0 : static_cast<std::ptrdiff_t>(index) * dim;
  (step.norm.rms ? vector_.rms_norm : vector_.layer_norm)(
      {.x = head, .gain = gains.values.data() + own, .eps = step.norm.eps, .n = dim, .y = head});
}

void CpuBackend::rotate(float* head, const QkNormRope& step, const RopeTable* table,
                        Pos pos) const noexcept {
  if (table == nullptr) return;
  (step.rope.layout == RopeParams::kHalves ? vector_.rotate_halves : vector_.rotate_pairs)(
      head, table->cosines(pos), table->sines(pos), step.rope.dim);
}

namespace {

enum Kind { kQuery, kKey, kValue };

// The logarithm in double is rounded to float at once, as rope_table.cc's power is.
float temperature_at(const Temperature& step, Pos pos) noexcept {
  const double periods = 1.0 + static_cast<double>(pos / step.context);
  return 1 + step.growth * static_cast<float>(std::log(periods));
}

void multiply_by_temperature(float* head, int dim, const Temperature& step, Pos pos) noexcept {
  if (step.growth == 0) return;
  const float by = temperature_at(step, pos);
  for (int i = 0; i < dim; ++i)
    head[i] *= by;
}

// The number of a key and value head's block among all of a layer's.
std::size_t head_block(const KvView& kv, const Batch& batch, std::size_t token, int head) noexcept {
  const std::int32_t* const blocks =
      kv.tables + static_cast<std::ptrdiff_t>(batch.seqs[token]) * kv.table_stride;
  const auto block = static_cast<std::size_t>(blocks[batch.positions[token] / kBlockTokens]);
  return block * static_cast<std::size_t>(kv.n_kv_heads) + static_cast<std::size_t>(head);
}

std::byte* key_at(const KvView& kv, const Batch& batch, std::size_t token, int head) noexcept {
  return kv.k + head_block(kv, batch, token, head) * kv_head_block_bytes(kv.k_type, kv.k_dim);
}

std::byte* value_at(const KvView& kv, const Batch& batch, std::size_t token, int head) noexcept {
  return kv.v + head_block(kv, batch, token, head) * kv_head_block_bytes(kv.v_type, kv.v_dim);
}

}  // namespace

// Queries and keys as products left them, all heads of a token: normalized together, then each head
// rotated, keys stored. A block of positions belongs to one chunk.
void CpuBackend::finish_joint(Tensor q, const QkNormRope& head, const KvView& kv,
                              const Batch& batch) noexcept {
  const RopeTable* const table = table_for(head, batch);
  const int keys = kv.n_kv_heads * kv.k_dim;
  const auto one_token = [&](std::size_t t) noexcept {
    const Pos pos = batch.positions[t];
    float* const queries = q.data + static_cast<std::ptrdiff_t>(t) * q.row_stride;
    float* const key = keys_.as<float>() + t * static_cast<std::size_t>(keys);
    normalize_head(queries, q.cols, head.q_gain, head, 0);
    normalize_head(key, keys, head.k_gain, head, 0);
    for (int i = 0; i < q.cols; i += kv.k_dim) {
      rotate(queries + i, head, table, pos);
      multiply_by_temperature(queries + i, kv.k_dim, head.temperature, pos);
    }
    for (int h = 0; h < kv.n_kv_heads; ++h) {
      float* const one = key + static_cast<std::ptrdiff_t>(h) * kv.k_dim;
      rotate(one, head, table, pos);
      store_key(kv.k_type, one, kv.k_dim, key_at(kv, batch, t, h), pos % kBlockTokens);
    }
  };
  team_.run(make_tiles(batch, {}), [&](int index, int) noexcept {
    const Tile& tile = tiles_[static_cast<std::size_t>(index)];
    for (int t = tile.token; t < tile.token + tile.count; ++t)
      one_token(static_cast<std::size_t>(t));
  });
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
  multiply_low(step, nullptr, rows);

  const int dims[] = {kv.k_dim, kv.k_dim, kv.v_dim};
  const int first_kind = has_q ? kQuery : kKey;
  const RowPartition parts = partition_rows(step, dims + first_kind, rows.n);
  WICK_CHECK(step.scale == 1, "queries, keys and values have no scale");
  WICK_CHECK(!has_q || parts.rows[0] == q.cols, "q has one column for each row of its matrix");
  WICK_CHECK(!has_kv || (parts.rows[parts.n_parts - 2] == kv.n_kv_heads * kv.k_dim &&
                         parts.rows[parts.n_parts - 1] == kv.n_kv_heads * kv.v_dim),
             "keys and values have the cache's heads");
  const int keys = kv.n_kv_heads * kv.k_dim;
  WICK_CHECK(!head.is_norm_joint || (has_q && has_kv && keys <= limits_.max_joint_keys),
             "a norm over all heads is of queries and keys, within the limits");

  team_.run(parts.n_chunks, [&](int index, int member) noexcept {
    const Chunk chunk = chunk_at(parts, index);
    const int kind = first_kind + chunk.part;
    const int dim = dims[kind];
    const bool is_key_kept = kind == kKey && head.is_norm_joint;
    float* const out = kind == kQuery ? q.data + chunk.row
                       : is_key_kept  ? keys_.as<float>() + chunk.row
                                      : results(member);
    const std::ptrdiff_t stride = kind == kQuery ? q.row_stride : is_key_kept ? keys : chunk.count;
    const Tensor to{
        .data = out, .rows = rows.n, .cols = chunk.count, .row_stride = static_cast<int>(stride)};
    const CpuWeight& w = *parts.weight[chunk.part];
    if (kind == kValue && is_fine) {
      multiply_both(w, parts.bias[chunk.part], chunk.row, chunk.count, rows, out);
    } else {
      multiply(w, parts.bias[chunk.part], chunk.row, rows, to);
    }
    add_adapters(chunk.part, chunk.row, to, member);
    if (kind != kValue && head.is_norm_joint) return;
    for (int t = 0; t < rows.n; ++t) {
      const auto at = static_cast<std::size_t>(t);
      const Pos pos = batch.positions[at];
      for (int i = 0; i < chunk.count; i += dim) {
        float* const one = out + t * stride + i;
        const int place = (chunk.row + i) / dim;
        if (kind == kValue) {
          normalize_head(one, dim, head.v_gain, head, place);
          store_value(kv.v_type, one, dim, value_at(kv, batch, at, place), pos % kBlockTokens);
          continue;
        }
        normalize_head(one, dim, kind == kQuery ? head.q_gain : head.k_gain, head, place);
        rotate(one, head, table, pos);
        if (kind == kQuery) {
          multiply_by_temperature(one, dim, head.temperature, pos);
        } else {
          store_key(kv.k_type, one, dim, key_at(kv, batch, at, place), pos % kBlockTokens);
        }
      }
    }
  });
  if (head.is_norm_joint) finish_joint(q, head, kv, batch);
}

}  // namespace wick
