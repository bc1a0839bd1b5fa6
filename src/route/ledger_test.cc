// The rules of the ledger, which hold in each store.
#include "route/ledger.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <new>
#include <thread>
#include <utility>

#include "route/ledger_places_test.h"
#include "route/ledger_store.h"
#include "route/sim_test.h"
#include "route/sqlite.h"

namespace wick::route {

namespace {

using test::kNoon;

Reservation free_one(Charge charge = {.provider = "free"}, std::int64_t unix_s = kNoon) {
  return {.unix_s = unix_s, .origin = origin_of(std::move(charge))};
}

class LedgerRules : public testing::TestWithParam<std::string> {
 protected:
  const test::LedgerPlace place{GetParam()};
};

TEST_P(LedgerRules, ReservesSettlesAndNeverPassesACap) {
  const auto ledger = place.open(true);
  const std::vector<Budget> budgets = {
      {.name = "day", .window = BudgetWindow::kDay, .cap = 100},
      {.name = "openai", .scope = BudgetScope::kProvider, .subject = "openai", .cap = 70}};
  const Charge openai{.provider = "openai", .model = "m"}, other{.provider = "groq"};
  auto first = ledger->reserve(openai, budgets, 60, kNoon);
  ASSERT_TRUE(first);
  EXPECT_EQ(ledger->reserve(openai, budgets, 20, kNoon).error().id, "budget_exceeded");
  ASSERT_TRUE(ledger->reserve(other, budgets, 40, kNoon));
  EXPECT_FALSE(ledger->reserve(other, budgets, 1, kNoon));
  ledger->settle(Reservation(*first), {.cost = 10, .usage = {.prompt_tokens = 3}});
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->used, 10);
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->reserved, 40);
  EXPECT_TRUE(ledger->reserve(openai, budgets, 50, kNoon));
  EXPECT_EQ(ledger->state(budgets[0], kNoon + 86'400)->used, 0);  // the next day
  ledger->settle(*std::move(first), {.cost = 99});                // twice is once
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->used, 10);
  const auto usage = ledger->usage(0, true);
  ASSERT_EQ(usage->size(), 1U);
  EXPECT_EQ(usage->at(0).cost, 10);
  EXPECT_EQ(usage->at(0).prompt_tokens, 3);
  auto alice = ledger->reserve({.provider = "groq", .key = "alice", .tag = "t"}, {}, 5, kNoon);
  ASSERT_TRUE(alice);
  ledger->settle(*std::move(alice), {.cost = 4});
  EXPECT_EQ(ledger->usage(0, false)->size(), 2U);
  for (const UsageFilter& of_alice : {UsageFilter{.key = "alice"}, UsageFilter{.tag = "t"}}) {
    const auto rows = ledger->usage(0, false, of_alice);
    ASSERT_EQ(rows->size(), 1U);
    EXPECT_EQ(rows->at(0).cost, 4);
  }
  EXPECT_TRUE(ledger->usage(0, false, {.key = "bob"})->empty());
}

TEST_P(LedgerRules, RowsTellThePriceAndThoseOfALedgerWithoutPricesStay) {
  const Charge old{.provider = "p", .model = "m"};
  const auto spend = [&](const Charge& charge) {
    const auto ledger = place.open(true);
    auto held = ledger->reserve(charge, {}, 60, kNoon);
    ASSERT_TRUE(held) << to_string(held.error());
    ledger->settle(*std::move(held), {.cost = 10});
  };
  spend(old);
  place.drop_newer();
  {
    const auto first = place.open(), second = place.open();
    ASSERT_EQ(first->usage(0, false)->size(), 1U);
    ASSERT_EQ(second->usage(0, false)->size(), 1U);
  }
  Charge priced = old;
  priced.price = "input 1 output 2 USD/M (config)";
  spend(priced);
  const auto rows = place.open()->usage(0, false);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ(rows->at(0).price, "");
  EXPECT_EQ(rows->at(1).price, priced.price);
  EXPECT_EQ(rows->at(0).cost, rows->at(1).cost);
}

TEST_P(LedgerRules, ManyThreadsNeverPassACap) {
  const auto ledger = place.open();
  const std::vector<Budget> budgets = {{.name = "all", .cap = 1000}};
  std::atomic<int> n_held = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        auto held = ledger->reserve({.provider = "p"}, budgets, 3, kNoon);
        if (!held) continue;
        n_held += 1;
        ledger->settle(*std::move(held), {.cost = 3});
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(n_held, 333);
  ASSERT_TRUE(ledger->flush());
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->used, 999);
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->reserved, 0);
}

