// Reservations made ahead: they change when a request waits, and no sum.
#include "route/ledger_ahead.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/mix.h"
#include "route/ledger_places_test.h"
#include "route/sim_test.h"

namespace wick::route {

namespace {

using test::kNoon;

constexpr Nanos kCap = 1'000'000;

class LedgerAhead : public testing::TestWithParam<std::string> {
 protected:
  const test::LedgerPlace place{GetParam()};
  std::unique_ptr<Ledger> ledger = open();
  const Charge charge{.provider = "p", .model = "m"};
  std::vector<Budget> budgets = {{.name = "day", .window = BudgetWindow::kDay, .cap = kCap}};

  std::unique_ptr<Ledger> open() const {
    LedgerOptions options = place.options();
    options.lease_ms = 10'000;  // also on a busy machine it is renewed in time
    return *Ledger::open(options);
  }

  // What the store has, this ledger's reservations ahead included.
  BudgetState in_store(const Budget& budget, std::int64_t unix_s = kNoon) const {
    const auto state = open()->state(budget, unix_s);
    EXPECT_TRUE(state) << to_string(state.error());
    return state ? *state : BudgetState{};
  }

  Reservation reserve(Nanos amount, std::int64_t unix_s = kNoon) {
    const auto held = ledger->reserve(charge, budgets, amount, unix_s);
    EXPECT_TRUE(held) << to_string(held.error());
    return held ? *held : Reservation{};
  }

  // So many requests in a row. Their sum.
  Nanos spend(int n, Nanos amount, Nanos cost, std::int64_t unix_s = kNoon) {
    for (int i = 0; i < n; ++i)
      ledger->settle(reserve(amount, unix_s), {.cost = cost});
    return n * cost;
  }

  // Those that nobody has taken, in the store.
  Nanos ahead(std::int64_t unix_s = kNoon) {
    EXPECT_TRUE(ledger->flush());
    const Nanos all = in_store(budgets[0], unix_s).reserved;
    return all - ledger->state(budgets[0], unix_s)->reserved;
  }

