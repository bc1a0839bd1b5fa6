// The scalar products and the quantization of activations against their definition in double
// precision. That every other kernel gives the scalar's bits is in same_bits_matmul_test.cc.
#include "kernels/cpu/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/activation.h"
#include "kernels/cpu/matmul_data_test.h"

namespace wick::test {
namespace {

TEST(ActivationLayout, PartsAreAlignedAndDoNotOverlap) {
  for (int width : {32, 64, 256, 288, 576, 1536, 8960}) {
    const ActivationLayout l = activation_layout(width);
    const auto groups = static_cast<std::size_t>(l.groups);
    EXPECT_EQ(l.groups, (width + 255) / 256);
    EXPECT_EQ(l.blocks, width / 32);
    EXPECT_LE(l.group_scales + 4 * groups, l.block_scales);
    EXPECT_LE(l.block_scales + 16 * groups, l.block_scale_pairs);
    EXPECT_LE(l.block_scale_pairs + 32 * groups, l.sums);
    EXPECT_LE(l.sums + 16 * groups, l.half_sums);
    EXPECT_LE(l.half_sums + 32 * groups, l.float_sums);
    EXPECT_LE(l.float_sums + 32 * groups, l.word_compensations);
    EXPECT_LE(l.word_compensations + 32 * groups, l.half_word_compensations);
    EXPECT_LE(l.half_word_compensations + 64 * groups, l.shifts);
    EXPECT_LE(l.shifts + 32 * groups, l.compensations);
    EXPECT_LE(l.compensations + 32 * groups, l.half_compensations);
    EXPECT_LE(l.half_compensations + 64 * groups, l.values);
    EXPECT_LE(l.values + 256 * groups, l.int16s);
    EXPECT_LE(l.int16s + 512 * groups, l.bytes);
    for (std::size_t at : {l.group_scales, l.block_scales, l.block_scale_pairs, l.sums, l.half_sums,
                           l.float_sums, l.word_compensations, l.half_word_compensations, l.shifts,
                           l.compensations, l.half_compensations, l.values, l.int16s, l.bytes}) {
      EXPECT_EQ(at % 64, 0u) << "width " << width;
    }
  }
}

TEST(NeedsQuantized, OnlyBlockFormatsDo) {
  for (DType type : all_types()) {
    EXPECT_EQ(needs_quantized(type), dtype_info(type).block_len > 1) << dtype_info(type).name;
  }
}

struct Quantized {
  ActivationLayout layout;
  AlignedBytes bytes;
  ActivationRow row;
};

Quantized quantize(const std::vector<float>& x) {
  const ActivationLayout layout = activation_layout(static_cast<int>(x.size()));
  Quantized q = {layout, AlignedBytes(layout.bytes), {}};
  quantize_scalar(x.data(), layout, q.bytes.data());
  q.row = activation_row(layout, q.bytes.data());
  return q;
}

double value_at(const Quantized& q, int i) {
  return static_cast<double>(q.row.group_scales[i / 256]) * q.row.block_scales[i / 32] *
         q.row.values[i];
}

TEST(Quantize, IsWithinHalfAStepOfEveryValue) {
  for (Fill fill : kAllFills) {
    const std::vector<float> x = make_values(576, fill, 5);
    const Quantized q = quantize(x);
    for (int i = 0; i < 576; ++i) {
      const double step =
          static_cast<double>(q.row.group_scales[i / 256]) * q.row.block_scales[i / 32];
      EXPECT_LE(std::fabs(value_at(q, i) - x[static_cast<std::size_t>(i)]), step * 0.50001);
    }
  }
}

TEST(Quantize, FactorIsTheSmallestThatReachesTheBlock) {
  std::vector<float> x(256, 0.0f);
  x[0] = 8.0f;       // the group's largest: 8
  x[32] = 4.0f;      // exactly half: 4
  x[64] = 4.00001f;  // a little more: 8
  x[96] = -2.0f;     // 2
  x[128] = 1.0f;     // 1
  x[160] = 0.001f;   // 1
  const Quantized q = quantize(x);
  const int wanted[8] = {8, 4, 8, 2, 1, 1, 1, 1};
  for (int j = 0; j < 8; ++j)
    EXPECT_EQ(q.row.block_scales[j], wanted[j]) << "block " << j;
  EXPECT_EQ(q.row.values[0], 127);
  EXPECT_EQ(q.row.values[96], -127);
}

TEST(Quantize, SumsAreThoseOfTheValuesTimesTheFactor) {
  const Quantized q = quantize(make_values(288, Fill::kRandom, 9));
  const auto* floats = reinterpret_cast<const float*>(q.bytes.data() + q.layout.float_sums);
  const auto* pairs =
      reinterpret_cast<const std::int16_t*>(q.bytes.data() + q.layout.block_scale_pairs);
  const auto* shifts = reinterpret_cast<const std::int32_t*>(q.bytes.data() + q.layout.shifts);
  const auto* compensations =
      reinterpret_cast<const std::int32_t*>(q.bytes.data() + q.layout.compensations);
  const auto* half_compensations =
      reinterpret_cast<const std::int32_t*>(q.bytes.data() + q.layout.half_compensations);
  for (int at = 0; at < q.layout.blocks; ++at) {
    int halves[2] = {};
    for (int i = 0; i < 32; ++i)
      halves[i / 16] += q.row.values[32 * at + i];
    const int k = q.row.block_scales[at];
    EXPECT_EQ(q.row.half_sums[2 * at], k * halves[0]);
    EXPECT_EQ(q.row.half_sums[2 * at + 1], k * halves[1]);
    EXPECT_EQ(q.row.sums[at], k * (halves[0] + halves[1]));
    EXPECT_EQ(floats[at], static_cast<float>(k * (halves[0] + halves[1])));
    EXPECT_EQ(1 << shifts[at], k);
    EXPECT_EQ(compensations[at], -128 * (halves[0] + halves[1]));
    EXPECT_EQ(half_compensations[2 * at], -128 * halves[0]);
    EXPECT_EQ(half_compensations[2 * at + 1], -128 * halves[1]);
    EXPECT_EQ(pairs[2 * at], k);
    EXPECT_EQ(pairs[2 * at + 1], k);
  }
}

TEST(Quantize, OffsetsAreMultiplesOfTheWordSums) {
  const Quantized q = quantize(make_values(288, Fill::kRandom, 9));
  const auto* word_compensations =
      reinterpret_cast<const std::int16_t*>(q.bytes.data() + q.layout.word_compensations);
  const auto* halves =
      reinterpret_cast<const std::int16_t*>(q.bytes.data() + q.layout.half_word_compensations);
  for (int half = 0; half < 18; ++half) {
    int words[2] = {0, 0};
    for (int i = 0; i < 16; ++i)
      words[i / 2 % 2] += q.row.values[16 * half + i];
    EXPECT_EQ(halves[2 * half], -32 * words[0]) << half;
    EXPECT_EQ(halves[2 * half + 1], -32 * words[1]) << half;
  }
  for (int i = 0; i < 18; ++i)
    EXPECT_EQ(2 * word_compensations[i], halves[i / 2 * 4 + i % 2] + halves[i / 2 * 4 + 2 + i % 2])
        << i;
}

TEST(Quantize, WideValuesAreThoseTimesTheFactorInTheirOrder) {
  const std::vector<float> x = make_values(288, Fill::kRandom, 9);
  const Quantized q = quantize(x);
  ASSERT_TRUE(q.layout.has_int16);
  const auto* int16s = reinterpret_cast<const std::int16_t*>(q.bytes.data() + q.layout.int16s);
  for (int at = 0; at < q.layout.blocks; ++at) {
    for (int i = 0; i < 8; ++i) {
      for (int n = 0; n < 4; ++n) {
        const int place = 32 * at + n % 2 * 16 + 2 * i + n / 2;
        EXPECT_EQ(int16s[place], q.row.block_scales[at] * q.row.values[32 * at + 4 * i + n])
            << place;
      }
    }
  }
}

TEST(Quantize, ARowWithoutWideValuesEndsBeforeThem) {
  const std::vector<float> x = make_values(288, Fill::kRandom, 9);
  const Quantized whole = quantize(x);
  const ActivationLayout layout = activation_layout(288, false);
  EXPECT_FALSE(layout.has_int16);
  ASSERT_EQ(layout.bytes, whole.layout.int16s);
  for (const Isa isa : kAllIsas) {
    AlignedBytes bytes(layout.bytes);
    matmul_kernels(isa).quantize(x.data(), layout, bytes.data());
    EXPECT_EQ(std::memcmp(bytes.data(), whole.bytes.data(), layout.bytes), 0) << name(isa);
  }
}

TEST(Quantize, GroupsBelowTwoToTheMinusHundredAreZero) {
  std::vector<float> x(256, 0x1p-101f);
  EXPECT_EQ(quantize(x).row.group_scales[0], 0.0f);
  EXPECT_EQ(quantize(x).row.values[3], 0);
  x[3] = 0x1p-100f;
  EXPECT_GT(quantize(x).row.group_scales[0], 0.0f);
  EXPECT_EQ(quantize(x).row.values[3], 127);
}

TEST(Quantize, LargestFloatsStayInRange) {
  const Quantized q = quantize(std::vector<float>(256, -std::numeric_limits<float>::max()));
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(q.row.values[i], -127);
  EXPECT_TRUE(std::isfinite(q.row.group_scales[0]));
}

TEST(Quantize, GroupWithANonFiniteValueMakesItsProductsNaN) {
  for (float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> x(512, 1.0f);
    x[300] = bad;
    const Quantized q = quantize(x);
    EXPECT_FALSE(std::isnan(q.row.group_scales[0]));
    EXPECT_TRUE(std::isnan(q.row.group_scales[1]));
    EXPECT_EQ(q.row.values[300], 0);
  }
}

// What the product approximates, in double, and the sum of the magnitudes its rounding scales with.
struct Oracle {
  double value = 0;
  double size = 0;
};

Oracle oracle(DType type, const std::byte* row, int width, const std::byte* x) {
  const auto n = static_cast<std::size_t>(width);
  std::vector<float> w(n);
  decode_row(type, {row, *row_bytes(type, width)}, w);
  double largest = 0;
  for (float v : w)
    largest = std::max(largest, std::fabs(static_cast<double>(v)));
  ActivationRow q;
  if (needs_quantized(type)) q = activation_row(activation_layout(width), x);
  Oracle out;
  for (int i = 0; i < width; ++i) {
    double v = 0;
    if (needs_quantized(type)) {
      v = static_cast<double>(q.group_scales[i / 256]) * q.block_scales[i / 32] * q.values[i];
    } else {
      float f = 0;
      std::memcpy(&f, x + static_cast<std::size_t>(i) * sizeof f, sizeof f);
      v = f;
    }
    out.value += v * w[static_cast<std::size_t>(i)];
    out.size += std::fabs(v) * largest;
  }
  return out;
}

class MatmulScalar : public testing::TestWithParam<DType> {};

// Each f32 operation of the chain rounds by at most 2^-24 of the magnitudes summed so far, and a
// group has at most 17 of them: 2^-18 of the whole covers every width here.
TEST_P(MatmulScalar, IsTheDotProductOfTheDecodedWeights) {
  const DType type = GetParam();
  for (Fill fill : {Fill::kRandom, Fill::kAllOnes, Fill::kTopBits}) {
    for (int width : widths_of(type)) {
      constexpr int kRows = 5, kTokens = 5;
      const std::vector<std::byte> w = make_weights(type, kRows, width, fill, 3);
      std::size_t stride = 0;
      const AlignedBytes x = make_activations(type, width, kTokens, fill, stride);
      std::vector<float> y(kRows * kTokens);
      const std::size_t bytes = *row_bytes(type, width);
      matmul_kernels_scalar().matmul[static_cast<int>(type)]({.w = w.data(),
                                                              .row_bytes = bytes,
                                                              .width = width,
                                                              .row_begin = 0,
                                                              .row_end = kRows,
                                                              .x = x.data(),
                                                              .x_stride = stride,
                                                              .n_tokens = kTokens,
                                                              .y = y.data(),
                                                              .y_stride = kRows});
      for (int t = 0; t < kTokens; ++t) {
        for (int r = 0; r < kRows; ++r) {
          const Oracle want = oracle(type, w.data() + static_cast<std::size_t>(r) * bytes, width,
                                     x.data() + static_cast<std::size_t>(t) * stride);
          EXPECT_NEAR(y[static_cast<std::size_t>(t * kRows + r)], want.value, want.size * 0x1p-18)
              << "width " << width << ", row " << r << ", token " << t;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, MatmulScalar, testing::ValuesIn(all_types()),
                         [](const auto& p) { return std::string(dtype_info(p.param).name); });

TEST(Isa, ScalarIsAlwaysThereAndUnknownNamesAreRefused) {
  EXPECT_TRUE(is_supported(Isa::kScalar));
  ASSERT_TRUE(choose_isa("scalar"));
  EXPECT_EQ(*choose_isa("scalar"), Isa::kScalar);
  const Result<Isa> unknown = choose_isa("mmx");
  ASSERT_FALSE(unknown);
  const Error error = Result<Isa>(unknown).error();
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_NE(error.message.find("'mmx'"), std::string::npos) << error.message;
}

TEST(Isa, NamesThatCannotRunHereAreUnsupported) {
  for (Isa isa : kAllIsas) {
    Result<Isa> chosen = choose_isa(name(isa));
    EXPECT_EQ(static_cast<bool>(chosen), is_supported(isa)) << name(isa);
    if (!chosen) {
      EXPECT_EQ(chosen.error().code, ErrorCode::kUnsupported);
    }
  }
}

TEST(Isa, BestIsSupported) {
  const Result<Isa> best = choose_isa("");
  ASSERT_TRUE(best);
  EXPECT_TRUE(is_supported(*best));
}

TEST(Isa, EveryTableIsComplete) {
  for (Isa isa : kAllIsas) {
    const MatmulKernels& kernels = matmul_kernels(isa);
    EXPECT_NE(kernels.quantize, nullptr);
    for (MatmulFn fn : kernels.matmul)
      EXPECT_NE(fn, nullptr) << name(isa);
  }
}

}  // namespace
}  // namespace wick::test
