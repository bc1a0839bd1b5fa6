#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <deque>

#include "engine/limits.h"
#include "engine/scheduler_fixture_test.h"

namespace wick {
namespace {

using Fixture = SchedulerFixture;

TEST(Scheduler, DecodesFirstThenPromptsOldestFirst) {
  Fixture f({.batch = 80});
  TestJob decoding = f.job(text(5, 1)), old = f.job(text(100, 2)), young = f.job(text(40, 3));
  f.add(decoding);
  f.step();
  f.add(old);
  f.add(young);
  auto slices = f.step(64);
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[0].job, decoding.entry);
  EXPECT_TRUE(slices[0].is_last);
  EXPECT_EQ(slices[1].job, old.entry);
  EXPECT_EQ(slices[1].count, 64);
  EXPECT_FALSE(slices[1].is_last);
  slices = f.step(64);
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[1].count, 36);
  EXPECT_EQ(slices[2].job, young.entry);
  EXPECT_EQ(slices[2].count, 16) << "28 tokens are left, cut at a block's end";
}

TEST(Scheduler, ALonePromptTakesAllOfAStepThatNobodyShares) {
  Fixture f({.batch = 256});
  TestJob job = f.job(text(200, 1));
  f.add(job);
  EXPECT_EQ(f.step({.shared = 32, .exclusive = 160}, [](TestJob&) {}).at(0).count, 160);
}

TEST(Scheduler, PausedJobsWait) {
  Fixture f({});
  TestJob job = f.job(text(5, 1));
  f.add(job);
  f.step();
  job->is_paused = true;
  EXPECT_TRUE(f.step().empty());
}

TEST(Scheduler, APausedJobLeavesItsSlotToThoseWhoWait) {
  Fixture f({.max_seqs = 1});
  TestJob paused = f.job(text(20, 1)), waiting = f.job(text(20, 2));
  f.add(paused);
  f.step();
  paused->is_paused = true;
  f.add(waiting);
  for (int i = 0; i <= kParkingSteps; ++i)
    f.step();
  EXPECT_EQ(paused->slot, -1);
  EXPECT_EQ(waiting->slot, 0);
  f.remove(waiting);
  paused->is_paused = false;
  f.step();
  EXPECT_EQ(paused->slot, 0);
  EXPECT_EQ(paused->done, 21) << "all it had computed was still there, one token was new";
}

TEST(Scheduler, PromptsThatBeginTheSameAreComputedOnce) {
  Fixture f({.batch = 256});
  std::deque<TestJob> jobs;
  for (int i = 0; i < 4; ++i) {
    jobs.push_back(f.job(text(100, 1)));
    jobs.back().tokens.push_back(200 + i);
    f.add(jobs.back());
  }
  int computed = 0;
  for (int i = 0; i < 4; ++i) {
    for (const Slice& slice : f.step({.shared = 256, .exclusive = 256}, [](TestJob&) {}))
      computed += slice.count;
  }
  EXPECT_EQ(computed, 101 + 3 * 5) << "each of the others computes only behind the last full block";
  EXPECT_EQ(jobs[3]->cached, 96);
}

TEST(Scheduler, APromptIsReusedExactlyUpToTheEdit) {
  Fixture f({});
  TestJob first = f.job(text(150, 1));
  f.run(first);
  for (const int edit : {1, 15, 16, 17, 100, 140, 149}) {
    TestJob again = f.job(text(150, 1));
    again.tokens[static_cast<std::size_t>(edit)] = 255;
    f.run(again);
    EXPECT_EQ(again->cached, edit);
    const MissReason reason = edit == 149 ? MissReason::kNone : MissReason::kEdited;
    EXPECT_EQ(again->miss.reason, reason) << edit;
    if (edit == 149) continue;  // the last token is computed in any case
    EXPECT_EQ(again->miss.position, edit);
    EXPECT_EQ(again->miss.wanted, 255);
    EXPECT_EQ(again->miss.cached, first.tokens[static_cast<std::size_t>(edit)]);
  }
}

TEST(Scheduler, AConversationThatGoesOnComputesOnlyWhatIsNew) {
  Fixture f({});
  std::vector<TokenId> said;
  for (int turn = 0; turn < 5; ++turn) {
    const int before = static_cast<int>(said.size());
    const auto more = text(33 + turn, turn);
    said.insert(said.end(), more.begin(), more.end());
    TestJob job = f.job(said);
    f.run(job);
    EXPECT_EQ(job->cached, before);
    EXPECT_EQ(job->miss.reason, turn == 0 ? MissReason::kNeverSeen : MissReason::kNew);
    said = job.tokens;
    said.pop_back();  // its last token was never computed
  }
}

TEST(Scheduler, TenantsShareNothing) {
  Fixture f({.blocks = 640});
  for (std::uint64_t tenant = 0; tenant < 32; ++tenant) {
    TestJob job = f.job(text(100, 1), tenant);
    f.run(job);
    EXPECT_EQ(job->cached, 0);
    EXPECT_EQ(job->miss.reason, MissReason::kNeverSeen) << "what others said is not told";
  }
  TestJob job = f.job(text(100, 1), 7);
  f.run(job);
  EXPECT_EQ(job->cached, 99);
}

