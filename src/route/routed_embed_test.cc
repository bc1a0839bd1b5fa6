#include "route/routed_embed.h"

#include <gtest/gtest.h>

#include <stop_token>

#include "route/sim_test.h"

namespace wick::route {

namespace {

class EmbedSim final : public test::SimProvider {
 public:
  using test::SimProvider::SimProvider;

  Result<std::vector<Embedding>> embed(const EmbedTexts& request) override {
    ++n_asked;
    asked = request;
    if (failure != Failure::kNone) {
      request.report->failure = failure;
      request.report->status = status;
      request.report->retry_after_ms = retry_after_ms;
      if (n_failures > 0 && --n_failures == 0) failure = Failure::kNone;
      return Error{.code = ErrorCode::kUnavailable, .id = "sim"};
    }
    if (error) return *error;
    return std::vector<Embedding>(request.texts.size(), {.values = {value}, .tokens = 3});
  }

  std::optional<Error> error = {};     // before anything is sent
  Failure failure = Failure::kNone;    // of the API
  int status = 500, n_failures = 0;    // 0: each time
  std::int64_t retry_after_ms = -1;
  float value = 0;
  int n_asked = 0;
  EmbedTexts asked = {};
};

// Timers are due at once.
class HurriedClock final : public test::VirtualClock {
 public:
  void at(std::int64_t ms, const std::shared_ptr<Wake>& wake) override {
    pauses.push_back(ms - now_ms());
    pass(std::max<std::int64_t>(ms - now_ms(), 0));
    wake->set();
  }

  std::vector<std::int64_t> pauses = {};
};

class RoutedEmbed : public testing::Test {
 protected:
  RoutedEmbed() {
    for (const char* const name : {"one", "two", "other"}) {
      const auto sim = std::make_shared<EmbedSim>(clock);
      sim->name_ = name;
      sim->value = static_cast<float>(sims.size());
      sims.push_back(sim);
      const std::string model = sims.size() == 3 ? "another" : "e";
      options.members.push_back(
          {.name = name,
           .provider = sim,
           .models = {{.name = model, .price = Price{.input = 1000, .output = 0}}}});
    }
    options.clock = clock;
    options.ledger =
        *Ledger::open({.path = ":memory:", .is_durable = false, .writes_at_once = true});
    options.rules = {{.name = "equal", .to = {"one/e", "two/e", "other/another"}, .alias = "e"}};
  }

  // Who embedded, or the id of the error.
  std::string ask() {
    if (router == nullptr) router = make_router(options);
    const std::string text = "a text";
    AnswerReport report;
    const auto embedded = router->embed({.model = "e",
                                         .texts = {&text, 1},
                                         .options = {.cancel = stop.get_token()},
                                         .key = "k",
                                         .tag = "t",
                                         .hops = 2,
                                         .report = &report});
    if (!embedded) return embedded.error().id;
    EXPECT_EQ(options.members[static_cast<std::size_t>(embedded->front().values.front())].name,
              report.provider);
    return report.provider;
  }

