// LoRA adapters of experts, as in adapters.cc: W x becomes W x + B (scale * (A x)) in the gate, up
// and down matrices. A product A x belongs to neighboring assignments of one expert whose tokens
// use the adapter; those of gate and up are a phase before theirs, those of down one behind it.
#include <algorithm>

#include "backend/cpu/cpu_backend.h"
#include "base/check.h"

namespace wick {
namespace {

bool serves_all(const ExpertStep& step, int expert) noexcept {
  return expert == step.routing.n_experts;
}

// The rows of one expert in a matrix that has those of all.
int rows_of_one(const ExpertStep& step, int expert, const Weight& all) noexcept {
  return as_cpu(all).rows / (serves_all(step, expert) ? 1 : step.routing.n_experts);
}

int row_of(const ExpertStep& step, int expert, const Weight& all) noexcept {
  return serves_all(step, expert) ? 0 : expert * rows_of_one(step, expert, all);
}

std::span<const LowRank> changes_of(const ExpertStep& step, int expert, int matrix) noexcept {
  const Weight* const shared[] = {step.shared.gate, step.shared.up, step.shared.down};
  const ExpertMatrix* const routed[] = {&step.gate, &step.up, &step.down};
  if (serves_all(step, expert)) return shared[matrix]->adapters;
  return routed[matrix]->changes;
}

}  // namespace

Result<void> CpuBackend::prepare_expert_adapters(const BackendLimits& limits) {
  // Each assignment with each adapter, in gate and up; the shared expert's, too.
  const std::size_t most = 2 * static_cast<std::size_t>(limits.max_batch_tokens) *
                           static_cast<std::size_t>(limits.experts.n_active + 1) *
                           static_cast<std::size_t>(limits.max_adapters);
  WICK_TRY(expert_low_, AlignedBuffer::create(most * sizeof(ExpertLow)));
  WICK_TRY(expert_low_values_,
           AlignedBuffer::create(most * sizeof(float) * static_cast<std::size_t>(limits.max_rank)));
  return {};
}

// The products of `change` with the tokens of a run, kFewTokens at a time and none across tiles.
void CpuBackend::list_expert_low(const ExpertStep& step, int index, int matrix,
                                 const LowRank& change, int tile) noexcept {
  const ExpertRun& run = expert_runs_[static_cast<std::size_t>(index)];
  const auto begin = assignments_.begin() + run.first;
  const auto place_of = [&](int token) {
    const auto place = std::lower_bound(
        begin, begin + run.count, token,
        [](const Assignment& one, int wanted) noexcept { return one.token < wanted; });
    return static_cast<int>(place - begin);
  };
  const int rank = rows_of_one(step, run.expert, *change.a);
  WICK_CHECK(change.adapter < limits_.max_adapters && rank <= limits_.max_rank,
             "adapters stay within the limits given to prepare()");
  for (const AdapterRun& use : adapter_runs_) {
    if (use.adapter != change.adapter) continue;
    const int end = place_of(use.first + use.count);
    for (int at = place_of(use.first); at < end;) {
      const int stop = std::min({end, at + kFewTokens, (at / tile + 1) * tile});
      expert_low_.as<ExpertLow>()[n_expert_low_++] = {
          .change = &change,
          .run = index,
          .matrix = matrix,
          .at = at,
          .count = stop - at,
          .scale = change.scale * use.scale,
          .values = expert_low_values_.as<float>() + n_expert_low_floats_};
      n_expert_low_floats_ += static_cast<std::size_t>(stop - at) * static_cast<std::size_t>(rank);
      at = stop;
    }
  }
}

// A x for matrices [first, end) of gate, up and down; x of the down matrix are the hidden rows.
void CpuBackend::multiply_expert_low(const ExpertStep& step, const PreparedRows& x,
                                     const ExpertCut& cut, int n_runs, int first,
                                     int end) noexcept {
  if (adapter_runs_.empty()) return;
  n_expert_low_ = n_expert_low_floats_ = 0;
  for (int index = 0; index < n_runs; ++index) {
    ExpertRun& run = expert_runs_[static_cast<std::size_t>(index)];
    run.first_low = static_cast<int>(n_expert_low_);
    for (int matrix = first; matrix < end; ++matrix) {
      for (const LowRank& change : changes_of(step, run.expert, matrix))
        list_expert_low(step, index, matrix, change, cut.tile);
    }
    run.end_low = static_cast<int>(n_expert_low_);
  }
  if (n_expert_low_ == 0) return;
  team_.run(static_cast<int>(n_expert_low_), [&](int task, int member) noexcept {
    const ExpertLow& one = expert_low_.as<ExpertLow>()[task];
    const ExpertRun& run = expert_runs_[static_cast<std::size_t>(one.run)];
    const Weight& a = *one.change->a;
    const int rank = rows_of_one(step, run.expert, a);
    const PreparedRows rows = one.matrix == kDownMatrix
                                  ? hidden_of(step, run, one.at, one.count)
                                  : rows_of(x, run, one.at, one.count, false, member);
    multiply(as_cpu(a), nullptr, row_of(step, run.expert, a),
             {.n = one.count, .floats = rows.floats, .float_stride = rows.float_stride},
             {.data = one.values, .rows = one.count, .cols = rank, .row_stride = rank});
    for (int i = 0; i < one.count * rank; ++i)
      one.values[i] *= one.scale;
  });
}

// y: rows [row, row + columns of y) of an expert's matrix times its assignments from `at` on; adds
// what adapters change.
void CpuBackend::add_expert_adapters(const ExpertStep& step, const ExpertRun& run,
                                     const ExpertPart& part, Tensor y, int member) noexcept {
  for (int i = run.first_low; i < run.end_low; ++i) {
    const ExpertLow& one = expert_low_.as<ExpertLow>()[i];
    if (one.matrix != part.matrix || one.at < part.at || one.at >= part.at + y.rows) continue;
    const Weight& b = *one.change->b;
    const int rank = as_cpu(b).cols;
    float* const r = changes_.as<float>() + static_cast<std::size_t>(member) * changes_floats_;
    multiply(as_cpu(b), nullptr, row_of(step, run.expert, b) + part.row,
             {.n = one.count, .floats = one.values, .float_stride = rank},
             {.data = r, .rows = one.count, .cols = y.cols, .row_stride = y.cols});
    for (int t = 0; t < one.count; ++t) {
      float* const to = y.data + static_cast<std::ptrdiff_t>(one.at - part.at + t) * y.row_stride;
      vector_.add_scaled(to, r + static_cast<std::ptrdiff_t>(t) * y.cols, 1, y.cols);
    }
  }
}

}  // namespace wick
