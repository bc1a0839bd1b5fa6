// A mixture of experts in phases: the router's product; the choice, which sorts tokens by expert;
// gate and up, whose chunks are (expert, rows); the hidden rows, quantized; down, whose chunks are
// rows of y: one chunk adds all experts' results to its rows, ascending. So neither the batch nor
// the threads change a row's arithmetic or the order of its sum, and y needs no second copy.
#include <algorithm>
#include <numeric>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/routing.h"
#include "base/check.h"

namespace wick {
namespace {

constexpr int kPanel = 32;
constexpr int kTile = 64;  // tokens of an expert that a chunk computes at once
constexpr int kChunksPerThread = 4;

// The weight that holds an expert's rows, and the first of them.
struct Part {
  const CpuWeight* weight = nullptr;
  int row = 0;
  const float* bias = nullptr;  // of that row
};

Part part_of(const ExpertMatrix& matrix, int n_experts, int expert) noexcept {
  const bool is_stacked = matrix.w.size() == 1;
  Part part{.weight = &as_cpu(*matrix.w[is_stacked ? 0 : static_cast<std::size_t>(expert)]),
            .row = matrix.first_row};
  if (is_stacked) part.row += expert * (part.weight->rows / n_experts);
  if (matrix.bias != nullptr) {
    part.bias =
        as_cpu(*matrix.bias).values.data() + static_cast<std::ptrdiff_t>(expert) * matrix.rows;
  }
  return part;
}

bool is_shared(const ExpertStep& step, int expert) noexcept {
  return expert == step.routing.n_experts;
}

Part gate_of(const ExpertStep& step, int expert) noexcept {
  if (is_shared(step, expert)) return {.weight = &as_cpu(*step.shared.gate)};
  return part_of(step.gate, step.routing.n_experts, expert);
}

Part up_of(const ExpertStep& step, int expert) noexcept {
  if (is_shared(step, expert)) return {.weight = &as_cpu(*step.shared.up)};
  return part_of(step.up, step.routing.n_experts, expert);
}

Part down_of(const ExpertStep& step, int expert) noexcept {
  if (is_shared(step, expert)) return {.weight = &as_cpu(*step.shared.down)};
  return part_of(step.down, step.routing.n_experts, expert);
}

int hidden_cols(const ExpertStep& step, int expert) noexcept {
  return is_shared(step, expert) ? step.shared.hidden : step.gate.rows;
}

// g * sigmoid(alpha * g) * (u + 1) is silu(alpha * g) * ((u + 1) / alpha).
void clamp_gated(const ExpertStep& step, std::ptrdiff_t n, float* gate, float* up) noexcept {
  if (step.limit == 0) return;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    gate[i] = step.alpha * std::min(gate[i], step.limit);
    up[i] = (std::clamp(up[i], -step.limit, step.limit) + 1) / step.alpha;
  }
}

std::size_t floats(int a, int b) noexcept {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

int row_share(std::int64_t rows, int threads, int n_tokens_at_once, int few, int many) noexcept {
  const std::int64_t share = rows / (std::int64_t{kChunksPerThread} * threads) / kPanel * kPanel;
  return static_cast<int>(
      std::clamp<std::int64_t>(share, kPanel, n_tokens_at_once <= kPanel ? few : many));
}

}  // namespace

Result<void> CpuBackend::prepare_experts(const BackendLimits& limits) {
  const ExpertLimits& most = limits.experts;
  const auto tokens = static_cast<std::size_t>(limits.max_batch_tokens);
  const auto assigned = tokens * static_cast<std::size_t>(most.n_active);
  const auto rounded = [](int cols) { return (cols + 31) / 32 * 32; };
  const auto bytes_of = [&](int cols) {
    return cols == 0 ? 0 : activation_layout(rounded(cols)).bytes;
  };
  const auto hidden = static_cast<std::size_t>(rounded(most.hidden));
  const auto shared = static_cast<std::size_t>(rounded(most.shared_hidden));
  const std::size_t n_scores = tokens * static_cast<std::size_t>(2 * most.n_experts + 1);
  gathered_bytes_ = static_cast<std::size_t>(std::min(limits.max_batch_tokens, kTile)) *
                    bytes_of(limits.max_cols);
  WICK_TRY(scores_, AlignedBuffer::create(n_scores * sizeof(float)));
  WICK_TRY(expert_hidden_,
           AlignedBuffer::create((assigned * hidden + tokens * shared) * sizeof(float)));
  WICK_TRY(expert_quantized_, AlignedBuffer::create(assigned * bytes_of(most.hidden) +
                                                    tokens * bytes_of(most.shared_hidden)));
  WICK_TRY(gathered_,
           AlignedBuffer::create(static_cast<std::size_t>(team_.size()) * gathered_bytes_));
  chosen_.resize(assigned);
  chosen_weights_.resize(assigned);
  assignments_.resize(assigned + tokens);
  expert_runs_.resize(static_cast<std::size_t>(most.n_experts) + 1);
  expert_ends_.resize(static_cast<std::size_t>(most.n_experts) + 1);
  return {};
}

std::size_t CpuBackend::expert_scratch_bytes() const noexcept {
  return scores_.bytes() + expert_hidden_.bytes() + expert_quantized_.bytes() + gathered_.bytes() +
         chosen_.capacity() * sizeof(int) + chosen_weights_.capacity() * sizeof(float) +
         assignments_.capacity() * sizeof(Assignment) +
         expert_runs_.capacity() * sizeof(ExpertRun) + expert_ends_.capacity() * sizeof(int);
}

// Chooses each token's experts by its scores and sorts the tokens by expert; returns the number of
// experts in use.
int CpuBackend::assign(const ExpertStep& step, int n_tokens) noexcept {
  const Routing& routing = step.routing;
  const auto n = static_cast<std::size_t>(routing.n_experts);
  const auto active = static_cast<std::size_t>(routing.n_active);
  const bool has_gate = step.shared.router != nullptr;
  float* const choice = scores_.as<float>() + static_cast<std::size_t>(n_tokens) * (n + has_gate);
  const auto one = [&](int t, int) noexcept {
    const auto at = static_cast<std::size_t>(t);
    std::span<const float> bias;
    if (step.choice_bias != nullptr) bias = as_cpu(*step.choice_bias).values;
    route(routing, {scores_.as<float>() + at * (n + has_gate), n}, bias, {choice + at * n, n},
          std::span(chosen_).subspan(at * active, active),
          std::span(chosen_weights_).subspan(at * active, active));
  };
  if (n_tokens <= kFewTokens / kChunksPerThread) {
    for (int t = 0; t < n_tokens; ++t)
      one(t, 0);
  } else {
    team_.run(n_tokens, one);
  }
  const std::size_t all = static_cast<std::size_t>(n_tokens) * active;
  std::fill(expert_ends_.begin(), expert_ends_.end(), 0);
  for (std::size_t i = 0; i < all; ++i)
    ++expert_ends_[static_cast<std::size_t>(chosen_[i]) + 1];
  std::partial_sum(expert_ends_.begin(), expert_ends_.end(), expert_ends_.begin());
  int n_runs = 0;
  for (std::size_t e = 0; e < n; ++e) {
    const int first = expert_ends_[e], count = expert_ends_[e + 1] - first;
    if (count == 0) continue;
    expert_runs_[static_cast<std::size_t>(n_runs++)] = {
        .expert = static_cast<int>(e), .first = first, .count = count};
  }
  for (std::size_t i = 0; i < all; ++i) {  // ascending tokens; an expert's begin moves to its end
    int& at = expert_ends_[static_cast<std::size_t>(chosen_[i])];
    float weight = chosen_weights_[i];
    if (step.weight_scale != nullptr) {
      weight *= as_cpu(*step.weight_scale).values[static_cast<std::size_t>(chosen_[i])];
    }
    assignments_[static_cast<std::size_t>(at++)] = {.token = static_cast<int>(i / active),
                                                    .weight = weight};
  }
  if (step.shared.gate == nullptr) return n_runs;
  for (std::size_t t = 0; t < static_cast<std::size_t>(n_tokens); ++t) {
    const float weight = has_gate ? sigmoid(scores_.as<float>()[t * (n + 1) + n]) : 1;
    assignments_[all + t] = {.token = static_cast<int>(t), .weight = weight};
  }
  expert_runs_[static_cast<std::size_t>(n_runs++)] = {
      .expert = routing.n_experts, .first = static_cast<int>(all), .count = n_tokens};
  return n_runs;
}

CpuBackend::ExpertCut CpuBackend::cut_experts(const ExpertStep& step, int n_runs) noexcept {
  const auto runs = std::span(expert_runs_).first(static_cast<std::size_t>(n_runs));
  ExpertCut cut{.tile = std::min(kTile, limits_.max_batch_tokens)};
  std::int64_t rows = 0;
  for (const ExpertRun& run : runs) {
    rows += hidden_cols(step, run.expert);
    cut.most_tokens = std::max(cut.most_tokens, run.count);
  }
  cut.chunk_rows = row_share(rows, team_.size(), cut.most_tokens, kMaxChunkRows, kManyChunkRows);
  for (ExpertRun& run : runs) {
    run.first_chunk = cut.n_chunks;
    cut.n_chunks += (hidden_cols(step, run.expert) + cut.chunk_rows - 1) / cut.chunk_rows;
  }
  return cut;
}

// The inputs of assignments [at, at + count) of a run: rows of x where their tokens follow each
// other, else copies.
CpuBackend::PreparedRows CpuBackend::rows_of(const PreparedRows& x, const ExpertRun& run, int at,
                                             int count, bool is_quantized, int member) noexcept {
  const Assignment* const some = assignments_.data() + run.first + at;
  PreparedRows rows = x;
  rows.n = count;
  const auto row_bytes =
      is_quantized ? x.layout.bytes : static_cast<std::size_t>(x.float_stride) * sizeof(float);
  const auto* const from =
      is_quantized ? x.quantized : reinterpret_cast<const std::byte*>(x.floats);
  const std::byte* first = from + static_cast<std::size_t>(some[0].token) * row_bytes;
  if (some[count - 1].token - some[0].token != count - 1) {
    std::byte* const to = gathered_.data() + static_cast<std::size_t>(member) * gathered_bytes_;
    for (int i = 0; i < count; ++i) {
      std::copy_n(from + static_cast<std::size_t>(some[i].token) * row_bytes, row_bytes,
                  to + static_cast<std::size_t>(i) * row_bytes);
    }
    first = to;
  }
  if (is_quantized) {
    rows.quantized = first;
  } else {
    rows.floats = reinterpret_cast<const float*>(first);
  }
  return rows;
}

// The hidden rows of assignments [at, at + count) of a run.
CpuBackend::PreparedRows CpuBackend::hidden_of(const ExpertStep& step, const ExpertRun& run, int at,
                                               int count) const noexcept {
  const bool shared = is_shared(step, run.expert);
  const std::size_t before = shared ? static_cast<std::size_t>(run.first) : 0;
  const std::size_t place =
      shared ? static_cast<std::size_t>(at) : static_cast<std::size_t>(run.first + at);
  const int cols = hidden_cols(step, run.expert);
  const DType type = down_of(step, run.expert).weight->type;
  PreparedRows rows{.n = count, .float_stride = cols};
  rows.floats = expert_hidden_.as<float>() + before * static_cast<std::size_t>(step.gate.rows) +
                place * static_cast<std::size_t>(cols);
  if (!needs_quantized(type)) return rows;
  const auto layout_of = [&](const CpuWeight& w) {
    return activation_layout(w.cols, matmul_.reads_int16[static_cast<std::size_t>(w.type)]);
  };
  rows.layout = layout_of(*down_of(step, run.expert).weight);
  const CpuWeight& routed = as_cpu(*step.down.w[0]);
  const std::size_t behind =
      before == 0 || !needs_quantized(routed.type) ? 0 : before * layout_of(routed).bytes;
  rows.quantized = expert_quantized_.data() + behind + place * rows.layout.bytes;
  return rows;
}

void CpuBackend::multiply_gate_up(const ExpertStep& step, const PreparedRows& x,
                                  const ExpertCut& cut, int n_runs) noexcept {
  const auto runs = std::span(expert_runs_).first(static_cast<std::size_t>(n_runs));
  const GateFn plain = vector_.gate[static_cast<std::size_t>(step.act)];
  team_.run(cut.n_chunks, [&](int index, int member) noexcept {
    const auto behind = std::upper_bound(
        runs.begin(), runs.end(), index,
        [](int chunk, const ExpertRun& run) noexcept { return chunk < run.first_chunk; });
    const ExpertRun& run = *(behind - 1);
    const int cols = hidden_cols(step, run.expert);
    const int row = (index - run.first_chunk) * cut.chunk_rows;
    const int n = std::min(cut.chunk_rows, cols - row);
    const Part gate = gate_of(step, run.expert), up = up_of(step, run.expert);
    const bool is_quantized = needs_quantized(gate.weight->type);
    for (int at = 0; at < run.count; at += cut.tile) {
      const int count = std::min(cut.tile, run.count - at);
      const PreparedRows rows = rows_of(x, run, at, count, is_quantized, member);
      float* const a = results(member);
      float* const b = a + static_cast<std::ptrdiff_t>(count) * n;
      const auto packed = [&](float* y) {
        return Tensor{.data = y, .rows = count, .cols = n, .row_stride = n};
      };
      multiply(*gate.weight, nullptr, gate.row + row, rows, packed(a));
      multiply(*up.weight, nullptr, up.row + row, rows, packed(b));
      if (gate.bias != nullptr) add_bias(gate.bias + row, count, n, a, n);
      if (up.bias != nullptr) add_bias(up.bias + row, count, n, b, n);
      add_expert_adapters(step, run, {kGateMatrix, row, at}, packed(a), member);
      add_expert_adapters(step, run, {kUpMatrix, row, at}, packed(b), member);
      if (!is_shared(step, run.expert)) clamp_gated(step, std::ptrdiff_t{count} * n, a, b);
      const PreparedRows hidden = hidden_of(step, run, at, count);
      for (int t = 0; t < count; ++t) {
        plain(a + static_cast<std::ptrdiff_t>(t) * n, b + static_cast<std::ptrdiff_t>(t) * n, n,
              const_cast<float*>(hidden.floats) + t * hidden.float_stride + row);
      }
    }
  });
}

void CpuBackend::quantize_hidden(const ExpertStep& step, int n_runs) noexcept {
  const auto runs = std::span(expert_runs_).first(static_cast<std::size_t>(n_runs));
  const auto one = [&](int index, int) noexcept {
    const auto behind = std::upper_bound(
        runs.begin(), runs.end(), index,
        [](int place, const ExpertRun& run) noexcept { return place < run.first; });
    const ExpertRun& run = *(behind - 1);
    const PreparedRows row = hidden_of(step, run, index - run.first, 1);
    if (row.quantized == nullptr) return;
    matmul_.quantize(row.floats, row.layout, const_cast<std::byte*>(row.quantized));
  };
  const int all = runs.back().first + runs.back().count;
  if (floats(all, step.gate.rows) <= kInlineValues) {
    for (int i = 0; i < all; ++i)
      one(i, 0);
  } else {
    team_.run(all, one);
  }
}

void CpuBackend::multiply_down(Tensor y, const ExpertStep& step, const ExpertCut& cut,
                               int n_runs) noexcept {
  const auto runs = std::span(expert_runs_).first(static_cast<std::size_t>(n_runs));
  const int chunk = row_share(y.cols, team_.size(), cut.most_tokens, kMaxChunkRows, kManyChunkRows);
  team_.run((y.cols + chunk - 1) / chunk, [&](int index, int member) noexcept {
    const int row = index * chunk, n = std::min(chunk, y.cols - row);
    for (int t = 0; t < y.rows && !step.adds; ++t)
      std::fill_n(y.data + static_cast<std::ptrdiff_t>(t) * y.row_stride + row, n, 0.F);
    float* const r = results(member);
    for (const ExpertRun& run : runs) {
      const Part down = down_of(step, run.expert);
      for (int at = 0; at < run.count; at += cut.tile) {
        const int count = std::min(cut.tile, run.count - at);
        const Tensor packed{.data = r, .rows = count, .cols = n, .row_stride = n};
        multiply(*down.weight, nullptr, down.row + row, hidden_of(step, run, at, count), packed);
        if (down.bias != nullptr) add_bias(down.bias + row, count, n, r, n);
        add_expert_adapters(step, run, {kDownMatrix, row, at}, packed, member);
        for (int t = 0; t < count; ++t) {
          const Assignment& one = assignments_[static_cast<std::size_t>(run.first + at + t)];
          vector_.add_scaled(y.data + static_cast<std::ptrdiff_t>(one.token) * y.row_stride + row,
                             r + static_cast<std::ptrdiff_t>(t) * n, one.weight, n);
        }
      }
    }
  });
}

void CpuBackend::multiply_routers(const ExpertStep& step, const PreparedRows& rows) noexcept {
  const Weight* const routers[] = {step.router, step.shared.router};
  const Weight* const biases[] = {step.router_bias, nullptr};
  const std::size_t n = step.shared.router == nullptr ? 1 : 2;
  const int cols = step.routing.n_experts + static_cast<int>(n) - 1;
  product({.data = scores_.as<float>(), .rows = rows.n, .cols = cols, .row_stride = cols}, rows,
          {.w = std::span(routers).first(n),
           .bias = std::span(biases).first(n),
           .scale = step.router_scale});
}

void CpuBackend::experts(Tensor y, Tensor x, const ExpertStep& step) noexcept {
  const Routing& routing = step.routing;
  const ExpertLimits& most = limits_.experts;
  WICK_CHECK(routing.n_active >= 1 && routing.n_active <= routing.n_experts &&
                 routing.n_active <= most.n_active && routing.n_experts <= most.n_experts &&
                 step.gate.rows <= most.hidden && step.shared.hidden <= most.shared_hidden,
             "a mixture stays within the limits given to prepare()");
  WICK_CHECK(step.up.rows == step.gate.rows && as_cpu(*step.down.w[0]).cols == step.gate.rows &&
                 step.down.rows == y.cols && y.rows == x.rows &&
                 as_cpu(*step.router).rows == routing.n_experts,
             "the matrices of a mixture fit each other");
  WICK_CHECK(step.router_gain == nullptr || step.shared.router == nullptr,
             "a router with a gain of its own stands alone");
  const bool is_apart = step.router_gain != nullptr;
  if (is_apart) {
    multiply_routers(
        step, prepare_rows(
                  x, nullptr, x.rows,
                  {.w = std::span(&step.router, 1), .gain = step.router_gain, .norm = step.norm}));
  }
  const Weight* const all[] = {is_apart ? nullptr : step.router,
                               step.gate.w[0],
                               step.up.w[0],
                               step.shared.gate,
                               step.shared.up,
                               step.shared.router};
  const Weight* used[std::size(all)];
  const auto end = std::copy_if(std::begin(all), std::end(all), std::begin(used),
                                [](const Weight* w) { return w != nullptr; });
  const std::span<const Weight* const> weights(used, static_cast<std::size_t>(end - used));
  const PreparedRows rows =
      prepare_rows(x, nullptr, x.rows, {.w = weights, .gain = step.gain, .norm = step.norm});
  if (!is_apart) multiply_routers(step, rows);
  const int n_runs = assign(step, x.rows);
  const ExpertCut cut = cut_experts(step, n_runs);
  multiply_expert_low(step, rows, cut, n_runs, kGateMatrix, kDownMatrix);
  multiply_gate_up(step, rows, cut, n_runs);
  multiply_expert_low(step, rows, cut, n_runs, kDownMatrix, kExpertMatrices);
  quantize_hidden(step, n_runs);
  multiply_down(y, step, cut, n_runs);
}

}  // namespace wick