TEST(Scheduler, SaysThatAnotherTenantHasItIfThatIsAllowed) {
  Fixture f({.explain_other_tenants = true});
  TestJob theirs = f.job(text(100, 1), 1), own = f.job(text(100, 1), 2);
  TestJob other = f.job(text(50, 2), 2);
  f.run(theirs);
  f.run(own);
  f.run(other);
  EXPECT_EQ(own->miss.reason, MissReason::kOtherTenant);
  EXPECT_EQ(other->miss.reason, MissReason::kNeverSeen);
}

TEST(Scheduler, TheLongestUnusedMakesRoomAndTheMissSaysSo) {
  Fixture f({.context = 128, .blocks = 16});
  TestJob a = f.job(text(96, 1)), b = f.job(text(96, 2)), again = f.job(text(96, 1));
  f.run(a);
  f.run(b);
  f.run(again);
  EXPECT_EQ(again->cached, 95);
  TestJob c = f.job(text(96, 3));
  f.run(c);  // takes what b has
  TestJob kept = f.job(text(96, 1)), gone = f.job(text(96, 2));
  f.run(kept);
  EXPECT_EQ(kept->cached, 95);
  f.run(gone);
  EXPECT_LT(gone->cached, 95);
  EXPECT_EQ(gone->miss.reason, MissReason::kEvicted);
}

TEST(Scheduler, WithoutReuseNothingIsKept) {
  Fixture f({.enable_prefix_caching = false});
  TestJob first = f.job(text(50, 1)), second = f.job(text(50, 1));
  f.run(first);
  EXPECT_EQ(f.memory.free_blocks(), 64);
  f.run(second);
  EXPECT_EQ(second->cached, 0);
  EXPECT_EQ(second->miss.reason, MissReason::kOff);
}

// The order in which jobs that all wait get the one slot.
std::vector<std::uint64_t> order_of_admission(Fixture& f, std::deque<TestJob>& jobs) {
  for (TestJob& job : jobs)
    f.add(job);
  std::vector<std::uint64_t> order;
  while (order.size() < jobs.size()) {
    f.scheduler.admit();
    Job* job = f.scheduler.live()[0];
    order.push_back(job->id);
    while (job->missing() > 1)
      f.step();
    f.remove(*f.jobs.at(job->id));
  }
  return order;
}

TEST(Scheduler, HigherPrioritiesGoFirstThenWhoCameFirst) {
  Fixture f({.max_seqs = 1});
  std::deque<TestJob> jobs;
  for (const int priority : {0, -1, 2, 0, 2})
    jobs.push_back(f.job(text(20, 1), 0, priority));
  EXPECT_EQ(order_of_admission(f, jobs), (std::vector<std::uint64_t>{3, 5, 1, 4, 2}));
}

TEST(Scheduler, ATenantWithOneRequestDoesNotWaitForAnothersFlood) {
  Fixture f({.max_seqs = 1});
  std::deque<TestJob> jobs;
  for (int i = 0; i < 6; ++i)
    jobs.push_back(f.job(text(20, i), 1));
  jobs.push_back(f.job(text(20, 9), 2));
  EXPECT_EQ(order_of_admission(f, jobs)[1], 7U);
}

TEST(Scheduler, WaitingRaisesAJobAboveNewOnesOfHigherPriority) {
  Fixture f({.max_seqs = 1});
  TestJob low = f.job(text(20, 1), 0, -kMaxPriority), high = f.job(text(20, 2), 0, kMaxPriority);
  TestJob live = f.job(text(20, 3));
  f.add(live);
  f.step();
  f.add(low);
  for (int i = 0; i < 2 * kMaxPriority * kAgeingSteps; ++i)
    f.step({.shared = 16, .exclusive = 16}, [](TestJob& job) { job->done = 0; });
  f.add(high);
  f.remove(live);
  f.scheduler.admit();
  EXPECT_GE(low->slot, 0);
  EXPECT_EQ(high->slot, -1);
}

TEST(Scheduler, TheNewestMakesRoomForTheOthersAndGoesOnWhereItWas) {
  Fixture f({.max_seqs = 2, .context = 128, .blocks = 9});
  TestJob old = f.job(text(40, 1)), young = f.job(text(30, 2));
  f.add(old);
  f.add(young);
  while (young->n_preempted == 0 && old.tokens.size() < 127) {
    f.step();
    f.check_blocks();
  }
  EXPECT_EQ(young->n_preempted, 1);
  EXPECT_EQ(old->n_preempted, 0);
  const auto said = young.tokens;
  for (int i = 0; i < 5; ++i)
    f.step();
  f.remove(old);
  f.step();
  EXPECT_GE(young->slot, 0);
  EXPECT_TRUE(std::equal(said.begin(), said.end(), young.tokens.begin()));
}

}  // namespace
}  // namespace wick
