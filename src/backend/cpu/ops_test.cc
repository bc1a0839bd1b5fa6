// Each op against a plain computation in double precision.
#include <algorithm>
#include <cmath>

#include "backend/cpu/ops_fixture_test.h"
#include "kernels/cpu/matmul.h"

namespace wick::test {
namespace {

using Doubles = std::vector<double>;

double at(const Floats& m, int row, int cols, int col) {
  return m[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) +
           static_cast<std::size_t>(col)];
}

// [n][rows] of x [n][cols] with W [rows][cols]
Doubles multiply(const Doubles& x, const Floats& w, int n, int rows, int cols) {
  Doubles y;
  for (int t = 0; t < n; ++t) {
    for (int r = 0; r < rows; ++r) {
      double sum = 0;
      for (int i = 0; i < cols; ++i) {
        sum += x[static_cast<std::size_t>(t * cols + i)] * at(w, r, cols, i);
      }
      y.push_back(sum);
    }
  }
  return y;
}

Doubles rms_norm(const Floats& x, const Floats& gain, int n, double eps) {
  const int cols = static_cast<int>(gain.size());
  Doubles y;
  for (int t = 0; t < n; ++t) {
    double square = 0;
    for (int i = 0; i < cols; ++i)
      square += at(x, t, cols, i) * at(x, t, cols, i) / cols;
    for (int i = 0; i < cols; ++i) {
      y.push_back(at(x, t, cols, i) / std::sqrt(square + eps) * gain[static_cast<std::size_t>(i)]);
    }
  }
  return y;
}

// Root mean square of the difference in units of the wanted values' own, or of 0.5 where they are
// smaller: outputs here are of order 1, a single one may lie near zero.
double relative_error(const Floats& got, const Doubles& want) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  return std::sqrt(difference / std::max(size, 0.25 * static_cast<double>(want.size())));
}

// int8 activations with a factor per 32 err by about 1 % of a product of random vectors
// (docs/numerics.md, "Activations"); floats by rounding only.
double bound_for(DType type) {
  return needs_quantized(type) ? 0.02 : 1e-6;
}

double silu(double x) {
  return x / (1 + std::exp(-x));
}

class LinearOf : public testing::TestWithParam<DType> {
 protected:
  LinearOf() : device_(make_device(Isa::kScalar)), weights_(*device_) {
    backend_ = *device_->create_backend({.max_batch_tokens = 64,
                                         .max_cols = 512,
                                         .max_heads = 1,
                                         .max_head_dim = 2,
                                         .max_context = 16,
                                         .threads = 2},
                                        {});
  }

  OnDevice tensor(Floats& data, int rows, int cols) { return {*device_, data, rows, cols}; }

  std::unique_ptr<Device> device_;
  Weights weights_;
  std::unique_ptr<Backend> backend_;
};

