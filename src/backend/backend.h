// Where and how a model computes. A Backend owns memory and kernels; the forward pass in model/ is
// ordinary C++ that calls these verbs in order. A verb is a phase: one barrier on a CPU, one or two
// kernels on a GPU; what surrounds a product travels with it, so that a row is read, normalised and
// quantised once. One thread (the engine's) calls a Backend.
//
//   auto cpu = *make_cpu_backend({.threads = 2});
//   auto w = *cpu->upload(*file.find("blk.0.attn_q.weight"), {});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/types.h"
#include "format/model_file.h"
#include "quant/dtype.h"

namespace wick {

// Memory of a backend. On the CPU: zeroed, 64-byte aligned, address space that becomes memory page
// by page as it is touched.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::byte* data() noexcept = 0;
  virtual std::size_t bytes() const noexcept = 0;
};

// A tensor of the model where the backend can use it. On the CPU matrices stay in the mapped file;
// vectors become floats.
class Weight {
 public:
  virtual ~Weight() = default;
  DType type = DType::kF32;
  Shape shape = {};  // {out_features, in_features}, or {n}
};

// How a tensor of a file becomes the canonical one (GGUF's conventions); a matrix is never copied
// for it.
struct WeightFix {
  bool add_one = false;         // gains that are stored minus one; vectors only
  int permute_heads = 0;        // rows of each of so many heads from half-split (Hugging Face) to
                                // adjacent pairs (GGUF's llama)
  std::int64_t row_begin = 0;   // a part of the rows (fused QKV) …
  std::int64_t row_count = -1;  // … -1 = all
};

struct Tensor {  // activations, float: rows = tokens, cols = features; memory of the backend that
                 // made it
  float* data = nullptr;
  int rows = 0;
  int cols = 0;
  int row_stride = 0;  // elements
};

enum class Act : std::uint8_t { kSilu, kGelu, kGeluTanh, kRelu2 };

struct NormParams {
  bool rms = true;
  float eps = 1e-6F;
};

struct RopeParams {
  enum Layout : std::uint8_t { kNone, kHalves, kPairs } layout = kHalves;

  int dim = 0;  // rotated features per head; the rest passes through
  float theta = 1e4F;
  float freq_scale = 1;  // linear scaling: 1 / factor
  // YaRN (Peng et al. 2023): ext_factor 0 = off
  float ext_factor = 0, attn_factor = 1, beta_fast = 32, beta_slow = 1;
  int ctx_orig = 0;
  const Weight* factors = nullptr;  // Llama 3, LongRoPE: [dim / 2], one divisor for each frequency
};

enum class KvType : std::uint8_t { kF32, kBF16, kF16, kQ8_0, kQ4_0 };

inline constexpr KvType kKvTypes[] = {KvType::kF32, KvType::kBF16, KvType::kF16, KvType::kQ8_0,
                                      KvType::kQ4_0};
std::string_view name(KvType type) noexcept;
// The number of features of a head must be a multiple of this.
int kv_granule(KvType type) noexcept;
inline constexpr int kBlockTokens = 16;  // positions in a cache block

// Bytes of one block (16 positions) of one head with `dim` features: the layouts of
// docs/numerics.md, "Attention".
std::size_t kv_head_block_bytes(KvType type, int dim) noexcept;

// One layer's share of the cache. Block b of the keys starts at k + b * n_kv_heads *
// kv_head_block_bytes(k_type, k_dim), inside it the heads follow each other; values likewise.
// Position p of sequence s lies in block tables[s * table_stride + p / 16].
struct KvView {
  std::byte* k = nullptr;
  std::byte* v = nullptr;
  KvType k_type = KvType::kBF16, v_type = KvType::kBF16;
  int n_kv_heads = 0, k_dim = 0, v_dim = 0;
  const std::int32_t* tables = nullptr;
  int table_stride = 0;
};

