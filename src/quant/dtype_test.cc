#include "quant/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "quant/codecs.h"
#include "support/test_data.h"

namespace wick {
namespace {

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<DType> all_types() {
  std::vector<DType> types;
  for (int i = 0; i < kDTypes; ++i)
    types.push_back(static_cast<DType>(i));
  return types;
}

// The generators of tools/goldens/quant_goldens.py.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

std::vector<std::byte> random_bytes(std::uint64_t seed, std::size_t count) {
  SplitMix64 random(seed);
  std::vector<std::byte> bytes((count + 7) / 8 * 8);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(bytes.data() + at, &word, 8);
  }
  bytes.resize(count);
  return bytes;
}

// Standard deviation 1.1547 = sqrt(4 / 3).
std::vector<float> bell_curve(std::uint64_t seed, std::size_t count) {
  SplitMix64 random(seed);
  std::vector<float> out(count);
  for (float& value : out) {
    const std::uint64_t word = random.next();
    int sum = 0;
    for (int part = 0; part < 64; part += 16)
      sum += static_cast<std::int16_t>(word >> part);
    value = static_cast<float>(sum) / 32768.0f;
  }
  return out;
}

std::uint64_t fnv1a(const std::vector<std::uint32_t>& words) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint32_t word : words)
    hash = (hash ^ word) * 0x100000001b3u;
  return hash;
}

std::vector<std::uint32_t> canonical_bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) {
    bits.push_back(std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value));
  }
  return bits;
}

struct Golden {
  DType type = DType::kF32;
  std::size_t count = 0;
  std::uint64_t hash = 0;
};

std::vector<Golden> read_goldens(const std::string& name) {
  std::ifstream file(test::test_data("quant") / name);
  std::vector<Golden> goldens;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string type;
    Golden golden;
    fields >> type >> golden.count >> std::hex >> golden.hash;
    const std::optional<DType> known = dtype_from_name(type);
    EXPECT_TRUE(fields && known) << name << ": " << line;
    if (known) golden.type = *known;
    goldens.push_back(golden);
  }
  return goldens;
}

std::vector<float> decode(DType type, const std::vector<std::byte>& bytes, std::size_t count) {
  std::vector<float> out(count);
  decode_row(type, bytes, out);
  return out;
}

std::vector<std::byte> encode(DType type, const std::vector<float>& values) {
  std::vector<std::byte> out(row_bytes(type, static_cast<std::int64_t>(values.size())).value());
  encode_row(type, values, out);
  return out;
}

double relative_rmse(DType type, const std::vector<float>& values) {
  const std::vector<float> back = decode(type, encode(type, values), values.size());
  double error = 0;
  double power = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = static_cast<double>(back[i]) - static_cast<double>(values[i]);
    error += difference * difference;
    power += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  return std::sqrt(error / power);
}

TEST(ParityQuant, DecodesRandomBlocksOfEveryTypeToTheBitsOfGgufPy) {
  const std::vector<Golden> goldens = read_goldens("decode_goldens.txt");
  ASSERT_EQ(goldens.size(), all_types().size());
  for (std::size_t i = 0; i < goldens.size(); ++i) {
    const auto [type, n_blocks, hash] = goldens[i];
    const DTypeInfo& info = dtype_info(type);
    ASSERT_EQ(type, all_types()[i]) << "the table has every type once, in order";
    ASSERT_EQ(n_blocks, 10000u);
    const auto seed = static_cast<std::uint64_t>(1000 + info.gguf_id);
    const std::vector<std::byte> bytes =
        random_bytes(seed, n_blocks * static_cast<std::size_t>(info.block_bytes));
    const std::size_t count = n_blocks * static_cast<std::size_t>(info.block_len);
    EXPECT_EQ(fnv1a(canonical_bits(decode(type, bytes, count))), hash) << info.name;
  }
}

TEST(ParityQuant, EncodesABellCurveToTheBytesOfGgufPy) {
  const std::vector<Golden> goldens = read_goldens("encode_goldens.txt");
  ASSERT_EQ(goldens.size(), 8u);
  for (const auto [type, count, hash] : goldens) {
    ASSERT_GT(count, 100000u);
    const auto seed = static_cast<std::uint64_t>(2000 + dtype_info(type).gguf_id);
    const std::vector<std::byte> bytes = encode(type, bell_curve(seed, count));
    std::vector<std::uint32_t> words;
    for (const std::byte byte : bytes)
      words.push_back(static_cast<std::uint32_t>(byte));
    EXPECT_EQ(fnv1a(words), hash) << dtype_info(type).name;
  }
}

TEST(DType, NamesAndGgufNumbersLeadBackToTheType) {
  for (const DType type : all_types()) {
    const DTypeInfo& info = dtype_info(type);
    EXPECT_EQ(dtype_from_name(info.name), type) << info.name;
    EXPECT_EQ(dtype_from_gguf(static_cast<std::uint32_t>(info.gguf_id)), type) << info.name;
  }
}

