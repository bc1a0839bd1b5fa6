// The CPU backend: ops as phases on a thread team, over kernels of one ISA. Owns a model's scratch;
// nothing is allocated after create(). One thread (the engine's) calls it.
//
// Parts of an op:
//   rows    activations are normalized and quantized once, by the caller when they are few, else as
//           a phase of its own (rows.cc)
//   product a phase whose chunks are rows of the step's matrices; each chunk finishes what it
//           computed: bias, sum, gate, heads and cache (product.cc, qkv.cc)
//   attend  a phase whose chunks are (tile of queries, group of heads), or single ranges of
//           positions if there are few tiles (attend.cc)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/cpu/rope_table.h"
#include "backend/cpu/shared_team.h"
#include "backend/cpu/weight.h"
#include "backend/memory_account.h"
#include "base/aligned.h"
#include "kernels/cpu/isa.h"

namespace wick {

class CpuBackend final : public Backend {
 public:
  static Result<std::unique_ptr<CpuBackend>> create(Isa isa, TeamShare team, MemoryAccount& account,
                                                    const BackendLimits& limits,
                                                    std::span<const RopeParams> ropes);

  int threads() const noexcept override { return team_.size(); }

  std::size_t scratch_bytes() const noexcept override;

  // Hot:
  void begin_pass() noexcept override { team_.begin(); }

  void yield() noexcept override { team_.yield(); }

  void end_pass() noexcept override {
    adapter_runs_ = {};
    team_.end();
  }

  void use_adapters(std::span<const AdapterRun> runs) noexcept override { adapter_runs_ = runs; }

  void embed(Tensor y, const Weight& table, std::span<const TokenId> ids,
             const Embed& step) noexcept override;
  void linear(Tensor y, Tensor x, const Linear& step) noexcept override;
  void qkv(Tensor q, Tensor x, const Linear& step, const QkNormRope& head, const KvView& kv,
           const Batch& batch) noexcept override;
  void linear_heads(Tensor y, Tensor x, const HeadLinear& step) noexcept override;
  void latent(Tensor q, Tensor x, Tensor c, const QkNormRope& head, const KvView& kv,
              const Batch& batch) noexcept override;
  void attend(Tensor y, Tensor q, const KvView& kv, const Batch& batch,
              const AttendParams& p) noexcept override;
  void delta(Tensor y, Tensor x, const DeltaParams& p, const StateView& states,
             const Batch& batch) noexcept override;
  void experts(Tensor y, Tensor x, const ExpertStep& step) noexcept override;
  void logits(Tensor y, Tensor x, const Linear& head, std::span<const int> rows) noexcept override;
  void normalize(Tensor y, Tensor x, const Normalize& step) noexcept override;

  // Cold:
  Result<void> sync() override { return {}; }

 private:
  static constexpr int kMaxMatrices = 4;  // with the same input in one step
  // Up to here the calling thread prepares activations alone.
  static constexpr int kInlineValues = 8192;
  static constexpr int kFewTokens = 32;
  static constexpr int kMaxChunkRows = 512;  // with few tokens: long streams
  static constexpr int kManyChunkRows = 64;  // with more tokens: more work per row
  static constexpr int kMaxSplitTiles = 8;   // tiles whose ranges are separate chunks

  // Prepared activations: quantized, float, or both, as the matrices of a step need.
  struct PreparedRows {
    int n = 0;
    ActivationLayout layout = {};
    const std::byte* quantized = nullptr;
    bool has_residuals = false;  // after the n rows: their quantized residuals
    const float* floats = nullptr;
    std::ptrdiff_t float_stride = 0;
  };

  // How a phase partitions the matrices of a step into chunks of rows. In a gated step a chunk is
  // rows of the gate with the same rows of the other half.
  struct RowPartition {
    int n_parts = 0;
    const CpuWeight* weight[kMaxMatrices] = {};
    const float* bias[kMaxMatrices] = {};
    int rows[kMaxMatrices] = {};         // rows to partition
    int chunk_rows[kMaxMatrices] = {};   // of a chunk, the last may have fewer
    int first_chunk[kMaxMatrices] = {};  // of the part
    int column[kMaxMatrices] = {};       // of the part's first row in y
    int n_chunks = 0;
  };

  struct Chunk {
    int part = 0, row = 0, count = 0;
  };

  // The product A x of a LoRA adapter for rows [first, first + count) of a step's x, times its
  // scale.
  struct LowProduct {
    const LowRank* change = nullptr;
    int matrix = 0;  // of the step
    int first = 0, count = 0;
    float scale = 1;
    float* values = nullptr;  // [count][rank]
  };

