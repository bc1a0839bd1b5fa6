// The ops of one model on a device, with their scratch memory and RoPE tables. The forward pass in
// model/ is ordinary C++ that calls these ops in order. Most ops are one phase (one barrier on a
// CPU, one or two kernels on a GPU); experts(), delta() and products of many tokens take more.
// Norms and activations are fused into the adjacent matmul, so a row is read, normalized and
// quantized once. One thread (the engine's) calls a Backend. Memory and threads belong to its
// Device, which models share.
//
//   auto w = *device.upload(*file.find("blk.0.attn_q.weight"), {});
//   auto backend = *device.create_backend({.max_batch_tokens = 64, …}, ropes);
//   backend->begin_pass();
//   backend->linear(y, x, {.w = …});
//   backend->end_pass();
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "backend/device.h"
#include "base/result.h"
#include "base/types.h"

namespace wick {

struct Tensor {  // activations, float: rows = tokens, cols = features; on the device
  float* data = nullptr;
  int rows = 0;
  int cols = 0;
  int row_stride = 0;  // elements
};

enum class Act : std::uint8_t { kSilu, kGelu, kGeluTanh, kRelu2, kSigmoid };

struct NormParams {
  bool rms = true;
  float eps = 1e-6F;
};

struct RopeParams {
  enum Layout : std::uint8_t { kNone, kHalves, kPairs } layout = kHalves;

