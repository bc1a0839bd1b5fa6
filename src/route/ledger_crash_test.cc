// The ledger's promises where processes are killed, and where many threads and processes share one
// budget, in each store. WICK_TEST_KILLS and WICK_TEST_RESERVATIONS raise the numbers (.ci/long
// ledger).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/mix.h"
#include "route/ledger_ahead.h"
#include "route/ledger_places_test.h"

namespace wick::route {

namespace {

constexpr std::int64_t kDay = 1'795'003'200;  // 2026-11-18, 12:00 UTC

int number_from(const char* variable, int fallback) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? fallback : std::atoi(text);
}

using Stores = testing::TestWithParam<std::string>;

class LedgerCrash : public Stores {};

class LedgerRace : public Stores {};

class SlowLedgerLock : public Stores {};

INSTANTIATE_TEST_SUITE_P(Stores, LedgerCrash, testing::ValuesIn(test::store_names()),
                         test::store_name);
INSTANTIATE_TEST_SUITE_P(Stores, LedgerRace, testing::ValuesIn(test::store_names()),
                         test::store_name);
INSTANTIATE_TEST_SUITE_P(Stores, SlowLedgerLock, testing::ValuesIn(test::store_names()),
                         test::store_name);

struct Step {  // what a child has seen done, through its pipe
  char kind = 0;
  std::uint8_t amount = 0, cost = 0;
};

// Reserves and settles until it is killed, and tells each step after it is done.
[[noreturn]] void spend(const LedgerOptions& options, std::uint64_t seed, int out,
                        const std::vector<Budget>& budgets) {
  auto ledger = Ledger::open(options);
  if (!ledger) _exit(1);
  const auto tell = [&](const Step& step) {
    if (::write(out, &step, sizeof step) != sizeof step) _exit(2);
  };
  for (std::uint64_t i = 0;; ++i) {
    const std::uint64_t chance = splitmix64(seed, i);
    const auto amount = static_cast<std::uint8_t>(90 + chance % 12);
    const auto cost = static_cast<std::uint8_t>(1 + (chance >> 20U) % (amount - 1U));
    auto held = (*ledger)->reserve({.provider = "p", .model = "m"}, budgets, amount, kDay);
    if (!held) _exit(3);
    tell({.kind = 'R', .amount = amount, .cost = cost});
    (*ledger)->settle(*std::move(held), {.cost = cost});
    if (!(*ledger)->flush()) _exit(4);
    tell({.kind = 'S', .amount = amount, .cost = cost});
  }
}

struct Bounds {
  std::int64_t least = 0, most = 0, settled = 0;
  std::int64_t ahead = 0;  // more than `most`: what was reserved ahead, and taken by nobody
};

// Runs a child, kills it after `us` and adds what it may have spent.
void run_and_kill(const LedgerOptions& options, std::uint64_t seed,
                  const std::vector<Budget>& budgets, Bounds& bounds) {
  bounds.ahead = (budgets[0].cap - bounds.most) / kAheadShare;
  int pipe[2] = {};
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(pipe[0]);
    spend(options, seed, pipe[1], budgets);
  }
  ::close(pipe[1]);
  Step step, last;
  bool is_open = false;
  const auto take = [&] {
    if (::read(pipe[0], &step, sizeof step) != sizeof step) return false;
    is_open = step.kind == 'R';
    if (!is_open) {
      bounds.least += step.cost;
      bounds.most += step.cost;
      bounds.settled += 1;
    }
    last = step;
    return true;
  };
  ASSERT_TRUE(take()) << "the child did nothing";
  ::usleep(static_cast<useconds_t>(splitmix64(seed, ~std::uint64_t{0}) % 3000));
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  while (take()) {
  }
  ::close(pipe[0]);
  if (is_open) {  // reserved, and perhaps settled
    bounds.least += last.cost;
    bounds.most += last.amount;
  } else {
    bounds.most += 101;  // a reservation that it could not tell any more
  }
}