// Reservations that are asked for and those that are waited for share one cap; those that nobody
// takes give theirs back.
TEST_P(LedgerRules, ReservationsThatAreAskedForNeverPassACap) {
  const auto ledger = place.open();
  const std::vector<Budget> budgets = {{.name = "all", .cap = 300}};
  std::atomic<int> n_held = 0;
  const auto work = [&](int t) {
    for (int i = 0; i < 60; ++i) {
      const auto wake = std::make_shared<Wake>();
      const auto asked = ledger->ask({.provider = "p"}, budgets, 3, kNoon, wake);
      if ((i + t) % 4 == 0) continue;
      std::optional<Result<Reservation>> held;
      for (std::uint32_t seen = wake->signal(); !(held = asked->take()); seen = wake->signal())
        wake->wait(seen);
      if (!*held) {
        EXPECT_EQ(held->error().id, "budget_exceeded");
        continue;
      }
      n_held += 1;
      ledger->settle(std::move(**held), {.cost = 3});
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back(work, t);
  for (std::thread& thread : threads)
    thread.join();
  while (auto last = ledger->reserve({.provider = "p"}, budgets, 3, kNoon)) {
    ledger->settle(*std::move(last), {.cost = 3});
    n_held += 1;
  }
  EXPECT_EQ(n_held, 100);
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->used, 300);
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->reserved, 0);
}

TEST_P(LedgerRules, RollingWindowsAddTheirBuckets) {
  const auto ledger = place.open();
  const std::vector<Budget> budgets = {
      {.name = "day", .window = BudgetWindow::kRolling, .rolling_s = 86'400, .cap = 100}};
  const Charge charge{.provider = "p"};
  ASSERT_TRUE(ledger->reserve(charge, budgets, 40, kNoon));
  ASSERT_TRUE(ledger->reserve(charge, budgets, 40, kNoon + 4 * 3600));
  EXPECT_FALSE(ledger->reserve(charge, budgets, 40, kNoon + 24 * 3600));
  EXPECT_TRUE(ledger->reserve(charge, budgets, 40, kNoon + 26 * 3600));
}

// Texts of clients go into the rows: no bytes of theirs may stop the others' writing.
TEST_P(LedgerRules, AnyBytesOfAClientAreWritten) {
  const auto ledger = place.open();
  const Charge hostile{.provider = "p", .key = std::string("a\0b", 3), .tag = "\xff'; DROP"};
  auto held = ledger->reserve(hostile, {}, 5, kNoon);
  ASSERT_TRUE(held) << to_string(held.error());
  ledger->settle(*std::move(held), {.cost = 4});
  ASSERT_TRUE(ledger->flush());
  EXPECT_EQ(ledger->usage(0, false)->at(0).cost, 4);
}

TEST_P(LedgerRules, TheNextOneReadsTheSameRows) {
  const std::vector<Budget> budgets = {{.name = "all", .cap = 100}};
  {
    const auto ledger = place.open();
    auto held = ledger->reserve({.provider = "p", .model = "m"}, budgets, 60, kNoon);
    ASSERT_TRUE(held);
    ledger->settle(*std::move(held), {.cost = 50, .usage = {.prompt_tokens = 7}});
  }
  const auto ledger = place.open();
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->used, 50);
  const auto rows = ledger->usage(kNoon, true);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->at(0).day, "2026-11-18");
  EXPECT_EQ(rows->at(0).prompt_tokens, 7);
  EXPECT_FALSE(ledger->reserve({.provider = "p"}, budgets, 51, kNoon));
}

INSTANTIATE_TEST_SUITE_P(Stores, LedgerRules, testing::ValuesIn(test::store_names()),
                         test::store_name);