  // Is there one for such a request? While another process writes, no commit can end.
  bool is_there(Nanos amount, const std::vector<Budget>& for_budgets, std::int64_t unix_s = kNoon) {
    const auto lock = place.lock();
    const auto asked = ledger->ask(charge, for_budgets, amount, unix_s, std::make_shared<Wake>());
    auto held = asked->take();
    if (!held) return false;
    EXPECT_TRUE(*held) << to_string(held->error());
    ledger->settle(std::move(**held), {});
    return true;
  }
};

class SlowLedgerAhead : public LedgerAhead {};

INSTANTIATE_TEST_SUITE_P(Stores, LedgerAhead, testing::ValuesIn(test::store_names()),
                         test::store_name);
INSTANTIATE_TEST_SUITE_P(Stores, SlowLedgerAhead, testing::ValuesIn(test::store_names()),
                         test::store_name);

TEST_P(LedgerAhead, ARequestLikeTheLastOnesWaitsForNoCommit) {
  EXPECT_FALSE(is_there(100, budgets));  // the first one
  spend(4, 100, 7);
  const Nanos before = ahead();
  EXPECT_GT(before, 0);
  EXPECT_TRUE(is_there(100, budgets));
  EXPECT_TRUE(is_there(97, budgets));  // 104 are reserved for each
  EXPECT_FALSE(is_there(96, budgets));
  EXPECT_FALSE(is_there(105, budgets));
}

TEST_P(LedgerAhead, SumsAndRowsAreThoseOfTheRequests) {
  Nanos sum = 0;
  for (int i = 0; i < 300; ++i)
    sum += spend(1, 100 + i % 9, 50 + i % 17);
  std::vector<Reservation> held;
  for (int i = 0; i < 20; ++i)
    held.push_back(reserve(90));
  for (const Reservation& one : held) {
    EXPECT_EQ(one.amount, 90);
    EXPECT_LE(one.spare, 6);  // 96
  }
  ASSERT_GT(ahead(), 0);
  for (Reservation& one : held)
    ledger->settle(std::move(one), {.cost = 90});
  sum += 20 * 90;
  const auto state = ledger->state(budgets[0], kNoon);
  EXPECT_EQ(state->used, sum);
  EXPECT_EQ(state->reserved, 0);
  const auto rows = ledger->usage(0, false);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->at(0).requests, 320);
  EXPECT_EQ(rows->at(0).failed, 0);
  EXPECT_EQ(rows->at(0).cost, sum);
  ledger = nullptr;  // a clean end gives them back
  EXPECT_EQ(in_store(budgets[0]).used, sum);
  EXPECT_EQ(in_store(budgets[0]).reserved, 0);
  EXPECT_EQ(open()->usage(0, false)->at(0).requests, 320);
}

TEST_P(SlowLedgerAhead, AreGivenBackWhenNobodyTakesThem) {
  spend(20, 100, 7);
  ASSERT_GT(ahead(), 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4 * kMostAheadSeconds);
  while (in_store(budgets[0]).reserved > 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(ledger->usage(0, false)->at(0).requests, 20);
  EXPECT_FALSE(is_there(100, budgets));
}

TEST_P(LedgerAhead, AnotherDayOrBucketTakesNoneOfTheOld) {
  budgets.push_back({.name = "rolling",
                     .window = BudgetWindow::kRolling,
                     .rolling_s = 86'400,  // buckets of an hour
                     .cap = kCap});
  budgets.erase(budgets.begin());
  const std::int64_t hour = kNoon + 3600;
  spend(20, 100, 7);
  ASSERT_GT(ahead(), 0);
  EXPECT_FALSE(is_there(100, budgets, hour));
  spend(20, 100, 7, hour);
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->used, 20 * 7);
  EXPECT_EQ(ledger->state(budgets[0], hour)->used, 40 * 7);

  budgets = {{.name = "in all", .window = BudgetWindow::kTotal, .cap = kCap}};
  spend(20, 100, 7);  // the same bucket the day after
  ASSERT_GT(ahead(), 0);
  const std::int64_t tomorrow = kNoon + 86'400;
  EXPECT_FALSE(is_there(100, budgets, tomorrow));
  spend(20, 100, 7, tomorrow);
  ASSERT_TRUE(ledger->flush());
  const auto rows = ledger->usage(0, true);
  ASSERT_EQ(rows->size(), 2U);
  // Those that is_there() left may be rows that failed.
  EXPECT_EQ(rows->at(0).requests - rows->at(0).failed, 60);
  EXPECT_EQ(rows->at(1).requests - rows->at(1).failed, 20);
  ledger = nullptr;
  EXPECT_EQ(in_store(budgets[0]).reserved, 0);
}

TEST_P(LedgerAhead, ACapThatWasChangedTakesNoneOfTheOld) {
  spend(20, 100, 7);
  ASSERT_GT(ahead(), 0);
  std::vector<Budget> lower = budgets;
  lower[0].cap = 200;
  EXPECT_FALSE(is_there(100, lower));
  const auto refused = ledger->reserve(charge, lower, 100, kNoon);
  ASSERT_FALSE(refused);  // 140 are used
  EXPECT_EQ(refused.error().id, "budget_exceeded");
  EXPECT_NE(refused.error().message.find("has 0.00000006 left"), std::string::npos)
      << refused.error().message;
}

TEST_P(LedgerAhead, ABudgetOfOneRequestRefusesMoreThanItAllows) {
  budgets.push_back({.name = "one", .window = BudgetWindow::kRequest, .cap = 100});
  spend(20, 100, 7);
  ASSERT_GT(ahead(), 0);
  EXPECT_TRUE(is_there(99, budgets));
  const auto refused = ledger->reserve(charge, budgets, 101, kNoon);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("'one'"), std::string::npos);
}