  struct Run {  // tokens of one sequence in a batch
    int token = 0, count = 0;
    SeqId seq = 0;
  };

  struct HeadRun {
    Run run = {};
    int head = 0;  // of values
  };

  struct Assignment {  // a token that an expert computes, and the weight of the result
    int token = 0;
    float weight = 0;
  };

  // The tokens of one expert, assignments [first, first + count), ascending. The shared expert
  // follows the others.
  struct ExpertRun {
    int expert = 0;  // n_experts: the shared one
    int first = 0, count = 0;
    int first_chunk = 0;             // of the gate's and up's rows
    int first_low = 0, end_low = 0;  // its ExpertLows
  };

  enum ExpertMatrixIndex { kGateMatrix, kUpMatrix, kDownMatrix, kExpertMatrices };

  // LowProduct of assignments [at, at + count) of a run.
  struct ExpertLow {
    const LowRank* change = nullptr;
    int run = 0, matrix = 0;
    int at = 0, count = 0;
    float scale = 1;
    float* values = nullptr;  // [count][rank]
  };

  // Where a product of an expert begins: its row of the matrix, its assignment of the run.
  struct ExpertPart {
    int matrix = 0, row = 0, at = 0;
  };

  // How a phase over experts is cut: chunks of rows, and tokens that a chunk computes at once.
  struct ExpertCut {
    int chunk_rows = 0, tile = 0, n_chunks = 0;
    int most_tokens = 0;  // of an expert
  };

  struct Tile {  // queries of one sequence inside one block of 16 positions
    int token = 0, count = 0;
    SeqId seq = 0;
    Pos position = 0;  // of the first query
    int end = 0;       // AttentionArgs::end
    int first_task = 0;
    RangeSpan ranges = {};
  };

  CpuBackend(Isa isa, TeamShare team);
  Result<void> prepare(const BackendLimits& limits, std::span<const RopeParams> ropes);

  // rows.cc
  PreparedRows prepare_rows(Tensor x, const int* index, int n, const Linear& step,
                            bool wants_residuals = false) noexcept;
  void prepare_row(std::span<const float> x, int t, int member, const Linear& step,
                   const PreparedRows& rows, bool needs_floats) noexcept;

  // product.cc
  RowPartition partition_rows(const Linear& step, const int* granule, int n_tokens) const noexcept;
  static Chunk chunk_at(const RowPartition& partition, int chunk) noexcept;
  void multiply(const CpuWeight& w, const float* bias, int row, const PreparedRows& rows,
                Tensor y) const noexcept;
  void multiply_both(const CpuWeight& w, const float* bias, int row, int count,
                     const PreparedRows& rows, float* y) const noexcept;
  void product(Tensor y, const PreparedRows& rows, const Linear& step) noexcept;
  void finish_stored(Tensor y, const Linear& step) const noexcept;
  void gated_product(Tensor y, const PreparedRows& rows, const Linear& step) noexcept;

  float* results(int member) const noexcept {
    return results_.as<float>() + static_cast<std::size_t>(member) * results_floats_;
  }

  // adapters.cc
  Result<void> prepare_adapters(const BackendLimits& limits);
  std::size_t adapter_bytes() const noexcept;
  bool is_adapted(const Weight& weight) const noexcept;
  void multiply_low(const Linear& step, const int* index, const PreparedRows& rows) noexcept;
  void list_low(const LowRank& change, int matrix, const int* index, int n) noexcept;
  void add_adapters(int matrix, int row, Tensor y, int member) noexcept;

  // qkv.cc
  void normalize_row(std::span<const float> x, const Weight& gain, const Weight* shift,
                     const NormParams& norm, float* y) const noexcept;
  void normalize_head(float* head, int dim, const Weight* gain, const QkNormRope& step,
                      int index) const noexcept;
  void rotate(float* head, const QkNormRope& step, const RopeTable* table, Pos pos) const noexcept;
  void finish_joint(Tensor q, const QkNormRope& head, const KvView& kv,
                    const Batch& batch) noexcept;
  const RopeTable* table_for(const QkNormRope& step, const Batch& batch) noexcept;

  // delta.cc
  int make_runs(const Batch& batch) noexcept;
  void delta_head(Tensor y, Tensor x, const DeltaParams& p, const StateView& states,
                  const HeadRun& part, float* scratch) noexcept;

