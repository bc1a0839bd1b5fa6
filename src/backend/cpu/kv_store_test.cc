// What store_key and store_value put into a block: in quantized caches what quant/ encodes,
// whatever was there before; in every type what the rule for values says that it cannot hold.
#include "backend/cpu/kv_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "quant/q4_0.h"
#include "quant/q8_0.h"

namespace wick {
namespace {

constexpr int kDim = 96;

// Feature i of position `slot` as the layouts of kernels/cpu/vector.h say, written apart from the
// code under test.
float read_tile(KvType type, bool is_key, const std::vector<std::byte>& block, int slot, int i) {
  const bool is_q8 = type == KvType::kQ8_0;
  const std::byte* tile = block.data() + i / 32 * (is_q8 ? 32 + 512 : 32 + 256);
  std::uint16_t scale;
  std::memcpy(&scale, tile + 2 * slot, 2);
  const int row = is_key ? i % 32 : slot, column = is_key ? slot : i % 32, width = is_key ? 16 : 32;
  if (is_q8) {
    const int at = is_key ? (row / 2 * 16 + slot) * 2 + row % 2 : row * width + column;
    const std::byte quant = tile[32 + at];
    return f16_to_f32(scale) * static_cast<float>(static_cast<std::int8_t>(quant));
  }
  const auto both = static_cast<int>(tile[32 + row / 2 * width + column]);
  return f16_to_f32(scale) * static_cast<float>((row % 2 == 0 ? both & 15 : both >> 4) - 8);
}

float read_back(KvType type, bool is_key, const std::vector<std::byte>& block, int slot, int i) {
  if (kv_granule(type) == 32) return read_tile(type, is_key, block, slot, i);
  if (type == KvType::kF32) {
    float x;
    std::memcpy(&x, block.data() + 4 * (is_key ? i * 16 + slot : slot * kDim + i), 4);
    return x;
  }
  const int at = is_key ? (i / 2 * 16 + slot) * 2 + i % 2 : (slot / 2 * kDim + i) * 2 + slot % 2;
  std::uint16_t half;
  std::memcpy(&half, block.data() + 2 * at, 2);
  return type == KvType::kBF16 ? bf16_to_f32(half) : f16_to_f32(half);
}

template <class Codec>
std::vector<float> round_trip(const std::vector<float>& x) {
  std::vector<float> out(x.size());
  for (std::size_t i = 0; i < x.size(); i += 32) {
    typename Codec::Block block;
    Codec::encode(&x[i], block);
    Codec::decode(block, &out[i]);
  }
  return out;
}

TEST(KvStore, QuantizedPositionsReadBackAsTheirCodecsDecodeThem) {
  std::mt19937 engine(5);
  std::normal_distribution<float> normal(0, 3);
  for (const KvType type : {KvType::kQ8_0, KvType::kQ4_0}) {
    for (const bool is_key : {true, false}) {
      std::vector<std::byte> block(kv_head_block_bytes(type, kDim), std::byte{0xa5});
      std::vector<std::vector<float>> want(16);
      // Every position twice: a cache that was cut back is written again.
      for (int i = 0; i < 32; ++i) {
        const int slot = i < 16 ? i : (i * 7) % 16;
        if (slot == 0 && i >= 16) continue;  // position 0 begins a block and clears it
        std::vector<float> x(kDim);
        for (float& v : x)
          v = normal(engine);
        (is_key ? store_key : store_value)(type, x.data(), kDim, block.data(), slot);
        want[static_cast<std::size_t>(slot)] =
            type == KvType::kQ8_0 ? round_trip<Q8_0>(x) : round_trip<Q4_0>(x);
      }
      for (int slot = 0; slot < 16; ++slot) {
        for (int i = 0; i < kDim; ++i) {
          ASSERT_EQ(read_back(type, is_key, block, slot, i),
                    want[static_cast<std::size_t>(slot)][static_cast<std::size_t>(i)])
              << name(type) << (is_key ? " key " : " value ") << slot << ", feature " << i;
        }
      }
    }
  }
}

constexpr float kInf = std::numeric_limits<float>::infinity();

float largest(KvType type) {
  switch (type) {
    case KvType::kF32:
      return std::numeric_limits<float>::max();
    case KvType::kBF16:
      return bf16_to_f32(0x7f7f);
    case KvType::kF16:
      return 65504;
    case KvType::kQ8_0:
      return 127 * 65504.0F;
    case KvType::kQ4_0:
      return 8 * 65504.0F;
  }
  return 0;
}

// kDim ones, `odd` at feature 40, stored at position 5, read back.
std::vector<float> stored_beside_ones(KvType type, bool is_key, float odd) {
  std::vector<std::byte> block(kv_head_block_bytes(type, kDim));
  std::vector<float> x(kDim, 1.0F);
  x[40] = odd;
  (is_key ? store_key : store_value)(type, x.data(), kDim, block.data(), 5);
  for (int i = 0; i < kDim; ++i)
    x[static_cast<std::size_t>(i)] = read_back(type, is_key, block, 5, i);
  return x;
}

TEST(KvStore, AValueThatIsTooLargeBecomesTheLargestOfItsType) {
  for (const KvType type : kKvTypes) {
    for (const bool is_key : {true, false}) {
      for (const float odd : {8e6F, -8e6F, 65520.0F, 1e30F, -1e30F, 3.4e38F, -3.4e38F}) {
        const float back = stored_beside_ones(type, is_key, odd)[40];
        const float wanted = std::min(std::abs(odd), largest(type));
        // A quantized type's other end may be one step nearer to zero; bf16 rounds to 8 bits.
        EXPECT_EQ(std::signbit(back), std::signbit(odd)) << name(type) << " " << odd;
        EXPECT_NEAR(std::abs(back) / wanted, 1, 0.005) << name(type) << " " << odd;
        EXPECT_LE(std::abs(back), largest(type)) << name(type) << " " << odd;
      }
    }
  }
}

TEST(KvStore, InfinitiesAndNaNStayWhatTheyAreOrMakeTheirTileNaN) {
  const float quiet[] = {std::bit_cast<float>(0x7fffffffU), std::bit_cast<float>(0xffc00001U)};
  for (const KvType type : kKvTypes) {
    const bool is_tiled = kv_granule(type) == 32;
    for (const bool is_key : {true, false}) {
      for (const float odd : {kInf, -kInf, quiet[0], quiet[1]}) {
        const std::vector<float> back = stored_beside_ones(type, is_key, odd);
        const bool is_nan = is_tiled || std::isnan(odd);
        EXPECT_TRUE(is_nan ? std::isnan(back[40]) : back[40] == odd) << name(type) << " " << odd;
        EXPECT_TRUE(is_tiled ? std::isnan(back[63]) : back[63] == 1) << name(type) << " " << odd;
        EXPECT_NEAR(back[31], 1, 1e-3) << name(type) << ": the tile before";
        EXPECT_NEAR(back[64], 1, 1e-3) << name(type) << ": the tile behind";
      }
    }
  }
}

TEST(KvStore, EveryNaNIsStoredAsTheSameBitsInANarrowCache) {
  for (const KvType type : kKvTypes) {
    if (type == KvType::kF32) continue;
    std::vector<std::byte> blocks[2];
    for (int i = 0; i < 2; ++i) {
      blocks[i].resize(kv_head_block_bytes(type, kDim));
      const std::vector<float> x(kDim, std::bit_cast<float>(i == 0 ? 0x7fc00000U : 0xffabcdefU));
      store_value(type, x.data(), kDim, blocks[i].data(), 3);
    }
    EXPECT_EQ(blocks[0], blocks[1]) << name(type);
  }
}

TEST(KvStore, ThePositionsBehindAreZero) {
  std::vector<float> x(kDim, 1.0F);
  for (const KvType type : {KvType::kQ8_0, KvType::kQ4_0}) {
    std::vector<std::byte> block(kv_head_block_bytes(type, kDim), std::byte{0xff});
    store_key(type, x.data(), kDim, block.data(), 0);
    for (int slot = 1; slot < 16; ++slot)
      EXPECT_EQ(read_back(type, true, block, slot, 40), 0.0F);
  }
}

TEST(KvStore, ACopiedBlockHoldsItsFirstPositionsAndZeros) {
  constexpr int kFeatures = 64;
  std::vector<float> x(kFeatures);
  for (const KvType type : kKvTypes) {
    const std::size_t bytes = kv_head_block_bytes(type, kFeatures);
    for (const bool is_key : {true, false}) {
      const auto store = is_key ? store_key : store_value;
      const auto copy = is_key ? copy_keys : copy_values;
      for (const int n : {1, 7, 15, 16}) {
        std::vector<std::byte> full(bytes), wanted(bytes), copied(bytes, std::byte{0xff});
        for (int slot = 0; slot < kBlockTokens; ++slot) {
          for (int d = 0; d < kFeatures; ++d)
            x[static_cast<std::size_t>(d)] = static_cast<float>(slot * 7 + d) - 50;
          store(type, x.data(), kFeatures, full.data(), slot);
          if (slot >= n) std::fill(x.begin(), x.end(), 0.0F);
          store(type, x.data(), kFeatures, wanted.data(), slot);
        }
        copy(type, kFeatures, full.data(), copied.data(), n);
        EXPECT_EQ(copied, wanted) << name(type) << ", " << n << " positions";
      }
    }
  }
}

TEST(KvStore, WhatFiniteNumbersLeaveIsValidAndNothingElse) {
  std::mt19937 bits(1);
  std::normal_distribution<float> normal(0, 1e5F);
  std::vector<float> x(kDim);
  for (const KvType type : kKvTypes) {
    for (const auto store : {store_key, store_value}) {
      std::vector<std::byte> block(2 * kv_head_block_bytes(type, kDim));  // of two heads
      const auto head = std::span(block).subspan(block.size() / 2);
      for (int slot = 0; slot < kBlockTokens; ++slot) {
        for (float& value : x)
          value = normal(bits);
        store(type, x.data(), kDim, head.data(), slot);
      }
      EXPECT_TRUE(kv_is_valid(type, block)) << name(type);
      for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
        std::vector<std::byte> before = block;
        x[40] = bad;
        store(type, x.data(), kDim, head.data(), 9);
        EXPECT_FALSE(kv_is_valid(type, block)) << name(type);
        block = before;
      }
      block.back() = std::byte{0x80};
      EXPECT_EQ(kv_is_valid(type, block), type != KvType::kQ8_0) << name(type);
    }
  }
}

}  // namespace
}  // namespace wick