  int dim = 0;  // rotated features per head; the others stay unchanged
  float theta = 1e4F;
  float freq_scale = 1;  // linear scaling: 1 / factor
  // YaRN (Peng et al. 2023): ext_factor 0 = off
  float ext_factor = 0, attn_factor = 1, beta_fast = 32, beta_slow = 1;
  int ctx_orig = 0;
  bool is_range_rounded = true;     // YaRN's range of mixed frequencies ends at whole pairs
  const Weight* factors = nullptr;  // Llama 3, LongRoPE: [dim / 2], one divisor for each frequency
};

enum class KvType : std::uint8_t { kF32, kBF16, kF16, kQ8_0, kQ4_0 };

inline constexpr KvType kKvTypes[] = {KvType::kF32, KvType::kBF16, KvType::kF16, KvType::kQ8_0,
                                      KvType::kQ4_0};
std::string_view name(KvType type) noexcept;
// The number of features of a head must be a multiple of this.
int kv_granule(KvType type) noexcept;
inline constexpr int kBlockTokens = 16;  // positions in a cache block

// The number of blocks for n positions. Any n is valid, also one from a file.
template <class Positions>
constexpr Positions blocks_for(Positions n) noexcept {
  return n / kBlockTokens + (n % kBlockTokens != 0 ? 1 : 0);
}

// Bytes of one block (16 positions) of one head with `dim` features: the layouts of
// docs/numerics.md, "Attention".
std::size_t kv_head_block_bytes(KvType type, int dim) noexcept;
// Whether blocks of heads contain only what storing finite numbers writes: no NaN, no infinity, no
// quant -128.
bool kv_is_valid(KvType type, std::span<const std::byte> blocks) noexcept;

// One layer's keys and values in the KV cache. Block b of the keys starts at k + b * n_kv_heads *
// kv_head_block_bytes(k_type, k_dim), inside it the heads follow each other; values likewise.
// Position p of sequence s lies in block tables[s * table_stride + p / 16].
struct KvView {
  std::byte* k = nullptr;
  // nullptr: a latent layer (MLA), a value is the first v_dim features of its key.
  std::byte* v = nullptr;
  KvType k_type = KvType::kBF16, v_type = KvType::kBF16;
  int n_kv_heads = 0, k_dim = 0, v_dim = 0;
  const std::int32_t* tables = nullptr;
  int table_stride = 0;
};

// One layer's recurrent states: the state of sequence s is at state + s * stride, in floats.
struct StateView {
  float* state = nullptr;
  std::size_t stride = 0;
};

// A LoRA adapter of a sequence: tokens [first, first + count) of the batch.
struct AdapterRun {
  int adapter = 0;
  int first = 0, count = 0;
  float scale = 1;  // the request's, beside the adapter's own
};

struct Batch {  // spans into engine-owned arrays; entries of one sequence are contiguous and
                // ascending
  std::span<const TokenId> tokens = {};  // [n]
  std::span<const Pos> positions = {};   // [n]
  std::span<const SeqId> seqs = {};      // [n]
  std::span<const int> logit_rows = {};  // [m] rows of the batch which need logits, ascending
  std::span<const TokenId> types = {};   // [n] token types of encoders; empty: all are 0
  // Ascending by first token, those of a sequence by number.
  std::span<const AdapterRun> adapters = {};
};

struct Embed {  // y = scale * row of the table, or y = y + that
  float scale = 1;
  bool adds = false;
};

struct Linear {
  // One matrix, or several with the same input x (q k v; gate up): outputs side by side.
  std::span<const Weight* const> w = {};
  std::span<const Weight* const> bias = {};  // empty, or one for each matrix, nullptr = none
  // Normalize x by `norm` first, times gain, plus shift (nullptr = none); no gain = x as it is.
  const Weight* gain = nullptr;
  const Weight* shift = nullptr;
  NormParams norm = {};
  // r = W·x + bias; kStore: y = scale * r; kAdd: y = fma(scale, r, y); kGate: y = act(first half of
  // r) * second half; kAct: y = act(r); kMultiply: y = act(r) * y. These three take no scale.
  enum class Epilogue : std::uint8_t { kStore, kAdd, kGate, kAct, kMultiply };
  Epilogue epilogue = Epilogue::kStore;
  float scale = 1;
  float soft_cap = 0;  // kStore: y becomes soft_cap * tanh(y / soft_cap); 0 = none
  Act act = Act::kSilu;
  // X is quantized in two terms (docs/numerics.md, "Activations"); kStore only.
  bool is_fine = false;
};

// One small matmul per head: y_h = W_h · x_h. A head has columns / n_heads columns of x and y; it
// reads the first w.cols of x and writes the first `rows` of y. W_h are rows of w, from h * (rows
// of w / n_heads) + first_row on.
struct HeadLinear {
  const Weight* w = nullptr;
  int n_heads = 0, first_row = 0, rows = 0;
};

// Queries at position p are multiplied by 1 + growth * ln(1 + p / context), p / context rounded
// down; growth 0 = not at all.
struct Temperature {
  float growth = 0;
  int context = 1;
};

struct QkNormRope {  // each head of q and k before it is used or stored: norm (if there is a gain),
                     // then RoPE; at last the queries' temperature
  // [k_dim], or [heads * k_dim]: each head has its own.
  const Weight* q_gain = nullptr;
  const Weight* k_gain = nullptr;
  // [v_dim]: values are normalized, too; never rotated. nullptr = not.
  const Weight* v_gain = nullptr;
  NormParams norm = {};
  bool is_norm_joint = false;  // over all heads together; gains are [heads * k_dim]
  RopeParams rope = {};
  Temperature temperature = {};
};

struct Normalize {  // r = norm(x) * gain + shift; y = r, or y = scale * (y + r)
  const Weight* gain = nullptr;
  const Weight* shift = nullptr;  // nullptr = none
  NormParams norm = {};
  bool adds = false;
  float scale = 1;  // of a sum
};

struct AttendParams {
  int n_heads = 0, n_kv_heads = 0, k_dim = 0, v_dim = 0;
  float scale = 1;  // multiplies q·k
  int window = 0;   // sliding window in tokens, itself included; 0 = none
  // False: queries see later positions too, up to the last of their sequence in the batch, which
  // has all of them; a window then lies on both sides.
  bool is_causal = true;
  float soft_cap = 0;  // a score s becomes soft_cap * tanh(s / soft_cap); 0 = none
  // [n_heads] attention sinks: a score of each head that takes weight but has no value; nullptr =
  // none
  const Weight* sinks = nullptr;
};

// A gated delta layer without its projections: causal convolution over q, k and v, the recurrence,
// the gated norm. A row of x holds, side by side: the heads of q, k and v; the output gate, as wide
// as v; beta for each value head; alpha for each value head. Value head h uses q and k of head
// h / (n_v_heads / n_k_heads), or of head h % n_k_heads if are_heads_tiled.
struct DeltaParams {
  int n_k_heads = 0, n_v_heads = 0, k_dim = 0, v_dim = 0, conv_width = 0;
  bool are_heads_tiled = false;
  const Weight* conv = nullptr;  // [channels * conv_width], a channel's taps side by side
  const Weight* rate = nullptr;  // [n_v_heads] a: the state decays by exp(a * softplus(alpha + dt))
  const Weight* dt = nullptr;    // [n_v_heads]
  const Weight* gain = nullptr;  // [v_dim]
  NormParams norm = {};

