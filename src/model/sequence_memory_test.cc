#include "model/sequence_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

#include "support/test_device.h"

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

class SequenceMemoryTest : public testing::Test {
 protected:
  SequenceMemory make(const MemoryOptions& options) {
    auto cache = SequenceMemory::create(*device_, spec(), options);
    WICK_CHECK(cache, "a small cache can be made");
    return *std::move(cache);
  }

  std::unique_ptr<Device> device_ = test::make_device();
};

TEST_F(SequenceMemoryTest, CostsWhatItsLayersNeedForAPosition) {
  EXPECT_EQ(kv_bytes_per_position(spec(), KvType::kF32, KvType::kF32),
            4U * (2 * (8 + 8) + 1 * (16 + 4)));
  EXPECT_EQ(kv_bytes_per_position(spec(), KvType::kBF16, KvType::kF32),
            2U * (2 * 8 + 16) + 4U * (2 * 8 + 4));
}

// What `wick model info` and the plan of the cache say is what create() takes.
TEST_F(SequenceMemoryTest, CostsToTheByteWhatIsAllocated) {
  DecoderSpec all = spec();
  all.blocks.push_back(
      {.mixer = GqaSpec{.n_heads = 4, .n_kv_heads = 2, .head_dim = 32, .window = 100}});
  all.blocks.push_back({.mixer = MlaSpec{.n_heads = 3, .kv_rank = 64, .rope_dim = 32}});
  all.blocks.push_back(
      {.mixer = DeltaSpec{.n_k_heads = 2, .n_v_heads = 4, .k_dim = 16, .v_dim = 16}});
  for (const int context : {64, 128, 5000}) {
    for (const KvType type : {KvType::kF32, KvType::kBF16}) {
      const MemoryOptions options{.k_type = type,
                                  .v_type = type,
                                  .max_seqs = 1,
                                  .context = context,
                                  .positions = context,
                                  .max_batch_tokens = 64};
      const auto memory = SequenceMemory::create(*device_, all, options);
      ASSERT_TRUE(memory);
      const MemoryCost cost = memory_cost(all, options);
      const auto positions = static_cast<std::size_t>(blocks_for(context)) * kBlockTokens;
      const std::size_t content = cost.fixed + cost.per_position * positions;
      EXPECT_EQ(memory->content_bytes(), content) << context;
      // The device's buffers have these, and a table of blocks for all positions and one a window.
      const std::size_t n_tables = context > 100 ? 2 : 1;
      const std::size_t table = static_cast<std::size_t>(blocks_for(context)) * 4;
      EXPECT_EQ(memory->bytes(), content + n_tables * table) << context;
    }
  }
}

// A layer that reads another's keys and values (docs/model.md) has no memory of its own.
TEST_F(SequenceMemoryTest, ALayerThatSharesACacheShowsItsOwnersAndCostsNothing) {
  for (const int window : {0, 32}) {
    DecoderSpec two;
    GqaSpec attention{.n_heads = 4, .n_kv_heads = 2, .head_dim = 8, .window = window};
    two.blocks.push_back({.mixer = attention});
    two.blocks.push_back({.mixer = GqaSpec{.n_heads = 4, .n_kv_heads = 1, .head_dim = 16}});
    const MemoryOptions options{.max_seqs = 1, .context = 256, .max_batch_tokens = 64};
    const auto without = SequenceMemory::create(*device_, two, options);
    attention.kv_from_layer = 0;
    two.blocks.push_back({.mixer = attention});
    const auto memory = SequenceMemory::create(*device_, two, options);
    ASSERT_TRUE(without && memory);
    EXPECT_EQ(memory->content_bytes(), without->content_bytes());
    EXPECT_EQ(memory->bytes(), without->bytes());
    EXPECT_EQ(memory_cost(two.blocks[2], options).per_position, 0U);
    EXPECT_EQ(memory_cost(two.blocks[2], options).fixed, 0U);
    const KvView own = memory->layer(0).kv, shared = memory->layer(2).kv;
    EXPECT_EQ(own.k, shared.k);
    EXPECT_EQ(own.v, shared.v);
    EXPECT_EQ(own.tables, shared.tables);
    EXPECT_NE(memory->layer(1).kv.k, shared.k);
  }
}

