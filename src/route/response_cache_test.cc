#include "route/response_cache.h"

#include <gtest/gtest.h>

#include <set>

#include "provider/gather.h"
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

class CachedRoute : public testing::Test {
 protected:
  CachedRoute() {
    sim->name_ = "alpha";
    options.members = {
        {.name = "alpha", .provider = sim, .models = {{.name = "m", .price = Price{}}}}};
    options.clock = clock;
    options.cache = {.max_bytes = 1 << 20};
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
};

TEST_F(CachedRoute, ARepeatedRequestIsAnsweredFromTheCache) {
  const auto router = make_router(options);
  const Gather first = ask(*router, request()), second = ask(*router, request());
  EXPECT_EQ(sim->n_started, 1);
  EXPECT_FALSE(is_hit(first));
  EXPECT_TRUE(is_hit(second));
  EXPECT_EQ(second.completion.text, "alpha");
  EXPECT_EQ(second.completion.usage.prompt_tokens, first.completion.usage.prompt_tokens);
  Request other = request();
  other.key = "another client";
  EXPECT_FALSE(is_hit(ask(*router, other)));
  clock->pass(options.cache.ttl_ms);
  EXPECT_FALSE(is_hit(ask(*router, request())));
  EXPECT_EQ(sim->n_started, 3);
}

TEST_F(CachedRoute, WhatIsSampledIsNotKeptUnlessToldTo) {
  const auto router = make_router(options);
  ask(*router, request(0.8));
  EXPECT_FALSE(is_hit(ask(*router, request(0.8))));
  options.cache.has_sampled = true;
  const auto all = make_router(options);
  ask(*all, request(0.8));
  EXPECT_TRUE(is_hit(ask(*all, request(0.8))));
}

TEST_F(CachedRoute, AnswersOfLocalModelsAreNotKept) {
  options.members[0].is_local = true;
  const auto router = make_router(options);
  ask(*router, request());
  EXPECT_FALSE(is_hit(ask(*router, request())));
}

TEST_F(CachedRoute, FailuresAreNotKept) {
  const auto router = make_router(options);
  sim->failures = {Failure::kRequest};
  EXPECT_TRUE(ask(*router, request()).error);
  const Gather second = ask(*router, request());
  EXPECT_FALSE(is_hit(second));
  EXPECT_EQ(second.completion.text, "alpha");
}

TEST_F(CachedRoute, OneOfManyEqualRequestsIsSent) {
  const auto router = make_router(options);
  std::vector<std::unique_ptr<Answer>> answers;
  for (int i = 0; i < 5; ++i)
    answers.push_back(*router->start(request()));
  EXPECT_EQ(sim->n_started, 1);
  EXPECT_FALSE(answers[3]->poll());  // the first one is not read yet
  EXPECT_EQ(end_of(*answers[0]).completion.text, "alpha");
  for (int i = 1; i < 5; ++i)
    EXPECT_TRUE(is_hit(end_of(*answers[static_cast<std::size_t>(i)])));
  EXPECT_EQ(sim->n_started, 1);
}

TEST_F(CachedRoute, IfTheFirstOneLeavesTheNextOneIsSent) {
  const auto router = make_router(options);
  auto first = *router->start(request());
  const auto wake = std::make_shared<Wake>();
  auto second = *router->start(request(), wake);
  const std::uint32_t seen = wake->signal();
  EXPECT_FALSE(second->poll());
  first.reset();
  EXPECT_NE(wake->signal(), seen);
  EXPECT_EQ(end_of(*second).completion.text, "alpha");
  auto third = *router->start(request(0));
  EXPECT_TRUE(is_hit(end_of(*third)));
  auto waiting = *router->start(request(0));
  waiting->cancel();  // of a replay: it ends as whole or cancelled, not twice
  EXPECT_FALSE(end_of(*waiting).error);
}

}  // namespace

}  // namespace wick::route
