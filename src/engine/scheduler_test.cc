#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace wick {
namespace {

TEST(Scheduler, DecodesFirstThenPromptsOldestFirst) {
  const std::vector<Work> work = {{.known = 100}, {.known = 8, .done = 7}, {.known = 50}};
  std::vector<Slice> out(3);
  ASSERT_EQ(schedule(work, 101, out), 2);
  EXPECT_EQ(out[0].index, 1);
  EXPECT_TRUE(out[0].needs_logits);
  EXPECT_EQ(out[1].index, 0);
  EXPECT_EQ(out[1].count, 100);
  ASSERT_EQ(schedule(work, 111, out), 3);
  EXPECT_EQ(out[2].index, 2);
  EXPECT_EQ(out[2].count, 10);
  EXPECT_FALSE(out[2].needs_logits);
}

TEST(Scheduler, PausedSequencesWait) {
  const std::vector<Work> work = {{.known = 4, .is_paused = true}};
  std::vector<Slice> out(1);
  EXPECT_EQ(schedule(work, 16, out), 0);
}

// Random loads: the budget holds, slices are exact, and everyone who is not paused gets there.
TEST(Scheduler, SimulatedLoadsKeepTheBudgetAndStarveNobody) {
  std::mt19937 rng(1);
  const auto any = [&](int low, int high) { return std::uniform_int_distribution(low, high)(rng); };
  for (int round = 0; round < 300; ++round) {
    std::vector<Work> work(static_cast<std::size_t>(any(1, 8)));
    std::vector<int> wanted;
    for (Work& w : work) {
      w.known = any(1, 200);
      wanted.push_back(any(1, 30));  // answer tokens
    }
    const int budget = any(static_cast<int>(work.size()), 64);
    std::vector<Slice> out(work.size());
    int steps = 0;
    for (bool busy = true; busy; ++steps) {
      ASSERT_LT(steps, 8 * 230) << "somebody never finishes";
      const int n = schedule(work, budget, out);
      int sum = 0;
      for (int i = 0; i < n; ++i) {
        const Slice& slice = out[static_cast<std::size_t>(i)];
        Work& w = work[static_cast<std::size_t>(slice.index)];
        ASSERT_EQ(slice.begin, w.done);
        ASSERT_GT(slice.count, 0);
        ASSERT_EQ(slice.needs_logits, slice.begin + slice.count == w.known);
        sum += slice.count;
        w.done += slice.count;
        int& left = wanted[static_cast<std::size_t>(slice.index)];
        if (slice.needs_logits && --left > 0) ++w.known;
        w.is_paused = left == 0;
      }
      ASSERT_LE(sum, budget);
      busy = n > 0;
    }
    for (const int left : wanted)
      ASSERT_EQ(left, 0);
  }
}

}  // namespace
}  // namespace wick
