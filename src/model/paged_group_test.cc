#include "model/paged_group.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "backend/backend.h"

namespace wick {
namespace {

constexpr int kSeqs = 6, kStride = 9, kBlocks = 24, kContext = kStride * kBlockTokens;

struct Fixture {
  PagedGroup group{kBlocks, kSeqs, kStride};

  bool reserve(SeqId seq, int n) {
    if (group.blocks_needed(seq, n) > group.pool().free()) return false;
    group.reserve(seq, n);
    return true;
  }

  // `to`, which is empty, begins with the first `end` positions of `from`.
  void share(SeqId from, SeqId to, int end) {
    for (int at = 0; at < end; at += kBlockTokens) {
      const std::int32_t block = group.blocks(from)[static_cast<std::size_t>(at / kBlockTokens)];
      group.attach(to, block, std::min(kBlockTokens, end - at));
    }
  }
};

TEST(PagedGroup, TakesABlockForEach16Positions) {
  Fixture f;
  ASSERT_TRUE(f.reserve(0, 1));
  EXPECT_EQ(f.group.blocks(0).size(), 1U);
  ASSERT_TRUE(f.reserve(0, 16));
  EXPECT_EQ(f.group.blocks(0).size(), 1U);
  ASSERT_TRUE(f.reserve(0, 17));
  EXPECT_EQ(f.group.blocks(0).size(), 2U);
  EXPECT_EQ(f.group.pool().free(), kBlocks - 2);
}

TEST(PagedGroup, KeepsTheHalfUsedBlockWhenTruncated) {
  Fixture f;
  ASSERT_TRUE(f.reserve(2, 60));
  f.group.truncate(2, 17);
  EXPECT_EQ(f.group.positions(2), 17);
  EXPECT_EQ(f.group.pool().free(), kBlocks - 2);
}

TEST(PagedGroup, TruncatingBeyondTheEndChangesNothing) {
  Fixture f;
  ASSERT_TRUE(f.reserve(2, 20));
  f.group.truncate(2, 40);
  EXPECT_EQ(f.group.positions(2), 20);
}

TEST(PagedGroup, BorrowsBlocksUpToAnyPosition) {
  Fixture f;
  ASSERT_TRUE(f.reserve(0, 50));
  f.share(0, 1, 47);
  EXPECT_EQ(f.group.positions(1), 47);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(f.group.blocks(1)[i], f.group.blocks(0)[i]);
  EXPECT_EQ(f.group.pool().free(), kBlocks - 4);
  EXPECT_EQ(f.group.blocks_needed(1, 48), 1) << "its half of the last block is not its own";
}

TEST(PagedGroup, ReplacesABlockByAnotherAndGivesItBack) {
  Fixture f;
  ASSERT_TRUE(f.reserve(0, 32));
  ASSERT_TRUE(f.reserve(1, 32));
  f.group.replace(1, 1, f.group.blocks(0)[1]);
  EXPECT_EQ(f.group.blocks(1)[1], f.group.blocks(0)[1]);
  EXPECT_NE(f.group.blocks(1)[0], f.group.blocks(0)[0]);
  EXPECT_EQ(f.group.pool().free(), kBlocks - 3);
}

TEST(PagedGroup, ReplacesASharedBlockBeforeASequenceWritesIntoIt) {
  Fixture f;
  ASSERT_TRUE(f.reserve(0, 32));
  f.share(0, 1, 32);
  f.group.truncate(0, 20);  // position 20 on would be written into a block that 1 still reads
  const std::int32_t shared = f.group.blocks(1)[1];
  EXPECT_EQ(f.group.blocks_needed(0, 21), 1);
  const PagedGroup::Copy copy = f.group.reserve(0, 21);
  EXPECT_EQ(copy.from, shared);
  EXPECT_EQ(copy.to, f.group.blocks(0)[1]);
  EXPECT_NE(copy.to, shared);
  EXPECT_EQ(f.group.blocks(1)[1], shared);
  EXPECT_EQ(f.group.pool().references(shared), 1);
}

TEST(PagedGroup, KeepsASharedBlockAsLongAsOneSequenceHoldsIt) {
  Fixture f;
  ASSERT_TRUE(f.reserve(0, 48));
  f.share(0, 1, 48);
  f.group.truncate(0, 0);
  EXPECT_EQ(f.group.pool().free(), kBlocks - 3);
  f.group.truncate(1, 0);
  EXPECT_EQ(f.group.pool().free(), kBlocks);
}

// What must hold after every step: references are counted exactly, no block is lost or free twice,
// and what a sequence may write, nobody else reads.
void check(const Fixture& f) {
  std::map<std::int32_t, int> holders;
  for (SeqId seq = 0; seq < kSeqs; ++seq) {
    const auto blocks = f.group.blocks(seq);
    ASSERT_EQ(static_cast<int>(blocks.size()),
              (f.group.positions(seq) + kBlockTokens - 1) / kBlockTokens);
    for (const std::int32_t block : blocks) {
      ASSERT_GE(block, 0);
      ASSERT_LT(block, kBlocks);
      ++holders[block];
    }
  }
  for (std::int32_t block = 0; block < kBlocks; ++block)
    ASSERT_EQ(f.group.pool().references(block), holders[block]) << "block " << block;
  int used = 0;
  for (const auto& [block, n] : holders)
    used += n > 0 ? 1 : 0;
  ASSERT_EQ(f.group.pool().free() + used, kBlocks);
}

// A model of the content: each position of a sequence holds a stamp, a block its 16 stamps.
struct Content {
  std::vector<int> block = std::vector<int>(kBlocks * kBlockTokens);
  std::vector<std::vector<int>> expected = std::vector<std::vector<int>>(kSeqs);
  int stamp = 0;

