#include "route/limiter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <random>
#include <thread>

#include "base/mix.h"
#include "provider/gather.h"
#include "route/router.h"
#include "route/sim_test.h"

namespace wick::route {

namespace {

// Limits within the process, and in the Redis that WICK_TEST_REDIS names (.ci/long stores).
std::vector<std::string> limit_places() {
  std::vector<std::string> names = {"process"};
  if (std::getenv("WICK_TEST_REDIS") != nullptr) names.emplace_back("redis");
  return names;
}

class LimiterRules : public testing::TestWithParam<std::string> {
 protected:
  // Two of a store are of two machines, which share the limits.
  std::unique_ptr<Limiter> make(const LimitOptions& options) {
    if (GetParam() == "process") return local_limiter(options);
    const auto store = open_redis_limits(std::getenv("WICK_TEST_REDIS"), false);
    EXPECT_TRUE(store) << to_string(store.error());
    return (*store)->make(name_, options);
  }

  bool is_shared() const { return GetParam() != "process"; }

 private:
  const std::string name_ = std::to_string(std::random_device()());
};

INSTANTIATE_TEST_SUITE_P(Stores, LimiterRules, testing::ValuesIn(limit_places()),
                         [](const auto& one) { return one.param; });

TEST_P(LimiterRules, NoMinuteHasMoreThanTheLimits) {
  const LimitOptions limits{.requests_per_minute = 20, .tokens_per_minute = 3000};
  const auto one = make(limits), other = make(limits);

  struct Sent {
    std::int64_t ms, tokens;
  };

  std::deque<Sent> minute;
  std::int64_t now = 5'000'000, tokens = 0;
  int n_taken = 0, n_waited = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::uint64_t chance = splitmix64(7, i);
    now += static_cast<std::int64_t>(chance % 900);
    const auto wanted = static_cast<std::int64_t>((chance >> 20U) % 400);
    Limiter::Pass pass;
    Limiter& limiter = is_shared() && chance % 3 == 0 ? *other : *one;
    const std::int64_t wait = limiter.take(wanted, now, {}, pass);
    while (!minute.empty() && minute.front().ms <= now - 60'000) {
      tokens -= minute.front().tokens;
      minute.pop_front();
    }
    if (wait != 0) {
      ASSERT_GT(wait, 0);
      ASSERT_LE(wait, 61'000);
      if (chance % 5 == 0) {  // who waits as long as it says is let through
        now += wait;
        Limiter::Pass later;
        ASSERT_EQ(limiter.take(wanted, now, {}, later), 0);
        minute.push_back({now, wanted});
        tokens += wanted;
      }
      ++n_waited;
    } else {
      ++n_taken;
      minute.push_back({now, wanted});
      tokens += wanted;
    }
    while (!minute.empty() && minute.front().ms <= now - 60'000) {
      tokens -= minute.front().tokens;
      minute.pop_front();
    }
    ASSERT_LE(minute.size(), 20U);
    ASSERT_LE(tokens, 3000);
  }
  EXPECT_GT(n_taken, 1000);
  EXPECT_GT(n_waited, 1000);
}

TEST_P(LimiterRules, GivesBackWhatWasNotUsedOrNotSent) {
  const auto made = make({.requests_per_minute = 2, .tokens_per_minute = 100});
  Limiter& limiter = *made;
  Limiter::Pass first, second, third;
  EXPECT_EQ(limiter.take(101, 0, {}, first), Limiter::kNever);
  ASSERT_EQ(limiter.take(90, 0, {}, first), 0);
  EXPECT_GT(limiter.take(20, 0, {}, second), 0);
  limiter.end(first, 10);
  limiter.end(first, 0);  // twice is once
  ASSERT_EQ(limiter.take(90, 0, {}, second), 0);
  EXPECT_GT(limiter.take(0, 0, {}, third), 0);
  limiter.undo(second);
  EXPECT_EQ(limiter.take(90, 0, {}, third), 0);
  EXPECT_EQ(limiter.running(), 1);
}

TEST(Limiter, WhoWaitsForAnotherIsWokenAtItsEnd) {
  const auto made = local_limiter({.parallel = 1});
  Limiter& limiter = *made;
  Limiter::Pass first, second;
  ASSERT_EQ(limiter.take(0, 0, {}, first), 0);
  const auto wake = std::make_shared<Wake>();
  const std::uint32_t seen = wake->signal();
  EXPECT_EQ(limiter.take(0, 0, wake, second), Limiter::kOnWake);
  limiter.end(first, 0);
  EXPECT_NE(wake->signal(), seen);
  EXPECT_EQ(limiter.take(0, 0, wake, second), 0);
}

TEST_P(LimiterRules, ManyThreadsNeverPassTheParallelLimit) {
  const std::unique_ptr<Limiter> made[] = {make({.parallel = 3}), make({.parallel = 3})};
  const std::size_t n_machines = is_shared() ? 2 : 1;
  std::atomic<int> running = 0, most = 0, n_taken = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Limiter& limiter = *made[t % n_machines];
      for (int i = 0; i < 2000; ++i) {
        Limiter::Pass pass;
        if (limiter.take(0, 0, {}, pass) != 0) continue;
        const int now = ++running;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        ++n_taken;
        --running;
        limiter.end(pass, 0);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_LE(most, 3);
  EXPECT_GT(n_taken, 100);
  EXPECT_EQ(made[0]->running() + made[1]->running(), 0);
}

// What only a shared store has. With WICK_TEST_REDIS alone.
class LimiterShared : public testing::TestWithParam<std::string> {};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LimiterShared);

std::vector<std::string> limit_servers() {
  std::vector<std::string> names;
  if (const char* const uri = std::getenv("WICK_TEST_REDIS"); uri != nullptr) names = {uri};
  return names;
}

INSTANTIATE_TEST_SUITE_P(Servers, LimiterShared, testing::ValuesIn(limit_servers()),
                         [](const auto&) { return "redis"; });

TEST_P(LimiterShared, TimesAreThoseOfItsClock) {
  const auto store = *open_limit_store(GetParam());
  const std::string name = std::to_string(std::random_device()());
  const auto one = store->make(name, {.requests_per_minute = 1});
  const auto other = store->make(name, {.requests_per_minute = 1});
  Limiter::Pass pass;
  ASSERT_EQ(one->take(0, 1, {}, pass), 0);
  const std::int64_t wait = other->take(0, 999'999'999'999, {}, pass);
  EXPECT_GT(wait, 59'000);
  EXPECT_LE(wait, 61'000);
}

TEST(LimiterStore, WithoutItsServerNothingIsLetThrough) {
  const auto store = open_limit_store("redis+unix:///nowhere/redis.sock");
  ASSERT_TRUE(store);
  const auto limiter = (*store)->make("x", {.parallel = 1});
  Limiter::Pass pass;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(limiter->take(0, 0, {}, pass), 1000);
    EXPECT_FALSE(pass.is_taken);
  }
}

TEST(LimiterStore, AUriThatIsNoneIsRefused) {
  for (const char* const bad :
       {"", "redis:", "redis://", "redis://host:x", "redis://host:123456", "redis://host/db",
        "redis://who@host", "redis+unix://relative", "http://host", "rediss://host"})
    EXPECT_FALSE(open_limit_store(bad)) << bad;
  for (const char* const good : {"redis://host", "redis://host:6380/2", "redis://:secret@host",
                                 "redis://me:secret@[::1]:1", "redis+unix:///run/redis.sock"})
    EXPECT_TRUE(open_limit_store(good)) << good;
}

class LimitedRoute : public testing::Test {
 protected:
  LimitedRoute() {
    for (const char* const name : {"alpha", "omega"}) {
      const auto sim = std::make_shared<test::SimProvider>(clock);
      sim->name_ = name;
      sims.push_back(sim);
      options.members.push_back(
          {.name = name, .provider = sim, .models = {{.name = "m", .price = Price{}}}});
    }
    options.clock = clock;
  }

  static Request request(const std::string& model) {
    return {.model = model, .prompt = std::vector<Message>{{.content = "x"}}};
  }

  // The text, or the id of the error.
  std::string ask(Router& router, const std::string& model) {
    auto answer = router.start(request(model));
    if (!answer) return answer.error().id;
    return end_of(**answer);
  }

  std::string end_of(Answer& answer) {
    Gather whole;
    while (!answer.is_over()) {
      while (const auto event = answer.poll())
        whole.add(*event);
      if (!answer.is_over()) clock->advance();
    }
    return whole.error ? whole.error->id : whole.completion.text;
  }

  std::shared_ptr<test::VirtualClock> clock = std::make_shared<test::VirtualClock>();
  std::vector<std::shared_ptr<test::SimProvider>> sims;
  RouterOptions options;
};

TEST_F(LimitedRoute, AFullTargetIsSkippedAndTheLastOneIsWaitedFor) {
  options.members[0].limits.requests_per_minute = 1;
  options.rules = {{.name = "both", .to = {"alpha", "omega"}}};
  const auto router = make_router(options);
  EXPECT_EQ(ask(*router, "auto"), "alpha");
  EXPECT_EQ(ask(*router, "auto"), "omega");
  const std::int64_t begin = clock->now_ms();
  EXPECT_EQ(ask(*router, "alpha/m"), "alpha");
  EXPECT_GE(clock->now_ms() - begin, 59'000);
  options.total_ms = 30'000;
  const auto hurried = make_router(options);
  EXPECT_EQ(ask(*hurried, "alpha/m"), "alpha");
  EXPECT_EQ(ask(*hurried, "alpha/m"), "rate_limit_exceeded");
}

TEST_F(LimitedRoute, AFullTargetIsWaitedForOnceTheOtherHasFailed) {
  options.members[0].limits.requests_per_minute = 1;
  options.rules = {{.name = "both", .to = {"alpha", "omega"}}};
  const auto router = make_router(options);
  EXPECT_EQ(ask(*router, "auto"), "alpha");
  sims[1]->failures = {Failure::kCredential};
  const std::int64_t begin = clock->now_ms();
  EXPECT_EQ(ask(*router, "auto"), "alpha");
  EXPECT_GE(clock->now_ms() - begin, 59'000);
  // A cooldown of a second is shorter than that.
  clock->pass(62'000);
  EXPECT_EQ(ask(*router, "auto"), "alpha");
  sims[1]->failures = {Failure::kRateLimit};
  sims[1]->n_started = 0;
  const std::int64_t then = clock->now_ms();
  EXPECT_EQ(ask(*router, "auto"), "omega");
  EXPECT_EQ(sims[1]->n_started, 2);
  EXPECT_LT(clock->now_ms() - then, 2000);
}

// The parallel slot may come before the cooldown is over, or behind it.
TEST_F(LimitedRoute, ASlotAndACooldownAreWaitedForAtTheSameTime) {
  options.members[0].limits.parallel = 1;
  options.rules = {{.name = "both", .to = {"alpha", "omega"}, .alias = "both"}};
  const auto router = make_router(options);
  for (const bool is_early : {true, false}) {
    auto first = router->start(request("alpha/m"));
    ASSERT_TRUE(first);
    sims[1]->failures = {Failure::kRateLimit};
    auto second = router->start(request("both"));
    ASSERT_TRUE(second);
    EXPECT_FALSE((*second)->poll());
    if (is_early) first->reset();
    EXPECT_EQ(end_of(**second), is_early ? "alpha" : "omega");
    clock->pass(60'000);
  }
}

TEST_F(LimitedRoute, ARequestThatFitsInNoMinuteIsRefusedAtOnce) {
  options.members[0].limits.tokens_per_minute = 100;
  const auto router = make_router(options);
  EXPECT_EQ(ask(*router, "alpha/m"), "rate_limit_exceeded");
  EXPECT_EQ(sims[0]->n_started, 0);
}

TEST_F(LimitedRoute, ParallelRequestsWaitForEachOther) {
  options.members[0].limits.parallel = 1;
  const auto router = make_router(options);
  auto first = router->start(request("alpha/m"));
  auto second = router->start(request("alpha/m"));
  ASSERT_TRUE(first && second);
  EXPECT_FALSE((*second)->poll());
  EXPECT_EQ(sims[0]->n_started, 1);
  EXPECT_EQ(end_of(**first), "alpha");
  EXPECT_EQ(end_of(**second), "alpha");
  auto left = router->start(request("alpha/m"));
  auto next = router->start(request("alpha/m"));
  left->reset();  // its client goes
  EXPECT_EQ(end_of(**next), "alpha");
}

TEST_F(LimitedRoute, ABudgetThatRefusesTakesNothingOfTheLimits) {
  options.members[0].limits.requests_per_minute = 1;
  options.members[0].models[0].price = Price{.input = 1000, .output = 1000};
  options.ledger = *Ledger::open({.path = ":memory:", .is_durable = false, .writes_at_once = true});
  options.budgets = {{.name = "request", .window = BudgetWindow::kRequest, .cap = 0}};
  EXPECT_EQ(ask(*make_router(options), "alpha/m"), "budget_exceeded");
  options.members[0].models[0].price = Price{};
  EXPECT_EQ(ask(*make_router(options), "alpha/m"), "alpha");
}

TEST_F(LimitedRoute, LeastBusyTakesTheOneWithFewerRequests) {
  options.rules = {{.name = "busy", .to = {"alpha", "omega"}, .strategy = Strategy::kLeastBusy}};
  const auto router = make_router(options);
  std::vector<std::unique_ptr<Answer>> running;
  for (int i = 0; i < 10; ++i) {
    auto answer = router->start(request("auto"));
    ASSERT_TRUE(answer);
    running.push_back(*std::move(answer));
  }
  EXPECT_EQ(sims[0]->n_started, 5);
  EXPECT_EQ(sims[1]->n_started, 5);
}

TEST_F(LimitedRoute, LeastBusyAsksIdleOnesInTurn) {
  options.rules = {
      {.name = "busy", .to = {"alpha", "omega"}, .strategy = Strategy::kLeastBusy}};
  const auto router = make_router(options);
  for (const char* const name : {"alpha", "omega", "alpha", "omega"})
    EXPECT_EQ(ask(*router, "auto"), name);
  for (int i = 0; i < 3; ++i)  // what was asked by its name counts, too
    EXPECT_EQ(ask(*router, "omega/m"), "omega");
  for (const char* const name : {"alpha", "omega", "alpha"})
    EXPECT_EQ(ask(*router, "auto"), name) << "nobody makes up for it";
}

TEST_F(LimitedRoute, WeightsAreShares) {
  options.members[0].weight = 3;
  options.rules = {{.name = "shares", .to = {"alpha", "omega"}, .strategy = Strategy::kWeighted}};
  const auto router = make_router(options);
  for (int i = 0; i < 4000; ++i)
    ask(*router, "auto");
  EXPECT_NEAR(sims[0]->n_started, 3000, 150);  // 5 standard deviations
  EXPECT_EQ(sims[0]->n_started + sims[1]->n_started, 4000);
}

}  // namespace

}  // namespace wick::route
