// Reservations made ahead. Where requests of one kind come often, the ledger keeps some that are on
// the disk before their requests come, so that these wait for no commit. Nobody has taken them yet;
// in the store they look like all others. take(), is_due() and due(): any thread; the rest belongs
// to the thread that writes the ledger, under the mutex of its store.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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
constexpr int kMostAhead = 256;
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
  // those that are old or more than their share, and makes others.
  Result<void> give_back(LedgerStore& store, Counters& counters);
  Result<void> update(LedgerStore& store, Counters& counters);
  // After each transaction with one of the two. If it was not committed, nothing of it happened.
  void end(bool is_committed) noexcept;

  // What they hold of a budget, as the store's sums have it.
  Nanos held(const std::string& budget, const Buckets& buckets) const;

  // From now on none is made or taken; the next update() gives all back.
  void close();

 private:
  struct Kind;  // of requests that differ in nothing that a reservation tells
  struct Plan;

  struct One {
    std::int64_t id = 0;
    std::int64_t unix_s = 0;
    Time made = {};
  };

  struct Old {  // to be given back
    std::int64_t id = 0;
    Nanos amount = 0;
    std::string marks = {};
  };

  struct Made {
    std::uint64_t kind = 0;  // Kind::serial
    One one;
    Old old;  // what it is if its kind is no more
  };

  Kind* find(const Charge& charge, std::span<const Budget> budgets, Nanos amount, Time now);
  void move_to(Kind& kind, std::int64_t unix_s);
  void retire(Kind& kind, std::size_t n);  // the oldest `n`
  void retire_old(Kind& kind, Time now);
  std::vector<Plan> plans(Time now);
  Result<void> remove(LedgerStore& store, Counters& counters);
  Result<int> most(const Plan& plan, Counters& counters) const;
  Result<void> fill(const Plan& plan, LedgerStore& store, Counters& counters);
  int count() const;

  mutable std::mutex mutex_;  // the last one taken; never during a call of the store
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::vector<Old> old_ = {};
  std::uint64_t n_serials_ = 0;
  bool is_low_ = false;
  bool is_closed_ = false;
  // Of the transaction under way: what it makes, and what it takes from the store.
  std::vector<Made> made_ = {};
  std::vector<Old> leaving_ = {};
};

}  // namespace wick::route
