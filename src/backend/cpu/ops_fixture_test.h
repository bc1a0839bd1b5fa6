// What the tests of the ops share: random weights of any format whose bytes live beside them, and
// one transformer layer with its cache on a CpuBackend of any ISA and number of threads.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "quant/dtype.h"
#include "support/test_device.h"

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
  explicit Weights(Device& device) : device_(device) {}

  const Weight* matrix(DType type, int rows, int cols, unsigned seed,
                       const WeightTransform& fix = {}) {
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
  const Weight* keep(Stored stored, const WeightTransform& fix) {
    stored_.push_back(std::move(stored));
    stored_.back().view.bytes = stored_.back().bytes;
    auto weight = device_.upload(stored_.back().view, fix);
    EXPECT_TRUE(weight) << to_string(weight.error());
    weights_.push_back(std::move(*weight));
    return weights_.back().get();
  }

  Device& device_;
  std::deque<Stored> stored_ = {};
  std::vector<std::unique_ptr<Weight>> weights_ = {};
};

inline std::unique_ptr<Buffer> allocate(Device& device, std::size_t bytes) {
  auto buffer = device.allocate(bytes);
  EXPECT_TRUE(buffer) << to_string(buffer.error());
  return *std::move(buffer);
}

inline std::vector<std::byte> bytes_of(const Buffer& buffer) {
  std::vector<std::byte> bytes(buffer.bytes());
  buffer.read(0, bytes);
  return bytes;
}

inline std::unique_ptr<Buffer> make_table(Device& device, std::span<const std::int32_t> blocks) {
  auto buffer = allocate(device, blocks.size_bytes());
  buffer->write(0, std::as_bytes(blocks));
  return buffer;
}

inline const std::int32_t* table_in(Buffer& buffer) {
  return reinterpret_cast<const std::int32_t*>(buffer.data());
}

inline Tensor tensor_in(Buffer& buffer, int rows, int cols) {
  return {.data = reinterpret_cast<float*>(buffer.data()),
          .rows = rows,
          .cols = cols,
          .row_stride = cols};
}

// Floats of the host where the device computes: written there, and read back when the expression
// that made this object ends.
class OnDevice {
 public:
  OnDevice(Device& device, Floats& data, int rows, int cols)
      : data_(data),
        buffer_(allocate(device, data.size() * sizeof(float))),
        tensor_(tensor_in(*buffer_, rows, cols)) {
    buffer_->write(0, std::as_bytes(std::span(data_)));
  }

  ~OnDevice() { buffer_->read(0, std::as_writable_bytes(std::span(data_))); }

  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  operator Tensor() const { return tensor_; }  // implicit: an argument

 private:
  Floats& data_;
  std::unique_ptr<Buffer> buffer_;
  Tensor tensor_;
};

struct LayerShape {
  DType type = DType::kF32;
  int d_model = 64, n_heads = 6, n_kv_heads = 2, head_dim = 24, hidden = 96, vocab = 50;
  int context = 320, max_seqs = 2, window = 0;
  KvType kv_type = KvType::kF32;
  RopeParams::Layout layout = RopeParams::kHalves;
};