  int& at(const Fixture& f, SeqId seq, int pos) {
    const std::int32_t id = f.group.blocks(seq)[static_cast<std::size_t>(pos / kBlockTokens)];
    return block[static_cast<std::size_t>(id * kBlockTokens + pos % kBlockTokens)];
  }

  void grow(Fixture& f, SeqId seq, int n) {
    if (f.group.blocks_needed(seq, n) > f.group.pool().free()) return;
    const int old = f.group.positions(seq);
    const PagedGroup::Copy copy = f.group.reserve(seq, n);
    for (int i = 0; copy.from >= 0 && i < kBlockTokens; ++i) {
      block[static_cast<std::size_t>(copy.to * kBlockTokens + i)] =
          block[static_cast<std::size_t>(copy.from * kBlockTokens + i)];
    }
    for (int pos = old; pos < n; ++pos) {
      at(f, seq, pos) = ++stamp;
      expected[static_cast<std::size_t>(seq)].push_back(stamp);
    }
  }
};

TEST(PagedGroup, ConservesBlocksAndContentsInRandomUse) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Fixture f;
    Content content;
    int refused = 0, shared = 0;
    for (int step = 0; step < 600; ++step) {
      const SeqId seq = below(kSeqs), other = below(kSeqs);
      const int old = f.group.positions(seq);
      switch (below(4)) {
        case 0:
        case 1: {
          const int n = std::min(kContext, old + 1 + below(40));
          content.grow(f, seq, n);
          refused += f.group.positions(seq) < n ? 1 : 0;
          break;
        }
        case 2:
          f.group.truncate(seq, below(3) == 0 ? 0 : below(old + 1));
          content.expected[static_cast<std::size_t>(seq)].resize(
              static_cast<std::size_t>(f.group.positions(seq)));
          break;
        default:
          if (f.group.positions(other) > 0 || other == seq) break;
          f.share(seq, other, below(old + 1));
          content.expected[static_cast<std::size_t>(other)] =
              content.expected[static_cast<std::size_t>(seq)];
          content.expected[static_cast<std::size_t>(other)].resize(
              static_cast<std::size_t>(f.group.positions(other)));
          shared += f.group.positions(other) > 0 ? 1 : 0;
      }
      ASSERT_NO_FATAL_FAILURE(check(f)) << "seed " << seed << ", step " << step;
      for (SeqId s = 0; s < kSeqs; ++s) {
        const auto& want = content.expected[static_cast<std::size_t>(s)];
        for (int pos = 0; pos < f.group.positions(s); ++pos)
          ASSERT_EQ(content.at(f, s, pos), want[static_cast<std::size_t>(pos)])
              << "sequence " << s << ", position " << pos << ", seed " << seed << ", step " << step;
      }
    }
    EXPECT_GT(refused, 0) << "the pool was never full";
    EXPECT_GT(shared, 0) << "nothing was ever shared";
  }
}

}  // namespace
}  // namespace wick
