#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <vector>

#include "engine/limits.h"
#include "engine/scheduler_fixture_test.h"

namespace wick {
namespace {

using Fixture = SchedulerFixture;

TEST(Scheduler, DecodesFirstThenPromptsOldestFirst) {
  Fixture f({.batch = 80});
  TestRequest decoding = f.request(text(5, 1)), old = f.request(text(100, 2)),
              young = f.request(text(40, 3));
  f.add(decoding);
  f.step();
  f.add(old);
  f.add(young);
  auto slices = f.step(64);
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[0].entry, decoding.entry);
  EXPECT_TRUE(slices[0].is_last);
  EXPECT_EQ(slices[1].entry, old.entry);
  EXPECT_EQ(slices[1].count, 64);
  EXPECT_FALSE(slices[1].is_last);
  slices = f.step(64);
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[1].count, 36);
  EXPECT_EQ(slices[2].entry, young.entry);
  EXPECT_EQ(slices[2].count, 16) << "28 tokens are left, cut at a block's end";
}

TEST(Scheduler, ALonePromptTakesAllOfAStepThatNobodyShares) {
  Fixture f({.batch = 256});
  TestRequest request = f.request(text(200, 1));
  f.add(request);
  EXPECT_EQ(f.step({.shared = 32, .exclusive = 160}, [](TestRequest&) {}).at(0).count, 160);
}

TEST(Scheduler, PausedJobsWait) {
  Fixture f({});
  TestRequest request = f.request(text(5, 1));
  f.add(request);
  f.step();
  request->is_paused = true;
  EXPECT_TRUE(f.step().empty());
}

TEST(Scheduler, APausedJobLeavesItsSlotToThoseWhoWait) {
  Fixture f({.max_seqs = 1});
  TestRequest paused = f.request(text(20, 1)), waiting = f.request(text(20, 2));
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
  std::deque<TestRequest> requests;
  for (int i = 0; i < 4; ++i) {
    requests.push_back(f.request(text(100, 1)));
    requests.back().tokens.push_back(200 + i);
    f.add(requests.back());
  }
  int computed = 0;
  for (int i = 0; i < 4; ++i) {
    for (const Slice& slice : f.step({.shared = 256, .exclusive = 256}, [](TestRequest&) {}))
      computed += slice.count;
  }
  EXPECT_EQ(computed, 101 + 3 * 5) << "each of the others computes only behind the last full block";
  EXPECT_EQ(requests[3]->cached, 96);
}

TEST(Scheduler, APromptIsReusedExactlyUpToTheEdit) {
  Fixture f({});
  TestRequest first = f.request(text(150, 1));
  f.run(first);
  for (const int edit : {1, 15, 16, 17, 100, 140, 149}) {
    TestRequest again = f.request(text(150, 1));
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
    TestRequest request = f.request(said);
    f.run(request);
    EXPECT_EQ(request->cached, before);
    EXPECT_EQ(request->miss.reason, turn == 0 ? MissReason::kNeverSeen : MissReason::kNew);
    said = request.tokens;
    said.pop_back();  // its last token was never computed
  }
}

TEST(Scheduler, TenantsShareNothing) {
  Fixture f({.blocks = 640});
  for (std::uint64_t tenant = 0; tenant < 32; ++tenant) {
    TestRequest request = f.request(text(100, 1), tenant);
    f.run(request);
    EXPECT_EQ(request->cached, 0);
    EXPECT_EQ(request->miss.reason, MissReason::kNeverSeen) << "what others said is not told";
  }
  TestRequest request = f.request(text(100, 1), 7);
  f.run(request);
  EXPECT_EQ(request->cached, 99);
}

TEST(Scheduler, SaysThatAnotherTenantHasItIfThatIsAllowed) {
  Fixture f({.explain_other_tenants = true});
  TestRequest theirs = f.request(text(100, 1), 1), own = f.request(text(100, 1), 2);
  TestRequest other = f.request(text(50, 2), 2);
  f.run(theirs);
  f.run(own);
  f.run(other);
  EXPECT_EQ(own->miss.reason, MissReason::kOtherTenant);
  EXPECT_EQ(other->miss.reason, MissReason::kNeverSeen);
}