TEST_F(SequenceMemoryTest, ALatentLayerKeepsKeysAlone) {
  DecoderSpec spec;
  spec.blocks.push_back({.mixer = MlaSpec{.n_heads = 3, .kv_rank = 64, .rope_dim = 32}});
  EXPECT_EQ(kv_bytes_per_position(spec, KvType::kBF16, KvType::kF32), 2U * 96);
  EXPECT_EQ(kv_bytes_per_position(spec, KvType::kQ8_0, KvType::kF32), 96U + 3 * 2);
  const MemoryOptions options{.k_type = KvType::kBF16, .v_type = KvType::kF32, .context = 40};
  auto cache = SequenceMemory::create(*device_, spec, options);
  ASSERT_TRUE(cache);
  const KvView& view = cache->layer(0).kv;
  EXPECT_EQ(view.v, nullptr);
  EXPECT_EQ(view.n_kv_heads, 1);
  EXPECT_EQ(view.k_dim, 96);
  EXPECT_EQ(view.v_dim, 64);
  EXPECT_EQ(cache->fixed_block_bytes(), kv_head_block_bytes(KvType::kBF16, 96));
  spec.blocks[0].mixer = MlaSpec{.n_heads = 3, .kv_rank = 48, .rope_dim = 16};
  const auto refused = SequenceMemory::create(
      *device_, spec, {.k_type = KvType::kQ8_0, .v_type = KvType::kF32, .context = 40});
  ASSERT_FALSE(refused) << "its values are 48 features of a q8_0 cache, whatever the values' type";
  EXPECT_EQ(refused.error().id, "kv_type_does_not_fit");
}

TEST_F(SequenceMemoryTest, HoldsOneContextForEachSequenceUnlessToldOtherwise) {
  const SequenceMemory cache = make({.max_seqs = 3, .context = 40});
  EXPECT_EQ(cache.total_blocks(), 9);
  EXPECT_EQ(cache.free_blocks(), 9);
  EXPECT_EQ(make({.max_seqs = 3, .context = 40, .positions = 33}).total_blocks(), 3);
}

TEST_F(SequenceMemoryTest, ShowsEachLayerItsOwnShapeAndMemory) {
  const SequenceMemory cache = make({.max_seqs = 2, .context = 64});
  const KvView &a = cache.layer(0).kv, &b = cache.layer(1).kv;
  EXPECT_EQ(a.n_kv_heads, 2);
  EXPECT_EQ(a.v_dim, 8);
  EXPECT_EQ(b.k_dim, 16);
  EXPECT_EQ(b.v_dim, 4);
  EXPECT_EQ(a.table_stride, 4);
  EXPECT_EQ(a.tables, b.tables);
  EXPECT_EQ((std::set<std::byte*>{a.k, a.v, b.k, b.v}).size(), 4U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.v) % 64, 0U);
}

TEST_F(SequenceMemoryTest, RefusesPositionsBeyondTheContext) {
  SequenceMemory cache = make({.context = 40});
  EXPECT_FALSE(cache.extend(0, 41));
  EXPECT_EQ(cache.free_blocks(), 3);
  EXPECT_TRUE(cache.extend(0, 40));
  EXPECT_EQ(cache.free_blocks(), 0);
}

TEST_F(SequenceMemoryTest, ChangesNothingWhenItIsFull) {
  SequenceMemory cache = make({.max_seqs = 2, .context = 64, .positions = 64});
  ASSERT_TRUE(cache.extend(0, 20));
  EXPECT_FALSE(cache.extend(1, 33));
  EXPECT_EQ(cache.free_blocks(), 2);
  EXPECT_TRUE(cache.extend(1, 32));
}

TEST_F(SequenceMemoryTest, RollbackReturnsWholeBlocksOnly) {
  SequenceMemory cache = make({.context = 64});
  ASSERT_TRUE(cache.extend(0, 64));
  cache.rollback(0, 17);
  EXPECT_EQ(cache.free_blocks(), 2);  // the half-used block stays
  cache.release(0);
  EXPECT_EQ(cache.free_blocks(), 4);
}

TEST_F(SequenceMemoryTest, CopiesASharedBlockOfEveryLayerBeforeItIsWritten) {
  const std::size_t bytes[] = {2 * kv_head_block_bytes(KvType::kF32, 8),
                               kv_head_block_bytes(KvType::kF32, 16)};
  SequenceMemory cache =
      make({.k_type = KvType::kF32, .v_type = KvType::kF32, .max_seqs = 2, .context = 64});
  ASSERT_TRUE(cache.extend(0, 32));
  const auto block = [&](SeqId seq, int layer) {
    const KvView& view = cache.layer(layer).kv;
    const std::int32_t* const table = test::for_kernels(*device_, view.tables);
    const auto id = static_cast<std::size_t>(table[seq * view.table_stride + 1]);
    return test::for_kernels(*device_, view.k) + id * bytes[layer];
  };
  for (const int layer : {0, 1})
    std::memset(block(0, layer), 17 + layer, bytes[layer]);
  cache.attach(1, cache.blocks(0));
  ASSERT_EQ(block(0, 0), block(1, 0));
  cache.rollback(0, 20);
  ASSERT_TRUE(cache.extend(0, 21));
  for (const int layer : {0, 1}) {
    EXPECT_NE(block(0, layer), block(1, layer));
    // Keys of f32 lie as [dim][16]: positions 16 to 19 came along, those behind are zeros.
    for (std::size_t i = 0; i < bytes[layer]; ++i) {
      const bool is_copied = i / sizeof(float) % kBlockTokens < 4;
      ASSERT_EQ(block(0, layer)[i], is_copied ? block(1, layer)[i] : std::byte{0}) << i;
    }
    EXPECT_EQ(*block(0, layer), static_cast<std::byte>(17 + layer));
  }
}