TEST_P(LedgerAhead, AreAPartOfWhatIsLeftAndNoneWhereThisIsLittle) {
  budgets[0].cap = 96 * kAheadShare + 10 * 96;
  for (int i = 0; i < 40; ++i) {
    spend(1, 96, 96);
    const BudgetState own = *ledger->state(budgets[0], kNoon);
    const Nanos all = ahead();
    EXPECT_LE(all, (budgets[0].cap - own.used) / kAheadShare);
    EXPECT_TRUE(i < 2 || i >= 10 || all > 0) << i;
    EXPECT_TRUE(i < 10 || all == 0) << i;
  }
}

TEST_P(LedgerAhead, AreGivenBackBeforeARequestIsRefused) {
  budgets[0].cap = 100'000;
  const Nanos used = spend(20, 100, 7);
  const Nanos before = ahead();
  ASSERT_GT(before, 100);
  const Nanos left = budgets[0].cap - used;
  EXPECT_FALSE(refusal(*ledger, charge, budgets, left, kNoon));
  EXPECT_TRUE(refusal(*ledger, charge, budgets, left + 1, kNoon));
  EXPECT_FALSE(ledger->reserve(charge, budgets, left + 1, kNoon));
  EXPECT_EQ(ahead(), before);  // it would not fit in any case
  reserve(left);
  EXPECT_EQ(in_store(budgets[0]).reserved, left);
}

// Some are made ahead until little is left; then each one is exact. The sum is never too large, and
// nothing is refused that fits.
TEST_P(LedgerAhead, ManyThreadsFillACapAndNeverPassIt) {
  budgets[0].cap = 60'000;
  const Charge other{.provider = "q", .model = "m"};
  budgets.push_back({.name = "p", .scope = BudgetScope::kProvider, .subject = "p", .cap = 40'000});
  std::atomic<std::int64_t> held = 0, spent = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 64; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 150; ++i) {
        const Nanos amount = 6 + static_cast<Nanos>(splitmix64(t, i) % 3);
        auto one = ledger->reserve(t % 2 == 0 ? charge : other, budgets, amount, kNoon);
        if (!one) continue;
        ASSERT_LE(held.fetch_add(amount) + amount + spent, budgets[0].cap);
        held -= amount;
        spent += amount;
        ledger->settle(*std::move(one), {.cost = amount});
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  const auto state = ledger->state(budgets[0], kNoon);
  EXPECT_EQ(state->used, spent);
  EXPECT_EQ(state->reserved, 0);
  EXPECT_LE(ledger->state(budgets[1], kNoon)->used, budgets[1].cap);
  EXPECT_GT(state->used, budgets[0].cap - 6);
  EXPECT_EQ(ahead(), 0);
}

// A process that ends without settling what it holds: 3 requests, and those that nobody took.
TEST_P(LedgerAhead, ACrashCountsEachOneInFull) {
  ledger = nullptr;
  Nanos open_ones = 0;
  int pipe[2] = {};
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ledger = place.open();
    spend(20, 104, 7);
    for (int i = 0; i < 3; ++i)
      reserve(104);
    static_cast<void>(ledger->flush());
    open_ones = in_store(budgets[0]).reserved;
    _exit(::write(pipe[1], &open_ones, sizeof open_ones) == sizeof open_ones ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(::read(pipe[0], &open_ones, sizeof open_ones), ssize_t{sizeof open_ones});
  ::close(pipe[0]);
  ::close(pipe[1]);
  ::usleep(static_cast<useconds_t>(1200 * place.lease_ms()));
  ASSERT_GE(open_ones, 3 * 104);
  ASSERT_EQ(open_ones % 104, 0);
  ledger = open();
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->used, 20 * 7 + open_ones);
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->reserved, 0);
  const auto rows = ledger->usage(0, false);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->at(0).requests, 20 + open_ones / 104);
  EXPECT_EQ(rows->at(0).failed, open_ones / 104);
  EXPECT_EQ(rows->at(0).estimated, open_ones / 104);
}

