// Quantised caches: what store_key and store_value put into a block is what quant/ encodes,
// whatever was there before.
#include "backend/cpu/kv_store.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "quant/q4_0.h"
#include "quant/q8_0.h"

namespace wick {
namespace {

constexpr int kDim = 96;

// Feature i of position `slot` as the layouts of kernels/cpu/vector.h say, written apart from the
// code under test.
float read_back(KvType type, bool is_key, const std::vector<std::byte>& block, int slot, int i) {
  const bool is_q8 = type == KvType::kQ8_0;
  const std::byte* tile = block.data() + i / 32 * (is_q8 ? 32 + 512 : 32 + 256);
  std::uint16_t scale;
  std::memcpy(&scale, tile + 2 * slot, 2);
  const int row = is_key ? i % 32 : slot, column = is_key ? slot : i % 32, width = is_key ? 16 : 32;
  if (is_q8) {
    const int at = is_key ? (row / 2 * 16 + slot) * 2 + row % 2 : row * width + column;
    const std::byte code = tile[32 + at];
    return f16_to_f32(scale) * static_cast<float>(static_cast<std::int8_t>(code));
  }
  const auto both = static_cast<int>(tile[32 + row / 2 * width + column]);
  return f16_to_f32(scale) * static_cast<float>((row % 2 == 0 ? both & 15 : both >> 4) - 8);
}

template <class Codec>
std::vector<float> coded(const std::vector<float>& x) {
  std::vector<float> out(x.size());
  for (std::size_t i = 0; i < x.size(); i += 32) {
    typename Codec::Block block;
    Codec::encode(&x[i], block);
    Codec::decode(block, &out[i]);
  }
  return out;
}

TEST(KvStore, QuantisedPositionsReadBackAsTheirCodecsDecodeThem) {
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
            type == KvType::kQ8_0 ? coded<Q8_0>(x) : coded<Q4_0>(x);
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

TEST(KvStore, ThePositionsBehindAreZero) {
  std::vector<float> x(kDim, 1.0F);
  for (const KvType type : {KvType::kQ8_0, KvType::kQ4_0}) {
    std::vector<std::byte> block(kv_head_block_bytes(type, kDim), std::byte{0xff});
    store_key(type, x.data(), kDim, block.data(), 0);
    for (int slot = 1; slot < 16; ++slot)
      EXPECT_EQ(read_back(type, true, block, slot, 40), 0.0F);
  }
}

}  // namespace
}  // namespace wick
