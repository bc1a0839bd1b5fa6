#include "route/response_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "base/mix.h"
#include "base/strings.h"
#include "provider/gather.h"
#include "route/redis.h"
#include "route/request_key.h"
#include "route/router.h"
#include "route/sim_test.h"

namespace wick::route {

namespace {

// Each change of what decides on an answer changes the key.
TEST(RequestKey, TellsRequestsApart) {
  const Request base{.model = "m", .prompt = std::vector<Message>{{.content = "hello"}}};
  std::set<std::string> keys = {request_key(base)};
  std::size_t n = 1;
  const auto differs = [&](auto&& change) {
    Request other = base;
    change(other);
    keys.insert(request_key(other));
    EXPECT_EQ(keys.size(), ++n);
  };
  differs([](Request& r) { r.model = "n"; });
  differs([](Request& r) { r.key = "client"; });
  differs([](Request& r) { r.tag = "client"; });
  differs([](Request& r) { r.prompt = std::string("hello"); });
  differs([](Request& r) { r.prompt = std::vector<TokenId>{1, 2}; });
  differs([](Request& r) {
    r.prompt = std::vector<Message>{{.content = "hell"}, {.content = "o"}};
  });
  differs(
      [](Request& r) { r.prompt = std::vector<Message>{{.role = "system", .content = "hello"}}; });
  const auto setting = [&](auto&& change) { differs([&](Request& r) { change(r.generation); }); };
  setting([](Generation& g) { g.temperature = 0; });
  setting([](Generation& g) { g.temperature = -0.0; });
  setting([](Generation& g) { g.top_k = 0; });
  setting([](Generation& g) { g.top_p = 0; });
  setting([](Generation& g) { g.min_p = 0; });
  setting([](Generation& g) { g.repeat_penalty = 0; });
  setting([](Generation& g) { g.seed = 0; });
  setting([](Generation& g) { g.more = {{"xtc_probability", 0.5}}; });
  setting([](Generation& g) { g.max_tokens = 5; });
  setting([](Generation& g) { g.stop = {"ab", "c"}; });
  setting([](Generation& g) { g.stop = {"a", "bc"}; });
  setting([](Generation& g) { g.stop_token_ids = {7}; });
  setting([](Generation& g) { g.logit_bias = {{.id = 7, .bias = 1}}; });
  setting([](Generation& g) { g.samplers = "top_k"; });
  setting([](Generation& g) { g.logprobs = true; });
  setting([](Generation& g) { g.prompt_logprobs = true; });
  setting([](Generation& g) { g.top_logprobs = 3; });
  setting([](Generation& g) { g.tenant = 9; });
  setting([](Generation& g) { g.tools = {{.name = "f"}}; });
  setting([](Generation& g) { g.tool_choice = "f"; });
  setting([](Generation& g) { g.thinking = false; });
  setting([](Generation& g) { g.thinking = true; });
  setting([](Generation& g) { g.template_variables = {{"date", "1"}}; });
  setting([](Generation& g) { g.response_format = {.type = "json_object"}; });
  setting([](Generation& g) { g.dry_sequence_breakers = std::vector<std::string>{}; });
  Request same = base;
  same.generation.priority = 2;
  same.generation.time_limit_ms = 1000;
  same.generation.emit_tokens = 4;
  EXPECT_TRUE(keys.contains(request_key(same)));
}

std::shared_ptr<CachedResponse> response(std::size_t n_bytes) {
  auto out = std::make_shared<CachedResponse>();
  out->events = {TextEvent{std::string(n_bytes, 'x')}, DoneEvent{.finish = FinishReason::kEos}};
  return out;
}

TEST(ResponseCache, KeepsItsBytesAndForgetsTheLeastRecentlyUsed) {
  ResponseCache cache({.max_bytes = 40'000, .ttl_ms = 1000});
  for (const char* const key : {"a", "b", "c"}) {
    ASSERT_TRUE(cache.look_up(key, 0, {}).is_leader);
    cache.finish(key, response(10'000), 0);
  }
  EXPECT_TRUE(cache.look_up("a", 1, {}).response);  // now "b" is the oldest
  EXPECT_TRUE(cache.look_up("d", 1, {}).is_leader);
  cache.finish("d", response(10'000), 1);
  EXPECT_LE(cache.counts().bytes, 40'000U);
  EXPECT_TRUE(cache.look_up("b", 2, {}).is_leader);
  EXPECT_TRUE(cache.look_up("a", 2, {}).response);
  EXPECT_TRUE(cache.look_up("a", 1000, {}).is_leader);  // too old
  cache.finish("a", response(50'000), 1000);            // larger than the cache
  EXPECT_TRUE(cache.look_up("a", 1000, {}).is_leader);
  EXPECT_LE(cache.counts().bytes, 40'000U);
  EXPECT_EQ(cache.counts().hits, 2U);
}

// In the process's memory, and behind it in the Redis that WICK_TEST_REDIS names (.ci/long stores).
std::vector<std::string> cache_places() {
  std::vector<std::string> names = {"process"};
  if (std::getenv("WICK_TEST_REDIS") != nullptr) names.emplace_back("redis");
  return names;
}

class CachePlace : public testing::TestWithParam<std::string> {
 protected:
  // Of another machine each time; null: the process's memory is all.
  std::shared_ptr<CacheStore> store(CacheOptions options) const {
    if (!is_shared()) return nullptr;
    options.store = std::getenv("WICK_TEST_REDIS");
    const auto opened = open_redis_cache(options, place_);
    EXPECT_TRUE(opened) << to_string(opened.error());
    return *opened;
  }

  bool is_shared() const { return GetParam() != "process"; }

  // Of the answers in the store, whether they are counted there or not.
  std::int64_t stored_bytes() const {
    const auto redis = *Redis::open(std::getenv("WICK_TEST_REDIS"));
    std::int64_t sum = 0;
    const auto keys = redis->run({"KEYS", cat(place_, "*")});
    for (const RedisReply& key : keys->items) {
      if (redis->run({"TYPE", key.text})->text == "string")
        sum += redis->run({"STRLEN", key.text})->integer;
    }
    return sum;
  }

  const std::string place_ = cat("wick:test:", std::random_device()(), ":");
};

class ResponseCacheRules : public CachePlace {};

INSTANTIATE_TEST_SUITE_P(Stores, ResponseCacheRules, testing::ValuesIn(cache_places()),
                         [](const auto& one) { return one.param; });

// Two machines ask at random: each answer is the one to its key, one leader makes it at a time, and
// the answers have their bytes.
TEST_P(ResponseCacheRules, AKeyHasOneLeaderAndItsOwnAnswerWithinTheBytes) {
  const CacheOptions options{.max_bytes = 40'000, .ttl_ms = 600'000};
  const std::size_t n_machines = is_shared() ? 2 : 1;
  std::vector<std::unique_ptr<ResponseCache>> machines;
  for (std::size_t i = 0; i < n_machines; ++i)
    machines.push_back(std::make_unique<ResponseCache>(options, store(options)));

  struct Asker {
    std::size_t machine = 0;
    bool makes = false;
  };

  std::map<std::string, std::vector<Asker>> leaders;  // one may make it, others wait for a machine
  int n_hits = 0, n_made = 0, n_waits = 0;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::uint64_t chance = splitmix64(11, i);
    const std::string key = cat("key ", chance % 20);
    std::vector<Asker>& asking = leaders[key];
    const std::size_t machine = (chance >> 8U) % n_machines;
    const auto mine = std::find_if(asking.begin(), asking.end(),
                                   [&](const Asker& one) { return one.machine == machine; });
    ResponseCache& cache = *machines[machine];
    if (mine != asking.end() && mine->makes && (chance >> 16U) % 3 != 0) {
      auto made = response(100 + (chance >> 20U) % 9000);
      made->report.model = key;
      cache.finish(key, (chance >> 40U) % 4 == 0 ? nullptr : made, 0);
      asking.erase(mine);
      ++n_made;
    } else {
      const bool is_again = mine != asking.end() && !mine->makes;
      const auto found = is_again ? cache.look_up_again(key, 0) : cache.look_up(key, 0, {});
      if (is_again) asking.erase(mine);
      if (found.response) {
        ASSERT_EQ(found.response->report.model, key);
      }
      if (found.is_leader) asking.push_back({machine, found.wait_ms == 0});
      n_hits += found.response != nullptr;
      n_waits += found.wait_ms > 0;
    }
    ASSERT_LE(
        std::count_if(asking.begin(), asking.end(), [](const Asker& one) { return one.makes; }), 1);
    ASSERT_LE(cache.counts().bytes, options.max_bytes);
    if (is_shared() && i % 100 == 0) {
      ASSERT_LE(stored_bytes(), 40'000);
    }
  }
  EXPECT_GT(n_hits, 500);
  EXPECT_GT(n_made, 500);
  EXPECT_EQ(n_waits > 0, is_shared());
}

// What only a store has.
class ResponseCacheShared : public CachePlace {};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ResponseCacheShared);

std::vector<std::string> cache_servers() {
  std::vector<std::string> all = cache_places();
  all.erase(all.begin());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Servers, ResponseCacheShared, testing::ValuesIn(cache_servers()),
                         [](const auto& one) { return one.param; });

TEST_P(ResponseCacheShared, TheLeastRecentlyUsedAnswersGoFirstAndOldOnesAreNotGiven) {
  const CacheOptions options{.max_bytes = 40'000, .ttl_ms = 500};
  const auto one = store(options), other = store(options);
  for (const char* const key : {"a", "b", "c"}) {
    ASSERT_TRUE(one->look_up(key).is_leader);
    one->finish(key, response(12'000).get());
  }
  EXPECT_TRUE(other->look_up("a").response);  // now "b" is the oldest
  ASSERT_TRUE(other->look_up("d").is_leader);
  other->finish("d", response(12'000).get());
  EXPECT_TRUE(one->look_up("a").response);
  EXPECT_TRUE(one->look_up("d").response);
  EXPECT_TRUE(one->look_up("b").is_leader);
  EXPECT_FALSE(other->look_up("b").is_leader);  // one makes it
  one->finish("b", nullptr);
  EXPECT_TRUE(other->look_up("b").is_leader);
  other->finish("b", response(50'000).get());  // larger than all
  EXPECT_TRUE(one->look_up("b").is_leader);
  const auto found = one->look_up("a");
  EXPECT_GT(found.ttl_ms, 0);
  EXPECT_LE(found.ttl_ms, 500);
  std::this_thread::sleep_for(std::chrono::milliseconds(510));
  EXPECT_TRUE(one->look_up("a").is_leader);
  one->finish("a", nullptr);
  EXPECT_LT(stored_bytes(), 100);  // who makes an answer, but none
}

TEST_P(ResponseCacheShared, ARedisThatEvictsItsListsGoesOn) {
  const CacheOptions options{.max_bytes = 40'000, .ttl_ms = 60'000};
  const auto one = store(options);
  const auto redis = *Redis::open(std::getenv("WICK_TEST_REDIS"));
  for (int i = 0; i < 40; ++i) {
    const std::string key = cat("key ", i);
    ASSERT_TRUE(one->look_up(key).is_leader);
    one->finish(key, response(12'000).get());
    EXPECT_TRUE(one->look_up(key).response) << i;
    if (i % 10 == 3) {
      ASSERT_TRUE(redis->run({"DEL", cat(place_, i > 20 ? "sizes" : "used")}));
    }
  }
  // The answers of a list that was lost stay until their time is over: it was lost twice.
  EXPECT_LE(stored_bytes(), 3 * 40'000);
}

TEST(ResponseCacheStore, WithoutItsServerEachProcessMakesItsOwnAnswers) {
  const CacheOptions options{.max_bytes = 40'000, .store = "redis+unix:///nowhere/redis.sock"};
  ResponseCache cache(options, *open_cache_store(options));
  ASSERT_TRUE(cache.look_up("a", 0, {}).is_leader);
  EXPECT_FALSE(cache.look_up("a", 0, {}).is_leader);
  cache.finish("a", response(10), 0);
  EXPECT_TRUE(cache.look_up("a", 0, {}).response);
  EXPECT_FALSE(open_cache_store({.store = "http://host"}));
}

class CachedRoute : public CachePlace {
 protected:
  CachedRoute() {
    sim->name_ = "alpha";
    options.members = {
        {.name = "alpha", .provider = sim, .models = {{.name = "m", .price = Price{}}}}};
    options.clock = clock;
    options.cache = {.max_bytes = 1 << 20};
  }

  // One of several machines, if they share a store.
  std::shared_ptr<Router> router() {
    if (first_ != nullptr && !is_shared()) return first_;
    RouterOptions its = options;
    its.cache_store = store(options.cache);
    return first_ = make_router(its);
  }

  static Request request(double temperature = 0) {
    Request out{.model = "alpha/m", .prompt = std::vector<Message>{{.content = "x"}}};
    out.generation.temperature = temperature;
    return out;
  }

  Gather end_of(Answer& answer) {
    Gather whole;
    while (!answer.is_over()) {
      while (const auto event = answer.poll())
        whole.add(*event);
      if (!answer.is_over()) clock->advance();
    }
    return whole;
  }

  Gather ask(Router& router, const Request& request) {
    auto answer = router.start(request);
    EXPECT_TRUE(answer);
    return end_of(**answer);
  }

  static bool is_hit(const Gather& whole) {
    for (const EffectiveParameter& one : whole.completion.parameters) {
      if (one.key == "cache") return true;
    }
    return false;
  }

  std::shared_ptr<test::VirtualClock> clock = std::make_shared<test::VirtualClock>();
  std::shared_ptr<test::SimProvider> sim = std::make_shared<test::SimProvider>(clock);
  RouterOptions options;

 private:
  std::shared_ptr<Router> first_ = {};
};

INSTANTIATE_TEST_SUITE_P(Stores, CachedRoute, testing::ValuesIn(cache_places()),
                         [](const auto& one) { return one.param; });

TEST_P(CachedRoute, ARepeatedRequestIsAnsweredFromTheCache) {
  options.cache.ttl_ms = is_shared() ? 300 : 3'600'000;
  const Gather first = ask(*router(), request()), second = ask(*router(), request());
  EXPECT_EQ(sim->n_started, 1);
  EXPECT_FALSE(is_hit(first));
  EXPECT_TRUE(is_hit(second));
  EXPECT_EQ(second.completion.text, "alpha");
  EXPECT_EQ(second.completion.usage.prompt_tokens, first.completion.usage.prompt_tokens);
  Request other = request();
  other.key = "another client";
  EXPECT_FALSE(is_hit(ask(*router(), other)));
  clock->pass(options.cache.ttl_ms);
  if (is_shared()) std::this_thread::sleep_for(std::chrono::milliseconds(310));
  EXPECT_FALSE(is_hit(ask(*router(), request())));
  EXPECT_EQ(sim->n_started, 3);
}

TEST_P(CachedRoute, WhatIsSampledIsNotKeptUnlessToldTo) {
  ask(*router(), request(0.8));
  EXPECT_FALSE(is_hit(ask(*router(), request(0.8))));
  options.cache.has_sampled = true;
  const auto all = make_router(options);
  ask(*all, request(0.8));
  EXPECT_TRUE(is_hit(ask(*all, request(0.8))));
}

TEST_P(CachedRoute, AnswersOfLocalModelsAreNotKept) {
  options.members[0].is_local = true;
  ask(*router(), request());
  EXPECT_FALSE(is_hit(ask(*router(), request())));
}

TEST_P(CachedRoute, FailuresAreNotKept) {
  sim->failures = {Failure::kRequest};
  EXPECT_TRUE(ask(*router(), request()).error);
  const Gather second = ask(*router(), request());
  EXPECT_FALSE(is_hit(second));
  EXPECT_EQ(second.completion.text, "alpha");
}

TEST_P(CachedRoute, OneOfManyEqualRequestsIsSent) {
  std::vector<std::unique_ptr<Answer>> answers;
  for (int i = 0; i < 5; ++i)
    answers.push_back(*router()->start(request()));
  EXPECT_EQ(sim->n_started, 1);
  EXPECT_FALSE(answers[3]->poll());  // the first one is not read yet
  EXPECT_EQ(end_of(*answers[0]).completion.text, "alpha");
  for (int i = 1; i < 5; ++i)
    EXPECT_TRUE(is_hit(end_of(*answers[static_cast<std::size_t>(i)])));
  EXPECT_EQ(sim->n_started, 1);
}

TEST_P(CachedRoute, IfTheFirstOneLeavesTheNextOneIsSent) {
  auto first = *router()->start(request());
  const auto wake = std::make_shared<Wake>();
  auto second = *router()->start(request(), wake);
  const std::uint32_t seen = wake->signal();
  EXPECT_FALSE(second->poll());
  first.reset();
  EXPECT_NE(wake->signal() != seen, is_shared());  // a machine asks again after a while
  EXPECT_EQ(end_of(*second).completion.text, "alpha");
  auto third = *router()->start(request(0));
  EXPECT_TRUE(is_hit(end_of(*third)));
  auto waiting = *router()->start(request(0));
  waiting->cancel();  // of a replay: it ends as whole or cancelled, not twice
  EXPECT_FALSE(end_of(*waiting).error);
}

}  // namespace

}  // namespace wick::route