TEST_F(SequenceMemoryTest, ABlockThatIsTakenAgainBeginsAsZeros) {
  SequenceMemory cache = make({.max_seqs = 2, .context = 32});
  const auto bytes_of = [&](std::int32_t block) {
    std::vector<std::byte> bytes;
    cache.export_block(block, bytes);
    return bytes;
  };
  const std::vector<std::byte> zeros(cache.fixed_block_bytes()),
      said(cache.fixed_block_bytes(), std::byte{7});
  ASSERT_TRUE(cache.extend(0, 32));
  const std::vector<std::int32_t> blocks(cache.blocks(0).begin(), cache.blocks(0).end());
  for (const std::int32_t block : blocks)
    cache.import_block(block, said);
  cache.release(0);
  EXPECT_EQ(bytes_of(blocks[0]), said) << "given back, not wiped";
  ASSERT_TRUE(cache.extend(1, 3));
  EXPECT_EQ(bytes_of(cache.blocks(1)[0]), zeros);
}

TEST_F(SequenceMemoryTest, WipingZeroesWhatNobodyHoldsAndNothingElse) {
  SequenceMemory cache = make({.max_seqs = 2, .context = 32});
  const std::vector<std::byte> said(cache.fixed_block_bytes(), std::byte{7});
  ASSERT_TRUE(cache.extend(0, 32));
  ASSERT_TRUE(cache.extend(1, 16));
  const std::int32_t kept = cache.blocks(0)[0], freed = cache.blocks(0)[1];
  const std::int32_t held = cache.blocks(1)[0];
  for (const std::int32_t block : {kept, freed, held})
    cache.import_block(block, said);
  cache.pin(kept);
  cache.release(0);
  cache.wipe_free();
  const auto bytes_of = [&](BlockId block) {
    std::vector<std::byte> bytes;
    cache.export_block(block, bytes);
    return bytes;
  };
  EXPECT_EQ(bytes_of(kept), said);
  EXPECT_EQ(bytes_of(held), said);
  EXPECT_EQ(bytes_of(freed), std::vector<std::byte>(cache.fixed_block_bytes()));
}

TEST_F(SequenceMemoryTest, RefusesSizesBeyondItsLimits) {
  for (const MemoryOptions& options :
       {MemoryOptions{.context = 0}, MemoryOptions{.max_seqs = 0, .context = 16},
        MemoryOptions{.context = 1 << 30}, MemoryOptions{.max_seqs = 1024, .context = 1 << 24},
        MemoryOptions{.context = 16, .positions = -1},
        MemoryOptions{.context = 16, .positions = std::int64_t{1} << 60}}) {
    const auto cache = SequenceMemory::create(*device_, spec(), options);
    ASSERT_FALSE(cache);
    EXPECT_EQ(cache.error().code, ErrorCode::kInvalid) << cache.error().message;
  }
}

// A layer with a window beside one without.
DecoderSpec windowed(int window) {
  DecoderSpec two;
  two.blocks.push_back(
      {.mixer = GqaSpec{.n_heads = 1, .n_kv_heads = 1, .head_dim = 8, .window = window}});
  two.blocks.push_back({.mixer = GqaSpec{.n_heads = 1, .n_kv_heads = 1, .head_dim = 8}});
  return two;
}

class WindowedMemory : public testing::Test {
 protected:
  static constexpr int kWindow = 64, kContext = 8192, kChunk = 100;

  SequenceMemory make(const DecoderSpec& spec, int max_seqs = 1) {
    auto memory = SequenceMemory::create(
        *device_, spec, {.max_seqs = max_seqs, .context = kContext, .max_batch_tokens = kChunk});
    WICK_CHECK(memory, "a small memory can be made");
    return *std::move(memory);
  }