TEST(DType, UnknownNamesAndNumbersAreAbsent) {
  for (const std::uint32_t id : {4u, 5u, 9u, 15u, 24u, 40u, 0xffffffffu}) {
    EXPECT_EQ(dtype_from_gguf(id), std::nullopt) << id;
  }
  for (const std::string_view name : {"", "q4_K", "Q4_k", "Q4_K_M", " Q4_K", "F64"}) {
    EXPECT_EQ(dtype_from_name(name), std::nullopt) << name;
  }
}

TEST(DType, InfoStatesTheSizesOfTheGgufSpecification) {
  const DTypeInfo& q6_k = dtype_info(DType::kQ6_K);
  EXPECT_EQ(q6_k.name, "Q6_K");
  EXPECT_EQ(q6_k.gguf_id, 14);
  EXPECT_EQ(q6_k.block_len, 256);
  EXPECT_EQ(q6_k.block_bytes, 210);
  const DTypeInfo& bf16 = dtype_info(DType::kBF16);
  EXPECT_EQ(bf16.gguf_id, 30);
  EXPECT_EQ(bf16.block_len, 1);
  EXPECT_EQ(bf16.block_bytes, 2);
}

TEST(RowBytes, CountsWholeBlocks) {
  EXPECT_EQ(row_bytes(DType::kF32, 7), 28u);
  EXPECT_EQ(row_bytes(DType::kQ4_1, 576), 360u);
  EXPECT_EQ(row_bytes(DType::kQ4_K, 512), 288u);
  for (const DType type : all_types())
    EXPECT_EQ(row_bytes(type, 0), 0u);
}

TEST(RowBytes, OfAPartialBlockIsAbsent) {
  for (const DType type : all_types()) {
    const std::int64_t len = dtype_info(type).block_len;
    for (std::int64_t n = 1; n < 2 * len; ++n) {
      EXPECT_EQ(row_bytes(type, n).has_value(), n % len == 0) << dtype_info(type).name << " " << n;
    }
  }
}

TEST(RowBytes, OfANegativeLengthIsAbsent) {
  for (const DType type : all_types()) {
    EXPECT_EQ(row_bytes(type, -256), std::nullopt);
    EXPECT_EQ(row_bytes(type, std::numeric_limits<std::int64_t>::min()), std::nullopt);
  }
}

TEST(RowBytes, ThatDoNotFitAreAbsent) {
  EXPECT_EQ(row_bytes(DType::kF32, kInt64Max), std::nullopt);
  EXPECT_EQ(row_bytes(DType::kF32, std::int64_t{1} << 62), std::nullopt);
  EXPECT_EQ(row_bytes(DType::kF32, (std::int64_t{1} << 62) - 1), ~std::size_t{0} - 3);
  EXPECT_EQ(row_bytes(DType::kF16, kInt64Max), ~std::size_t{0} - 1);
}

TEST(EncodeRow, ErrorOnABellCurveStaysUnderTheBoundOfTheFormat) {
  struct Case {
    DType type;
    double bound;
  };

  // The error of rounding to steps s is s / sqrt(12); the step is range / quants, the range of 32
  // normal values about 4.1 deviations: 0.08 for 4 bits, half for each bit more. The bounds are a
  // tenth above what was measured, which no ISA changes.
  const Case cases[] = {
      {DType::kF16, 2.3e-4},  {DType::kBF16, 1.9e-3},   {DType::kQ8_0, 0.0057},
      {DType::kQ6_K, 0.0184}, {DType::kQ5_K, 0.0381},   {DType::kQ5_1, 0.0402},
      {DType::kQ5_0, 0.0442}, {DType::kQ4_K, 0.0762},   {DType::kQ4_1, 0.0835},
      {DType::kQ4_0, 0.0905}, {DType::kIQ4_NL, 0.0798}, {DType::kIQ4_XS, 0.0806},
      {DType::kMXFP4, 0.123}, {DType::kQ3_K, 0.154},    {DType::kQ2_K, 0.291},
  };
  ASSERT_EQ(std::size(cases) + 1, all_types().size()) << "all but F32, which is exact";
  const std::vector<float> values = bell_curve(7, 256 * 256);
  for (const auto [type, bound] : cases) {
    const double error = relative_rmse(type, values);
    EXPECT_LT(error, bound) << dtype_info(type).name;
    EXPECT_GT(error, 0.7 * bound) << dtype_info(type).name << ": the bound is no longer tight";
  }
}