  int keys() const noexcept { return n_k_heads * k_dim; }

  int values() const noexcept { return n_v_heads * v_dim; }

  int channels() const noexcept { return 2 * keys() + values(); }

  int cols() const noexcept { return channels() + values() + 2 * n_v_heads; }

  // Floats of a sequence's state: the last inputs of the convolution [conv_width - 1, channels],
  // then [n_v_heads][k_dim][v_dim].
  std::size_t state_floats() const noexcept {
    return static_cast<std::size_t>(conv_width - 1) * static_cast<std::size_t>(channels()) +
           static_cast<std::size_t>(values()) * static_cast<std::size_t>(k_dim);
  }
};

// Which experts a token goes to. The router's outputs (plus its bias) become scores. The n_active
// experts with the largest score + choice bias are chosen; among equals the first wins. Their
// scores (without the choice bias) become the weights.
struct Routing {
  enum class Score : std::uint8_t { kSoftmax, kSigmoid } score = Score::kSoftmax;
  int n_experts = 0, n_active = 0;
  bool normalizes = true;  // divides a token's weights by their sum
  float scale = 1;         // of the weights, at last
  // Only experts of the best n_active_groups of n_groups groups can be chosen. A group's score is
  // that of its best expert, or the sum of its two best.
  int n_groups = 1, n_active_groups = 1;
  bool adds_two_best = false;
};

// One matrix of each expert: a weight that holds expert after expert, or one weight for each. Only
// rows [first_row, first_row + rows) of an expert are used.
struct ExpertMatrix {
  std::span<const Weight* const> w = {};
  const Weight* bias = nullptr;  // [n_experts * rows]
  int first_row = 0, rows = 0;
  // LoRA: a is [n_experts * rank, columns of w], b [n_experts * rows, rank].
  std::span<const LowRank> changes = {};
};

struct SharedExpert {  // serves every token with weight 1, or the sigmoid of the router's product
  const Weight *gate = nullptr, *up = nullptr, *down = nullptr;  // nullptr: there is none
  const Weight* router = nullptr;                                // [1, columns of x]
  int hidden = 0;
};

// y = y + the sum over the chosen experts of weight * down(act(gate(x)) * up(x)), ascending, the
// shared one last; each is added as fma(weight, r, y).
struct ExpertStep {
  const Weight* gain = nullptr;  // as in Linear
  NormParams norm = {};
  const Weight* router = nullptr;  // [n_experts, columns of x]
  // The router's own gain of x, in place of `gain`; nullptr = it reads what experts read.
  const Weight* router_gain = nullptr;
  float router_scale = 1;                // multiplies its outputs
  const Weight* weight_scale = nullptr;  // [n_experts] multiplies the weights of the chosen
  const Weight* router_bias = nullptr;
  const Weight* choice_bias = nullptr;  // added to scores for the choice only
  Routing routing = {};
  ExpertMatrix gate = {}, up = {}, down = {};
  Act act = Act::kSilu;
  // Clamped SwiGLU (gpt-oss), where limit > 0: g * sigmoid(alpha * g) * (u + 1) with g = min(gate,
  // limit), u = clamp(up, -limit, limit).
  float limit = 0, alpha = 1;
  SharedExpert shared = {};
  bool adds = true;  // false: y is the sum alone
};

struct ExpertLimits {  // the largest of all layers; no experts = no scratch for them
  int n_experts = 0, n_active = 0, hidden = 0, shared_hidden = 0;
};

struct BackendLimits {  // sizes for which the ops never allocate
  int max_batch_tokens = 512;
  int max_cols = 0;  // widest activation row
  int max_heads = 0, max_head_dim = 0;
  int max_joint_keys = 0;  // features of keys that are normalized together; 0 = none are
  int max_context = 0;     // positions
  int max_seqs = 1;
  ExpertLimits experts = {};
  int max_adapters = 0, max_rank = 0;  // of LoRA; 0 = no scratch for them
  int threads = 0;  // of a CPU; 0 = what this process may use: affinity and cgroup quota
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual int threads() const noexcept = 0;  // used by this model