  static void compute(SequenceMemory& memory, SeqId seq, Pos begin, int count) {
    ASSERT_TRUE(memory.extend(seq, begin + count));
    memory.begin(seq, begin, count);
    memory.advance(seq, begin + count);
  }

  // One that computed `end` positions, and whose blocks are kept.
  std::vector<BlockId> keep_prefix(SequenceMemory& memory, Pos end) {
    for (Pos at = 0; at < end; at += kBlockTokens)
      compute(memory, 0, at, std::min(kBlockTokens, end - at));
    const std::vector<BlockId> blocks(memory.blocks(0).begin(), memory.blocks(0).end());
    for (const BlockId block : blocks)
      memory.pin(block);
    return blocks;
  }

  static bool can_resume(const SequenceMemory& memory, std::span<const BlockId> blocks) {
    SequenceMemory::Path path;
    for (const BlockId block : blocks)
      memory.append(path, block);
    return memory.can_resume(path);
  }

  std::unique_ptr<Device> device_ = test::make_device();
};

TEST_F(WindowedMemory, StaysFlatOverAContextOf8192) {
  for (const int window : {kWindow, 256}) {
    DecoderSpec spec = windowed(window);
    spec.blocks.pop_back();  // only the layer with the window
    SequenceMemory memory = make(spec);
    const std::size_t block = 2 * kv_head_block_bytes(KvType::kBF16, 8);
    for (Pos at = 0; at < kContext; ++at) {
      compute(memory, 0, at, 1);
      ASSERT_LE(memory.bytes_in_use(), static_cast<std::size_t>(window / kBlockTokens + 1) * block)
          << at;
    }
  }
}

TEST_F(WindowedMemory, HoldsTheWindowOfEveryQueryOfAChunk) {
  SequenceMemory memory = make(windowed(kWindow), 2);
  for (Pos at = 0; at + kChunk < 1000; at += kChunk) {
    for (const SeqId seq : {0, 1}) {
      ASSERT_TRUE(memory.extend(seq, at + kChunk));
      memory.begin(seq, at, kChunk);
      const KvView& view = memory.layer(0).kv;
      std::set<std::int32_t> slots;
      const int first = std::max(0, at - kWindow + 1) / kBlockTokens;
      const int last = (at + kChunk - 1) / kBlockTokens;
      for (int i = first; i <= last; ++i)
        slots.insert(test::for_kernels(*device_, view.tables)[seq * view.table_stride + i]);
      EXPECT_EQ(slots.size(), static_cast<std::size_t>(last - first + 1));
      memory.advance(seq, at + kChunk);
    }
  }
}

TEST_F(WindowedMemory, CanBeResumedAtTheEndOfAPrefixAndNotInItsMiddle) {
  SequenceMemory memory = make(windowed(kWindow), 2);
  const auto blocks = keep_prefix(memory, 40 * kBlockTokens);
  memory.release(0);
  EXPECT_TRUE(can_resume(memory, blocks));
  // Other sequences need the room that nobody uses.
  for (Pos at = 0; at + kChunk < 8000; at += kChunk)
    compute(memory, 1, at, kChunk);
  EXPECT_FALSE(can_resume(memory, std::span(blocks).first(20)));
}

TEST_F(WindowedMemory, GoesBackAsFarAsItsWindowIsThere) {
  SequenceMemory memory = make(windowed(kWindow));
  for (Pos at = 0; at < 500; at += 10)
    compute(memory, 0, at, 10);
  EXPECT_EQ(memory.rollback(0, 495), 495);
  compute(memory, 0, 495, 5);
  EXPECT_EQ(memory.rollback(0, 300), 0) << "what position 300 looks at was given back";
  EXPECT_EQ(memory.free_blocks(), memory.total_blocks());
}

TEST_F(WindowedMemory, ABlockInAFileKeepsItsWindow) {
  SequenceMemory memory = make(windowed(kWindow), 2);
  const auto blocks = keep_prefix(memory, 10 * kBlockTokens);
  std::vector<std::byte> file;
  for (const BlockId block : blocks)
    memory.export_block(block, file);
  SequenceMemory other = make(windowed(kWindow), 2);
  ASSERT_TRUE(other.extend(0, 10 * kBlockTokens));
  std::span<const std::byte> rest = file;
  for (const BlockId block : other.blocks(0)) {
    const std::size_t n = other.exported_bytes(rest);
    ASSERT_GT(n, 0U);
    other.import_block(block, rest.first(n));
    rest = rest.subspan(n);
  }
  EXPECT_TRUE(rest.empty());
  EXPECT_TRUE(can_resume(other, other.blocks(0)));
  EXPECT_EQ(other.exported_bytes(std::span(file).first(7)), 0U);
}

}  // namespace
}  // namespace wick
