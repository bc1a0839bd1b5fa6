#include "backend/cpu/weight.h"

#include <gtest/gtest.h>

#include "backend/cpu/ops_fixture_test.h"

namespace wick::test {
namespace {

TEST(CpuWeight, AMatrixIsAPointerIntoTheFile) {
  const Stored matrix = store(DType::kQ8_0, random_floats(6 * 64, 1), 6, 64);
  const auto weight = make_cpu_weight(matrix.view, {.row_begin = 2, .row_count = 3});
  ASSERT_TRUE(weight);
  const CpuWeight& w = **weight;
  EXPECT_EQ(w.data, matrix.bytes.data() + 2 * 68);
  EXPECT_EQ(w.rows, 3);
  EXPECT_EQ(w.cols, 64);
  EXPECT_EQ(w.shape.dim[0], 3);
  EXPECT_TRUE(w.row_map.empty());
}

TEST(CpuWeight, APartOfEachBlockOfRows) {
  const Stored matrix = store(DType::kF32, random_floats(12 * 4, 1), 12, 4);
  const auto weight = make_cpu_weight(matrix.view, {.row_begin = 2, .row_count = 2, .blocks = 3});
  ASSERT_TRUE(weight);
  EXPECT_EQ((*weight)->rows, 6);
  EXPECT_EQ((*weight)->shape.dim[0], 6);
  EXPECT_EQ((*weight)->row_map, (std::vector<std::int32_t>{2, 3, 6, 7, 10, 11}));
}

TEST(CpuWeight, VectorsBecomeFloatsWithTheirFixes) {
  const Stored vector = store(DType::kF16, {1, 2, 3, 4, 5, 6, 7, 8}, 1, 8, 1);
  const auto plain = make_cpu_weight(vector.view, {.add_one = true, .row_begin = 6});
  ASSERT_TRUE(plain);
  EXPECT_EQ((*plain)->values, (Floats{8, 9}));
  const auto permuted = make_cpu_weight(vector.view, {.permute_heads = 2});
  ASSERT_TRUE(permuted);
  EXPECT_EQ((*permuted)->values, (Floats{1, 3, 2, 4, 5, 7, 6, 8}));
}

TEST(CpuWeight, RefusesFixesThatDoNotFit) {
  const Stored matrix = store(DType::kF32, random_floats(6 * 4, 1), 6, 4);
  const auto code = [&](const WeightTransform& fix) {
    return make_cpu_weight(matrix.view, fix).error().code;
  };
  EXPECT_EQ(code({.add_one = true}), ErrorCode::kInvalid);
  EXPECT_EQ(code({.permute_heads = 2}), ErrorCode::kInvalid) << "heads of three rows";
  EXPECT_EQ(code({.row_begin = 7}), ErrorCode::kInvalid);
  EXPECT_EQ(code({.row_begin = 4, .row_count = 3}), ErrorCode::kInvalid);
  EXPECT_EQ(code({.row_begin = -1}), ErrorCode::kInvalid);
  EXPECT_EQ(code({.blocks = 4}), ErrorCode::kInvalid) << "six rows";
  EXPECT_EQ(code({.row_begin = 1, .row_count = 3, .blocks = 2}), ErrorCode::kInvalid);
}

TEST(CpuWeight, RefusesShapesTheVerbsCannotUse) {
  Stored matrix = store(DType::kF32, random_floats(8, 1), 2, 4);
  matrix.view.shape.rank = 3;
  EXPECT_EQ(make_cpu_weight(matrix.view, {}).error().code, ErrorCode::kUnsupported);
  matrix.view.shape.rank = 2;
  matrix.view.shape.dim[1] = 3;
  EXPECT_EQ(make_cpu_weight(matrix.view, {}).error().code, ErrorCode::kCorrupt);
  matrix.view.shape.dim[1] = std::int64_t{1} << 40;
  EXPECT_EQ(make_cpu_weight(matrix.view, {}).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace wick::test
