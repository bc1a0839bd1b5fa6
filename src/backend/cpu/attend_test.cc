// qkv and attend against a plain computation in double precision: projections, head norms,
// rotations, cache, softmax, for two sequences whose tokens share a batch.
#include <algorithm>
#include <cmath>
#include <string>

#include "backend/cpu/ops_fixture_test.h"

namespace wick::test {
namespace {

constexpr int kModel = 32, kTokens = 40;  // tokens of each sequence
using Row = std::vector<double>;

struct Variant {
  int n_heads = 4, n_kv_heads = 2, head_dim = 24, window = 0;
  RopeParams::Layout layout = RopeParams::kHalves;
  KvType kv_type = KvType::kF32;
  bool is_normed = true;
  DType type = DType::kF32;  // of the matrices
  bool is_causal = true;
  bool are_values_normed = false;
};

class AttendOps {
 public:
  explicit AttendOps(const Variant& v)
      : v_(v), device_(make_device(Isa::kScalar)), weights_(*device_) {
    const int q_cols = v.n_heads * v.head_dim;
    const int kv_cols = v.n_kv_heads * v.head_dim;
    w_ = {weights_.matrix(v.type, q_cols, kModel, 1), weights_.matrix(v.type, kv_cols, kModel, 2),
          weights_.matrix(v.type, kv_cols, kModel, 3)};
    bias_ = {weights_.vector(q_cols, 4), nullptr, weights_.vector(kv_cols, 5)};
    head_.rope = {.layout = v.layout, .dim = v.head_dim - 4};  // the last four pass through
    if (v.is_normed) {
      head_.q_gain = weights_.vector(v.head_dim, 6, 1);
      head_.k_gain = weights_.vector(v.head_dim, 7, 1);
    }
    if (v.are_values_normed) head_.v_gain = weights_.vector(v.head_dim, 9, 1);
    const BackendLimits limits{.max_batch_tokens = 2 * kTokens,
                               .max_cols = std::max(q_cols, kModel),
                               .max_heads = v.n_heads,
                               .max_head_dim = v.head_dim,
                               .max_context = kTokens,
                               .max_seqs = 2,
                               .threads = 2};
    backend_ = *device_->create_backend(limits, std::span(&head_.rope, 1));
    x_ = random_floats(2 * kTokens * kModel, 8);
  }

  // [sequence][token][head * dim], all of both sequences in one batch. `shares`: the queries are
  // those of another layer, which has no keys and values of its own.
  Floats run(bool shares = false) {
    const int n = 2 * kTokens;
    const std::size_t bytes =
        kv_head_block_bytes(v_.kv_type, v_.head_dim) * static_cast<std::size_t>(6 * v_.n_kv_heads);
    const auto k = allocate(*device_, bytes);
    const auto v = allocate(*device_, bytes);
    const auto table = make_table(*device_, std::array{5, 1, 3, 0, 4, 2});
    const KvView view{.k = k->data(),
                      .v = v->data(),
                      .k_type = v_.kv_type,
                      .v_type = v_.kv_type,
                      .n_kv_heads = v_.n_kv_heads,
                      .k_dim = v_.head_dim,
                      .v_dim = v_.head_dim,
                      .tables = table_in(*table),
                      .table_stride = 3};
    std::vector<Pos> positions;
    std::vector<SeqId> seqs;
    for (int i = 0; i < n; ++i) {
      positions.push_back(i % kTokens);
      seqs.push_back(i / kTokens);
    }
    const Batch batch{.positions = positions, .seqs = seqs};
    const int q_cols = v_.n_heads * v_.head_dim;
    Floats q(static_cast<std::size_t>(n * q_cols)), y(q.size());
    backend_->qkv(tensor(q, n, q_cols), tensor(x_, n, kModel), {.w = w_, .bias = bias_}, head_,
                  view, batch);
    if (shares) {
      const std::vector<std::byte> keys = bytes_of(*k);
      const std::vector<std::byte> values = bytes_of(*v);
      std::fill(q.begin(), q.end(), 0.0F);
      backend_->qkv(tensor(q, n, q_cols), tensor(x_, n, kModel),
                    {.w = std::span(w_).first(1), .bias = std::span(bias_).first(1)}, head_, view,
                    batch);
      EXPECT_EQ(bytes_of(*k), keys) << "keys are as they were";
      EXPECT_EQ(bytes_of(*v), values) << "values, too";
    }
    const AttendParams p{.n_heads = v_.n_heads,
                         .n_kv_heads = v_.n_kv_heads,
                         .k_dim = v_.head_dim,
                         .v_dim = v_.head_dim,
                         .scale = 0.3F,
                         .window = v_.window,
                         .is_causal = v_.is_causal};
    backend_->attend(tensor(y, n, q_cols), tensor(q, n, q_cols), view, batch, p);
    return y;
  }

  OnDevice tensor(Floats& data, int rows, int cols) { return {*device_, data, rows, cols}; }

  // Head `head` of projection `which` (0 q, 1 k, 2 v) of row `i`, normed and rotated.
  Row project(int which, int i, int head) const {
    const Floats& w = weights_.values_of(w_[static_cast<std::size_t>(which)]);
    const Weight* bias = bias_[static_cast<std::size_t>(which)];
    Row out;
    for (int d = 0; d < v_.head_dim; ++d) {
      const int row = head * v_.head_dim + d;
      double sum = bias == nullptr ? 0 : weights_.values_of(bias)[static_cast<std::size_t>(row)];
      for (int c = 0; c < kModel; ++c) {
        sum += static_cast<double>(w[static_cast<std::size_t>(row * kModel + c)]) *
               x_[static_cast<std::size_t>(i * kModel + c)];
      }
      out.push_back(sum);
    }
    if (which == 2) {
      if (v_.are_values_normed) normalize(out, head_.v_gain);
      return out;
    }
    if (v_.is_normed) normalize(out, which == 0 ? head_.q_gain : head_.k_gain);
    rotate(out, i % kTokens);
    return out;
  }