  std::shared_ptr<HurriedClock> clock = std::make_shared<HurriedClock>();
  std::stop_source stop;
  std::vector<std::shared_ptr<EmbedSim>> sims;
  RouterOptions options;
  std::shared_ptr<Router> router;
};

const Error kDown{.code = ErrorCode::kUnavailable, .id = "provider_unavailable"};

TEST_F(RoutedEmbed, AnEqualDeploymentTakesTheFailedOnesPlace) {
  EXPECT_EQ(ask(), "one");
  sims[0]->error = kDown;
  EXPECT_EQ(ask(), "two");
  const auto rows = options.ledger->usage(0, false);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ(rows->at(0).failed, 1);
  EXPECT_EQ(rows->at(0).cost, rows->at(1).cost) << "what is refused costs nothing";
  EXPECT_EQ(rows->at(1).requests, 1);
  EXPECT_EQ(rows->at(1).prompt_tokens, 3);
}

TEST_F(RoutedEmbed, AnAnswerThatDidNotComeMayHaveItsCost) {
  for (const int status : {0, 200, 429}) {
    const bool may_cost = status < 300;
    sims[0]->failure = Failure::kBadAnswer;
    sims[0]->status = status;
    const auto cost = [this] {
      const auto rows = options.ledger->usage(0, false);
      return rows->empty() ? 0 : rows->at(0).cost;
    };
    const Nanos before = cost();
    EXPECT_EQ(ask(), "two");
    EXPECT_EQ(cost() > before, may_cost) << status;
  }
}

TEST_F(RoutedEmbed, NoOtherModelDoes) {
  sims[0]->error = sims[1]->error = kDown;
  EXPECT_EQ(ask(), "provider_unavailable");
  EXPECT_EQ(sims[2]->n_asked, 0);
}

TEST_F(RoutedEmbed, AWrongRequestIsAskedOnce) {
  sims[0]->error = Error{.code = ErrorCode::kInvalid, .id = "provider_refused"};
  EXPECT_EQ(ask(), "provider_refused");
  EXPECT_EQ(sims[1]->n_asked, 0);
}

TEST_F(RoutedEmbed, TheSameTargetIsAskedAgainAsForAChat) {
  sims[0]->failure = Failure::kOverload;
  sims[0]->n_failures = 2;
  EXPECT_EQ(ask(), "one");
  EXPECT_EQ(sims[0]->n_asked, 3);
  EXPECT_EQ(clock->pauses.size(), 2U);
}

TEST_F(RoutedEmbed, AfterTwoRetriesOrWithoutAnyTheNextTargetIsAsked) {
  for (const auto& [failure, n] : {std::pair(Failure::kNetwork, 3), {Failure::kCredential, 1}}) {
    router = nullptr;
    sims[0]->n_asked = 0;
    sims[0]->failure = failure;
    EXPECT_EQ(ask(), "two");
    EXPECT_EQ(sims[0]->n_asked, n);
  }
}

TEST_F(RoutedEmbed, RetryAfterIsWaitedForAndOpensTheBreaker) {
  sims[1]->failure = Failure::kCredential;
  sims[0]->failure = Failure::kRateLimit;
  sims[0]->n_failures = 1;
  sims[0]->retry_after_ms = 700;
  EXPECT_EQ(ask(), "one");
  EXPECT_EQ(clock->pauses, std::vector<std::int64_t>{700});
}

TEST_F(RoutedEmbed, RetriesHaveABudget) {
  sims[0]->failure = Failure::kOverload;
  sims[1]->failure = Failure::kOverload;
  for (int i = 0; i < 4; ++i)
    ask();
  EXPECT_LE(sims[0]->n_asked, 4 + 3) << "a fifth of the requests and 3";
}

TEST_F(RoutedEmbed, ACancelledRequestIsNotSentAgain) {
  sims[0]->failure = Failure::kOverload;
  stop.request_stop();
  EXPECT_EQ(ask(), "cancelled");
  EXPECT_EQ(sims[0]->n_asked, 1);
  EXPECT_EQ(sims[1]->n_asked, 0);
}

// It may have been sent.
TEST_F(RoutedEmbed, ACancelledRequestCostsWhatWasReserved) {
  sims[0]->error = Error{.code = ErrorCode::kCancelled, .id = "cancelled"};
  EXPECT_EQ(ask(), "cancelled");
  EXPECT_EQ(sims[1]->n_asked, 0);
  const auto usage = options.ledger->usage(0, false, {.key = "k"});
  ASSERT_EQ(usage->size(), 1U);
  EXPECT_GT(usage->at(0).cost, 0);
  EXPECT_EQ(usage->at(0).estimated, 1);
}

// BERT's models put two tokens around each, and an API may charge them.
TEST_F(RoutedEmbed, EachTextHasTokensOfItsOwn) {
  const std::vector<std::string> texts(2000, "a");
  sims[0]->error = Error{.code = ErrorCode::kCancelled, .id = "cancelled"};
  EXPECT_FALSE(make_router(options)->embed({.model = "e", .texts = texts, .key = "k"}));
  const auto usage = options.ledger->usage(0, false, {.key = "k"});
  ASSERT_EQ(usage->size(), 1U);
  EXPECT_GE(usage->at(0).cost, cost_of({.input = 1000}, 3 * std::ssize(texts), 0));
}

TEST_F(RoutedEmbed, WhatFailsOftenRests) {
  sims[0]->failure = Failure::kBadAnswer;
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(ask(), "two");
  EXPECT_EQ(sims[0]->n_asked, 5);
}

TEST_F(RoutedEmbed, TheClientsKeyTagAndHopsCountAsInAChat) {
  EXPECT_EQ(ask(), "one");
  EXPECT_EQ(sims[0]->asked.hops, 2);
  EXPECT_EQ(options.ledger->usage(0, false, {.key = "k", .tag = "t"})->size(), 1U);
  for (const auto& [scope, subject] :
       {std::pair(BudgetScope::kKey, "k"), std::pair(BudgetScope::kTag, "t")}) {
    options.budgets = {{.name = subject,
                        .scope = scope,
                        .subject = subject,
                        .window = BudgetWindow::kRequest,
                        .cap = 0}};
    router = nullptr;
    EXPECT_EQ(ask(), "budget_exceeded") << subject;
  }
  options.budgets.clear();
  options.rules.push_back({.name = "private", .when = {.tags = {"t"}}, .is_private = true});
  router = nullptr;
  EXPECT_EQ(ask(), "private_request");
  EXPECT_EQ(sims[0]->n_asked, 1);
}

TEST_F(RoutedEmbed, ABudgetOfOneProviderLeavesTheOther) {
  options.budgets = {{.name = "of one",
                      .scope = BudgetScope::kProvider,
                      .subject = "one",
                      .window = BudgetWindow::kRequest,
                      .cap = 0}};
  EXPECT_EQ(ask(), "two");
  options.members[0].limits.requests_per_minute = 1;
  options.budgets.clear();
  router = nullptr;
  EXPECT_EQ(ask(), "one");
  EXPECT_EQ(ask(), "two");
}

}  // namespace

}  // namespace wick::route