// As on a full disk: writes fail for a while. What has cost something waits in any case, and what
// has not waits within a bound.
TEST(LedgerUnwritable, RowsOfRequestsThatCostNothingWaitWithinABound) {
  const wick::test::TempDir dir;
  const std::string path = (dir.path() / "usage.db").string();
  const auto ledger = *Ledger::open({.path = path, .is_durable = false});
  auto held = *ledger->reserve({.provider = "paid"}, {}, 5, kNoon);
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  const Database beside(handle);
  const auto execute = [&](const char* sql) {
    ASSERT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
  };
  execute("ALTER TABLE entry RENAME TO hidden");
  for (int i = 0; i < 50'000; ++i)
    ledger->settle(free_one({.provider = "free", .tag = std::to_string(i)}), {});
  ledger->settle(std::move(held), {.cost = 4});
  EXPECT_FALSE(ledger->flush());
  EXPECT_FALSE(ledger->reserve({.provider = "paid"}, {}, 5, kNoon));
  execute("ALTER TABLE hidden RENAME TO entry");
  ASSERT_TRUE(ledger->flush());
  const auto rows = ledger->usage(0, false);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_GE(rows->at(0).requests, 1000);
  EXPECT_LT(rows->at(0).requests, 20'000);  // twice the bound, where a write was under way
  EXPECT_EQ(rows->at(1).cost, 4);
}

TEST(LedgerThread, WritesWhatCostsNothingLaterOrWithOthersOrInLargeGroups) {
  const wick::test::TempDir dir;
  const std::string path = (dir.path() / "usage.db").string();
  const auto ledger = *Ledger::open({.path = path, .is_durable = false, .free_ms = 3'600'000});
  const auto other = *Ledger::open({.path = path, .is_durable = false});
  const auto n_written = [&] {
    const auto rows = other->usage(0, false);
    std::int64_t n = 0;
    for (const UsageRow& row : *rows)
      n += row.requests;
    return n;
  };
  const auto wait_for = [&](std::int64_t n) {
    for (int i = 0; i < 1000 && n_written() < n; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(n_written(), n);
  };
  const Reservation free = free_one();
  ledger->settle(Reservation(free), {});
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(n_written(), 0);
  auto held = *ledger->reserve({.provider = "paid"}, {}, 5, kNoon);  // takes it along
  wait_for(1);
  ledger->settle(Reservation(free), {});
  ledger->settle(std::move(held), {.cost = 4});
  wait_for(3);
  for (int i = 0; i < 1025; ++i)
    ledger->settle(free_one({.provider = "free"}, kNoon + i), {});
  wait_for(1028);
}

TEST(LedgerOpen, DropsTheIndexByTimeThatOlderOnesHave) {
  const wick::test::TempDir dir;
  const std::string path = (dir.path() / "usage.db").string();
  const auto open = [&] { return *Ledger::open({.path = path, .is_durable = false}); };
  open()->settle(free_one(), {});
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  const Database beside(handle);
  const char* const sql = "CREATE INDEX entry_at ON entry(at)";
  ASSERT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  const auto ledger = open();
  EXPECT_EQ(ledger->usage(kNoon, false)->size(), 1U);
  EXPECT_EQ(ledger->usage(kNoon + 1, false)->size(), 0U);
  Statement count(handle, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'entry_at'");
  ASSERT_TRUE(*count.step());
  EXPECT_EQ(count.integer(0), 0);
}

TEST(LedgerThread, WritesOneEntryForAllThatCostNothingInASecond) {
  const wick::test::TempDir dir;
  const std::string path = (dir.path() / "usage.db").string();
  const auto ledger = *Ledger::open({.path = path, .is_durable = false, .free_ms = 3'600'000});
  const Reservation first = free_one({.provider = "free", .model = "m"});
  const Reservation tagged = free_one({.provider = "free", .model = "m", .tag = "team"});
  Reservation later = first;
  later.unix_s += 1;
  const Usage usage{.prompt_tokens = 2'000'000'000, .cached_tokens = 3, .generated_tokens = 2};
  for (int i = 0; i < 1000; ++i) {
    ledger->settle(Reservation(first),
                   {.usage = usage, .is_estimated = i == 1, .has_failed = i < 4});
    ledger->settle(Reservation(tagged), {.usage = usage});
  }
  ledger->settle(std::move(later), {.usage = usage});
  const auto all = ledger->usage(0, false);
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ(all->at(0).requests, 2001);
  EXPECT_EQ(all->at(0).failed, 4);
  EXPECT_EQ(all->at(0).estimated, 1);
  EXPECT_EQ(all->at(0).prompt_tokens, 2001LL * 2'000'000'000);
  EXPECT_EQ(all->at(0).cached_tokens, 2001 * 3);
  EXPECT_EQ(all->at(0).generated_tokens, 2001 * 2);
  EXPECT_EQ(ledger->usage(kNoon + 1, false)->at(0).requests, 1);
  EXPECT_EQ(ledger->usage(0, false, {.tag = "team"})->at(0).requests, 1000);
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  const Database beside(handle);
  Statement count(handle, "SELECT COUNT(*) FROM entry");
  ASSERT_TRUE(*count.step());
  EXPECT_EQ(count.integer(0), 3);
}

TEST(LedgerOpen, NamesTheLibraryOrTheServerThatIsMissing) {
  const auto ledger = Ledger::open({.path = "postgresql:///x?host=/nowhere&password=secret"});
  ASSERT_FALSE(ledger);
  const std::string told = to_string(ledger.error());
  EXPECT_TRUE(ledger.error().id == "ledger_unavailable" || ledger.error().id == "no_libpq") << told;
  EXPECT_EQ(told.find("secret"), std::string::npos);
}

// A database of memory behind a server that can be down.
class ServerStore final : public LedgerStore {
 public:
  ServerStore(std::unique_ptr<LedgerStore> rows, const std::atomic<bool>& is_down,
              const std::atomic<bool>& is_full, const std::atomic<bool>& has_no_memory)
      : rows_(std::move(rows)),
        is_down_(is_down),
        is_full_(is_full),
        has_no_memory_(has_no_memory) {}

  Result<void> begin() override {
    if (!is_down_) return rows_->begin();
    return Error{.code = ErrorCode::kUnavailable, .id = "ledger_unavailable", .message = "down"};
  }

  Result<void> commit() override {
    if (!is_full_) return rows_->commit();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Error{.code = ErrorCode::kIo, .id = "ledger_unavailable", .message = "full"};
  }

  void rollback() override { rows_->rollback(); }

  Result<BudgetState> sum(const std::string& budget, const Buckets& buckets) override {
    return rows_->sum(budget, buckets);
  }

  Result<void> add(const std::string& budget, std::int64_t bucket,
                   const BudgetState& change) override {
    if (has_no_memory_) throw std::bad_alloc();
    return rows_->add(budget, bucket, change);
  }

  Result<std::int64_t> insert(const Reservation& held, EntryState state,
                              const EntrySums& end) override {
    return is_renewed_ ? rows_->insert(held, state, end)
                       : Error{.id = "bug", .message = "a row before the first renew()"};
  }

  Result<bool> settle(std::int64_t id, EntryState state, const EntrySums& end) override {
    return rows_->settle(id, state, end);
  }

  Result<bool> change(std::int64_t id, Nanos amount, std::int64_t requests) override {
    return rows_->change(id, amount, requests);
  }

  Result<bool> remove(std::int64_t id) override { return rows_->remove(id); }

  Result<void> renew() override {
    is_renewed_ = true;
    return rows_->renew();
  }

  std::chrono::milliseconds renewal() const noexcept override { return rows_->renewal(); }

  Result<std::vector<OpenEntry>> orphans() override { return rows_->orphans(); }

  Result<std::vector<UsageRow>> usage(std::int64_t since_unix_s, bool by_day,
                                      const UsageFilter& filter) override {
    return rows_->usage(since_unix_s, by_day, filter);
  }

 private:
  const std::unique_ptr<LedgerStore> rows_;
  const std::atomic<bool>&is_down_, &is_full_, &has_no_memory_;
  bool is_renewed_ = false;
};

class LateStore : public testing::Test {
 protected:
  LedgerOptions options{
      .path = ":memory:", .is_durable = false, .may_be_away = true, .retry_ms = 1};
  std::atomic<bool> is_down = true, is_gone = false;  // gone: it cannot even be opened
  std::atomic<bool> is_full = false;                  // nothing is committed
  std::atomic<bool> has_no_memory = false;            // std::bad_alloc within a transaction
  std::atomic<int> n_opened = 0;

  Result<std::unique_ptr<Ledger>> open() {
    return open_ledger_in(
        [this]() -> Result<std::unique_ptr<LedgerStore>> {
          n_opened += 1;
          if (is_gone)
            return Error{.code = ErrorCode::kIo, .id = "ledger_unavailable", .message = "gone"};
          WICK_TRY(auto rows, open_sqlite_store(options));
          return std::unique_ptr<LedgerStore>(
              std::make_unique<ServerStore>(std::move(rows), is_down, is_full, has_no_memory));
        },
        options);
  }

  // The disk is full every other 10 ms, for 400 ms.
  void fill_now_and_then() {
    for (int i = 0; i < 40; ++i) {
      is_full = i % 2 == 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
};

// While commits fail and others settle, no thread is told of a reservation that was rolled back.
TEST_F(LateStore, TellsOnlyOfWhatWasCommittedWhileTheDiskIsFullNowAndThen) {
  is_down = false;
  const auto ledger = *open();
  const std::vector<Budget> budgets = {{.name = "all", .cap = 1'000'000'000}};
  std::atomic<int> n_held = 0, n_refused = 0;
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      while (!is_over)
        ++(ledger->reserve({.provider = "p"}, budgets, 3, kNoon) ? n_held : n_refused);
    });
  }
  threads.emplace_back([&] {
    while (!is_over) {
      ledger->settle(free_one(), {});
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  fill_now_and_then();
  is_over = true;
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->reserved, 3 * n_held);
  EXPECT_GT(n_held, 0);
  EXPECT_GT(n_refused, 0);
}

TEST_F(LateStore, SettlesEachOnceWhileTheDiskIsFullNowAndThen) {
  is_down = false;
  const auto ledger = *open();
  const std::vector<Budget> budgets = {{.name = "all", .cap = 1'000'000'000}};
  std::atomic<int> n_held = 0, n_shares = 0;
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (!is_over) {
        auto held = ledger->reserve({.provider = "p"}, budgets, 90, kNoon);
        if (!held) continue;
        n_held += 1;
        n_shares += held->is_share;
        ledger->settle(*std::move(held), {.cost = 7});
      }
    });
  }
  fill_now_and_then();
  is_over = true;
  for (std::thread& thread : threads)
    thread.join();
  is_full = false;
  const auto state = ledger->state(budgets[0], kNoon);
  EXPECT_EQ(state->used, 7 * n_held);
  EXPECT_EQ(state->reserved, 0);
  EXPECT_EQ(ledger->usage(0, false)->at(0).requests, n_held);
  EXPECT_GT(n_shares, 0);
}

TEST_F(LateStore, WhatAFailedWriteGaveBackIsGivenBackByTheNext) {
  is_down = false;
  const auto ledger = *open();
  const std::vector<Budget> budgets = {{.name = "all", .cap = 100'000}};
  for (int i = 0; i < 4; ++i)
    ledger->settle(*ledger->reserve({.provider = "p"}, budgets, 100, kNoon), {.cost = 7});
  ASSERT_TRUE(ledger->flush());
  const Nanos all = 100'000 - 4 * 7;  // nothing fits beside it
  is_full = true;
  EXPECT_FALSE(ledger->reserve({.provider = "q"}, budgets, all, kNoon));
  is_full = false;
  EXPECT_TRUE(ledger->reserve({.provider = "q"}, budgets, all, kNoon));
}

TEST_F(LateStore, RowsThatComeWhileWritesFailStayWithinTheBound) {
  is_down = false;
  const auto ledger = *open();
  is_full = true;
  std::atomic<bool> is_over = false;
  std::thread client([&] {
    for (std::int64_t i = 0; !is_over; ++i)
      ledger->settle(free_one({.provider = "free"}, kNoon + i), {});
  });
  for (int n_failed = 0; n_failed < 10;)
    n_failed += !ledger->flush();
  is_over = true;
  client.join();
  is_full = false;
  ASSERT_TRUE(ledger->flush());
  const auto rows = ledger->usage(0, false);
  EXPECT_GT(rows->at(0).requests, 1000);
  EXPECT_LT(rows->at(0).requests, 20'000);  // twice the bound
}

TEST_F(LateStore, MemoryThatIsUsedUpIsAnErrorAndTheNextReservationIsWritten) {
  is_down = false;
  const auto ledger = *open();
  const std::vector<Budget> budgets = {{.name = "all", .cap = 9}};
  has_no_memory = true;
  const auto refused = ledger->reserve({.provider = "p"}, budgets, 5, kNoon);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "out_of_memory");
  has_no_memory = false;
  EXPECT_TRUE(ledger->reserve({.provider = "p"}, budgets, 5, kNoon));
  EXPECT_EQ(ledger->state(budgets[0], kNoon)->reserved, 5);
}

void reserve_until_held(Ledger& ledger, std::span<const Budget> budgets) {
  for (int n_tries = 1; !ledger.reserve({.provider = "p"}, budgets, 5, kNoon); ++n_tries) {
    ASSERT_LT(n_tries, 1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST_F(LateStore, IsTriedAgainUntilItIsThere) {
  const std::vector<Budget> budgets = {{.name = "all", .cap = 9}};
  const auto ledger = open();
  ASSERT_TRUE(ledger) << to_string(ledger.error());
  for (int i = 0; i < 3; ++i) {
    const auto refused = (*ledger)->reserve({.provider = "p"}, budgets, 5, kNoon);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "down");
  }
  EXPECT_TRUE((*ledger)->reserve({.provider = "free"}, budgets, 0, kNoon));
  (*ledger)->settle(free_one(), {});
  EXPECT_EQ((*ledger)->usage(0, false).error().message, "down");
  EXPECT_EQ((*ledger)->state(budgets[0], kNoon).error().message, "down");
  is_down = false;
  reserve_until_held(**ledger, budgets);
  EXPECT_EQ((*ledger)->reserve({.provider = "p"}, budgets, 5, kNoon).error().id, "budget_exceeded");
  ASSERT_TRUE((*ledger)->flush());
  EXPECT_EQ((*ledger)->usage(0, false)->at(0).provider, "free");  // what waited is written
  EXPECT_EQ(n_opened, 1);
}

TEST_F(LateStore, IsOpenedAgainUntilItOpens) {
  is_gone = true;
  is_down = false;
  const auto ledger = open();
  ASSERT_TRUE(ledger) << to_string(ledger.error());
  EXPECT_EQ((*ledger)->reserve({.provider = "p"}, {}, 5, kNoon).error().message, "gone");
  is_gone = false;
  reserve_until_held(**ledger, {});
}

TEST_F(LateStore, ThatNeverComesKeepsNobodyWaiting) {
  options.retry_ms = 3'600'000;
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto ledger = open();
    ASSERT_TRUE(ledger);
    EXPECT_FALSE((*ledger)->reserve({.provider = "p"}, {}, 5, kNoon));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
}

TEST_F(LateStore, IsAnErrorWhereItMayNotBeAway) {
  options.may_be_away = false;
  EXPECT_EQ(open().error().message, "down");
  options.may_be_away = options.writes_at_once = true;  // no thread would try it again
  EXPECT_EQ(open().error().message, "down");
}

// What only a shared server has: leases and sessions. With WICK_TEST_POSTGRES alone.
class LedgerLease : public testing::TestWithParam<std::string> {
 protected:
  const test::LedgerPlace place{GetParam()};
  const std::vector<Budget> budgets = {{.name = "all", .cap = 100}};
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LedgerLease);

std::vector<std::string> servers() {
  std::vector<std::string> names = test::store_names();
  names.erase(names.begin());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Servers, LedgerLease, testing::ValuesIn(servers()), test::store_name);

TEST_P(LedgerLease, IsRenewedWhileItsProcessLives) {
  LedgerOptions options = place.options();
  options.lease_ms = 1000;  // also on a busy machine it is renewed in time
  const auto ledger = *Ledger::open(options), other = *Ledger::open(options);
  ASSERT_TRUE(ledger->reserve({.provider = "p"}, budgets, 60, kNoon));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_EQ(other->state(budgets[0], kNoon)->reserved, 60);
}

TEST_P(LedgerLease, CountsInFullWhenItEnds) {
  const auto silent = place.open(true);  // without the thread that renews
  auto held = silent->reserve({.provider = "p"}, budgets, 60, kNoon);
  ASSERT_TRUE(held);
  std::this_thread::sleep_for(std::chrono::milliseconds(2 * place.lease_ms()));
  const auto other = place.open();
  EXPECT_EQ(other->state(budgets[0], kNoon)->used, 60);
  EXPECT_EQ(other->state(budgets[0], kNoon)->reserved, 0);
  // Too late: it is not known what else this process did.
  silent->settle(*std::move(held), {.cost = 1});
  EXPECT_EQ(other->state(budgets[0], kNoon)->used, 60);
}

// It took its own reservations for lost, and counted them in full (seen on a busy machine).
TEST_P(LedgerLease, HoldsForAProcessWhoseRenewalTakesLongerThanIt) {
  const auto ledger = place.open();
  ASSERT_TRUE(ledger->reserve({.provider = "p"}, budgets, 60, kNoon));
  place.slow_renewals(0.001 * static_cast<double>(2 * place.lease_ms()));
  std::this_thread::sleep_for(std::chrono::milliseconds(10 * place.lease_ms()));
  const auto state = ledger->state(budgets[0], kNoon);
  ASSERT_TRUE(state) << to_string(state.error());
  EXPECT_EQ(state->reserved, 60);
  EXPECT_EQ(state->used, 0);
}

// Another process has counted its reservations ahead in full, so it must not give them back, too.
TEST_P(LedgerLease, WhatWasCountedInFullIsNotGivenBack) {
  const auto late = place.open();
  for (int i = 0; i < 4; ++i)
    late->settle(*late->reserve({.provider = "p"}, budgets, 1, kNoon), {});
  ASSERT_TRUE(late->flush());
  place.slow_renewals(0.001 * static_cast<double>(2 * place.lease_ms()));
  std::this_thread::sleep_for(std::chrono::milliseconds(2 * place.lease_ms()));
  const Nanos lost = place.open()->state(budgets[0], kNoon)->used;
  ASSERT_GT(lost, 0);
  EXPECT_FALSE(late->reserve({.provider = "q"}, budgets, 100 - lost + 1, kNoon));
  EXPECT_TRUE(late->reserve({.provider = "q"}, budgets, 100 - lost, kNoon));
}

// Its socket is in another folder at first, as if the server had not begun to listen.
TEST_P(LedgerLease, AServerThatIsDownAtFirstIsTriedAgain) {
  const wick::test::TempDir dir;
  LedgerOptions options = place.options();
  const std::size_t at = options.path.find("host=") + 5;
  const std::size_t end = std::min(options.path.find('&', at), options.path.size());
  const std::filesystem::path folder = options.path.substr(at, end - at);
  ASSERT_TRUE(folder.is_absolute()) << options.path;
  options.path.replace(at, end - at, (dir.path() / "later").string());
  options.may_be_away = true;
  options.lease_ms = 10'000;  // also on a busy machine it is renewed in time
  const auto ledger = Ledger::open(options);
  ASSERT_TRUE(ledger) << to_string(ledger.error());
  const auto refused = (*ledger)->reserve({.provider = "p"}, budgets, 60, kNoon);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "ledger_unavailable");
  EXPECT_NE(refused.error().message.find((dir.path() / "later").string()), std::string::npos);
  EXPECT_NE(refused.error().hint.find("start PostgreSQL"), std::string::npos);
  std::filesystem::create_directory_symlink(folder, dir.path() / "later");
  reserve_until_held(**ledger, budgets);
  const auto other = place.open();
  EXPECT_EQ(other->state(budgets[0], kNoon)->reserved, 5);  // the lease holds
}

TEST_P(LedgerLease, ASessionThatEndsIsMadeAnew) {
  const auto ledger = place.open();
  auto held = ledger->reserve({.provider = "p"}, budgets, 10, kNoon);
  ASSERT_TRUE(held);
  place.execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid !="
      " pg_backend_pid() AND backend_type = 'client backend'");
  ledger->settle(*std::move(held), {.cost = 9});
  int n_refused = 0;
  while (!ledger->reserve({.provider = "p"}, budgets, 10, kNoon)) {
    ASSERT_LT(++n_refused, 100);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const auto state = ledger->state(budgets[0], kNoon);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->used + state->reserved, 19);
}

}  // namespace

}  // namespace wick::route
