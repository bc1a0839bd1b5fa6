#include "backend/cpu/cpu_backend.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"

namespace wick {
namespace {

std::size_t product_of(std::initializer_list<std::size_t> factors) {
  std::size_t product = 1;
  for (const std::size_t factor : factors)
    product *= factor;
  return product;
}

}  // namespace

CpuBackend::CpuBackend(Isa isa, TeamShare team)
    : team_(std::move(team)), matmul_(matmul_kernels(isa)), vector_(vector_kernels(isa)) {}

Result<std::unique_ptr<CpuBackend>> CpuBackend::create(Isa isa, TeamShare team,
                                                       MemoryAccount& account,
                                                       const BackendLimits& limits,
                                                       std::span<const RopeParams> ropes) {
  std::unique_ptr<CpuBackend> backend(new CpuBackend(isa, std::move(team)));
  WICK_DO(backend->prepare(limits, ropes));
  backend->hold_ = MemoryHold(account, backend->scratch_bytes());
  return backend;
}

Result<void> CpuBackend::prepare(const BackendLimits& limits, std::span<const RopeParams> ropes) {
  WICK_CHECK(limits.max_batch_tokens > 0 && limits.max_cols > 0 && limits.max_heads > 0 &&
                 limits.max_head_dim > 0 && limits.max_context > 0,
             "every limit is given");
  limits_ = limits;
  const auto tokens = static_cast<std::size_t>(limits.max_batch_tokens);
  const auto heads = static_cast<std::size_t>(limits.max_heads);
  const auto members = static_cast<std::size_t>(team_.size());
  const int cols = (limits.max_cols + 31) / 32 * 32;
  const std::size_t row_bytes = activation_layout(cols).bytes;
  const auto floats_of = [&](int n, int chunk_rows) {
    return product_of({2, static_cast<std::size_t>(n),
                       static_cast<std::size_t>(std::max(chunk_rows, limits.max_head_dim))});
  };
  results_floats_ =
      std::max(floats_of(std::min(limits.max_batch_tokens, kFewTokens), kMaxChunkRows),
               floats_of(limits.max_batch_tokens, kManyChunkRows));
  attention_floats_ = (attention_scratch_floats(kBlockTokens * limits.max_heads,
                                                limits.max_head_dim, limits.max_head_dim) +
                       15) /
                      16 * 16;
  const auto ranges = static_cast<std::size_t>(limits.max_context / kAttentionRange + 1);
  const std::size_t states =
      product_of({kMaxSplitTiles, heads, ranges, attention_state_floats(limits.max_head_dim)});
  constexpr std::size_t kFloat = sizeof(float);
  WICK_TRY(quantized_, AlignedBuffer::create(2 * tokens * row_bytes));
  WICK_TRY(left_over_, AlignedBuffer::create(product_of({members, std::size_t(cols), kFloat})));
  WICK_TRY(floats_, AlignedBuffer::create(product_of({tokens, std::size_t(cols), kFloat})));
  WICK_TRY(results_, AlignedBuffer::create(members * results_floats_ * kFloat));
  WICK_TRY(attention_, AlignedBuffer::create(members * attention_floats_ * kFloat));
  WICK_TRY(states_, AlignedBuffer::create(states * kFloat));
  if (const auto keys = static_cast<std::size_t>(limits.max_joint_keys); keys > 0) {
    WICK_TRY(keys_, AlignedBuffer::create(product_of({tokens, keys, kFloat})));
  }
  tiles_.resize(tokens);
  runs_.resize(tokens);
  n_pending_ = kMaxSplitTiles * heads;
  pending_ = std::make_unique<std::atomic<int>[]>(n_pending_);
  if (limits.experts.n_experts > 0) WICK_DO(prepare_experts(limits));
  if (limits.max_adapters > 0) WICK_DO(prepare_adapters(limits));
  if (limits.max_adapters > 0 && limits.experts.n_experts > 0) {
    WICK_DO(prepare_expert_adapters(limits));
  }
  for (const RopeParams& rope : ropes) {
    const auto is_same = [&](const RopeTable& table) { return table.is_for(rope); };
    if (rope.layout == RopeParams::kNone || std::any_of(ropes_.begin(), ropes_.end(), is_same)) {
      continue;
    }
    WICK_TRY(RopeTable table, RopeTable::create(rope, limits.max_context));
    ropes_.push_back(std::move(table));
  }
  return {};
}

std::size_t CpuBackend::scratch_bytes() const noexcept {
  std::size_t bytes = quantized_.bytes() + left_over_.bytes() + floats_.bytes() + results_.bytes() +
                      attention_.bytes() + states_.bytes() + keys_.bytes() +
                      tiles_.capacity() * sizeof(Tile) + runs_.capacity() * sizeof(Run) +
                      n_pending_ * sizeof(pending_[0]);
  bytes += expert_scratch_bytes() + adapter_bytes();
  for (const RopeTable& table : ropes_)
    bytes += table.bytes();
  return bytes;
}

void CpuBackend::embed(Tensor y, const Weight& table, std::span<const TokenId> ids,
                       const Embed& step) noexcept {
  const CpuWeight& rows = as_cpu(table);
  WICK_CHECK(y.cols == rows.cols && y.rows == static_cast<int>(ids.size()),
             "embeddings are [tokens, columns of the table]");
  WICK_CHECK(!step.adds || (y.cols <= limits_.max_cols && y.rows <= limits_.max_batch_tokens),
             "activations stay within the limits given to prepare()");
  const auto one = [&](int t) noexcept {
    const TokenId id = ids[static_cast<std::size_t>(t)];
    WICK_CHECK(id >= 0 && id < rows.rows, "a token id is a row of the table");
    const std::size_t row = rows.row_map.empty()
                                ? static_cast<std::size_t>(id)
                                : static_cast<std::size_t>(rows.row_map[std::size_t(id)]);
    float* const to = y.data + static_cast<std::ptrdiff_t>(t) * y.row_stride;
    float* const own = floats_.as<float>() + static_cast<std::ptrdiff_t>(t) * y.cols;
    float* const out = step.adds ? own : to;
    decode_row(rows.type, {rows.data + row * rows.row_bytes, rows.row_bytes},
               {out, static_cast<std::size_t>(y.cols)});
    if (step.adds) return vector_.add_scaled(to, own, step.scale, y.cols);
    if (step.scale != 1) {
      for (int i = 0; i < y.cols; ++i)
        out[i] *= step.scale;
    }
  };
  if (static_cast<std::int64_t>(y.rows) * y.cols <= kInlineValues) {
    for (int t = 0; t < y.rows; ++t)
      one(t);
  } else {
    team_.run(y.rows, [&](int t, int) noexcept { one(t); });
  }
}

}  // namespace wick
