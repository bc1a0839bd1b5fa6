#include "model/slot_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace wick {
namespace {

TEST(SlotMap, TakesFreeSlotsThenTheLeastRecentlyUsed) {
  SlotMap slots(2, 10);
  const int a = slots.take(1).slot, b = slots.take(2).slot;
  EXPECT_NE(a, b);
  EXPECT_FALSE(slots.take(1).is_new);
  const SlotMap::Taken taken = slots.take(3);
  EXPECT_TRUE(taken.is_new);
  EXPECT_EQ(taken.slot, b);
  EXPECT_EQ(slots.find(2), -1);
  EXPECT_EQ(slots.find(1), a);
}

TEST(SlotMap, NeverTakesWhatASequenceUses) {
  SlotMap slots(1, 4);
  slots.take(0);
  slots.use(0);
  EXPECT_EQ(slots.take(1).slot, -1);
  slots.unuse(0);
  EXPECT_EQ(slots.take(1).slot, 0);
}

TEST(SlotMap, MovesASlotWithItsUsers) {
  SlotMap slots(1, 4);
  slots.take(0);
  slots.use(0);
  slots.move(0, 3);
  EXPECT_EQ(slots.find(0), -1);
  EXPECT_EQ(slots.users(3), 1);
  EXPECT_EQ(slots.block(0), 3);
}

// Beside a map that remembers what was used when.
TEST(SlotMap, DoesAsAListByAgeInRandomUse) {
  constexpr int kSlots = 5, kBlocks = 12;
  std::mt19937 random(1);
  SlotMap slots(kSlots, kBlocks);
  std::map<BlockId, int> users;         // of blocks with a slot
  std::map<BlockId, std::int64_t> age;  // of those without users
  for (std::int64_t step = 0; step < 20'000; ++step) {
    const auto block = static_cast<BlockId>(random() % kBlocks);
    switch (random() % 4) {
      case 0: {
        const bool is_there = users.contains(block);
        BlockId oldest = -1;
        for (const auto& [other, since] : age) {
          if (oldest < 0 || since < age[oldest]) oldest = other;
        }
        const bool is_full = static_cast<int>(users.size()) == kSlots;
        const SlotMap::Taken taken = slots.take(block);
        ASSERT_EQ(taken.slot < 0, !is_there && is_full && oldest < 0);
        if (taken.slot < 0) break;
        ASSERT_EQ(taken.is_new, !is_there);
        if (!is_there && is_full) {
          users.erase(oldest);
          age.erase(oldest);
        }
        if (users[block] == 0) age[block] = step;
        break;
      }
      case 1:
        if (!users.contains(block)) break;
        slots.use(block);
        ++users[block];
        age.erase(block);
        break;
      case 2:
        if (!users.contains(block) || users[block] == 0) break;
        slots.unuse(block);
        if (--users[block] == 0) age[block] = step;
        break;
      default:
        if (users.contains(block) && users[block] > 0) break;
        slots.forget(block);
        users.erase(block);
        age.erase(block);
    }
    ASSERT_EQ(slots.filled(), static_cast<int>(users.size()));
    std::set<int> seen;
    for (const auto& [known, n] : users) {
      ASSERT_EQ(slots.users(known), n);
      ASSERT_TRUE(seen.insert(slots.find(known)).second) << "two blocks have one slot";
    }
  }
}

}  // namespace
}  // namespace wick
