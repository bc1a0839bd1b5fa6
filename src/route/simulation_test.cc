// Traffic of many hours in seconds: a virtual clock, providers that fail by chance, and after each
// answer the promises: no budget is overspent, nothing is retried behind content.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "base/clock.h"
#include "provider/gather.h"
#include "route/router.h"
#include "route/sim_test.h"

namespace wick::route {

namespace {

struct Tally {
  int answered = 0, refused = 0, broken = 0, failed = 0;
};

class Simulation {
 public:
  // `caps`: the budgets are as many times as large.
  explicit Simulation(std::uint64_t seed, std::int64_t caps = 1) {
    options_.clock = clock_;
    options_.seed = seed;
    options_.ledger =
        *Ledger::open({.path = ":memory:", .is_durable = false, .writes_at_once = true});
    options_.members.push_back(member("alpha", 3, seed, Price{.input = 900'000, .output = 50'000}));
    options_.members.push_back(
        member("beta", 5, seed + 1, Price{.input = 90'000, .output = 9'000}));
    options_.budgets = {
        {.name = "daily", .window = BudgetWindow::kDay, .cap = caps * 200'000'000},
        {.name = "hour of alpha",
         .scope = BudgetScope::kProvider,
         .subject = "alpha",
         .window = BudgetWindow::kRolling,
         .rolling_s = 3600,
         .cap = caps * 20'000'000},
        {.name = "one request", .window = BudgetWindow::kRequest, .cap = 3'000'000}};
    options_.rules = {{.name = "tiers", .to = {"alpha/m", "beta/m"}}};
    router_ = make_router(options_);
  }

  void run(int n) {
    for (int i = 0; i < n; ++i) {
      ask(splitmix64(options_.seed, static_cast<std::uint64_t>(i)));
      if (i % 512 == 0) check_budgets();
    }
    check_budgets();
  }

  Tally tally;

 private:
  Member member(const std::string& name, std::uint64_t fails_one_in, std::uint64_t seed,
                const Price& price) {
    const auto provider = std::make_shared<test::SimProvider>(clock_);
    provider->name_ = name;
    provider->fails_one_in = fails_one_in;
    provider->seed = seed;
    sims_.push_back(provider);
    return {.name = name,
            .provider = provider,
            .models = {{.name = "m", .context = 8000, .max_tokens = 50, .price = price}}};
  }

  void ask(std::uint64_t chance) {
    clock_->pass(static_cast<std::int64_t>(chance % 400));
    sims_[0]->tells_usage = chance % 7 != 0;
    const std::vector<Message> prompt = {{.content = std::string(chance % 1500, 'x')}};
    auto answer = router_->start({.model = "auto", .prompt = prompt});
    if (!answer) {
      tally.refused += 1;
      return;
    }
    Gather whole;
    bool is_left = false;
    while (!(*answer)->is_over() && !is_left) {
      while (const auto event = (*answer)->poll()) {
        whole.add(*event);
        is_left = chance % 97 == 0;  // the client goes
        if (is_left) break;
      }
      if (!(*answer)->is_over()) clock_->advance();
    }
    if (is_left) return;
    // The text is a whole one, or the beginning of one with an error: never two of them.
    const std::string& text = whole.completion.text;
    const bool is_whole = text == "alpha" || text == "beta";
    const bool is_begun = text == "alp" || text == "bet";
    ASSERT_TRUE(whole.error ? text.empty() || is_begun : is_whole) << text;
    (whole.error ? is_begun ? tally.broken : tally.failed : tally.answered) += 1;
  }

  void check_budgets() {
    for (const Budget& budget : options_.budgets) {
      if (budget.window == BudgetWindow::kRequest) continue;
      const auto state = options_.ledger->state(budget, clock_->unix_s());
      ASSERT_TRUE(state);
      ASSERT_LE(state->used + state->reserved, budget.cap) << budget.name;
      ASSERT_GE(state->reserved, 0);
      ASSERT_EQ(state->reserved, 0) << "nothing is under way";
    }
  }

  std::shared_ptr<test::VirtualClock> clock_ = std::make_shared<test::VirtualClock>();
  std::vector<std::shared_ptr<test::SimProvider>> sims_;
  RouterOptions options_;
  std::shared_ptr<Router> router_;
};

TEST(RouteSimulation, BudgetsAreNeverOverspentAndNothingIsRetriedBehindContent) {
  Tally all;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Simulation simulation(seed);
    simulation.run(5000);
    if (HasFatalFailure()) return;
    all.answered += simulation.tally.answered;
    all.refused += simulation.tally.refused;
    all.broken += simulation.tally.broken;
  }
  EXPECT_GT(all.answered, 1000);
  EXPECT_GT(all.refused, 100);  // budgets end, so that their edge is seen
  EXPECT_GT(all.broken, 100);
}

// WICK_SIM_REQUESTS=1000000 for the promise of docs/providers.md.
TEST(SlowRouteSimulation, AMillionRequestsAMinute) {
  const char* const wanted = std::getenv("WICK_SIM_REQUESTS");
  const int n = wanted == nullptr ? 50'000 : std::atoi(wanted);
  const std::int64_t begin = monotonic_ns();
  // Days pass in a million requests; most are refused while a credential that was refused rests.
  Simulation simulation(99, 200);
  simulation.run(n);
  const double seconds = static_cast<double>(monotonic_ns() - begin) * 1e-9;
  RecordProperty("requests_per_minute", static_cast<int>(60 * n / seconds));
  EXPECT_GT(simulation.tally.answered, n / 20);
  std::cout << n << " requests in " << seconds << " s: " << simulation.tally.answered
            << " answered, " << simulation.tally.refused << " refused, " << simulation.tally.broken
            << " broken, " << simulation.tally.failed << " failed\n";
}

}  // namespace

}  // namespace wick::route