  virtual std::size_t scratch_bytes() const noexcept = 0;  // once all of it is used

  // Hot: brackets a forward pass. Models of a device take turns: begin_pass() waits for the passes
  // of others, first come, first served; yield(), called between two layers, lets a waiting model
  // run first once this pass has used its time slice. Devices with a queue of their own do nothing
  // here.
  virtual void begin_pass() noexcept {}

  virtual void yield() noexcept {}

  virtual void end_pass() noexcept {}

  // Hot: the LoRA adapters of the current pass, until end_pass(). Products with weights that have
  // these adapters (Weight::adapters) add their changes.
  virtual void use_adapters(std::span<const AdapterRun> runs) noexcept = 0;

  // Hot: runs or enqueues an op, in order, inside a pass; never allocates, locks or fails. Spans
  // are read before the call returns. sync() reports device faults.
  virtual void embed(Tensor y, const Weight& table, std::span<const TokenId> ids,
                     const Embed& step) noexcept = 0;
  virtual void linear(Tensor y, Tensor x, const Linear& step) noexcept = 0;
  // The product of `step` (w = q, k, v), then QkNormRope for each head of q and k. q goes to `q`
  // [n, n_heads * k_dim], k and v go to the cache at the batch's positions. w = q alone: queries
  // for keys and values that another layer wrote, the cache stays as it is. w = k, v and a q of
  // zero columns: keys and values only.
  virtual void qkv(Tensor q, Tensor x, const Linear& step, const QkNormRope& head, const KvView& kv,
                   const Batch& batch) noexcept = 0;
  virtual void linear_heads(Tensor y, Tensor x, const HeadLinear& step) noexcept = 0;
  // For a latent layer. Queries: the last k_dim - v_dim features of each head of x are rotated and
  // become the last features of that head of q [n, n_heads * k_dim]. Keys: the first v_dim features
  // of c [n, k_dim] are normalized (k_gain), the others rotated; the result is stored in the cache
  // at the batch's positions. c is overwritten.
  virtual void latent(Tensor q, Tensor x, Tensor c, const QkNormRope& head, const KvView& kv,
                      const Batch& batch) noexcept = 0;
  virtual void attend(Tensor y, Tensor q, const KvView& kv, const Batch& batch,
                      const AttendParams& p) noexcept = 0;
  // y [n, n_v_heads * v_dim]; overwrites x and updates the states of the batch's sequences.
  virtual void delta(Tensor y, Tensor x, const DeltaParams& p, const StateView& states,
                     const Batch& batch) noexcept = 0;
  // A mixture of experts; reads x before it writes y, which may be x. Reads the weights of chosen
  // experts only.
  virtual void experts(Tensor y, Tensor x, const ExpertStep& step) noexcept = 0;
  // y [m, vocab]: the LM head (with its norm, as in `head`) for the given rows of x.
  virtual void logits(Tensor y, Tensor x, const Linear& head,
                      std::span<const int> rows) noexcept = 0;
  // Normalizes each row. y may be x; with y = x this may be called outside a pass, too.
  virtual void normalize(Tensor y, Tensor x, const Normalize& step) noexcept = 0;
  // Cold: the message of an error takes memory.
  virtual Result<void> sync() = 0;
};

}  // namespace wick
