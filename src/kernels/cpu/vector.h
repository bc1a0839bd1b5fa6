// Everything of the forward pass that is not a product with a weight matrix: norms, rotations,
// activation functions, attention. One order of arithmetic (docs/numerics.md, "Elementary
// functions" and "Attention"), the same bits on every ISA. Pure functions: no allocation, no state,
// any thread. Plain structs without a function, so that the per-ISA files may include this header.
//
//   const VectorKernels& kernels = vector_kernels(isa);       // kernels/cpu/isa.h
//   kernels.rms_norm({.x = x, .gain = gain, .eps = 1e-6F, .n = n, .y = y});
// Hot: all of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wick {

// y[i] = norm(x)[i] * gain[i] + shift[i] over n values. y may be x.
struct NormArgs {
  const float* x = nullptr;
  const float* gain = nullptr;
  const float* shift = nullptr;  // null: none
  float eps = 0;
  int n = 0;
  float* y = nullptr;
};

// The order of backend.h's Act, which backend/cpu/product.cc asserts.
enum GateKind { kGateSilu, kGateGelu, kGateGeluTanh, kGateRelu2, kGateSigmoid, kGateKinds };

// y[i] = act(gate[i]) * up[i] over n values; `up` may be null: y[i] = act(gate[i]). y may be
// either.
using GateFn = void (*)(const float* gate, const float* up, int n, float* y) noexcept;

// Rotates `dim` features in place by the angles whose cosines and sines [dim / 2] are given.
// Halves: feature i turns with i + dim / 2; pairs: 2 i with 2 i + 1.
using RotateFn = void (*)(float* head, const float* cosines, const float* sines, int dim) noexcept;

// The order of backend.h's KvType.
enum class CacheType : std::uint8_t { kF32, kBF16, kF16, kQ8_0, kQ4_0 };

inline constexpr int kCacheBlock = 16;                    // positions in a block
inline constexpr int kCacheTile = 32;                     // features of a tile of a quantized cache
inline constexpr int kCacheScaleBytes = 2 * kCacheBlock;  // in front of the tile's quants
inline constexpr int kAttentionRange = 256;  // positions whose scores share one maximum

// Attention of consecutive queries of one sequence with one head of keys and values; `group` query
// heads share that head. The queries' positions lie in one block of 16. Row t * group + g of the
// work is query head g at `position` + t.
//
//   block of keys, per head:    f32 [k_dim][16]     bf16, f16 [k_dim / 2][16][2]
//   block of values, per head:  f32 [16][v_dim]     bf16, f16 [8][v_dim][2]
//   q8_0, q4_0: [dim / 32] tiles of 16 f16 scales, one for each position, and quants:
//     keys  q8_0 [16][16][2]   q4_0 [16][16], two features a byte, the even one in the low nibble
//     values  q8_0 [16][32]    q4_0 [8][32], two positions a byte
//
// Positions that a query does not see may hold anything. k_dim and v_dim are even, multiples of 32
// for q8_0 and q4_0.
struct AttentionArgs {
  const std::byte* k = nullptr;  // this head in block 0
  const std::byte* v = nullptr;  // null: a value is the first v_dim features of its key; no window
  std::size_t k_stride = 0, v_stride = 0;  // bytes from one block to the next
  CacheType k_type = CacheType::kF32, v_type = CacheType::kF32;
  const std::int32_t* table = nullptr;  // position p lies in block table[p / 16]
  int k_dim = 0, v_dim = 0;
  int group = 1;
  int position = 0, n_tokens = 1;
  int window = 0;      // positions seen, the query's own included; 0 = all
  // 0: a query sees its own position and earlier ones. Else every query sees positions before
  // `end`, later ones too; a window then lies on both sides. Not with values inside keys.
  int end = 0;
  float scale = 1;     // multiplies q·k
  float soft_cap = 0;  // a score s becomes soft_cap * tanh(s / soft_cap); 0 = none
  // [group] a score of each head that joins the sum of weights and has no value; null = none
  const float* sinks = nullptr;
  const float* q = nullptr;
  std::ptrdiff_t q_stride = 0;  // floats from one token to the next; heads follow each other
  float* y = nullptr;
  std::ptrdiff_t y_stride = 0;
  float* scratch = nullptr;  // attention_scratch_floats(…) of them, 64-byte aligned
};