// One layer and a head, all ops in their order. Blocks of the two sequences alternate in the
// cache.
class Layer {
 public:
  Layer(Isa isa, int threads, const LayerShape& shape)
      : shape_(shape), device_(make_device(isa)), weights_(*device_) {
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
                               .max_seqs = s.max_seqs,
                               .threads = threads};
    backend_ = *device_->create_backend(limits, std::span(&head_step_.rope, 1));
    make_cache();
  }

  // Logits of every given token.
  Floats forward(const Batch& batch) {
    const LayerShape& s = shape_;
    const int n = static_cast<int>(batch.tokens.size());
    Floats out(static_cast<std::size_t>(n * s.vocab));
    run(batch);
    logits_->read(0, std::as_writable_bytes(std::span(out)));
    return out;
  }

  void run(const Batch& batch) noexcept {
    const LayerShape& s = shape_;
    const int n = static_cast<int>(batch.tokens.size());
    const int q_cols = s.n_heads * s.head_dim;
    const Tensor x = tensor_in(*x_, n, s.d_model);
    const Tensor q = tensor_in(*q_, n, q_cols);
    const Tensor attended = tensor_in(*attended_, n, q_cols);
    const Tensor hidden = tensor_in(*hidden_, n, s.hidden);
    const Linear qkv{.w = qkv_, .bias = qkv_bias_, .gain = gain_};
    const AttendParams attend{.n_heads = s.n_heads,
                              .n_kv_heads = s.n_kv_heads,
                              .k_dim = s.head_dim,
                              .v_dim = s.head_dim,
                              .scale = 1 / std::sqrt(static_cast<float>(s.head_dim)),
                              .window = s.window};
    backend_->begin_pass();
    backend_->embed(x, *embedding_, batch.tokens, {.scale = 2});
    backend_->qkv(q, x, qkv, head_step_, view_, batch);
    backend_->attend(attended, q, view_, batch, attend);
    backend_->linear(x, attended, {.w = out_, .epilogue = Linear::Epilogue::kAdd});
    backend_->linear(hidden, x,
                     {.w = gate_up_, .gain = gain_, .epilogue = Linear::Epilogue::kGate});
    backend_->linear(x, hidden, {.w = down_, .epilogue = Linear::Epilogue::kAdd, .scale = 0.5F});
    backend_->logits(tensor_in(*logits_, n, s.vocab), x, {.w = head_, .gain = gain_},
                     std::span(rows_).first(batch.tokens.size()));
    backend_->end_pass();
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

 private:
  void make_cache() {
    const LayerShape& s = shape_;
    const int per_seq = (s.context + kBlockTokens - 1) / kBlockTokens;
    const int blocks = per_seq * s.max_seqs;
    std::vector<std::int32_t> table;
    for (int seq = 0; seq < s.max_seqs; ++seq) {
      for (int b = 0; b < per_seq; ++b)
        table.push_back(b * s.max_seqs + seq);
    }
    table_ = make_table(*device_, table);
    const std::size_t bytes = kv_head_block_bytes(s.kv_type, s.head_dim) *
                              static_cast<std::size_t>(s.n_kv_heads * blocks);
    k_ = allocate(*device_, bytes);
    v_ = allocate(*device_, bytes);
    view_ = {.k = k_->data(),
             .v = v_->data(),
             .k_type = s.kv_type,
             .v_type = s.kv_type,
             .n_kv_heads = s.n_kv_heads,
             .k_dim = s.head_dim,
             .v_dim = s.head_dim,
             .tables = table_in(*table_),
             .table_stride = per_seq};
    const auto floats = [&](int cols) {
      return allocate(*device_, sizeof(float) * 64 * static_cast<std::size_t>(cols));
    };
    x_ = floats(s.d_model);
    q_ = floats(s.n_heads * s.head_dim);
    attended_ = floats(s.n_heads * s.head_dim);
    hidden_ = floats(s.hidden);
    logits_ = floats(s.vocab);
    for (int i = 0; i < 64; ++i)
      rows_.push_back(i);
  }

  LayerShape shape_;
  std::unique_ptr<Device> device_;
  Weights weights_;
  std::unique_ptr<Backend> backend_;
  const Weight* embedding_ = nullptr;
  const Weight* gain_ = nullptr;
  std::vector<const Weight*> qkv_, qkv_bias_, out_, gate_up_, down_, head_;
  QkNormRope head_step_ = {};
  std::unique_ptr<Buffer> k_, v_, table_;
  KvView view_ = {};
  std::unique_ptr<Buffer> x_, q_, attended_, hidden_, logits_;
  std::vector<int> rows_;
};

}  // namespace wick::test
