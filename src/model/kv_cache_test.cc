#include "model/kv_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

namespace wick {
namespace {

// Two layers of different shapes.
DecoderSpec spec() {
  DecoderSpec two;
  two.blocks.push_back({.mixer = GqaSpec{.n_heads = 4, .n_kv_heads = 2, .head_dim = 8}});
  two.blocks.push_back(
      {.mixer = GqaSpec{.n_heads = 4, .n_kv_heads = 1, .head_dim = 16, .v_dim = 4}});
  return two;
}

class KvCacheTest : public testing::Test {
 protected:
  KvCache make(const KvOptions& options) {
    auto cache = KvCache::create(*backend_, spec(), options);
    WICK_CHECK(cache, "a small cache can be made");
    return *std::move(cache);
  }

  std::unique_ptr<Backend> backend_ = *make_cpu_backend({.threads = 1});
};

TEST_F(KvCacheTest, CostsWhatItsLayersNeedForAPosition) {
  EXPECT_EQ(kv_bytes_per_position(spec(), KvType::kF32, KvType::kF32),
            4U * (2 * (8 + 8) + 1 * (16 + 4)));
  EXPECT_EQ(kv_bytes_per_position(spec(), KvType::kBF16, KvType::kF32),
            2U * (2 * 8 + 16) + 4U * (2 * 8 + 4));
}

TEST_F(KvCacheTest, HoldsOneContextForEachSequenceUnlessToldOtherwise) {
  const KvCache cache = make({.max_seqs = 3, .context = 40});
  EXPECT_EQ(cache.total_blocks(), 9);
  EXPECT_EQ(cache.free_blocks(), 9);
  EXPECT_EQ(make({.max_seqs = 3, .context = 40, .positions = 33}).total_blocks(), 3);
}

TEST_F(KvCacheTest, ShowsEachLayerItsOwnShapeAndMemory) {
  const KvCache cache = make({.max_seqs = 2, .context = 64});
  const KvView a = cache.view(0), b = cache.view(1);
  EXPECT_EQ(a.n_kv_heads, 2);
  EXPECT_EQ(a.v_dim, 8);
  EXPECT_EQ(b.k_dim, 16);
  EXPECT_EQ(b.v_dim, 4);
  EXPECT_EQ(a.table_stride, 4);
  EXPECT_EQ(a.tables, b.tables);
  EXPECT_EQ((std::set<std::byte*>{a.k, a.v, b.k, b.v}).size(), 4U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.v) % 64, 0U);
}

TEST_F(KvCacheTest, RefusesPositionsBeyondTheContext) {
  KvCache cache = make({.context = 40});
  EXPECT_FALSE(cache.reserve(0, 41));
  EXPECT_EQ(cache.free_blocks(), 3);
  EXPECT_TRUE(cache.reserve(0, 40));
  EXPECT_EQ(cache.free_blocks(), 0);
}

TEST_F(KvCacheTest, ChangesNothingWhenItIsFull) {
  KvCache cache = make({.max_seqs = 2, .context = 64, .positions = 64});
  ASSERT_TRUE(cache.reserve(0, 20));
  EXPECT_FALSE(cache.reserve(1, 33));
  EXPECT_EQ(cache.free_blocks(), 2);
  EXPECT_TRUE(cache.reserve(1, 32));
}

TEST_F(KvCacheTest, TruncateReturnsWholeBlocksOnly) {
  KvCache cache = make({.context = 64});
  ASSERT_TRUE(cache.reserve(0, 64));
  cache.truncate(0, 17);
  EXPECT_EQ(cache.free_blocks(), 2);  // the half-used block stays
  cache.release(0);
  EXPECT_EQ(cache.free_blocks(), 4);
}

TEST_F(KvCacheTest, CopiesASharedBlockOfEveryLayerBeforeItIsWritten) {
  const std::size_t bytes[] = {2 * kv_head_block_bytes(KvType::kF32, 8),
                               kv_head_block_bytes(KvType::kF32, 16)};
  KvCache cache =
      make({.k_type = KvType::kF32, .v_type = KvType::kF32, .max_seqs = 2, .context = 64});
  ASSERT_TRUE(cache.reserve(0, 32));
  const auto block = [&](SeqId seq, int layer) {
    const KvView view = cache.view(layer);
    const auto id = static_cast<std::size_t>(view.tables[seq * view.table_stride + 1]);
    return view.k + id * bytes[layer];
  };
  for (const int layer : {0, 1})
    std::memset(block(0, layer), 17 + layer, bytes[layer]);
  for (const std::int32_t id : cache.blocks(0))
    cache.borrow(1, id, kBlockTokens);
  ASSERT_EQ(block(0, 0), block(1, 0));
  cache.truncate(0, 20);
  ASSERT_TRUE(cache.reserve(0, 21));
  for (const int layer : {0, 1}) {
    EXPECT_NE(block(0, layer), block(1, layer));
    EXPECT_EQ(std::memcmp(block(0, layer), block(1, layer), bytes[layer]), 0);
    EXPECT_EQ(*block(0, layer), static_cast<std::byte>(17 + layer));
  }
}

TEST_F(KvCacheTest, ABlockThatIsTakenAgainBeginsAsZeros) {
  KvCache cache = make({.max_seqs = 2, .context = 32});
  const auto bytes_of = [&](std::int32_t block) {
    std::vector<std::byte> bytes(cache.block_bytes());
    cache.read_block(block, bytes);
    return bytes;
  };
  const std::vector<std::byte> zeros(cache.block_bytes()), said(cache.block_bytes(), std::byte{7});
  ASSERT_TRUE(cache.reserve(0, 32));
  const std::vector<std::int32_t> blocks(cache.blocks(0).begin(), cache.blocks(0).end());
  for (const std::int32_t block : blocks)
    cache.write_block(block, said);
  cache.release(0);
  EXPECT_EQ(bytes_of(blocks[0]), said) << "given back, not wiped";
  ASSERT_TRUE(cache.reserve(1, 3));
  EXPECT_EQ(bytes_of(cache.blocks(1)[0]), zeros);
}

TEST_F(KvCacheTest, WipingZeroesWhatNobodyHoldsAndNothingElse) {
  KvCache cache = make({.max_seqs = 2, .context = 32});
  const std::vector<std::byte> said(cache.block_bytes(), std::byte{7});
  ASSERT_TRUE(cache.reserve(0, 32));
  ASSERT_TRUE(cache.reserve(1, 16));
  const std::int32_t kept = cache.blocks(0)[0], freed = cache.blocks(0)[1];
  const std::int32_t held = cache.blocks(1)[0];
  for (const std::int32_t block : {kept, freed, held})
    cache.write_block(block, said);
  cache.keep(kept);
  cache.release(0);
  cache.wipe_free();
  std::vector<std::byte> bytes(cache.block_bytes());
  for (const std::int32_t block : {kept, held}) {
    cache.read_block(block, bytes);
    EXPECT_EQ(bytes, said);
  }
  cache.read_block(freed, bytes);
  EXPECT_EQ(bytes, std::vector<std::byte>(cache.block_bytes()));
}

TEST_F(KvCacheTest, RefusesSizesBeyondItsLimits) {
  for (const KvOptions& options :
       {KvOptions{.context = 0}, KvOptions{.max_seqs = 0, .context = 16},
        KvOptions{.context = 1 << 30}, KvOptions{.max_seqs = 1024, .context = 1 << 24},
        KvOptions{.context = 16, .positions = -1},
        KvOptions{.context = 16, .positions = std::int64_t{1} << 60}}) {
    const auto cache = KvCache::create(*backend_, spec(), options);
    ASSERT_FALSE(cache);
    EXPECT_EQ(cache.error().code, ErrorCode::kInvalid) << cache.error().message;
  }
}

}  // namespace
}  // namespace wick