  Row attend(int i, int head) const {
    const int first = i / kTokens * kTokens;
    const int begin = v_.window > 0 ? std::max(first, i - v_.window + 1) : first;
    int end = v_.is_causal ? i + 1 : first + kTokens;
    if (!v_.is_causal && v_.window > 0) end = std::min(end, i + v_.window);
    const int kv_head = head / (v_.n_heads / v_.n_kv_heads);
    const Row q = project(0, i, head);
    Row out(static_cast<std::size_t>(v_.head_dim), 0.0);
    double total = 0;
    for (int j = begin; j < end; ++j) {
      const Row k = project(1, j, kv_head);
      const Row v = project(2, j, kv_head);
      double score = 0;
      for (std::size_t d = 0; d < k.size(); ++d)
        score += q[d] * k[d];
      const double weight = std::exp(0.3 * score);
      total += weight;
      for (std::size_t d = 0; d < v.size(); ++d)
        out[d] += weight * v[d];
    }
    for (double& o : out)
      o /= total;
    return out;
  }

 private:
  void normalize(Row& head, const Weight* gain) const {
    double square = 0;
    for (const double x : head)
      square += x * x / v_.head_dim;
    for (std::size_t d = 0; d < head.size(); ++d)
      head[d] *= weights_.values_of(gain)[d] / std::sqrt(square + 1e-6);
  }

  void rotate(Row& head, int pos) const {
    const auto half = static_cast<std::size_t>(head_.rope.dim / 2);
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = pos / std::pow(1e4, static_cast<double>(i) / static_cast<double>(half));
      const bool is_halves = v_.layout == RopeParams::kHalves;
      double& a = head[is_halves ? i : 2 * i];
      double& b = head[is_halves ? i + half : 2 * i + 1];
      const double x = a;
      a = x * std::cos(angle) - b * std::sin(angle);
      b = b * std::cos(angle) + x * std::sin(angle);
    }
  }

  Variant v_;
  std::unique_ptr<Device> device_;
  Weights weights_;
  std::unique_ptr<Backend> backend_;
  std::vector<const Weight*> w_, bias_;
  QkNormRope head_ = {};
  Floats x_;
};

TEST(AttendOps, EqualAPlainComputationInDouble) {
  const Variant variants[] = {
      {},
      {.n_heads = 3, .n_kv_heads = 1, .head_dim = 10, .layout = RopeParams::kPairs},
      {.n_heads = 2, .n_kv_heads = 2, .head_dim = 16, .window = 9, .is_normed = false},
      {.n_heads = 8, .n_kv_heads = 1, .head_dim = 32, .kv_type = KvType::kF16},
      {.head_dim = 40, .layout = RopeParams::kPairs, .kv_type = KvType::kBF16},
      {.is_causal = false},
      {.n_heads = 4, .n_kv_heads = 1, .head_dim = 16, .window = 9, .is_causal = false},
      {.are_values_normed = true},
      {.n_kv_heads = 1, .is_normed = false, .are_values_normed = true},
  };
  for (const Variant& v : variants) {
    SCOPED_TRACE("head dim " + std::to_string(v.head_dim) + ", cache " +
                 std::string(name(v.kv_type)));
    AttendOps ops(v);
    const Floats y = ops.run();
    // Rounding of what the cache holds: 2^-9 and 2^-12 of values up to 3.
    const double bound = v.kv_type == KvType::kF32 ? 1e-5 : v.kv_type == KvType::kF16 ? 3e-3 : 3e-2;
    for (const int i : {0, 1, 15, 16, 39, 40, 55, 79}) {
      for (int head = 0; head < v.n_heads; ++head) {
        const Row want = ops.attend(i, head);
        for (int d = 0; d < v.head_dim; ++d) {
          const int at = (i * v.n_heads + head) * v.head_dim + d;
          EXPECT_NEAR(y[static_cast<std::size_t>(at)], want[static_cast<std::size_t>(d)], bound)
              << "row " << i << ", head " << head << ", feature " << d;
        }
      }
    }
  }
}

// A layer that shares another's keys and values (docs/model.md) computes queries alone.
TEST(AttendOps, QueriesAloneLeaveTheCacheAsItIs) {
  for (const DType type : {DType::kF32, DType::kQ8_0}) {
    for (const KvType kv_type : {KvType::kF32, KvType::kBF16}) {
      AttendOps ops({.kv_type = kv_type, .type = type});
      EXPECT_EQ(ops.run(true), ops.run(false)) << name(kv_type);
    }
  }
}

// Who sees itself alone gets its own value.
TEST(AttendOps, ValuesReadActivationsInTwoTerms) {
  for (const DType type : {DType::kQ8_0, DType::kQ4_1}) {
    AttendOps ops({.window = 1, .type = type});
    const Floats y = ops.run();
    double error = 0, largest = 0;
    for (int i = 0; i < 2 * kTokens; ++i) {
      for (int head = 0; head < 4; ++head) {
        const Row want = ops.attend(i, head);
        for (std::size_t d = 0; d < want.size(); ++d) {
          const auto at = static_cast<std::size_t>(i * 4 + head) * want.size() + d;
          error = std::max(error, std::abs(static_cast<double>(y[at]) - want[d]));
          largest = std::max(largest, std::abs(want[d]));
        }
      }
    }
    EXPECT_LT(error, largest * 1e-4);  // one term errs by some 1e-2 of it
  }
}

}  // namespace
}  // namespace wick::test
