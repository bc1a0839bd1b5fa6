// Every kernel of every ISA that runs here gives the bits of the scalar definition: for each format
// and width, any number of tokens, any range of rows, with and without a row map, over random and
// extreme blocks. All buffers have exactly the size that the contract names, so that the debug
// build's address sanitizer holds the kernels to it.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <ostream>

#include "kernels/cpu/matmul_data_test.h"
#include "kernels/cpu/matmul_isa.h"

namespace wick::test {
namespace {

struct Table {
  std::string name;
  MatmulKernels kernels;
};

std::ostream& operator<<(std::ostream& out, const Table& table) {
  return out << table.name;
}

std::vector<Table> tables() {
  std::vector<Table> all;
  for (Isa isa : kAllIsas) {
    if (is_supported(isa)) all.push_back({std::string(name(isa)), matmul_kernels(isa)});
  }
#if defined(WICK_HAS_SIMDE)
  if (is_supported(Isa::kAvx2)) {
    all.push_back({"emulated_avx512", with_overrides(matmul_overrides_simde())});
  }
#endif
  return all;
}

struct Case {
  DType type = DType::kF32;
  int width = 0;
  int rows = 0;
  int tokens = 0;
  const std::vector<std::byte>* w = nullptr;
  const AlignedBytes* x = nullptr;
  std::size_t stride = 0;
};

constexpr float kUntouched = -12345.5f;

// [tokens][rows]; rows outside [begin, end) keep kUntouched.
std::vector<float> run(const MatmulKernels& kernels, const Case& c, int tokens, int begin, int end,
                       const std::int32_t* row_map) {
  std::vector<float> y(static_cast<std::size_t>(tokens * c.rows), kUntouched);
  kernels.matmul[static_cast<int>(c.type)]({.w = c.w->data(),
                                            .row_bytes = *row_bytes(c.type, c.width),
                                            .row_map = row_map,
                                            .width = c.width,
                                            .row_begin = begin,
                                            .row_end = end,
                                            .x = c.x->data(),
                                            .x_stride = c.stride,
                                            .n_tokens = tokens,
                                            .y = y.data(),
                                            .y_stride = c.rows});
  return y;
}

// The number of results that differ from those of all rows and tokens at once.
int differences(const std::vector<float>& want, const std::vector<float>& got, const Case& c,
                int tokens, int begin, int end) {
  int bad = 0;
  for (int t = 0; t < tokens; ++t) {
    for (int r = 0; r < c.rows; ++r) {
      const auto at = static_cast<std::size_t>(t * c.rows + r);
      const float wanted = r >= begin && r < end ? want[at] : kUntouched;
      if (std::memcmp(&wanted, &got[at], sizeof wanted) != 0) ++bad;
    }
  }
  return bad;
}

class SameBitsMatmul : public testing::TestWithParam<std::tuple<Table, DType>> {};

TEST_P(SameBitsMatmul, AsTheScalarDefinition) {
  const auto& [table, type] = GetParam();
  constexpr int kRows = 13, kTokens = 9;
  for (Fill fill : kAllFills) {
    for (int width : widths_of(type)) {
      const std::vector<std::byte> w = make_weights(type, kRows, width, fill, 11);
      std::size_t stride = 0;
      const AlignedBytes x = make_activations(type, width, kTokens, fill, stride);
      const Case c = {.type = type,
                      .width = width,
                      .rows = kRows,
                      .tokens = kTokens,
                      .w = &w,
                      .x = &x,
                      .stride = stride};
      const std::vector<float> want = run(matmul_kernels_scalar(), c, kTokens, 0, kRows, nullptr);
      for (int tokens = 1; tokens <= kTokens; ++tokens) {
        const int begin = tokens % 5, end = kRows - tokens % 3;
        const std::vector<float> got = run(table.kernels, c, tokens, begin, end, nullptr);
        EXPECT_EQ(differences(want, got, c, tokens, begin, end), 0)
            << table.name << ", width " << width << ", tokens " << tokens << ", fill "
            << static_cast<int>(fill);
      }
    }
  }
}

// Wider than what a kernel holds of a row at a time.
TEST_P(SameBitsMatmul, OfWideRows) {
  const auto& [table, type] = GetParam();
  constexpr int kRows = 9, kTokens = 4;
  const int width = dtype_info(type).block_len == 256 ? 65 * 256 : 65 * 256 + 5 * 32;
  const std::vector<std::byte> w = make_weights(type, kRows, width, Fill::kRandom, 13);
  std::size_t stride = 0;
  const AlignedBytes x = make_activations(type, width, kTokens, Fill::kRandom, stride);
  const Case c = {.type = type,
                  .width = width,
                  .rows = kRows,
                  .tokens = kTokens,
                  .w = &w,
                  .x = &x,
                  .stride = stride};
  const std::vector<float> want = run(matmul_kernels_scalar(), c, kTokens, 0, kRows, nullptr);
  for (int tokens = 1; tokens <= kTokens; ++tokens) {
    const std::vector<float> got = run(table.kernels, c, tokens, 0, kRows, nullptr);
    EXPECT_EQ(differences(want, got, c, tokens, 0, kRows), 0)
        << table.name << ", tokens " << tokens;
  }
}

// Passes of four tokens, panels, and what is left over of both; with more rows than a panel.
TEST_P(SameBitsMatmul, OfAnyNumberOfTokens) {
  const auto& [table, type] = GetParam();
  constexpr int kRows = 37, kTokens = 33;
  for (Fill fill : {Fill::kRandom, Fill::kAllOnes, Fill::kTopBits}) {
    const int width = dtype_info(type).block_len == 256 ? 1536 : 1120;
    const std::vector<std::byte> w = make_weights(type, kRows, width, fill, 14);
    std::size_t stride = 0;
    const AlignedBytes x = make_activations(type, width, kTokens, fill, stride);
    const Case c = {.type = type,
                    .width = width,
                    .rows = kRows,
                    .tokens = kTokens,
                    .w = &w,
                    .x = &x,
                    .stride = stride};
    const std::vector<float> want = run(matmul_kernels_scalar(), c, kTokens, 0, kRows, nullptr);
    for (int tokens = 5; tokens <= kTokens; ++tokens) {
      const int begin = tokens % 4, end = kRows - tokens % 7;
      const std::vector<float> got = run(table.kernels, c, tokens, begin, end, nullptr);
      EXPECT_EQ(differences(want, got, c, tokens, begin, end), 0)
          << table.name << ", tokens " << tokens << ", fill " << static_cast<int>(fill);
    }
  }
}

// More tokens than a panel meets at a time (their activations stay in the second-level cache), and
// rows of several slices on every ISA.
TEST_P(SameBitsMatmul, OfManyTokens) {
  const auto& [table, type] = GetParam();
  constexpr int kRows = 18, kTokens = 90;
  const int width = dtype_info(type).block_len == 256 ? 2304 : 2336;
  const std::vector<std::byte> w = make_weights(type, kRows, width, Fill::kRandom, 15);
  std::size_t stride = 0;
  const AlignedBytes x = make_activations(type, width, kTokens, Fill::kRandom, stride);
  const Case c = {.type = type,
                  .width = width,
                  .rows = kRows,
                  .tokens = kTokens,
                  .w = &w,
                  .x = &x,
                  .stride = stride};
  const std::vector<float> want = run(matmul_kernels_scalar(), c, kTokens, 0, kRows, nullptr);
  const std::vector<float> got = run(table.kernels, c, kTokens, 0, kRows, nullptr);
  EXPECT_EQ(differences(want, got, c, kTokens, 0, kRows), 0) << table.name;
}

TEST_P(SameBitsMatmul, WithRowsInAnyOrder) {
  const auto& [table, type] = GetParam();
  constexpr int kRows = 19, kTokens = 10;
  const int width = widths_of(type).back();
  const std::vector<std::byte> w = make_weights(type, kRows, width, Fill::kRandom, 12);
  std::size_t stride = 0;
  const AlignedBytes x = make_activations(type, width, kTokens, Fill::kRandom, stride);
  const Case c = {.type = type,
                  .width = width,
                  .rows = kRows,
                  .tokens = kTokens,
                  .w = &w,
                  .x = &x,
                  .stride = stride};
  std::vector<std::int32_t> map(kRows);
  for (int r = 0; r < kRows; ++r)
    map[static_cast<std::size_t>(r)] = r * 7 % kRows;
  const std::vector<float> plain = run(matmul_kernels_scalar(), c, kTokens, 0, kRows, nullptr);
  for (int tokens : {2, kTokens}) {
    const std::vector<float> mapped = run(table.kernels, c, tokens, 0, kRows, map.data());
    for (std::size_t t = 0; t < static_cast<std::size_t>(tokens); ++t) {
      for (std::size_t r = 0; r < kRows; ++r) {
        EXPECT_EQ(std::memcmp(&mapped[t * kRows + r],
                              &plain[t * kRows + static_cast<std::size_t>(map[r])], sizeof(float)),
                  0)
            << "row " << r << ", token " << t << " of " << tokens;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, SameBitsMatmul,
                         testing::Combine(testing::ValuesIn(tables()),
                                          testing::ValuesIn(all_types())),
                         [](const auto& p) {
                           return std::get<0>(p.param).name + "_" +
                                  std::string(dtype_info(std::get<1>(p.param)).name);
                         });

// Block formats only: floats have no panels.
class SameBitsPanels : public testing::TestWithParam<std::tuple<Table, DType>> {};

int differences_at(const std::tuple<Table, DType>& param, int rows, int tokens, int width) {
  const auto& [table, type] = param;
  const std::vector<std::byte> w = make_weights(type, rows, width, Fill::kRandom, 16);
  std::size_t stride = 0;
  const AlignedBytes x = make_activations(type, width, tokens, Fill::kRandom, stride);
  const Case c = {.type = type,
                  .width = width,
                  .rows = rows,
                  .tokens = tokens,
                  .w = &w,
                  .x = &x,
                  .stride = stride};
  const std::vector<float> want = run(matmul_kernels_scalar(), c, tokens, 0, rows, nullptr);
  return differences(want, run(table.kernels, c, tokens, 0, rows, nullptr), c, tokens, 0, rows);
}

// More tokens than fit in the second-level cache with a slice each.
TEST_P(SameBitsPanels, OfSeveralBlocksOfTokens) {
  EXPECT_EQ(differences_at(GetParam(), 5, 300, 2304), 0);
}

// More tokens than fit with whole rows: all rows of a strip before those of the next.
TEST_P(SameBitsPanels, InStripsOfSeveralPanels) {
  EXPECT_EQ(differences_at(GetParam(), 37, 40, 35 * 256), 0);
}

// The widest rows of a model (model/limits.h, kMaxHidden), of which not one may fit.
TEST_P(SameBitsPanels, OfRowsThatNoCacheHolds) {
  EXPECT_EQ(differences_at(GetParam(), 1, 9, 1 << 18), 0);
}

std::vector<DType> block_types() {
  std::vector<DType> types = all_types();
  std::erase_if(types, [](DType type) { return !needs_quantized(type); });
  return types;
}

INSTANTIATE_TEST_SUITE_P(Isas, SameBitsPanels,
                         testing::Combine(testing::ValuesIn(tables()),
                                          testing::ValuesIn(block_types())),
                         [](const auto& p) {
                           return std::get<0>(p.param).name + "_" +
                                  std::string(dtype_info(std::get<1>(p.param)).name);
                         });

class SameBitsQuantize : public testing::TestWithParam<Table> {};

void expect_same_bytes(const Table& table, const std::vector<float>& x) {
  const ActivationLayout layout = activation_layout(static_cast<int>(x.size()));
  AlignedBytes want(layout.bytes), got(layout.bytes);
  std::memset(got.data(), 0xa5, got.size());  // every byte is to be written
  matmul_kernels_scalar().quantize(x.data(), layout, want.data());
  table.kernels.quantize(x.data(), layout, got.data());
  EXPECT_EQ(std::memcmp(want.data(), got.data(), layout.bytes), 0)
      << table.name << ", width " << x.size();
}

TEST_P(SameBitsQuantize, AsTheScalarDefinition) {
  for (Fill fill : kAllFills) {
    for (int width : widths_of(DType::kQ4_1))
      expect_same_bytes(GetParam(), make_values(width, fill, 21));
  }
}

TEST_P(SameBitsQuantize, OfTiesExtremesAndNonFiniteValues) {
  std::vector<float> x(576);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(static_cast<int>(i % 255) - 127) + 0.5f;
  x[0] = 127.0f;  // a scale of one: halves are ties
  expect_same_bytes(GetParam(), x);
  for (float special : {0.0f, -0.0f, 0x1p-101f, 0x1p-100f, 0x1p-149f, 3.4e38f, -3.4e38f}) {
    expect_same_bytes(GetParam(), std::vector<float>(288, special));
  }
  for (float bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::quiet_NaN()}) {
    x[100] = bad;
    expect_same_bytes(GetParam(), x);
  }
}

TEST_P(SameBitsQuantize, OfRandomBitPatterns) {
  Source source(31);
  for (int round = 0; round < 50; ++round) {
    std::vector<float> x(288);
    const std::uint32_t exponent = source.bits() % 200 + 20;
    for (float& v : x) {
      const std::uint32_t near = exponent + source.bits() % 8;
      v = std::bit_cast<float>((source.bits() & 0x807fffffu) | near << 23);
    }
    expect_same_bytes(GetParam(), x);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, SameBitsQuantize, testing::ValuesIn(tables()),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace wick::test