TEST_P(LinearOf, StoresAddsAndGates) {
  const DType type = GetParam();
  const int cols = dtype_info(type).block_len == 256 ? 512 : 96;
  for (const int n : {1, 3, 40}) {
    for (const int rows : {5, 33, 70}) {
      SCOPED_TRACE(std::to_string(n) + " tokens, " + std::to_string(rows) + " rows");
      const Weight* a = weights_.matrix(type, rows, cols, 1);
      const Weight* b = weights_.matrix(type, rows, cols, 2);
      const Weight* bias = weights_.vector(rows, 3);
      const Weight* gain = weights_.vector(cols, 4, 1);
      Floats x = random_floats(static_cast<std::size_t>(n * cols), 5);
      const Doubles normed = rms_norm(x, weights_.values_of(gain), n, 1e-6);
      Doubles plain(x.begin(), x.end());
      Doubles of_a = multiply(normed, weights_.values_of(a), n, rows, cols);
      const Doubles of_b = multiply(normed, weights_.values_of(b), n, rows, cols);
      for (std::size_t i = 0; i < of_a.size(); ++i) {
        of_a[i] += weights_.values_of(bias)[i % static_cast<std::size_t>(rows)];
      }
      const std::vector<const Weight*> both = {a, b};
      const std::vector<const Weight*> biases = {bias, nullptr};

      Floats stored(static_cast<std::size_t>(2 * n * rows));
      backend_->linear(tensor(stored, n, 2 * rows), tensor(x, n, cols),
                       {.w = both, .bias = biases, .gain = gain});
      Doubles side_by_side, gated;
      const Doubles* const halves[] = {&of_a, &of_b};
      for (std::size_t t = 0; t < static_cast<std::size_t>(n); ++t) {
        for (const Doubles* part : halves) {
          for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
            side_by_side.push_back((*part)[t * static_cast<std::size_t>(rows) + r]);
          }
        }
      }
      EXPECT_LT(relative_error(stored, side_by_side), bound_for(type));

      for (std::size_t i = 0; i < of_a.size(); ++i)
        gated.push_back(silu(of_a[i]) * of_b[i]);
      Floats product(static_cast<std::size_t>(n * rows));
      backend_->linear(
          tensor(product, n, rows), tensor(x, n, cols),
          {.w = both, .bias = biases, .gain = gain, .epilogue = Linear::Epilogue::kGate});
      EXPECT_LT(relative_error(product, gated), 4 * bound_for(type));

      const Doubles added = multiply(plain, weights_.values_of(a), n, rows, cols);
      Floats sum = random_floats(static_cast<std::size_t>(n * rows), 6);
      Doubles want(sum.begin(), sum.end());
      for (std::size_t i = 0; i < want.size(); ++i)
        want[i] += 0.5 * added[i];
      backend_->linear(
          tensor(sum, n, rows), tensor(x, n, cols),
          {.w = std::span(both).first(1), .epilogue = Linear::Epilogue::kAdd, .scale = 0.5F});
      EXPECT_LT(relative_error(sum, want), bound_for(type));

      Floats factor = random_floats(static_cast<std::size_t>(n * rows), 7);
      for (std::size_t i = 0; i < want.size(); ++i)
        want[i] = factor[i] / (1 + std::exp(-added[i]));
      backend_->linear(tensor(factor, n, rows), tensor(x, n, cols),
                       {.w = std::span(both).first(1),
                        .epilogue = Linear::Epilogue::kMultiply,
                        .act = Act::kSigmoid});
      EXPECT_LT(relative_error(factor, want), 4 * bound_for(type));
    }
  }
}

// The scale is one multiplication behind the sum and its bias (docs/numerics.md).
TEST_P(LinearOf, AStoredProductIsTimesItsScale) {
  const int cols = dtype_info(GetParam()).block_len == 256 ? 512 : 96;
  const std::vector<const Weight*> w = {weights_.matrix(GetParam(), 70, cols, 1),
                                        weights_.matrix(GetParam(), 33, cols, 2)};
  const std::vector<const Weight*> bias = {weights_.vector(70, 3), nullptr};
  for (const int n : {1, 3, 40}) {
    Floats x = random_floats(static_cast<std::size_t>(n * cols), 4);
    Floats plain(static_cast<std::size_t>(n * 103)), scaled(plain.size());
    backend_->linear(tensor(plain, n, 103), tensor(x, n, cols), {.w = w, .bias = bias});
    backend_->linear(tensor(scaled, n, 103), tensor(x, n, cols),
                     {.w = w, .bias = bias, .scale = 0.3F});
    for (float& value : plain)
      value *= 0.3F;
    EXPECT_EQ(scaled, plain) << n << " tokens";
  }
}

INSTANTIATE_TEST_SUITE_P(Types, LinearOf,
                         testing::Values(DType::kF32, DType::kF16, DType::kBF16, DType::kQ4_0,
                                         DType::kQ4_1, DType::kQ8_0, DType::kQ4_K, DType::kQ6_K),
                         [](const auto& type) { return std::string(dtype_info(type.param).name); });

