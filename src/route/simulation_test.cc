// Two days of traffic in seconds: a virtual clock, three tiers (two with a price, the last one
// free) that fail by chance and are away for minutes, budgets that run out. After each request the
// promises: no budget is overspent, nothing is retried behind content, a tier is passed over only
// while its circuit breaker is open or a budget refuses it. The breaker is written here a second
// time, as docs/providers.md has it; neither may contradict the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <iostream>

#include "base/clock.h"
#include "provider/gather.h"
#include "route/router.h"
#include "route/sim_test.h"

namespace wick::route {

namespace {

constexpr std::size_t kFailures = static_cast<std::size_t>(Failure::kBadAnswer) + 1;
constexpr std::int64_t kMinuteMs = 60'000;

// Of 1,024 failures. Those that close a target for a minute are rare, as they are in life.
constexpr std::array<int, kFailures> kShares = {0,  // kNone
                                                240, 130, 190, 240, 60, 4, 4, 60, 24, 24, 24, 24};

bool is_final(Failure failure) {
  return failure == Failure::kRequest || failure == Failure::kContentPolicy;
}

class Breaker {
 public:
  int n_opened = 0, n_probes_failed = 0;

  bool is_open(std::int64_t now) const { return is_open_ && now < until_; }

  void saw(Failure failure, std::int64_t now) {
    switch (failure) {
      case Failure::kNone:
        if (is_open_) outcomes_.clear();
        is_open_ = false;
        return add(true);
      case Failure::kCredential:
      case Failure::kQuota:
        return open(now + kMinuteMs);
      case Failure::kRateLimit:
        return open(now + 1000);  // its Retry-After
      case Failure::kNetwork:
      case Failure::kTimeout:
      case Failure::kOverload:
      case Failure::kBadAnswer:
        if (is_open_) ++n_probes_failed;
        if (is_open_) return open(now + 30'000);
        add(false);
        if (const auto n = std::count(outcomes_.begin(), outcomes_.end(), false);
            n >= 5 && 2 * n >= std::ssize(outcomes_))
          open(now + 30'000);
        return;
      case Failure::kConflict:
      case Failure::kRequest:
      case Failure::kContextLength:
      case Failure::kNoModel:
      case Failure::kContentPolicy:
        return;  // they tell nothing of the target's health
    }
  }

 private:
  void add(bool is_good) {
    outcomes_.push_back(is_good);
    if (outcomes_.size() > 20) outcomes_.pop_front();
  }

  void open(std::int64_t until) {
    n_opened += !is_open_;
    is_open_ = true;
    until_ = std::max(until_, until);
  }

  std::deque<bool> outcomes_;
  std::int64_t until_ = 0;
  bool is_open_ = false;
};

struct Tier {
  std::shared_ptr<test::SimProvider> sim = {};
  std::uint64_t fails_one_in = 0;
  std::int64_t away_every_ms = 0, away_ms = 0;  // in which it fails each request
  Breaker breaker = {};
  bool has_asked_for_cooldown = false;  // its last answer did
  int n_asked = 0, n_retries = 0, n_answered = 0;
};

struct Tally {
  int answered = 0, refused = 0, broken = 0, failed = 0, left = 0;
  int over_budget = 0, open = 0;  // times that a tier was passed over
  int returned = 0;               // times that one was asked again behind all others
  std::array<int, kFailures> failures = {}, late = {};

  Tally& operator+=(const Tally& other) {
    answered += other.answered;
    refused += other.refused;
    broken += other.broken;
    failed += other.failed;
    left += other.left;
    over_budget += other.over_budget;
    open += other.open;
    returned += other.returned;
    for (std::size_t i = 0; i < kFailures; ++i) {
      failures[i] += other.failures[i];
      late[i] += other.late[i];
    }
    return *this;
  }
};

class Simulation {
 public:
  // `n` requests in `hours` of virtual time.
  Simulation(std::uint64_t seed, int n, int hours)
      : n_(n), most_gap_ms_(static_cast<std::uint64_t>(2 * 60 * kMinuteMs * hours / n)) {
    options_.clock = clock_;
    options_.seed = seed;
    options_.ledger =
        *Ledger::open({.path = ":memory:", .is_durable = false, .writes_at_once = true});
    add_tier("alpha", {.fails_one_in = 12, .away_every_ms = 120, .away_ms = 5},
             {.input = 900'000, .output = 50'000});
    add_tier("beta", {.fails_one_in = 20, .away_every_ms = 170, .away_ms = 6},
             {.input = 300'000, .output = 20'000});
    add_tier("gamma", {.fails_one_in = 30, .away_every_ms = 47, .away_ms = 2}, {});
    // What an hour would cost if alpha answered it all; most of it is of requests without usage.
    const Nanos hour = Nanos{190'000} * n / hours;
    options_.budgets = {
        {.name = "daily", .window = BudgetWindow::kDay, .cap = 7 * hour},
        {.name = "hour of alpha",
         .scope = BudgetScope::kProvider,
         .subject = "alpha",
         .window = BudgetWindow::kRolling,
         .rolling_s = 3600,
         .cap = 8 * hour / 10},
        {.name = "one request", .window = BudgetWindow::kRequest, .cap = 2'200'000}};
    options_.rules = {{.name = "tiers", .to = {"alpha/m", "beta/m", "gamma/m"}}};
    router_ = make_router(options_);
  }

  void run() {
    for (int i = 0; i < n_ && !testing::Test::HasFatalFailure(); ++i) {
      ask(splitmix64(options_.seed, static_cast<std::uint64_t>(i)));
      if (i % 512 == 0) check_budgets();
    }
    check_budgets();
    for (const Tier& tier : tiers_)
      EXPECT_LE(tier.n_retries, 3 + (n_ + tier.n_retries) / 5) << tier.sim->name_;
  }

  const std::vector<Tier>& tiers() const { return tiers_; }

  Tally tally;

 private:
  void add_tier(const std::string& name, Tier tier, const Price& price) {
    const std::size_t at = tiers_.size();
    tier.away_every_ms *= kMinuteMs;
    tier.away_ms *= kMinuteMs;
    tier.sim = std::make_shared<test::SimProvider>(clock_);
    tier.sim->name_ = name;
    tier.sim->seed = options_.seed + at;
    tier.sim->plan = [this, at](std::uint64_t chance) { return attempt(at, chance); };
    options_.members.push_back(
        {.name = name,
         .provider = tier.sim,
         .models = {{.name = "m", .context = 8000, .max_tokens = 50, .price = price}}});
    tiers_.push_back(std::move(tier));
  }

  // Called by the provider of tier `at` when a request comes.
  test::SimOutcome attempt(std::size_t at, std::uint64_t chance) {
    Tier& tier = tiers_[at];
    const std::int64_t now = clock_->now_ms();
    end_attempt();
    EXPECT_FALSE(tier.breaker.is_open(now)) << tier.sim->name_;
    if (!asked_.empty()) {
      EXPECT_FALSE(outcome_.is_late || is_final(outcome_.failure) ||
                   outcome_.failure == Failure::kNone);
      tier.n_retries += was_asked(at);
      // Back to a tier, or to the one that sent Retry-After: all others come first.
      if (at < asked_.back() || (was_asked(at) && tier.has_asked_for_cooldown)) {
        tally.returned += 1;
        for (std::size_t i = 0; i < tiers_.size(); ++i) {
          if (was_asked(i) || i == at || tiers_[i].breaker.is_open(began_ms_)) continue;
          owed_.push_back(i);
        }
      }
    }
    asked_.push_back(at);
    ++tier.n_asked;
    asked_ms_ = now;
    is_under_way_ = true;
    outcome_ = {};
    const std::int64_t phase = static_cast<std::int64_t>(at + 1) * 20 * kMinuteMs;
    if ((now + phase) % tier.away_every_ms < tier.away_ms) {
      outcome_.failure = chance % 2 == 0 ? Failure::kNetwork : Failure::kOverload;
    } else if (chance % tier.fails_one_in == 0) {
      auto left = static_cast<int>(chance >> 32U & 1023U);
      std::size_t kind = 1;
      while (left >= kShares[kind])
        left -= kShares[kind++];
      outcome_ = {.failure = static_cast<Failure>(kind), .is_late = (chance >> 44U) % 4 == 0};
    }
    tier.has_asked_for_cooldown = outcome_.failure == Failure::kRateLimit;
    tally.failures[static_cast<std::size_t>(outcome_.failure)] += 1;
    tally.late[static_cast<std::size_t>(outcome_.failure)] += outcome_.is_late;
    return outcome_;
  }

  bool was_asked(std::size_t at) const {
    return std::find(asked_.begin(), asked_.end(), at) != asked_.end();
  }

  void end_attempt() {
    if (is_under_way_) tiers_[asked_.back()].breaker.saw(outcome_.failure, asked_ms_);
    is_under_way_ = false;
  }

  void ask(std::uint64_t chance) {
    clock_->pass(static_cast<std::int64_t>(chance % most_gap_ms_));
    tiers_[0].sim->tells_usage = chance % 7 != 0;
    const std::vector<Message> prompt = {{.content = std::string(chance % 1500, 'x')}};
    const Request request{.model = "auto", .prompt = prompt};
    began_ms_ = clock_->now_ms();
    const std::int64_t began_s = clock_->unix_s();
    asked_.clear();
    owed_.clear();
    const auto wake = chance % 2 == 0 ? std::make_shared<Wake>() : nullptr;
    if (auto answer = router_->start(request, wake)) {
      read(**answer, chance % 97 == 0);
    } else {
      tally.refused += 1;
    }
    check_tiers(request, began_s);
  }

  void read(Answer& answer, bool leaves) {
    Gather whole;
    while (!answer.is_over()) {
      while (const auto event = answer.poll()) {
        whole.add(*event);
        if (leaves && !answer.is_over()) {
          tally.left += 1;
          is_under_way_ = false;  // nobody will know how it would have ended
          return;
        }
      }
      if (!answer.is_over()) clock_->advance();
    }
    end_attempt();
    // The text is a whole one, or the beginning of one with an error: never two of them.
    const std::string& text = whole.completion.text;
    const std::string name = asked_.empty() ? "" : tiers_[asked_.back()].sim->name_;
    ASSERT_EQ(text, !whole.error ? name : outcome_.is_late ? name.substr(0, 3) : "");
    if (!whole.error) tiers_[asked_.back()].n_answered += 1;
    (whole.error ? text.empty() ? tally.failed : tally.broken : tally.answered) += 1;
  }

  // Each tier above the lowest one that was asked, or each one if none was or if a tier was asked
  // again after a cooldown, had its turn.
  void check_tiers(const Request& request, std::int64_t began_s) {
    const auto lowest = std::max_element(asked_.begin(), asked_.end());
    const std::size_t end = lowest == asked_.end() ? tiers_.size() : *lowest;
    for (std::size_t i = 0; i < tiers_.size(); ++i) {
      const bool is_owed = std::find(owed_.begin(), owed_.end(), i) != owed_.end();
      if (!is_owed && (i >= end || was_asked(i))) continue;
      if (tiers_[i].breaker.is_open(began_ms_)) {
        tally.open += 1;
        continue;
      }
      tally.over_budget += 1;
      ASSERT_TRUE(is_over_budget(i, request, began_s) ||
                  is_over_budget(i, request, clock_->unix_s()))
          << tiers_[i].sim->name_ << " was passed over for no reason";
    }
  }

  bool is_over_budget(std::size_t at, const Request& request, std::int64_t unix_s) {
    Nanos amount = 0;
    for (const Candidate& one : router_->explain(request).candidates) {
      if (one.member == at) amount = one.most_cost;
    }
    for (const Budget& budget : options_.budgets) {
      if (!applies(budget, {.provider = options_.members[at].name})) continue;
      BudgetState now;
      if (budget.window != BudgetWindow::kRequest) now = *options_.ledger->state(budget, unix_s);
      if (amount > budget.cap - now.used - now.reserved) return true;
    }
    return false;
  }

  void check_budgets() {
    for (const Budget& budget : options_.budgets) {
      if (budget.window == BudgetWindow::kRequest) continue;
      const auto state = options_.ledger->state(budget, clock_->unix_s());
      ASSERT_TRUE(state);
      ASSERT_LE(state->used, budget.cap) << budget.name;
      ASSERT_EQ(state->reserved, 0) << "nothing is under way";
    }
  }

  const int n_;
  const std::uint64_t most_gap_ms_;
  std::shared_ptr<test::VirtualClock> clock_ = std::make_shared<test::VirtualClock>();
  std::vector<Tier> tiers_;
  RouterOptions options_;
  std::shared_ptr<Router> router_;

  // Of the request under way: the tiers that were asked, and the last one's outcome.
  std::vector<std::size_t> asked_;
  // Not asked when a tier was asked again after a cooldown, though their breakers were closed.
  std::vector<std::size_t> owed_;
  test::SimOutcome outcome_ = {};
  std::int64_t began_ms_ = 0, asked_ms_ = 0;
  bool is_under_way_ = false;  // its breaker has not been told
};

// All that may happen has happened, and most requests were answered.
void expect_all_kinds(const Tally& tally, const std::vector<Tier>& tiers, int n) {
  EXPECT_GT(tally.answered, n * 8 / 10);
  for (const int count :
       {tally.refused, tally.broken, tally.failed, tally.left, tally.over_budget, tally.open})
    EXPECT_GT(count, n / 1000);
  for (std::size_t i = 1; i < kFailures; ++i)
    EXPECT_GT(tally.failures[i], 0) << "failure " << i;
  for (const Tier& tier : tiers) {
    EXPECT_GT(tier.n_answered, n / 20) << tier.sim->name_;
    EXPECT_GT(tier.n_retries, n / 1000) << tier.sim->name_;
    EXPECT_GT(tier.breaker.n_opened, 0) << tier.sim->name_;
    EXPECT_GT(tier.breaker.n_probes_failed, 0) << tier.sim->name_;
  }
}

TEST(RouteSimulation, BudgetsAreNeverOverspentAndNothingIsRetriedBehindContent) {
  Tally all;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Simulation simulation(seed, 5000, 12);
    simulation.run();
    if (HasFatalFailure()) return;
    all += simulation.tally;
  }
  for (const int count :
       {all.answered, all.refused, all.broken, all.failed, all.left, all.over_budget, all.open,
        all.returned})
    EXPECT_GT(count, 20);
}

// WICK_SIM_REQUESTS=1000000 in .ci/long.
TEST(SlowRouteSimulation, TwoDaysOfTraffic) {
  const char* const wanted = std::getenv("WICK_SIM_REQUESTS");
  const int n = wanted == nullptr ? 50'000 : std::atoi(wanted);
  const std::int64_t begin = monotonic_ns();
  Simulation simulation(99, n, 48);
  simulation.run();
  const double seconds = static_cast<double>(monotonic_ns() - begin) * 1e-9;
  const Tally& tally = simulation.tally;
  std::cout << n << " requests in " << seconds << " s: " << tally.answered << " answered, "
            << tally.refused << " refused, " << tally.broken << " broken off, " << tally.failed
            << " failed, " << tally.left << " left; tiers passed over " << tally.over_budget
            << " times for a budget and " << tally.open << " times for an open breaker, "
            << tally.returned << " asked again behind all others\nfailures:";
  for (std::size_t i = 1; i < kFailures; ++i)
    std::cout << ' ' << tally.failures[i] << " (" << tally.late[i] << " late)";
  std::cout << '\n';
  for (const Tier& tier : simulation.tiers()) {
    std::cout << tier.sim->name_ << ": asked " << tier.n_asked << " times, " << tier.n_retries
              << " of them again, " << tier.n_answered << " answers; its breaker opened "
              << tier.breaker.n_opened << " times, " << tier.breaker.n_probes_failed
              << " probes failed\n";
  }
  expect_all_kinds(tally, simulation.tiers(), n);
}

}  // namespace

}  // namespace wick::route
