#include <gtest/gtest.h>

#include "provider/gather.h"
#include "provider/rule_refusal.h"
#include "route/bill.h"
#include "route/router.h"
#include "route/sim_test.h"

namespace wick::route {

namespace {

using test::kNoon;

TEST(Money, IsExactAndRoundedUp) {
  EXPECT_EQ(*parse_amount("5 USD"), 5 * kNanosPerDollar);
  EXPECT_EQ(*parse_amount("0.000000001 USD"), 1);
  EXPECT_EQ(*parse_price("0.15 USD/M"), 150'000);
  EXPECT_EQ(*parse_price("0.000001 USD/M"), 1);
  for (const char* const bad : {"", "5", "USD", " USD", "5USD", "-1 USD", "1e3 USD", "1.2.3 USD",
                                "0.0000000001 USD", "99999999999999999999 USD", ". USD"})
    EXPECT_FALSE(parse_amount(bad)) << bad;
  EXPECT_FALSE(parse_price("0.0000001 USD/M"));
  const Price price{.input = 150'000, .output = 600'000, .cached = 75'000};
  EXPECT_EQ(cost_of(price, 1, 0), 150);
  EXPECT_EQ(cost_of({.input = 1}, 1, 0), 1);  // a pico-dollar is a nano-dollar
  EXPECT_EQ(cost_of({.input = 1}, 1000, 0), 1);
  EXPECT_EQ(cost_of({.input = 1}, 1001, 0), 2);
  EXPECT_EQ(cost_of(price, {.prompt_tokens = 10, .cached_tokens = 4, .generated_tokens = 2}),
            (6 * 150'000 + 4 * 75'000 + 2 * 600'000) / 1000);
  EXPECT_EQ(cost_of({.input = kMaxNanos}, 1 << 30, 0), kMaxNanos);
  EXPECT_EQ(cost_of(price, -5, -5), 0);
  EXPECT_EQ(cost_of({.input = 1000, .cached = 4000}, 5, 0), 20);  // all may be cached
  EXPECT_EQ(to_text(price), "input 0.15 cached 0.075 output 0.6 USD/M");
  EXPECT_EQ(to_text(Price{.input = 1, .output = 15'000'000}), "input 0.000001 output 15 USD/M");
  EXPECT_EQ(to_dollars(1'230'000), "0.001230");
  EXPECT_EQ(to_dollars(1), "0.000000001");
  EXPECT_EQ(to_dollars(-5 * kNanosPerDollar), "-5.000000");
}

TEST(Budget, WindowsBeginWhereTheyShould) {
  const Buckets day = buckets_of({.window = BudgetWindow::kDay}, kNoon);
  EXPECT_EQ(day.current, kNoon - 43'200);
  const Buckets month = buckets_of({.window = BudgetWindow::kMonth}, kNoon);
  EXPECT_EQ(month.first, kNoon - 43'200 - 17 * 86'400);
  const Buckets rolling =
      buckets_of({.window = BudgetWindow::kRolling, .rolling_s = 86'400}, kNoon + 10);
  EXPECT_EQ(rolling.current, kNoon);
  EXPECT_EQ(rolling.first, kNoon - 86'400);
}

// 2026-12-01 00:00:00 UTC is the first second of a day and of a month, the one before it the last.
TEST(Budget, WindowsChangeAtMidnight) {
  constexpr std::int64_t kMidnight = 1'796'083'200;
  for (const BudgetWindow window : {BudgetWindow::kDay, BudgetWindow::kMonth}) {
    const std::int64_t length = (window == BudgetWindow::kDay ? 1 : 30) * 86'400;
    EXPECT_EQ(buckets_of({.window = window}, kMidnight).current, kMidnight);
    EXPECT_EQ(buckets_of({.window = window}, kMidnight - 1).current, kMidnight - length);
  }
  const Budget hours{.window = BudgetWindow::kRolling, .rolling_s = 24 * 3600};
  EXPECT_EQ(buckets_of(hours, kMidnight).current, kMidnight);
  EXPECT_EQ(buckets_of(hours, kMidnight - 1).current, kMidnight - 3600);
}

TEST(Budget, OfAKeyIsReadFromAWord) {
  const auto month = parse_key_budget("5/month", "abc");
  ASSERT_TRUE(month);
  EXPECT_EQ(month->name, "key abc monthly");
  EXPECT_EQ(month->subject, "abc");
  EXPECT_EQ(month->cap, 5 * kNanosPerDollar);
  EXPECT_EQ(parse_key_budget("5/1mo", "abc")->name, month->name);
  EXPECT_EQ(parse_key_budget("0.5", "abc")->window, BudgetWindow::kTotal);
  EXPECT_EQ(parse_key_budget("1/30d", "abc")->rolling_s, 30 * 86'400);
  EXPECT_EQ(parse_key_budget("1/12h", "abc")->rolling_s, 12 * 3600);
  for (const char* const bad : {"", "/", "5/", "x", "-5", "5 USD", "5/year", "5/0d", "5/d",
                                "5/367d", "5/9999h", "5/1w", "/day", "5/day/day"})
    EXPECT_FALSE(parse_key_budget(bad, "abc")) << bad;
}

TEST(Budget, InAllNeverBeginsAnew) {
  const auto ledger =
      *Ledger::open({.path = ":memory:", .is_durable = false, .writes_at_once = true});
  const std::vector<Budget> budgets = {*parse_key_budget("0.0000001", "k")};
  const Charge charge{.provider = "p", .key = "k"};
  ASSERT_TRUE(ledger->reserve(charge, budgets, 60, kNoon));
  EXPECT_FALSE(ledger->reserve(charge, budgets, 60, kNoon + 400 * std::int64_t{86'400}));
  EXPECT_TRUE(ledger->reserve({.provider = "p", .key = "other"}, budgets, 60, kNoon));
}

TEST(Retry, TheMatrix) {
  const RetryOptions options;
  for (const Failure again :
       {Failure::kNetwork, Failure::kTimeout, Failure::kRateLimit, Failure::kOverload}) {
    EXPECT_EQ(after_failure(again, 0, options), Next::kSame);
    EXPECT_EQ(after_failure(again, 2, options), Next::kNextTarget);
  }
  EXPECT_EQ(after_failure(Failure::kConflict, 0, options), Next::kSame);
  EXPECT_EQ(after_failure(Failure::kConflict, 1, options), Next::kNextTarget);
  for (const Failure elsewhere : {Failure::kCredential, Failure::kQuota, Failure::kContextLength,
                                  Failure::kNoModel, Failure::kBadAnswer})
    EXPECT_EQ(after_failure(elsewhere, 0, options), Next::kNextTarget);
  for (const Failure last : {Failure::kRequest, Failure::kContentPolicy})
    EXPECT_EQ(after_failure(last, 0, options), Next::kStop);
  for (std::uint64_t random = 0; random < 5000; random += 7) {
    EXPECT_LE(pause_ms(0, -1, random, options), 250);
    EXPECT_LE(pause_ms(30, -1, random, options), 5000);
    EXPECT_GE(pause_ms(0, 9000, random, options), 9000);
  }
}

TEST(Health, OpensProbesAndCloses) {
  Health health;
  for (int i = 0; i < 4; ++i)
    health.failed(Failure::kOverload, -1, 0);
  EXPECT_TRUE(health.admit(0));
  health.failed(Failure::kOverload, -1, 0);
  EXPECT_FALSE(health.admit(29'999));
  EXPECT_TRUE(health.admit(30'000));   // the probe
  EXPECT_FALSE(health.admit(30'001));  // one at a time
  health.succeeded(30'002);
  EXPECT_TRUE(health.admit(30'003));
  health.failed(Failure::kRateLimit, 2000, 31'000);
  EXPECT_FALSE(health.admit(32'999));
  EXPECT_TRUE(health.admit(33'000));
  EXPECT_EQ(health.opened_by(), Failure::kRateLimit);
  health.left(33'001);  // its client went: the next one is the probe
  EXPECT_TRUE(health.admit(33'002));
  Health sometimes;  // below half of the outcomes
  for (int i = 0; i < 100; ++i) {
    sometimes.succeeded(0);
    sometimes.succeeded(0);
    sometimes.failed(Failure::kNetwork, -1, 0);
  }
  EXPECT_TRUE(sometimes.admit(0));
}

TEST(Rules, PatternsMatchInLinearTime) {
  EXPECT_TRUE(matches("gpt-*", "gpt-4o"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*b*c", "axxbyyc"));
  EXPECT_FALSE(matches("a*b*c", "axxbyy"));
  EXPECT_FALSE(matches("gpt", "gpt-4o"));
  EXPECT_FALSE(matches("*a*a*a*a*a*a*b", std::string(100'000, 'a')));
}

class Routed : public ::testing::Test {
 protected:
  Routed() {
    options.clock = clock;
    options.ledger =
        *Ledger::open({.path = ":memory:", .is_durable = false, .writes_at_once = true});
    local->name_ = "local";
    cloud->name_ = "cloud";
    options.members = {{.name = "local", .provider = local, .is_local = true},
                       {.name = "cloud",
                        .provider = cloud,
                        .models = {{.name = "big",
                                    .context = 8000,
                                    .max_tokens = 100,
                                    .price = Price{.input = 1'000'000, .output = 1'000'000}},
                                   {.name = "dark"}}}};
  }

  Gather ask(const std::string& model, const std::string& text = "hello") {
    const auto router = make_router(options);
    auto answer =
        router->start({.model = model, .prompt = std::vector<Message>{{.content = text}}});
    Gather out;
    if (!answer) {
      out.error = answer.error();
      return out;
    }
    return read_all(**answer);
  }

  Gather read_all(Answer& answer) {
    Gather out;
    while (!answer.is_over()) {
      while (const auto event = answer.poll())
        out.add(*event);
      clock->advance();
    }
    return out;
  }

  std::shared_ptr<test::VirtualClock> clock = std::make_shared<test::VirtualClock>();
  std::shared_ptr<test::SimProvider> local = std::make_shared<test::SimProvider>(clock);
  std::shared_ptr<test::SimProvider> cloud = std::make_shared<test::SimProvider>(clock);
  RouterOptions options;
};

TEST_F(Routed, LocalIsFirstAndRulesSendLongPromptsAway) {
  options.rules = {{.name = "long", .when = {.tokens_over = 100}, .to = {"cloud/big"}},
                   {.name = "rest", .to = {"local", "cloud/big"}}};
  EXPECT_EQ(ask("auto").completion.text, "local");
  EXPECT_EQ(ask("").completion.text, "local");
  EXPECT_EQ(ask("auto", std::string(1000, 'x')).completion.text, "cloud");
  EXPECT_EQ(ask("remote/big").completion.text, "cloud");
  EXPECT_EQ(ask("cloud/big").completion.text, "cloud");
  EXPECT_EQ(ask("big").completion.text, "cloud");
  EXPECT_EQ(ask("any").completion.text, "local");
  EXPECT_EQ(ask("remote/none").error->id, "model_not_found");
}

TEST_F(Routed, LocalNamesStayHereAndRemoteNamesAreNeverAnsweredHere) {
  options.rules = {{.name = "a", .to = {"cloud/big"}, .alias = "big"},
                   {.name = "b", .to = {"local"}, .alias = "far"},
                   {.name = "rest", .to = {"cloud/big", "local"}}};
  for (const char* const name : {"local/big", "local/auto", "local/cloud", "local"})
    EXPECT_EQ(ask(name).completion.text, "local") << name;
  local->failures = {Failure::kOverload, Failure::kOverload, Failure::kOverload};
  EXPECT_EQ(ask("local/big").error->id, "sim");
  EXPECT_EQ(cloud->n_started, 0);
  const int n_local = local->n_started;
  for (const char* const name : {"remote", "remote/", "remote/far", "remote/local", "remote/auto"})
    EXPECT_EQ(ask(name).error->id, "model_not_found") << name;
  cloud->failures = {Failure::kCredential};
  EXPECT_EQ(ask("remote/big").error->id, "sim");
  EXPECT_EQ(local->n_started, n_local);
  const auto router = make_router(options);
  EXPECT_EQ(router->tokenize("remote/big", "x").error().id, "not_supported");
  for (const auto& [alias, provider] : {std::pair("big", "cloud"), std::pair("far", "local")})
    EXPECT_EQ(router->detokenize(alias, {}).error().message,
              cat("the provider '", provider, "' has no detokenize"));
}

TEST_F(Routed, FailuresAreRetriedThenGoToTheNextAndNeverAfterContent) {
  options.rules = {{.name = "both", .to = {"cloud/big", "local"}}};
  cloud->failures = {Failure::kOverload};
  EXPECT_EQ(ask("auto").completion.text, "cloud");
  EXPECT_EQ(cloud->n_started, 2);
  cloud->failures = {Failure::kOverload, Failure::kOverload, Failure::kOverload};
  EXPECT_EQ(ask("auto").completion.text, "local");
  cloud->failures = {Failure::kCredential};
  EXPECT_EQ(ask("auto").completion.text, "local");
  cloud->failures = {Failure::kRequest};
  const int n_local = local->n_started;
  EXPECT_EQ(ask("auto").error->id, "sim");
  cloud->failures = {Failure::kNetwork};
  cloud->fails_after_content = true;
  const Gather cut = ask("auto");
  EXPECT_EQ(cut.completion.text, "clo");
  EXPECT_TRUE(cut.error);
  EXPECT_EQ(local->n_started, n_local);
}

// The simulated Retry-After is a second.
TEST_F(Routed, ATargetThatSentRetryAfterIsWaitedForBehindAllOthersAlone) {
  options.rules = {{.name = "both", .to = {"cloud/big", "local"}}};
  cloud->failures = {Failure::kRateLimit};
  EXPECT_EQ(ask("auto").completion.text, "local");
  EXPECT_LT(clock->now_ms(), 100) << "nobody waited";
  EXPECT_EQ(cloud->n_started, 1);
  for (const Failure other : {Failure::kCredential, Failure::kRateLimit}) {
    cloud->failures = {Failure::kRateLimit};
    local->failures = {other};
    const std::int64_t begin = clock->now_ms();
    EXPECT_EQ(ask("auto").completion.text, "cloud");
    EXPECT_GE(clock->now_ms() - begin, 1000);
    EXPECT_LT(clock->now_ms() - begin, 1100);
  }
  EXPECT_EQ(local->n_started, 3);
  // Twice each, in turns.
  cloud->n_started = local->n_started = 0;
  cloud->failures = local->failures = std::deque<Failure>(3, Failure::kRateLimit);
  EXPECT_EQ(ask("auto").error->message,
            "no provider answered: cloud: as simulated; local: as simulated");
  EXPECT_EQ(cloud->n_started, 3);
  EXPECT_EQ(local->n_started, 3);
  options.total_ms = 900;  // no time for it
  cloud->failures = {Failure::kRateLimit};
  local->failures = {Failure::kCredential};
  EXPECT_TRUE(ask("auto").error);
  EXPECT_EQ(cloud->n_started, 4);
}

TEST_F(Routed, IgnoredIsWhatTheTargetThatAnsweredIgnores) {
  options.rules = {{.name = "both", .to = {"cloud/big", "local"}}};
  cloud->ignored = {"top_k"};
  const auto router = make_router(options);
  const auto ignored = [&] {
    const auto answer =
        router->start({.model = "auto", .prompt = std::vector<Message>{{.content = "x"}}});
    read_all(**answer);
    return (*answer)->report().ignored;
  };
  EXPECT_EQ(ignored(), std::vector<std::string>{"top_k"});
  cloud->failures = {Failure::kCredential};
  EXPECT_EQ(ignored(), std::vector<std::string>());
}

TEST_F(Routed, WhatBreaksOffGoesOnHereWhereTheRuleSaysSo) {
  options.rules = {{.name = "far", .to = {"cloud/big"}, .continues = true}};
  options.budgets = {{.name = "monthly", .cap = kNanosPerDollar}};
  cloud->failures = {Failure::kNetwork};
  cloud->fails_after_content = true;
  const Gather whole = ask("auto");
  EXPECT_FALSE(whole.error);
  EXPECT_EQ(whole.completion.text, "clolocal");
  EXPECT_EQ(std::get<std::vector<TokenId>>(local->last.prompt),
            (std::vector<TokenId>{1, 2, 'c', 'l', 'o'}));
  const auto& parameters = whole.completion.parameters;
  const auto from =
      std::find_if(parameters.begin(), parameters.end(),
                   [](const EffectiveParameter& one) { return one.key == "continued_from"; });
  ASSERT_NE(from, parameters.end());
  EXPECT_EQ(std::get<std::string>(from->value), "cloud/big");
  EXPECT_GT(options.ledger->state(options.budgets[0], clock->unix_s())->used, 0) << "what was said";
  EXPECT_EQ(options.ledger->state(options.budgets[0], clock->unix_s())->reserved, 0);
  // Once; and not where the end must have a form.
  cloud->failures = local->failures = {Failure::kNetwork};
  local->fails_after_content = true;
  EXPECT_EQ(ask("auto").completion.text, "cloloc");
  cloud->failures = {Failure::kNetwork};
  const int n_local = local->n_started;
  const auto router = make_router(options);
  auto answer = router->start({.model = "auto",
                               .prompt = std::vector<Message>{{.content = "x"}},
                               .generation = {.response_format = {.type = "json_object"}}});
  ASSERT_TRUE(answer);
  EXPECT_TRUE(read_all(**answer).error);
  EXPECT_EQ(local->n_started, n_local);
}

TEST_F(Routed, AliasesMeanTheirProviders) {
  options.rules = {{.name = "alias fast", .to = {"cloud/big", "local"}, .alias = "fast"},
                   {.name = "rest", .to = {"local"}}};
  EXPECT_EQ(ask("fast").completion.text, "cloud");
  EXPECT_EQ(ask("auto").completion.text, "local") << "an alias is no rule of auto";
  options.rules.push_back(
      {.name = "secrets", .when = {.contains = {"password"}}, .is_private = true});
  EXPECT_EQ(ask("fast", "my password").completion.text, "local");
}

TEST_F(Routed, MoneyRefusesAndLocalAnswersInstead) {
  options.budgets = {{.name = "monthly", .cap = 10}};
  options.rules = {{.name = "cloud only", .when = {.tags = {}}, .to = {"cloud/big"}}};
  const Gather refused = ask("auto");
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->id, "budget_exceeded");
  EXPECT_TRUE(is_rule_refusal(*refused.error));
  EXPECT_EQ(ask("cloud/dark").error->id, "price_unknown");
  EXPECT_EQ(cloud->n_started, 0);
  options.rules = {{.name = "both", .to = {"cloud/big", "local"}}};
  EXPECT_EQ(ask("auto").completion.text, "local");
  options.ledger = nullptr;
  EXPECT_EQ(ask("cloud/big").error->id, "ledger_unavailable");
}

TEST_F(Routed, WhatIsSpentIsSettled) {
  options.budgets = {{.name = "monthly", .cap = kNanosPerDollar}};
  const auto ledger = options.ledger;
  EXPECT_EQ(ask("cloud/big").completion.text, "cloud");
  const auto state = ledger->state(options.budgets[0], clock->unix_s());
  EXPECT_EQ(state->reserved, 0);
  EXPECT_EQ(state->used, 1000 * (7 + 5));  // the usage that it told
  cloud->tells_usage = false;
  EXPECT_EQ(ask("cloud/big").completion.text, "cloud");
  const auto estimated = ledger->state(options.budgets[0], clock->unix_s());
  EXPECT_GT(estimated->used, state->used + 1000 * 5);
  cloud->failures = {Failure::kRequest};
  ask("cloud/big");  // a refusal costs nothing
  EXPECT_EQ(ledger->state(options.budgets[0], clock->unix_s())->used, estimated->used);
}

TEST(Bill, IsWhatWasToldOrAnUpperBound) {
  const Candidate candidate{.about = {.price = Price{.input = 1000, .output = 1000}},
                            .most_cost = 600,
                            .max_tokens = 100};
  const Facts facts{.most_tokens = 500};
  const auto cost = [&](Usage usage, FinishReason finish, std::size_t bytes, AnswerReport report) {
    const DoneEvent done{.finish = finish, .usage = usage};
    const Settlement end =
        bill({.candidate = candidate, .facts = facts, .reserved = 600, .n_bytes = bytes}, done,
             report);
    return std::pair(end.cost, end.is_estimated);
  };
  const Usage told{.prompt_tokens = 20, .generated_tokens = 30};
  const auto kEos = FinishReason::kEos, kError = FinishReason::kError;
  EXPECT_EQ(cost(told, kEos, 40, {}), std::pair(Nanos{50}, false));
  EXPECT_EQ(cost(told, kEos, 40, {.is_usage_estimated = true}), std::pair(Nanos{600}, true));
  EXPECT_EQ(cost({.prompt_tokens = 9000}, kEos, 40, {}), std::pair(Nanos{600}, true));
  const auto with = [](int n) { return Usage{.prompt_tokens = 1, .generated_tokens = n}; };
  EXPECT_EQ(cost(with(4897), kEos, 40, {}), std::pair(Nanos{600}, true));
  EXPECT_EQ(cost(with(4896), kEos, 40, {}), std::pair(Nanos{4897}, false));
  EXPECT_EQ(cost({.generated_tokens = 30}, kEos, 40, {}), std::pair(Nanos{600}, true));
  EXPECT_EQ(cost({.prompt_tokens = 20, .cached_tokens = 21, .generated_tokens = 30}, kEos, 40, {}),
            std::pair(Nanos{600}, true));
  EXPECT_EQ(cost({}, FinishReason::kCancelled, 0, {}), std::pair(Nanos{600}, true));
  EXPECT_EQ(cost({}, FinishReason::kCancelled, 40, {}), std::pair(Nanos{600}, true));
  const Failure network = Failure::kNetwork;
  EXPECT_EQ(cost({}, kError, 0, {.failure = network}).first, 0) << "no connection";
  EXPECT_EQ(cost({}, kError, 0, {.failure = network, .status = 200}).first, 600) << "cut off";
  EXPECT_EQ(cost({}, kError, 40, {.failure = network, .status = 200}).first, 600);
  EXPECT_EQ(cost({}, kError, 0, {.failure = Failure::kRateLimit, .status = 429}).first, 0);
  EXPECT_EQ(cost({}, kError, 0, {.failure = Failure::kTimeout}).first, 600);
}

// Templates write some tokens for each, however short its names are.
TEST(Facts, ToolsCallsResultsAndRolesHaveTokensOfTheirOwn) {
  const auto most = [](std::vector<Part> parts, Generation generation = {}) {
    std::vector<Message> messages = {{.content = std::move(parts)}};
    return facts_of({.prompt = std::move(messages), .generation = std::move(generation)})
        .most_tokens;
  };
  const std::int64_t least = most({});
  EXPECT_EQ(most({}, {.tools = std::vector<Tool>(100)}), least + 100 * 64);
  EXPECT_EQ(most(std::vector<Part>(100, ToolCall{.id = "1"})), least + 100 * 65);
  EXPECT_EQ(most(std::vector<Part>(100, ToolResult{.call_id = "1"})), least + 100 * 65);
  EXPECT_EQ(most({}, {.template_variables = {{"documents", std::string(500, 'x')}}}), least + 509);
  const std::vector<Message> odd = {{.role = std::string(6400, 'r')}};
  EXPECT_EQ(facts_of({.prompt = odd}).most_tokens, least + 6400);
}

TEST_F(Routed, PrivateRequestsStayHere) {
  options.rules = {{.name = "cloud", .to = {"cloud/big"}},
                   {.name = "secrets", .when = {.contains = {"PassWord"}}, .is_private = true}};
  EXPECT_EQ(ask("auto", "my password is x").error->id, "private_request");
  EXPECT_EQ(ask("cloud/big", "my PASSWORD is x").error->id, "private_request");
  EXPECT_EQ(ask("local/m", "my password is x").completion.text, "local");
  EXPECT_EQ(cloud->n_started, 0);
  EXPECT_EQ(ask("auto", "hello").completion.text, "cloud");
}

// Every text that a provider would see, in any spelling.
TEST_F(Routed, PrivateTextIsFoundWhereverItStands) {
  options.rules = {{.name = "cloud", .to = {"cloud/big"}},
                   {.name = "secrets", .when = {.contains = {"Ärzte"}}, .is_private = true}};
  const auto router = make_router(options);
  const auto is_private = [&](std::vector<Part> parts, Generation generation = {},
                              RemoteFields fields = {}) {
    std::vector<Message> messages = {{.content = std::move(parts)}};
    return router
        ->explain({.prompt = std::move(messages),
                   .generation = std::move(generation),
                   .remote_fields = std::move(fields)})
        .is_private;
  };
  EXPECT_FALSE(is_private({TextPart{"Arzt"}}));
  for (const char* const spelled :
       {"DIE ÄRZTE", "\u00e4rzte", "a\u0308rzte", "\u00e4r\u00adzte", "\u00e4r\u200bzte", "ÄＲＺＴＥ"})
    EXPECT_TRUE(is_private({TextPart{spelled}})) << spelled;
  EXPECT_TRUE(is_private({TextPart{"är"}, TextPart{"zte"}}));
  EXPECT_TRUE(is_private({ReasoningPart{"ärzte"}}));
  EXPECT_TRUE(is_private({ToolCall{.name = "f", .arguments = R"({"a":"\u00e4rzte"})"}}));
  EXPECT_TRUE(is_private({ToolCall{.id = "ärzte", .name = "f"}}));
  EXPECT_TRUE(is_private({ToolResult{.call_id = "1", .text = "ärzte"}}));
  EXPECT_TRUE(is_private({}, {.tools = {{.name = "f", .description = "ärzte"}}}));
  EXPECT_TRUE(is_private({}, {.tools = {{.name = "f", .parameters = R"({"title":"ärzte"})"}}}));
  EXPECT_TRUE(is_private({}, {.response_format = {.type = "regex", .schema = "ärzte"}}));
  EXPECT_TRUE(is_private({}, {.stop = {"ärzte"}}));
  EXPECT_TRUE(is_private({}, {.logit_bias = {{.text = "ärzte"}}}));
  EXPECT_TRUE(is_private({}, {.tool_choice = "ärzte"}));
  EXPECT_TRUE(is_private({}, {.template_variables = {{"date", R"("ärzte")"}}}));
  EXPECT_TRUE(is_private({}, {.dry_sequence_breakers = {{"ärzte"}}}));
  EXPECT_TRUE(is_private({}, {}, {{"user", R"("\u00e4rzte")"}}));
  EXPECT_TRUE(is_private({}, {}, {{"metadata", R"({"ward":["ärzte"]})"}}));
  EXPECT_TRUE(router->explain({.prompt = std::vector<Message>{{.role = "ärzte"}}}).is_private);
}

TEST_F(Routed, ExplainTellsEveryCandidateAndWhyNot) {
  options.rules = {{.name = "all", .to = {"*"}}};
  const auto router = make_router(options);
  const Decision decision = router->explain(
      {.model = "auto", .prompt = std::vector<Message>{{.content = std::string(40'000, 'x')}}});
  const std::string text = to_text(decision, router->members());
  for (const char* const part :
       {"rule: all", "1. local: at most 0.000000 USD", "not cloud/big: its context of 8000 tokens",
        "not cloud/dark: its price is not known", "about 10000 tokens"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(cloud->n_started + local->n_started, 0);
}

TEST_F(Routed, ExplainTellsTheConditionsOfTheRuleAndTheBudgetsThatRefuse) {
  options.budgets = {{.name = "daily", .window = BudgetWindow::kDay, .cap = 1000}};
  options.rules = {{.name = "long",
                    .when = {.tokens_over = 5, .has_tools = false, .models = {"auto", "a*"}},
                    .to = {"cloud/big", "local/m"}},
                   {.name = "secrets", .when = {.contains = {"password"}}, .is_private = true}};
  const auto router = make_router(options);
  const auto told = [&](const std::string& text) {
    return to_text(router->explain({.model = "auto", .prompt = text}), router->members());
  };
  const std::string open = told("a prompt of more than five tokens");
  EXPECT_TRUE(open.starts_with("rule: long (more than 5 tokens, no tools, model 'auto' or 'a*')\n"))
      << open;
  EXPECT_NE(open.find("1. local/m: at most 0.000000 USD\nnot cloud/big: the budget 'daily' of "
                      "0.000001 USD has 0.000001 left, the request may cost "),
            std::string::npos)
      << open;
  EXPECT_NE(told("a password in so many words").find(", private by secrets\n"), std::string::npos);
}

TEST_F(Routed, FailuresOfOneKindKeepItsNameAndAreToldOnce) {
  options.rules = {{.name = "far", .to = {"cloud/big"}}};
  cloud->failures = {Failure::kRateLimit, Failure::kRateLimit, Failure::kRateLimit};
  const auto error = ask("auto", "hello").error;
  ASSERT_TRUE(error);
  EXPECT_EQ(error->id, "sim");
  EXPECT_EQ(error->message, "as simulated");
  EXPECT_EQ(error->retry_after_s, 1);
  EXPECT_EQ(cloud->n_started, 3);
}

TEST_F(Routed, OnlyTargetsThatDoSoStartAtOnceWhateverTheRequest) {
  options.members[1].models.push_back({.name = "gift", .price = Price{}});
  options.rules = {{.name = "far", .to = {"cloud/gift"}, .alias = "far"},
                   {.name = "both", .to = {"cloud/gift", "cloud/big"}, .alias = "both"},
                   {.name = "all", .to = {"*"}, .alias = "all"},
                   {.name = "rest", .to = {"cloud/gift"}}};
  const auto starts = [&](const std::string& model) {
    return make_router(options)->starts_at_once(model);
  };
  EXPECT_FALSE(starts("cloud/gift")) << "the provider does not";
  cloud->is_quick = true;
  for (const char* const model : {"cloud/gift", "remote/gift", "gift", "far", "cloud/big",
                                  "cloud/dark", "cloud", "remote/big", "both"})
    EXPECT_TRUE(starts(model)) << model;
  for (const char* const model : {"", "auto", "local", "any", "all"})
    EXPECT_FALSE(starts(model)) << model;
  options.cache = {.max_bytes = 1000};
  EXPECT_TRUE(starts("gift"));
  options.cache.similar_by = "local/e";
  EXPECT_FALSE(starts("gift")) << "it embeds the question";
  options.cache = {};
  options.limits = *open_limit_store("redis://127.0.0.1:9");
  EXPECT_FALSE(starts("gift")) << "it asks the store";
}

// Reserves when it is told to.
class SlowLedger final : public Ledger {
 public:
  explicit SlowLedger(std::shared_ptr<Ledger> ledger) : ledger_(std::move(ledger)) {}

  Result<Reservation> reserve(const Charge& charge, std::span<const Budget> budgets, Nanos amount,
                              std::int64_t unix_s) override {
    return ledger_->reserve(charge, budgets, amount, unix_s);
  }

  std::unique_ptr<AskedReservation> ask(const Charge& charge, std::span<const Budget> budgets,
                                        Nanos amount, std::int64_t unix_s,
                                        std::shared_ptr<Wake> wake) override {
    return std::make_unique<Asked>(is_open, ledger_->ask(charge, budgets, amount, unix_s, wake));
  }

  void settle(Reservation&& held, const Settlement& settlement) override {
    ledger_->settle(std::move(held), settlement);
  }

  Result<void> flush() override { return ledger_->flush(); }

  Result<std::vector<UsageRow>> usage(std::int64_t since_unix_s, bool by_day,
                                      const UsageFilter& filter) override {
    return ledger_->usage(since_unix_s, by_day, filter);
  }

  Result<BudgetState> state(const Budget& budget, std::int64_t unix_s) override {
    return ledger_->state(budget, unix_s);
  }

  bool is_open = false;

 private:
  struct Asked final : AskedReservation {
    Asked(const bool& its_gate, std::unique_ptr<AskedReservation> its_inner)
        : gate(its_gate), inner(std::move(its_inner)) {}

    std::optional<Result<Reservation>> take() override {
      return gate ? inner->take() : std::nullopt;
    }

    const bool& gate;
    std::unique_ptr<AskedReservation> inner;
  };

  const std::shared_ptr<Ledger> ledger_;
};

// A reader with a Wake of its own: the ledger's thread reserves, poll() sends.
class Waiting : public Routed {
 protected:
  Waiting() { options.ledger = ledger; }

  std::unique_ptr<Answer> start(const std::string& model) {
    auto answer = make_router(options)->start(
        {.model = model, .prompt = std::vector<Message>{{.content = "x"}}}, wake);
    return answer ? *std::move(answer) : nullptr;
  }

  const std::shared_ptr<SlowLedger> ledger =
      std::make_shared<SlowLedger>(*Ledger::open({.path = ":memory:"}));
  const std::shared_ptr<Wake> wake = std::make_shared<Wake>();
};

TEST_F(Waiting, IsSentOnceTheLedgerHasReserved) {
  options.budgets = {{.name = "monthly", .cap = kNanosPerDollar}};
  const auto answer = start("cloud/big");
  ASSERT_NE(answer, nullptr);
  EXPECT_FALSE(answer->poll());
  EXPECT_FALSE(answer->is_accepted());
  EXPECT_EQ(cloud->n_started, 0) << "nothing is sent before";
  ledger->is_open = true;
  EXPECT_EQ(read_all(*answer).completion.text, "cloud");
  EXPECT_TRUE(answer->is_accepted());
  EXPECT_EQ(ledger->state(options.budgets[0], clock->unix_s())->used, 1000 * (7 + 5));
}

TEST_F(Waiting, IsRefusedByItsBudgetOrGoesOnToTheNextTarget) {
  options.budgets = {{.name = "monthly", .cap = 10}};
  options.rules = {{.name = "both", .to = {"cloud/big", "local"}, .alias = "both"}};
  const auto alone = start("cloud/big");
  ASSERT_NE(alone, nullptr);
  ledger->is_open = true;
  const Gather refused = read_all(*alone);
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->id, "budget_exceeded");
  const auto other = start("both");
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(read_all(*other).completion.text, "local");
  EXPECT_EQ(cloud->n_started, 0);
}

TEST_F(Waiting, ThatLeavesOrIsCancelledCostsNothing) {
  options.budgets = {{.name = "monthly", .cap = kNanosPerDollar}};
  for (int i = 0; i < 50; ++i) {  // before, while and after it is committed
    const auto answer = start("cloud/big");
    const bool is_written = i % 2 == 0 && ledger->flush();
    EXPECT_EQ(is_written, i % 2 == 0);
    if (i % 5 != 0) continue;
    answer->cancel();
    EXPECT_EQ(read_all(*answer).completion.finish, FinishReason::kCancelled);
  }
  EXPECT_EQ(cloud->n_started, 0);
  const auto left = ledger->state(options.budgets[0], clock->unix_s());
  EXPECT_EQ(left->used, 0);
  EXPECT_EQ(left->reserved, 0);
}

TEST_F(Routed, ModelsThatAreNotListedCostNothingWhereTheProviderIsFree) {
  options.members.push_back({.name = "open", .provider = cloud});
  EXPECT_EQ(ask("open/any").error->id, "price_unknown");
  options.members.back().is_free = true;
  EXPECT_EQ(ask("open/any").completion.text, "cloud");
}

TEST_F(Routed, ATargetThatRestsTellsWhyAndHowLong) {
  const auto router = make_router(options);
  for (const auto& [failure, id] : {std::pair(Failure::kCredential, "provider_credential"),
                                    std::pair(Failure::kQuota, "provider_quota")}) {
    cloud->failures = {failure};
    const auto ask = [&] {
      auto answer =
          router->start({.model = "cloud/big", .prompt = std::vector<Message>{{.content = "x"}}});
      return answer ? read_all(**answer).error : std::optional(answer.error());
    };
    ASSERT_TRUE(ask());
    const auto resting = ask();
    ASSERT_TRUE(resting);
    EXPECT_EQ(resting->id, id);
    EXPECT_EQ(resting->retry_after_s, 60) << resting->message;
    clock->pass(60'000);
  }
}

TEST_F(Routed, TargetsThatAllRestAreToBeAskedAgainWhenTheFirstOfThemIs) {
  options.members.push_back(options.members.back());
  options.members.back().name = "other";
  options.rules = {{.name = "both", .to = {"cloud/big", "other/big"}, .alias = "both"}};
  const auto router = make_router(options);
  const auto ask = [&](const std::string& model) {
    auto answer = router->start({.model = model, .prompt = std::vector<Message>{{.content = "x"}}});
    return answer ? read_all(**answer).error : std::optional(answer.error());
  };
  for (const char* const model : {"cloud/big", "other/big"}) {
    cloud->failures = {Failure::kCredential};
    ASSERT_TRUE(ask(model));
    clock->pass(10'000);
  }
  const auto resting = ask("both");
  ASSERT_TRUE(resting);
  EXPECT_EQ(resting->retry_after_s, 40) << resting->message;
}

// A model may have thought before it, and write more than has come; an API charges both.
TEST_F(Routed, AClientThatLeavesBeforeTheEndIsSettledWithTheUpperBound) {
  options.budgets = {{.name = "monthly", .cap = kNanosPerDollar}};
  const auto ledger = options.ledger;
  for (const std::size_t n_events : {0U, 1U}) {
    cloud->n_events = n_events;
    const Nanos before = ledger->state(options.budgets[0], clock->unix_s())->used;
    Nanos reserved = 0;
    {
      const auto router = make_router(options);
      const auto answer =
          router->start({.model = "cloud/big", .prompt = std::vector<Message>{{.content = "x"}}});
      ASSERT_TRUE(answer);
      EXPECT_EQ((*answer)->poll().has_value(), n_events > 0);
      reserved = ledger->state(options.budgets[0], clock->unix_s())->reserved;
    }
    EXPECT_GT(reserved, 0);
    const auto state = ledger->state(options.budgets[0], clock->unix_s());
    EXPECT_EQ(state->reserved, 0);
    EXPECT_EQ(state->used - before, reserved);
  }
}

TEST_F(Routed, AClientThatLeavesWhenTheUsageHasComeIsSettledWithIt) {
  options.budgets = {{.name = "monthly", .cap = kNanosPerDollar}};
  const auto ledger = options.ledger;
  {
    const auto router = make_router(options);
    const auto answer =
        router->start({.model = "cloud/big", .prompt = std::vector<Message>{{.content = "x"}}});
    ASSERT_TRUE(answer);
    ASSERT_TRUE((*answer)->poll());
  }
  const auto state = ledger->state(options.budgets[0], clock->unix_s());
  EXPECT_EQ(state->reserved, 0);
  EXPECT_EQ(state->used, 1000 * (7 + 5));
}

}  // namespace

}  // namespace wick::route