TEST_P(LedgerCrash, NothingThatWasSettledIsLostAndNothingReservedIsFree) {
  const test::LedgerPlace place(GetParam());
  Bounds bounds;
  const int n = number_from("WICK_TEST_KILLS", 40);
  int n_ahead = 0;
  for (int i = 0; i < n; ++i) {
    const std::vector<Budget> budgets = {{.name = "all", .cap = bounds.most + 1'000'000}};
    run_and_kill(place.options(), static_cast<std::uint64_t>(i), budgets, bounds);
    if (HasFatalFailure()) return;
    ::usleep(static_cast<useconds_t>(1200 * place.lease_ms()));
    const auto ledger = place.open();
    const auto state = ledger->state(budgets[0], kDay);
    ASSERT_TRUE(state);
    ASSERT_GE(state->used, bounds.least) << "after " << i + 1 << " kills";
    ASSERT_LE(state->used, bounds.most + bounds.ahead);
    n_ahead += state->used > bounds.most;
    ASSERT_EQ(state->reserved, 0);
    if (i % 100 == 0 || i + 1 == n) {  // it reads every row
      ASSERT_GE(ledger->usage(0, false)->at(0).requests, bounds.settled);
    }
    bounds.least = bounds.most = state->used;  // what cannot be known is known now
  }
  RecordProperty("settled", static_cast<int>(bounds.settled));
  EXPECT_GT(bounds.settled, n / 4);
  EXPECT_GT(n_ahead, 0);
}

TEST_P(SlowLedgerLock, WhatWaitedTooLongForAnotherProcessIsRefusedAndTheNextOneIsHeld) {
  const test::LedgerPlace place(GetParam());
  const std::vector<Budget> budgets = {{.name = "all", .cap = 9}};
  const auto ledger = place.open();
  {
    const auto lock = place.lock();
    const auto refused = ledger->reserve({.provider = "p"}, budgets, 5, kDay);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().id, "ledger_unavailable");
  }
  const auto held = ledger->reserve({.provider = "p"}, budgets, 5, kDay);
  EXPECT_TRUE(held) << to_string(held.error());
}

// The thread that writes may be about to wait when it is told to end.
TEST(LedgerThread, EndsHoweverEarly) {
  for (int i = 0; i < 3000; ++i)
    ASSERT_TRUE(Ledger::open({.path = ":memory:", .is_durable = false}));
}

TEST_P(LedgerRace, SixtyFourThreadsNeverPassACap) {
  const test::LedgerPlace place(GetParam());
  const auto ledger = place.open();
  const int n = number_from("WICK_TEST_RESERVATIONS", 20'000) / 64;
  const Nanos cap = 10 * n;
  const std::vector<Budget> budgets = {{.name = "all", .cap = cap}};
  std::atomic<std::int64_t> held = 0, spent = 0;
  std::atomic<int> n_refused = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 64; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < n; ++i) {
        const Nanos amount =
            1 + static_cast<Nanos>(splitmix64(t, static_cast<std::uint64_t>(i)) % 9);
        auto reserved = ledger->reserve({.provider = "p"}, budgets, amount, kDay);
        if (!reserved) {
          n_refused += 1;
          continue;
        }
        ASSERT_LE(held.fetch_add(amount) + amount + spent, cap);
        held -= amount;  // first, so that the sum of the two is never too large
        spent += amount - 1;
        ledger->settle(*std::move(reserved), {.cost = amount - 1});
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  ASSERT_TRUE(ledger->flush());
  const auto state = ledger->state(budgets[0], kDay);
  EXPECT_EQ(state->used, spent);
  EXPECT_EQ(state->reserved, 0);
  EXPECT_LE(state->used, cap);
  EXPECT_GT(n_refused, 0);
}

TEST_P(LedgerRace, ThreeProcessesNeverPassACap) {
  constexpr int kProcesses = 3;
  const test::LedgerPlace place(GetParam());
  const int n = number_from("WICK_TEST_RESERVATIONS", 3000) / kProcesses;
  const std::vector<Budget> budgets = {{.name = "all", .cap = 4 * n + 1}};
  ASSERT_TRUE(place.open());
  pid_t children[kProcesses] = {};
  for (pid_t& child : children) {
    child = ::fork();
    ASSERT_GE(child, 0);
    if (child != 0) continue;
    auto ledger = Ledger::open(place.options());
    if (!ledger) _exit(1);
    for (int i = 0; i < n; ++i) {
      auto held = (*ledger)->reserve({.provider = "p"}, budgets, 2, kDay);
      if (held) (*ledger)->settle(*std::move(held), {.cost = 2});
      if (!held && held.error().id != "budget_exceeded") _exit(2);
    }
    _exit((*ledger)->flush() ? 0 : 3);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const auto ledger = place.open();
  const auto state = ledger->state(budgets[0], kDay);
  // As much as fits, and no more; what two processes hold ahead may be refused to the third.
  EXPECT_LE(state->used, 4 * n);
  EXPECT_GE(state->used, 4 * n - 2 * budgets[0].cap / kAheadShare);
  EXPECT_EQ(state->reserved, 0);
}

}  // namespace

}  // namespace wick::route
