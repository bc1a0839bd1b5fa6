// What the tests of the verbs share: random weights of any format whose bytes live beside them, and
// one transformer layer with its cache on a CpuBackend of any ISA and number of threads.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "quant/dtype.h"

namespace wick::test {

using Floats = std::vector<float>;

inline Floats random_floats(std::size_t n, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, scale);
  Floats out(n);
  for (float& x : out)
    x = normal(engine);
  return out;
}

// A tensor as a file would hold it, and its values.
struct Stored {
  std::vector<std::byte> bytes;
  Floats values;  // decoded again, [rows][cols]
  TensorView view = {};
};

inline Stored store(DType type, const Floats& values, int rows, int cols, int rank = 2) {
  Stored s;
  const std::size_t row = *row_bytes(type, cols);
  s.bytes.resize(row * static_cast<std::size_t>(rows));
  s.values.resize(values.size());
  for (int r = 0; r < rows; ++r) {
    const auto at = static_cast<std::size_t>(r);
    const std::span<std::byte> bytes{s.bytes.data() + at * row, row};
    const auto width = static_cast<std::size_t>(cols);
    encode_row(type, {values.data() + at * width, width}, bytes);
    decode_row(type, bytes, {s.values.data() + at * width, width});
  }
  s.view = {.name = "w", .type = type, .bytes = s.bytes};
  s.view.shape.rank = rank;
  if (rank == 2) {
    s.view.shape.dim = {rows, cols, 1, 1};
  } else {
    s.view.shape.dim = {cols, 1, 1, 1};
  }
  return s;
}

// Uploads tensors and keeps their bytes.
class Weights {
 public:
  explicit Weights(Backend& backend) : backend_(backend) {}

  const Weight* matrix(DType type, int rows, int cols, unsigned seed, const WeightFix& fix = {}) {
    const auto n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    const float scale = 1 / std::sqrt(static_cast<float>(cols));
    return keep(store(type, random_floats(n, seed, scale), rows, cols), fix);
  }

  const Weight* vector(int n, unsigned seed, float around = 0) {
    Floats values = random_floats(static_cast<std::size_t>(n), seed, 0.3F);
    for (float& v : values)
      v += around;
    return keep(store(DType::kF32, values, 1, n, 1), {});
  }

  const Floats& values_of(const Weight* weight) const {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i].get() == weight) return stored_[i].values;
    }
    return stored_.front().values;
  }

 private:
  const Weight* keep(Stored stored, const WeightFix& fix) {
    stored_.push_back(std::move(stored));
    stored_.back().view.bytes = stored_.back().bytes;
    auto weight = backend_.upload(stored_.back().view, fix);
    EXPECT_TRUE(weight) << to_string(weight.error());
    weights_.push_back(std::move(*weight));
    return weights_.back().get();
  }

  Backend& backend_;
  std::deque<Stored> stored_ = {};
  std::vector<std::unique_ptr<Weight>> weights_ = {};
};

inline Tensor tensor(Floats& data, int rows, int cols) {
  return {.data = data.data(), .rows = rows, .cols = cols, .row_stride = cols};
}

struct LayerShape {
  DType type = DType::kF32;
  int d_model = 64, n_heads = 6, n_kv_heads = 2, head_dim = 24, hidden = 96, vocab = 50;
  int context = 320, max_seqs = 2, window = 0;
  KvType kv_type = KvType::kF32;
  RopeParams::Layout layout = RopeParams::kHalves;
};

// One layer and a head, all verbs in their order. Blocks of the two sequences alternate in the
// cache.
class Layer {
 public:
  Layer(Isa isa, int threads, const LayerShape& shape)
      : shape_(shape), backend_(isa, threads), weights_(backend_) {
    const LayerShape& s = shape_;
    const int q_cols = s.n_heads * s.head_dim;
    const int kv_cols = s.n_kv_heads * s.head_dim;
    embedding_ = weights_.matrix(s.type, s.vocab, s.d_model, 1);
    qkv_ = {weights_.matrix(s.type, q_cols, s.d_model, 2),
            weights_.matrix(s.type, kv_cols, s.d_model, 3),
            weights_.matrix(s.type, kv_cols, s.d_model, 4)};
    qkv_bias_ = {weights_.vector(q_cols, 5), nullptr, weights_.vector(kv_cols, 6)};
    out_ = {weights_.matrix(s.type, s.d_model, q_cols, 7)};
    gate_up_ = {weights_.matrix(s.type, s.hidden, s.d_model, 8),
                weights_.matrix(s.type, s.hidden, s.d_model, 9)};
    down_ = {weights_.matrix(s.type, s.d_model, s.hidden, 10)};
    head_ = {weights_.matrix(s.type, s.vocab, s.d_model, 11)};
    gain_ = weights_.vector(s.d_model, 12, 1);
    head_step_ = {.q_gain = weights_.vector(s.head_dim, 13, 1),
                  .k_gain = weights_.vector(s.head_dim, 14, 1),
                  .rope = {.layout = s.layout, .dim = s.head_dim}};
    const BackendLimits limits{.max_batch_tokens = 64,
                               .max_cols = std::max({s.d_model, q_cols, s.hidden}),
                               .max_heads = s.n_heads,
                               .max_head_dim = s.head_dim,
                               .max_context = s.context,
                               .max_seqs = s.max_seqs};
    const auto prepared = backend_.prepare(limits, std::span(&head_step_.rope, 1));
    EXPECT_TRUE(prepared);
    make_cache();
  }