TEST_F(LinearOf, MixesFormatsThatShareActivations) {
  const std::vector<const Weight*> mixed = {weights_.matrix(DType::kQ8_0, 40, 64, 1),
                                            weights_.matrix(DType::kF32, 24, 64, 2)};
  Floats x = random_floats(3 * 64, 3);
  Floats together(3 * 64), first(3 * 40), second(3 * 24);
  backend_->linear(tensor(together, 3, 64), tensor(x, 3, 64), {.w = mixed});
  backend_->linear(tensor(first, 3, 40), tensor(x, 3, 64), {.w = std::span(mixed).first(1)});
  backend_->linear(tensor(second, 3, 24), tensor(x, 3, 64), {.w = std::span(mixed).last(1)});
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t r = 0; r < 64; ++r) {
      EXPECT_EQ(together[t * 64 + r], r < 40 ? first[t * 40 + r] : second[t * 24 + r - 40]);
    }
  }
}

TEST_F(LinearOf, AFusedGateEqualsTwoMatrices) {
  const WeightTransform first{.row_begin = 0, .row_count = 48}, second{.row_begin = 48};
  const std::vector<const Weight*> fused = {weights_.matrix(DType::kQ8_0, 96, 64, 1)};
  const std::vector<const Weight*> halves = {weights_.matrix(DType::kQ8_0, 96, 64, 1, first),
                                             weights_.matrix(DType::kQ8_0, 96, 64, 1, second)};
  Floats x = random_floats(5 * 64, 3);
  Floats a(5 * 48), b(5 * 48);
  const auto gate = Linear::Epilogue::kGate;
  backend_->linear(tensor(a, 5, 48), tensor(x, 5, 64), {.w = fused, .epilogue = gate});
  backend_->linear(tensor(b, 5, 48), tensor(x, 5, 64), {.w = halves, .epilogue = gate});
  EXPECT_EQ(a, b);
}

TEST_F(LinearOf, PermutedHeadsComeOutInPairs) {
  for (const DType type : {DType::kF32, DType::kBF16}) {
    const std::vector<const Weight*> plain = {weights_.matrix(type, 24, 32, 1)};
    const std::vector<const Weight*> permuted = {
        weights_.matrix(type, 24, 32, 1, {.permute_heads = 2})};
    Floats x = random_floats(2 * 32, 3);
    Floats a(2 * 24), b(2 * 24);
    backend_->linear(tensor(a, 2, 24), tensor(x, 2, 32), {.w = plain});
    backend_->linear(tensor(b, 2, 24), tensor(x, 2, 32), {.w = permuted});
    for (std::size_t t = 0; t < 2; ++t) {
      for (std::size_t head = 0; head < 2; ++head) {
        for (std::size_t i = 0; i < 6; ++i) {
          const std::size_t row = t * 24 + head * 12;
          EXPECT_EQ(b[row + 2 * i], a[row + i]);
          EXPECT_EQ(b[row + 2 * i + 1], a[row + 6 + i]);
        }
      }
    }
  }
}

TEST_F(LinearOf, LogitsAreThoseOfTheRowsAskedFor) {
  for (const DType type : {DType::kF32, DType::kQ8_0}) {
    const std::vector<const Weight*> head = {weights_.matrix(type, 70, 64, 1)};
    const Weight* gain = weights_.vector(64, 2, 1);
    Floats x = random_floats(6 * 64, 3);
    Floats all(6 * 70), some(2 * 70);
    for (const Weight* norm : {gain, static_cast<const Weight*>(nullptr)}) {
      backend_->linear(tensor(all, 6, 70), tensor(x, 6, 64), {.w = head, .gain = norm});
      const int rows[] = {5, 2};
      backend_->logits(tensor(some, 2, 70), tensor(x, 6, 64), {.w = head, .gain = norm}, rows);
      for (std::size_t i = 0; i < 70; ++i) {
        EXPECT_EQ(some[i], all[5 * 70 + i]);
        EXPECT_EQ(some[70 + i], all[2 * 70 + i]);
      }
    }
  }
}

