// What the counters count: without this, "0 allocations" could mean that nobody was counting.
#include "base/hot_scope.h"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "support/hot_counters.h"

namespace wick {
namespace {

TEST(HotPathCounters, CountAllocationsInsideAScopeOnly) {
  std::vector<int> numbers;
  numbers.reserve(4);
  test::reset_hot_counts();
  {
    const HotScope hot;
    for (int i = 0; i < 4; ++i)
      numbers.push_back(i);  // within capacity
    EXPECT_EQ(test::hot_counts().allocations, 0);
    numbers.push_back(4);  // grows once
  }
  EXPECT_EQ(test::hot_counts().allocations, 1);
  EXPECT_EQ(test::hot_counts().frees, 1);
  numbers.reserve(100);
  EXPECT_EQ(test::hot_counts().allocations, 1);
}

TEST(HotPathCounters, CountLocksInsideAScopeOnly) {
  std::mutex mutex;
  test::reset_hot_counts();
  { const std::lock_guard guard(mutex); }
  EXPECT_EQ(test::hot_counts().locks, 0);
  const HotScope hot;
  { const std::lock_guard guard(mutex); }
  { const std::unique_lock guard(mutex, std::try_to_lock); }
  EXPECT_EQ(test::hot_counts().locks, 2);
}

}  // namespace
}  // namespace wick
