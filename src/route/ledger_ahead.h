// Reservations made ahead. Where requests of one kind come often, the ledger keeps some that are on
// the disk before their requests come, so that these wait for no commit. They are shares of a row
// of the store, which is reserved like all others: with the amount and the number of those that are
// not settled. take(), is_due() and due(): any thread; the rest belongs to the thread that writes
// the ledger, under the mutex of its store.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "route/ledger_counters.h"

namespace wick::route {

// At once, in all. All of them together are at most this part of what is left of each budget.
constexpr std::int64_t kMostAhead = 1024;
constexpr Nanos kAheadShare = 64;
// One that nobody took for so long is given back.
constexpr int kMostAheadSeconds = 5;

class ReservationsAhead {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ReservationsAhead();
  ~ReservationsAhead();

  struct Taken {
    std::optional<Reservation> held = {};
    bool calls_writer = false;  // update() is due now, and was not before
  };

  // A reservation for such a request, of its UTC day and its buckets, if one is there.
  Taken take(const Charge& charge, std::span<const Budget> budgets, Nanos amount,
             std::int64_t unix_s);

  // update() has something to write: many were taken, or some are to be given back. It will have at
  // due() in any case; far away if nothing is there.
  bool is_due() const;
  Time due() const;

  // Within a transaction. give_back() takes from the store all that nobody has taken; update()
  // those that are old or more than their share, and makes others. settle() replaces such
  // reservations, of one row and second, by what they cost.
  Result<void> give_back(LedgerStore& store, Counters& counters);
  Result<void> settle(const Reservation& held, const EntrySums& end, LedgerStore& store,
                      Counters& counters);
  Result<void> update(LedgerStore& store, Counters& counters);  // the last one of a transaction
  // After each transaction with one of them. If it was not committed, nothing of it happened.
  void end(bool is_committed) noexcept;

  // What they hold of a budget, as the store's sums have it.
  Nanos held(const std::string& budget, const Buckets& buckets) const;

  // From now on none is made or taken; the next update() gives all back.
  void close();

 private:
  struct Kind;  // of requests that differ in nothing that a reservation tells
  struct Plan;

  struct Wish {  // what a reservation tells
    Charge charge = {};
    std::vector<Budget> budgets = {};
    Nanos amount = 0;
  };

  struct Row {  // of the store
    std::shared_ptr<const Origin> origin = {};
    Nanos amount = 0;         // of a share
    std::int64_t open = 0;    // shares that the store has as reserved
    std::int64_t change = 0;  // by the transaction under way
  };

  struct Shares {
    std::int64_t row = 0, n = 0;
    Time made = {};
  };

  struct Made {
    std::uint64_t kind = 0;  // Kind::serial
    Shares shares;
  };

  Kind* find(const Charge& charge, std::span<const Budget> budgets, Nanos amount, Time now);
  void move_to(Kind& kind, std::int64_t unix_s);
  void retire(Kind& kind, std::int64_t n);  // the oldest `n`
  void retire_old(Kind& kind, Time now);
  std::vector<Plan> plans(Time now);
  Result<bool> change(std::int64_t row, std::int64_t n, Nanos amount, LedgerStore& store);
  Result<void> remove(LedgerStore& store, Counters& counters);
  Result<void> remove_empty_rows(LedgerStore& store);
  Result<std::int64_t> most(const Plan& plan, Counters& counters) const;
  Result<void> fill(const Plan& plan, LedgerStore& store, Counters& counters);
  Result<std::int64_t> add(const Plan& plan, std::int64_t n, LedgerStore& store);
  std::int64_t count() const;

  mutable std::mutex mutex_;  // the last one taken; never during a call of the store
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::map<std::int64_t, Row> rows_ = {};
  std::vector<Shares> old_ = {};  // to be given back
  std::uint64_t n_serials_ = 0;
  bool is_low_ = false;
  bool is_closed_ = false;
  // Of the transaction under way: what it makes, and what it takes from the store.
  std::vector<Made> made_ = {};
  std::vector<Shares> leaving_ = {};
};

}  // namespace wick::route