TEST(Scheduler, TheLongestUnusedMakesRoomAndTheMissSaysSo) {
  Fixture f({.context = 128, .blocks = 16});
  TestRequest a = f.request(text(96, 1)), b = f.request(text(96, 2)),
              again = f.request(text(96, 1));
  f.run(a);
  f.run(b);
  f.run(again);
  EXPECT_EQ(again->cached, 95);
  TestRequest c = f.request(text(96, 3));
  f.run(c);  // takes what b has
  TestRequest kept = f.request(text(96, 1)), gone = f.request(text(96, 2));
  f.run(kept);
  EXPECT_EQ(kept->cached, 95);
  f.run(gone);
  EXPECT_LT(gone->cached, 95);
  EXPECT_EQ(gone->miss.reason, MissReason::kEvicted);
}

TEST(Scheduler, WithoutReuseNothingIsKept) {
  Fixture f({.enable_prefix_caching = false});
  TestRequest first = f.request(text(50, 1)), second = f.request(text(50, 1));
  f.run(first);
  EXPECT_EQ(f.memory.free_blocks(), 64);
  f.run(second);
  EXPECT_EQ(second->cached, 0);
  EXPECT_EQ(second->miss.reason, MissReason::kOff);
}

// The order in which requests that all wait get the one slot.
std::vector<std::uint64_t> order_of_admission(Fixture& f, std::deque<TestRequest>& requests) {
  for (TestRequest& request : requests)
    f.add(request);
  std::vector<std::uint64_t> order;
  while (order.size() < requests.size()) {
    f.scheduler.admit();
    SchedulerEntry* request = f.scheduler.live()[0];
    order.push_back(request->id);
    while (request->missing() > 1)
      f.step();
    f.remove(*f.requests.at(request->id));
  }
  return order;
}

TEST(Scheduler, HigherPrioritiesGoFirstThenWhoCameFirst) {
  Fixture f({.max_seqs = 1});
  std::deque<TestRequest> requests;
  for (const int priority : {0, -1, 2, 0, 2})
    requests.push_back(f.request(text(20, 1), 0, priority));
  EXPECT_EQ(order_of_admission(f, requests), (std::vector<std::uint64_t>{3, 5, 1, 4, 2}));
}

TEST(Scheduler, ATenantWithOneRequestDoesNotWaitForAnothersFlood) {
  Fixture f({.max_seqs = 1});
  std::deque<TestRequest> requests;
  for (int i = 0; i < 6; ++i)
    requests.push_back(f.request(text(20, i), 1));
  requests.push_back(f.request(text(20, 9), 2));
  EXPECT_EQ(order_of_admission(f, requests)[1], 7U);
}

// Prompt tokens of `entry` in each of the next steps beside the decoding of others.
std::vector<int> tokens_of(Fixture& f, const SchedulerEntry* entry, int steps) {
  std::vector<int> all;
  for (int i = 0; i < steps; ++i) {
    int count = 0;
    const auto slices = f.step({.shared = 256, .exclusive = 256, .decode = 24},
                               [](TestRequest& r) { r.tokens.push_back(r.tokens.back()); });
    for (const Slice& slice : slices)
      count += slice.entry == entry ? slice.count : 0;
    all.push_back(count);
  }
  return all;
}

int sum(const std::vector<int>& all, int begin, int end) {
  return std::accumulate(all.begin() + begin, all.begin() + end, 0);
}