struct Batch {  // spans into engine-owned arrays; entries of one sequence are contiguous and
                // ascending
  std::span<const TokenId> tokens = {};  // [n]
  std::span<const Pos> positions = {};   // [n]
  std::span<const SeqId> seqs = {};      // [n]
  std::span<const int> logit_rows = {};  // [m] rows of the batch which need logits
};

struct Linear {
  std::span<const Weight* const> w =
      {};  // one matrix, or several that share x (q k v; gate up): outputs side by side
  std::span<const Weight* const> bias = {};  // empty, or one for each matrix, nullptr = none
  const Weight* gain = nullptr;              // normalise x by `norm` first; nullptr = x as it is
  NormParams norm = {};
  // r = W·x + bias; kStore: y = r; kAdd: y = fma(scale, r, y); kGate: y = act(first half of r) *
  // second half
  enum class Then : std::uint8_t { kStore, kAdd, kGate } then = Then::kStore;
  float scale = 1;
  Act act = Act::kSilu;
};

struct HeadStep {  // what happens to each head of q and k before it is used or stored: norm (if a
                   // gain is there), then rotation
  const Weight* q_gain = nullptr;
  const Weight* k_gain = nullptr;
  NormParams norm = {};
  RopeParams rope = {};
};

struct AttendParams {
  int n_heads = 0, n_kv_heads = 0, k_dim = 0, v_dim = 0;
  float scale = 1;    // multiplies q·k
  int window = 0;     // tokens seen, itself included; 0 = all
  float softcap = 0;  // 0 = off
};

struct BackendLimits {  // what the verbs must be ready for without allocating; given once, at load
  int max_batch_tokens = 512;
  int max_cols = 0;  // widest activation row
  int max_heads = 0, max_head_dim = 0;
  int max_context = 0;  // positions
  int max_seqs = 1;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const noexcept = 0;  // "cpu/avx2", "cuda:0"
  virtual int threads() const noexcept = 0;

  // Cold: load time.
  virtual Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) = 0;
  virtual Result<std::unique_ptr<Weight>> upload(const TensorView& tensor,
                                                 const WeightFix& fix) = 0;
  // Allocates all scratch; angles of `ropes` (cos and sin in double, stored as f32) up to
  // max_context positions are made when first needed, block by block. Call once, after every upload
  // and before the first verb.
  virtual Result<void> prepare(const BackendLimits& limits, std::span<const RopeParams> ropes) = 0;
  virtual std::size_t scratch_bytes() const noexcept = 0;  // what prepare() took, once all is used

  // Hot: run or enqueue, in order; never allocates, locks or fails. Device faults surface in
  // sync().
  virtual void embed(Tensor y, const Weight& table, std::span<const TokenId> ids,
                     float scale) noexcept = 0;
  virtual void linear(Tensor y, Tensor x, const Linear& step) noexcept = 0;
  // The product of `step` (w = q, k, v), then HeadStep for each head of q and k. q goes to `q` [n,
  // n_heads * k_dim], k and v go to the cache at the batch's positions. A q of zero columns: keys
  // and values only.
  virtual void qkv(Tensor q, Tensor x, const Linear& step, const HeadStep& head, const KvView& kv,
                   const Batch& batch) noexcept = 0;
  virtual void attend(Tensor y, Tensor q, const KvView& kv, const Batch& batch,
                      const AttendParams& p) noexcept = 0;
  // y [m, vocab]: the head's product (normalised first, as in `head`) for the given rows of x.
  virtual void logits(Tensor y, Tensor x, const Linear& head,
                      std::span<const int> rows) noexcept = 0;
  // Each row of x becomes its norm times `gain`.
  virtual void normalise(Tensor x, const Weight& gain, const NormParams& norm) noexcept = 0;
  virtual Result<void> sync() = 0;
};

struct CpuOptions {
  int threads = 0;  // 0 = what this process may use: affinity and cgroup quota
};

Result<std::unique_ptr<Backend>> make_cpu_backend(const CpuOptions& options);

}  // namespace wick