  // experts.cc
  Result<void> prepare_experts(const BackendLimits& limits);
  std::size_t expert_scratch_bytes() const noexcept;
  int assign(const ExpertStep& step, int n_tokens) noexcept;
  ExpertCut cut_experts(const ExpertStep& step, int n_runs) noexcept;
  void multiply_routers(const ExpertStep& step, const PreparedRows& rows) noexcept;
  PreparedRows rows_of(const PreparedRows& x, const ExpertRun& run, int at, int count,
                       bool is_quantized, int member) noexcept;
  PreparedRows hidden_of(const ExpertStep& step, const ExpertRun& run, int at,
                         int count) const noexcept;
  static void add_bias(const float* bias, int n_tokens, int count, float* y,
                       std::ptrdiff_t y_stride) noexcept;
  void multiply_gate_up(const ExpertStep& step, const PreparedRows& x, const ExpertCut& cut,
                        int n_runs) noexcept;
  void quantize_hidden(const ExpertStep& step, int n_runs) noexcept;
  void multiply_down(Tensor y, const ExpertStep& step, const ExpertCut& cut, int n_runs) noexcept;

  // expert_adapters.cc
  Result<void> prepare_expert_adapters(const BackendLimits& limits);
  void list_expert_low(const ExpertStep& step, int index, int matrix, const LowRank& change,
                       int tile) noexcept;
  void multiply_expert_low(const ExpertStep& step, const PreparedRows& x, const ExpertCut& cut,
                           int n_runs, int first, int end) noexcept;
  void add_expert_adapters(const ExpertStep& step, const ExpertRun& run, const ExpertPart& part,
                           Tensor y, int member) noexcept;

  // attend.cc
  int make_tiles(const Batch& batch, const AttentionArgs& args, bool is_causal = true) noexcept;
  void attend_tiles(const AttentionArgs& args, int n_tiles, const KvView& kv, Tensor y,
                    Tensor q) noexcept;
  void attend_split(const AttentionArgs& args, int n_tiles, const KvView& kv, Tensor y,
                    Tensor q) noexcept;
  AttentionArgs tile_args(const AttentionArgs& args, const Tile& tile, int group, const KvView& kv,
                          Tensor y, Tensor q) const noexcept;

  TeamShare team_;
  const MatmulKernels& matmul_;
  const VectorKernels& vector_;
  BackendLimits limits_ = {};
  std::vector<RopeTable> ropes_ = {};
  AlignedBuffer quantized_ = {};  // [2][tokens][activation row]: rows, their residuals
  AlignedBuffer left_over_ = {};  // [members][cols], before it is quantized
  AlignedBuffer floats_ = {};     // [tokens][cols], normalized
  AlignedBuffer results_ = {};    // [members][2][tokens * chunk rows]
  std::size_t results_floats_ = 0;
  AlignedBuffer attention_ = {};  // [members][attention scratch]
  std::size_t attention_floats_ = 0;
  AlignedBuffer states_ = {};            // attention states of separate ranges
  AlignedBuffer keys_ = {};              // [tokens][keys], before a norm over all of their heads
  AlignedBuffer scores_ = {};            // [tokens][experts, then the shared one]
  AlignedBuffer expert_hidden_ = {};     // [assignments][hidden], the shared expert's after them
  AlignedBuffer expert_quantized_ = {};  // the same, quantized
  AlignedBuffer gathered_ = {};          // [members][tile][row of x]
  std::size_t gathered_bytes_ = 0;
  std::span<const AdapterRun> adapter_runs_ = {};
  std::vector<LowProduct> low_ = {};  // of the current step, by matrix
  std::size_t n_low_ = 0, n_low_floats_ = 0;
  AlignedBuffer low_values_ = {};  // their values, one after the other
  AlignedBuffer changes_ = {};     // [members][kFewTokens * chunk rows]
  std::size_t changes_floats_ = 0;
  AlignedBuffer expert_low_ = {};  // ExpertLows of the current step, by run
  AlignedBuffer expert_low_values_ = {};
  std::size_t n_expert_low_ = 0, n_expert_low_floats_ = 0;
  std::vector<int> chosen_ = {};  // [tokens][n_active]
  std::vector<float> chosen_weights_ = {};
  std::vector<Assignment> assignments_ = {};
  std::vector<ExpertRun> expert_runs_ = {};
  std::vector<int> expert_ends_ = {};
  std::vector<Tile> tiles_ = {};
  std::vector<Run> runs_ = {};
  std::unique_ptr<std::atomic<int>[]> pending_ = {};  // ranges left, by (tile, group)
  std::size_t n_pending_ = 0;
  MemoryHold hold_ = {};  // all of these
};

}  // namespace wick
