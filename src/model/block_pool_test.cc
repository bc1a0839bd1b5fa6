#include "model/block_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace wick {
namespace {

TEST(BlockPool, HandsOutEachBlockOnce) {
  BlockPool pool(5);
  std::set<std::int32_t> taken;
  for (int i = 0; i < 5; ++i)
    taken.insert(pool.take());
  EXPECT_EQ(taken, (std::set<std::int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(pool.free(), 0);
}

TEST(BlockPool, HandsOutWhatCameBackLastFirst) {
  BlockPool pool(4);
  for (int i = 0; i < 3; ++i)
    pool.take();
  pool.drop_reference(0);
  pool.drop_reference(2);
  EXPECT_EQ(pool.take(), 2);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 3);  // never used before: last
}

TEST(BlockPool, FreesABlockWithItsLastReference) {
  BlockPool pool(2);
  const std::int32_t block = pool.take();
  pool.add_reference(block);
  pool.drop_reference(block);
  EXPECT_EQ(pool.references(block), 1);
  EXPECT_EQ(pool.free(), 1);
  pool.drop_reference(block);
  EXPECT_EQ(pool.references(block), 0);
  EXPECT_EQ(pool.free(), 2);
}

TEST(BlockPool, CountsBlocksAsIdleThatAreOnlyKept) {
  BlockPool pool(3);
  const std::int32_t block = pool.take();
  pool.pin(block);
  EXPECT_EQ(pool.evictable(), 0) << "its taker still holds it";
  pool.drop_reference(block);
  EXPECT_EQ(pool.evictable(), 1);
  EXPECT_EQ(pool.free(), 2);
  pool.add_reference(block);
  EXPECT_EQ(pool.evictable(), 0);
  pool.drop_reference(block);
  pool.unpin(block);
  EXPECT_EQ(pool.evictable(), 0);
  EXPECT_EQ(pool.free(), 3);
}

TEST(BlockPool, GivesUpAKeptBlockThatSomebodyHolds) {
  BlockPool pool(1);
  const std::int32_t block = pool.take();
  pool.pin(block);
  pool.unpin(block);
  EXPECT_EQ(pool.references(block), 1);
  pool.drop_reference(block);
  EXPECT_EQ(pool.free(), 1);
  EXPECT_EQ(pool.evictable(), 0);
}

TEST(BlockPoolDeath, StopsWhenABlockIsGivenBackTwice) {
  BlockPool pool(2);
  const std::int32_t block = pool.take();
  pool.drop_reference(block);
  EXPECT_DEATH(pool.drop_reference(block), "given back twice");
}

TEST(BlockPoolDeath, StopsWhenAFreeBlockIsShared) {
  BlockPool pool(2);
  EXPECT_DEATH(pool.add_reference(1), "free block was shared");
}

}  // namespace
}  // namespace wick