// A causal convolution over consecutive tokens of one sequence, each channel by itself, then SiLU:
// x[t][c] becomes silu(sum of weight[c][j] * x[t - width + 1 + j][c]), oldest first. `past` holds
// the width - 1 inputs before the first token, [width - 1][past_stride], and then those of the
// last.
struct ConvArgs {
  float* x = nullptr;  // [n_tokens][stride]
  std::ptrdiff_t stride = 0;
  const float* weight = nullptr;  // [n_channels][width]
  float* past = nullptr;
  std::ptrdiff_t past_stride = 0;
  int n_tokens = 0, n_channels = 0, width = 0;  // width at most kMaxConvWidth
};

inline constexpr int kMaxConvWidth = 8;

// The gated delta rule (Yang et al. 2024) for consecutive tokens of one sequence and one head of
// values. With q and k at length 1, q times `scale`, and S the state [k_dim][v_dim]:
//   S = decay * S;  S = S + k (x) beta * (v - k . S);  y = q . S
struct DeltaArgs {
  const float *q = nullptr, *k = nullptr, *v = nullptr;  // of the first token
  const float* beta = nullptr;                           // before its sigmoid
  std::ptrdiff_t stride = 0;                             // floats from one token to the next
  const float* decay = nullptr;                          // [n_tokens]
  int n_tokens = 0, k_dim = 0, v_dim = 0;
  float scale = 1, eps = 1e-6F;
  float* state = nullptr;
  float* y = nullptr;
  std::ptrdiff_t y_stride = 0;
  float* scratch = nullptr;  // [2 * k_dim]
};

struct VectorKernels {
  void (*rms_norm)(const NormArgs& args) noexcept;
  void (*layer_norm)(const NormArgs& args) noexcept;
  GateFn gate[kGateKinds];
  void (*add_scaled)(float* y, const float* r, float scale,
                     int n) noexcept;                     // y = fma(scale, r, y)
  void (*soft_cap)(float* x, float cap, int n) noexcept;  // x = cap * tanh(x / cap)
  RotateFn rotate_halves;
  RotateFn rotate_pairs;
  // The whole of it: all ranges in turn, y written.
  void (*attend)(const AttentionArgs& args) noexcept;
  // The same in two steps, so that ranges may be computed by different threads: each range to its
  // own states [rows][attention_state_floats(v_dim)], then all merged ascending into the first and
  // y written. `states` holds those of range `first`, first + 1, …, one behind the other.
  void (*attend_range)(const AttentionArgs& args, int range, float* states) noexcept;
  void (*merge_ranges)(const AttentionArgs& args, int n_ranges, float* states) noexcept;
  void (*conv_silu)(const ConvArgs& args) noexcept;
  void (*delta)(const DeltaArgs& args) noexcept;
};

// Floats of one row's state: v_dim sums, the maximum, the sum of weights.
std::size_t attention_state_floats(int v_dim) noexcept;
// Floats that attend and attend_range need for so many rows (tokens * group).
std::size_t attention_scratch_floats(int rows, int k_dim, int v_dim) noexcept;

// Ranges [first, last] that the queries of `args` see; first > 0 only with a window.
struct RangeSpan {
  int first = 0, last = 0;
};

RangeSpan attention_ranges(const AttentionArgs& args) noexcept;

// The positions [first_seen, end_seen) that the query at `position` sees.
inline int first_seen(const AttentionArgs& a, int position) noexcept {
  return a.window > 0 && position >= a.window ? position - a.window + 1 : 0;
}

inline int end_seen(const AttentionArgs& a, int position) noexcept {
  if (a.end == 0) return position + 1;
  return a.window > 0 && a.window < a.end - position ? position + a.window : a.end;
}

}  // namespace wick