  // Logits of every given token.
  Floats forward(const Batch& batch) {
    const LayerShape& s = shape_;
    const int n = static_cast<int>(batch.tokens.size());
    Floats out(static_cast<std::size_t>(n * s.vocab));
    run(batch, out.data());
    return out;
  }

  void run(const Batch& batch, float* logits_out) noexcept {
    const LayerShape& s = shape_;
    const int n = static_cast<int>(batch.tokens.size());
    const int q_cols = s.n_heads * s.head_dim;
    const Tensor x = tensor(x_, n, s.d_model);
    const Tensor q = tensor(q_, n, q_cols);
    const Tensor attended = tensor(attended_, n, q_cols);
    const Tensor hidden = tensor(hidden_, n, s.hidden);
    const Linear qkv{.w = qkv_, .bias = qkv_bias_, .gain = gain_};
    const AttendParams attend{.n_heads = s.n_heads,
                              .n_kv_heads = s.n_kv_heads,
                              .k_dim = s.head_dim,
                              .v_dim = s.head_dim,
                              .scale = 1 / std::sqrt(static_cast<float>(s.head_dim)),
                              .window = s.window};
    backend_.embed(x, *embedding_, batch.tokens, 2);
    backend_.qkv(q, x, qkv, head_step_, view_, batch);
    backend_.attend(attended, q, view_, batch, attend);
    backend_.linear(x, attended, {.w = out_, .then = Linear::Then::kAdd});
    backend_.linear(hidden, x, {.w = gate_up_, .gain = gain_, .then = Linear::Then::kGate});
    backend_.linear(x, hidden, {.w = down_, .then = Linear::Then::kAdd, .scale = 0.5F});
    backend_.logits({.data = logits_out, .rows = n, .cols = s.vocab, .row_stride = s.vocab}, x,
                    {.w = head_, .gain = gain_}, std::span(rows_).first(batch.tokens.size()));
  }

  // A prompt of `n` tokens of sequence `seq` from position 0, in chunks.
  Floats forward_in_chunks(int n, int chunk, SeqId seq) {
    Floats all;
    for (int first = 0; first < n; first += chunk) {
      std::vector<TokenId> tokens;
      std::vector<Pos> positions;
      for (int p = first; p < std::min(n, first + chunk); ++p) {
        tokens.push_back((p * 7 + 3) % shape_.vocab);
        positions.push_back(p);
      }
      const std::vector<SeqId> seqs(tokens.size(), seq);
      const Floats part = forward({.tokens = tokens, .positions = positions, .seqs = seqs});
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  CpuBackend& backend() { return backend_; }

  const KvView& view() const { return view_; }

 private:
  void make_cache() {
    const LayerShape& s = shape_;
    const int per_seq = (s.context + kBlockTokens - 1) / kBlockTokens;
    const int blocks = per_seq * s.max_seqs;
    for (int seq = 0; seq < s.max_seqs; ++seq) {
      for (int b = 0; b < per_seq; ++b)
        table_.push_back(b * s.max_seqs + seq);
    }
    const std::size_t bytes = kv_head_block_bytes(s.kv_type, s.head_dim) *
                              static_cast<std::size_t>(s.n_kv_heads * blocks);
    k_ = *backend_.allocate(bytes);
    v_ = *backend_.allocate(bytes);
    view_ = {.k = k_->data(),
             .v = v_->data(),
             .k_type = s.kv_type,
             .v_type = s.kv_type,
             .n_kv_heads = s.n_kv_heads,
             .k_dim = s.head_dim,
             .v_dim = s.head_dim,
             .tables = table_.data(),
             .table_stride = per_seq};
    x_.resize(static_cast<std::size_t>(64 * s.d_model));
    q_.resize(static_cast<std::size_t>(64 * s.n_heads * s.head_dim));
    attended_ = q_;
    hidden_.resize(static_cast<std::size_t>(64 * s.hidden));
    for (int i = 0; i < 64; ++i)
      rows_.push_back(i);
  }

  LayerShape shape_;
  CpuBackend backend_;
  Weights weights_;
  const Weight* embedding_ = nullptr;
  const Weight* gain_ = nullptr;
  std::vector<const Weight*> qkv_, qkv_bias_, out_, gate_up_, down_, head_;
  HeadStep head_step_ = {};
  std::unique_ptr<Buffer> k_, v_;
  std::vector<std::int32_t> table_;
  KvView view_ = {};
  Floats x_, q_, attended_, hidden_;
  std::vector<int> rows_;
};

}  // namespace wick::test