// The rows themselves, in SQLite.
class LedgerAheadRows : public LedgerAhead {
 protected:
  // The first number of the first row.
  std::int64_t ask_store(const char* sql) const {
    sqlite3* handle = nullptr;
    sqlite3_open(place.options().path.c_str(), &handle);
    const Database database(handle);
    sqlite3_busy_timeout(handle, 10'000);
    Statement statement(handle, sql);
    const auto row = statement.step();
    EXPECT_TRUE(row) << to_string(row.error());
    const std::int64_t number = row && *row ? statement.integer(0) : 0;
    statement.reset();
    return number;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, LedgerAheadRows, testing::Values(test::kSqlite), test::store_name);

TEST_P(LedgerAheadRows, ThoseOfOneSecondShareARow) {
  while (ahead() < 3 * 104)  // until it has been counted how many come
    spend(10, 100, 7);
  {
    const auto lock = place.lock();  // nothing is written meanwhile, but what has begun
    std::vector<Reservation> held;
    while (const auto one =
               ledger->ask(charge, budgets, 100, kNoon, std::make_shared<Wake>())->take()) {
      held.push_back(**one);
    }
    ASSERT_GE(held.size(), 3U);
    for (Reservation& one : held)
      ledger->settle(std::move(one), {.cost = 7, .usage = {.prompt_tokens = 5}});
  }
  ASSERT_TRUE(ledger->flush());
  EXPECT_GE(ask_store("SELECT MAX(requests) FROM entry WHERE state = 1 AND prompt > 0"), 2);
  EXPECT_EQ(ask_store("SELECT SUM(cost != 7 * requests) FROM entry WHERE state = 1"), 0);
  EXPECT_EQ(ask_store("SELECT SUM(prompt != 5 * requests) FROM entry WHERE prompt > 0"), 0);
  EXPECT_EQ(ask_store("SELECT COUNT(*) FROM entry WHERE state = 0"), 1);
  ledger = nullptr;
  EXPECT_EQ(ask_store("SELECT COUNT(*) FROM entry WHERE state = 0"), 0);
}

// As another process does whose lease this one's has outlived: what is told here comes too late.
TEST_P(LedgerAheadRows, ARowThatWasCountedInFullIsNotChanged) {
  Nanos before = spend(20, 100, 7);
  Reservation late = reserve(100);
  for (; !late.is_share; late = reserve(100), before += 7)
    ledger->settle(std::move(late), {.cost = 7});
  ASSERT_GT(ahead(), 0);
  const Nanos lost = in_store(budgets[0]).reserved;
  ask_store("UPDATE entry SET state = 2, cost = reserved WHERE state = 0");
  ask_store("UPDATE counter SET used = used + reserved, reserved = 0");
  ledger->settle(std::move(late), {.cost = 9});
  ASSERT_TRUE(ledger->flush());
  EXPECT_EQ(in_store(budgets[0]).used, before + lost);
  const Nanos n_lost = lost / 104 - 1;  // those that are left of the row
  for (int i = 0; i < 200; ++i)
    ledger->settle(reserve(100), {.cost = 9});
  ASSERT_TRUE(ledger->flush());
  const Nanos used = in_store(budgets[0]).used;
  EXPECT_GE(used, before + lost + (200 - n_lost) * 9);
  EXPECT_LE(used, before + lost + 200 * 9);
  ledger = nullptr;
  EXPECT_EQ(in_store(budgets[0]).used, used);
  EXPECT_EQ(in_store(budgets[0]).reserved, 0);
  EXPECT_EQ(ask_store("SELECT cost FROM entry WHERE state = 2"), lost);
}

TEST_P(LedgerAhead, OneThatIsLeftCostsNothing) {
  spend(20, 100, 7);
  for (int i = 0; i < 20; ++i)
    ledger->ask(charge, budgets, 100, kNoon, std::make_shared<Wake>());
  ledger = nullptr;
  EXPECT_EQ(in_store(budgets[0]).used, 20 * 7);
  EXPECT_EQ(in_store(budgets[0]).reserved, 0);
}

}  // namespace

}  // namespace wick::route