TEST(Scheduler, ALongPromptBesideOtherTenantsTakesItsShareBehindABurst) {
  Fixture f({.batch = 512, .context = 2048, .blocks = 512});
  std::deque<TestRequest> decoding;
  for (std::uint64_t tenant = 1; tenant <= 3; ++tenant)
    decoding.push_back(f.request(text(3, 1), tenant));
  for (TestRequest& request : decoding)
    f.add(request);
  f.step();
  TestRequest prompt = f.request(text(1500, 2), 9);
  f.add(prompt);
  const std::vector<int> all = tokens_of(f, prompt.entry, 64);
  EXPECT_LE(*std::max_element(all.begin(), all.end()), kClientChunk);
  EXPECT_NEAR(sum(all, 0, 8), kClientBurst * kClientChunk + 8 * 24 / 3, kBlockTokens);
  EXPECT_NEAR(sum(all, 8, 64), 56 * 24 / 3, kBlockTokens) << "as much as each of the others costs";
}

TEST(Scheduler, ATenantThatCancelsALongPromptAndSendsItAgainGainsNothing) {
  Fixture f({.batch = 512, .context = 2048, .blocks = 512, .enable_prefix_caching = false});
  TestRequest decoding = f.request(text(3, 1), 1);
  f.add(decoding);
  f.step();
  int computed = 0;
  for (int i = 0; i < 10; ++i) {
    TestRequest prompt = f.request(text(1500, 2), 9);
    f.add(prompt);
    computed += sum(tokens_of(f, prompt.entry, 4), 0, 4);
    f.remove(prompt);
  }
  EXPECT_NEAR(computed, kClientBurst * kClientChunk + 40 * 24, 2 * kBlockTokens);
}

TEST(Scheduler, ClientsOfATenantHaveSharesAndOneCache) {
  Fixture f({.batch = 512, .context = 2048, .blocks = 512});
  const auto of_client = [&](std::vector<TokenId> tokens, std::uint64_t client) {
    TestRequest request = f.request(std::move(tokens), 9);
    request.terms.client = client;
    return request;
  };
  TestRequest decoding = of_client(text(3, 1), 1), prompt = of_client(text(1500, 2), 2);
  f.add(decoding);
  f.step();
  f.add(prompt);
  const std::vector<int> all = tokens_of(f, prompt.entry, 40);
  EXPECT_NEAR(sum(all, 8, 40), 32 * 24, kBlockTokens) << "as much as the other costs";
  f.remove(prompt);
  TestRequest own = of_client(text(1500, 3), 2), others = of_client(text(1500, 2), 1);
  f.add(others);
  tokens_of(f, others.entry, 1);
  EXPECT_GT(others->cached, 900) << "the other's cache";
  f.remove(others);
  f.add(own);
  EXPECT_LE(tokens_of(f, own.entry, 1).front(), 2 * 24) << "the debt is the client's";
}

TEST(Scheduler, ALongPromptBesideItsOwnTenantTakesAllOfTheStep) {
  Fixture f({.batch = 512, .context = 2048, .blocks = 512});
  TestRequest decoding = f.request(text(3, 1), 9), prompt = f.request(text(1500, 2), 9);
  f.add(decoding);
  f.step();
  f.add(prompt);
  EXPECT_EQ(tokens_of(f, prompt.entry, 4), std::vector<int>(4, 256));
}

TEST(Scheduler, WaitingRaisesAJobAboveNewOnesOfHigherPriority) {
  Fixture f({.max_seqs = 1});
  TestRequest low = f.request(text(20, 1), 0, -kMaxPriority),
              high = f.request(text(20, 2), 0, kMaxPriority);
  TestRequest live = f.request(text(20, 3));
  f.add(live);
  f.step();
  f.add(low);
  for (int i = 0; i < 2 * kMaxPriority * kAgeingSteps; ++i)
    f.step({.shared = 16, .exclusive = 16}, [](TestRequest& request) { request->done = 0; });
  f.add(high);
  f.remove(live);
  f.scheduler.admit();
  EXPECT_GE(low->slot, 0);
  EXPECT_EQ(high->slot, -1);
}

TEST(Scheduler, TheNewestMakesRoomForTheOthersAndGoesOnWhereItWas) {
  Fixture f({.max_seqs = 2, .context = 128, .blocks = 9});
  TestRequest old = f.request(text(40, 1)), young = f.request(text(30, 2));
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