TEST_F(LinearOf, NormalizedRowsAreWhatAProductReads) {
  Floats x = random_floats(3 * 64, 3), y(3 * 70), z(3 * 70);
  const std::vector<const Weight*> head = {weights_.matrix(DType::kF32, 70, 64, 1)};
  const Weight* gain = weights_.vector(64, 2, 1);
  backend_->linear(tensor(y, 3, 70), tensor(x, 3, 64), {.w = head, .gain = gain});
  {
    const OnDevice rows = tensor(x, 3, 64);
    backend_->normalize(rows, rows, {.gain = gain});
  }
  backend_->linear(tensor(z, 3, 70), tensor(x, 3, 64), {.w = head});
  EXPECT_EQ(y, z);
}

// A norm of its own is that of a product's input, shifted and added; the sum may be scaled.
TEST_F(LinearOf, NormsAreShiftedAddedAndScaled) {
  for (const int n : {3, 64}) {
    const auto count = static_cast<std::size_t>(n) * 512;
    Floats x = random_floats(count, 3), y = random_floats(count, 4), plain(count);
    const Floats before = y;
    const Weight* gain = weights_.vector(512, 2, 1);
    const Weight* shift = weights_.vector(512, 5);
    backend_->normalize(tensor(plain, n, 512), tensor(x, n, 512), {.gain = gain});
    const Normalize step{.gain = gain, .shift = shift, .adds = true};
    backend_->normalize(tensor(y, n, 512), tensor(x, n, 512), step);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(y[i], before[i] + (plain[i] + weights_.values_of(shift)[i % 512])) << i;
    Floats scaled = before;
    const Normalize less{.gain = gain, .shift = shift, .adds = true, .scale = 0.75F};
    backend_->normalize(tensor(scaled, n, 512), tensor(x, n, 512), less);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(scaled[i], 0.75F * y[i]) << i;
  }
}

TEST_F(LinearOf, ActivatesWithoutAGate) {
  Floats x = random_floats(3 * 64, 3), y(3 * 70), both(3 * 70);
  const Weight* w = weights_.matrix(DType::kF32, 70, 64, 1);
  const Weight* bias = weights_.vector(70, 3);
  const std::vector<const Weight*> one = {w}, biases = {bias};
  backend_->linear(tensor(y, 3, 70), tensor(x, 3, 64), {.w = one, .bias = biases});
  backend_->linear(tensor(both, 3, 70), tensor(x, 3, 64),
                   {.w = one, .bias = biases, .epilogue = Linear::Epilogue::kAct});
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(both[i], silu(y[i]), 1e-6 * (1 + std::abs(y[i])));
}

TEST_F(LinearOf, CapsWhatItStores) {
  Floats x = random_floats(3 * 64, 3), y(3 * 70), capped(3 * 70);
  const std::vector<const Weight*> one = {weights_.matrix(DType::kF32, 70, 64, 1)};
  backend_->linear(tensor(y, 3, 70), tensor(x, 3, 64), {.w = one, .scale = 2});
  backend_->linear(tensor(capped, 3, 70), tensor(x, 3, 64), {.w = one, .scale = 2, .soft_cap = 3});
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(capped[i], 3 * std::tanh(y[i] / 3), 2e-6);
}

TEST_F(LinearOf, EmbeddingsAreScaledRowsOfTheTable) {
  const Weight* table = weights_.matrix(DType::kQ8_0, 20, 64, 1);
  Floats y(3 * 64);
  const TokenId ids[] = {19, 0, 7};
  backend_->embed(tensor(y, 3, 64), *table, ids, {.scale = 3});
  for (int t = 0; t < 3; ++t) {
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(at(y, t, 64, i), 3 * at(weights_.values_of(table), ids[t], 64, i));
    }
  }
  Floats sum = y;
  backend_->embed(tensor(sum, 3, 64), *table, ids, {.scale = 0.5F, .adds = true});
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_FLOAT_EQ(sum[i], y[i] + y[i] / 6);
}

}  // namespace
}  // namespace wick::test