TEST(EncodeRow, DecodedBlocksEncodeToTheSameValuesWhereScalesAreExact) {
  // The quants of a range are all in use, so that the encoder finds the scale 1/4 or 1/8 again.
  std::vector<float> values(256);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.25f * static_cast<float>(static_cast<int>(i % 16) - 8);
  }
  for (const DType type :
       {DType::kF32, DType::kF16, DType::kBF16, DType::kQ4_0, DType::kQ4_1, DType::kQ5_0}) {
    EXPECT_EQ(decode(type, encode(type, values), values.size()), values) << dtype_info(type).name;
  }
}

TEST(EncodeRow, ZerosStayZeros) {
  const std::vector<float> zeros(256, 0.0f);
  for (const DType type : all_types()) {
    EXPECT_EQ(decode(type, encode(type, zeros), 256), zeros) << dtype_info(type).name;
  }
}

TEST(EncodeRow, ConstantsOfEitherSignKeepTheirValue) {
  for (const DType type : all_types()) {
    for (const float constant : {1.0f, -1.0f}) {
      const std::vector<float> values(256, constant);
      EXPECT_LT(relative_rmse(type, values), 0.01) << dtype_info(type).name << " " << constant;
    }
  }
}

TEST(EncodeRow, TakesValuesThatAreNotFiniteWithoutHarm) {
  for (const float odd : {kInf, -kInf, std::numeric_limits<float>::quiet_NaN(), 3e38f, 1e-45f}) {
    std::vector<float> values = bell_curve(9, 512);
    values[3] = odd;
    for (const DType type : all_types()) {
      const std::vector<float> back = decode(type, encode(type, values), values.size());
      for (std::size_t i = 256; i < 512; ++i) {
        ASSERT_LT(std::fabs(back[i] - values[i]), 1.5f) << dtype_info(type).name;
      }
    }
  }
}

TEST(EncodeRow, OneStepOfTheScaleBoundsTheErrorOfQ8_0) {
  const std::vector<float> values = bell_curve(11, 32 * 64);
  const std::vector<float> back = decode(DType::kQ8_0, encode(DType::kQ8_0, values), values.size());
  for (std::size_t block = 0; block < values.size(); block += 32) {
    float peak = 0;
    for (std::size_t i = 0; i < 32; ++i)
      peak = std::max(peak, std::fabs(values[block + i]));
    for (std::size_t i = 0; i < 32; ++i) {
      // Half a step, and the rounding of the scale itself: 127 / 2048 of a step.
      ASSERT_LE(std::fabs(back[block + i] - values[block + i]), peak / 127 * 0.563f);
    }
  }
}

TEST(DecodeRow, TakesRowsAtAnyAddress) {
  for (const DType type : all_types()) {
    const DTypeInfo& info = dtype_info(type);
    const auto size = static_cast<std::size_t>(info.block_bytes);
    const std::vector<std::byte> bytes = random_bytes(13, size + 1);
    const std::vector<std::byte> aligned(bytes.begin() + 1, bytes.end());
    std::vector<float> out(static_cast<std::size_t>(info.block_len));
    decode_row(type, std::span(bytes).subspan(1), out);
    EXPECT_EQ(canonical_bits(out), canonical_bits(decode(type, aligned, out.size()))) << info.name;
  }
}

TEST(DecodeRow, OfARowWhoseSizesDisagreeStops) {
  std::vector<float> out(32);
  const std::vector<std::byte> bytes(33);
  EXPECT_DEATH(decode_row(DType::kQ8_0, bytes, out), "bytes and its weights must agree");
}

TEST(Mxfp4, RoundsToTheNearestElementAndTiesToEven) {
  // Peak 6 makes the scale 2^0, so inputs are elements and the middles between them.
  std::vector<float> values(32, 6.0f);
  const std::vector<float> in = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f, -0.75f, -5.0f, 0.3f};
  const std::vector<float> want = {0.0f, 1.0f, 1.0f, 2.0f, 2.0f, 4.0f, 4.0f, -1.0f, -4.0f, 0.5f};
  std::copy(in.begin(), in.end(), values.begin());
  const std::vector<float> back = decode(DType::kMXFP4, encode(DType::kMXFP4, values), 32);
  EXPECT_EQ(std::vector<float>(back.begin(), back.begin() + 10), want);
}

TEST(Mxfp4, SaturatesAboveTheLargestElement) {
  std::vector<float> values(32, 1.0f);
  values[0] = 7.9f;  // the scale is 2^0; the largest element is 6
  const std::vector<float> back = decode(DType::kMXFP4, encode(DType::kMXFP4, values), 32);
  EXPECT_EQ(back[0], 6.0f);
  EXPECT_EQ(back[1], 1.0f);
}

TEST(Mxfp4, KeepsTheSmallestAndLargestScales) {
  for (const float unit : {0x1p-126f, 0x1p-127f, 0x1p125f}) {
    std::vector<float> values(32, unit);
    values[5] = -unit;
    EXPECT_EQ(decode(DType::kMXFP4, encode(DType::kMXFP4, values), 32), values) << unit;
  }
}

}  // namespace
}  // namespace wick
