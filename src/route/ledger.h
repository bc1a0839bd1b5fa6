// The ledger: what was reserved and what was spent, in a SQLite file or in PostgreSQL. A
// reservation is on the disk before its request is sent, so that a crash loses no spending. Callers
// that come at once share one commit. Several processes may use one ledger. Any thread.
//
//   WICK_TRY(const auto ledger, Ledger::open({.path = "usage.db"}));
//   WICK_TRY(Reservation held, ledger->reserve(charge, budgets, 1200, now));
//   ledger->settle(std::move(held), {.cost = 700, .usage = usage});  // written within 20 ms; what
//                                                                    // costs nothing within 1 s
//
// Where such requests come often, some reservations are committed before they come, so that these
// need not wait for a commit (ledger_ahead.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/wake.h"
#include "route/budget.h"
#include "wick/usage.h"

namespace wick::route {

struct LedgerOptions {
  std::string path = {};   // ":memory:" for one that is not kept, "postgresql://…" (libpq's URI)
  bool is_durable = true;  // false: an fsync less, for tests and simulations
  bool writes_at_once = false;  // settle() returns when it is written; no thread is started
  // Within this time requests that cost nothing are written, sooner if they are many. A crash loses
  // their rows, and no money.
  std::int64_t free_ms = 1000;
  // In PostgreSQL a process is gone if it has not renewed its reservations for as long.
  std::int64_t lease_ms = 60'000;
  // A store that cannot be opened is no error of open(): the ledger's thread tries it again, after
  // this time and then less often, and until then reserve() says why. Not with writes_at_once.
  bool may_be_away = false;
  std::int64_t retry_ms = 1000;
};

struct Origin {  // of the requests of a reservation
  Charge charge = {};
  std::string marks = {};  // the counters that hold it
};

std::shared_ptr<const Origin> origin_of(Charge charge, std::string marks = {});

struct Reservation {
  std::int64_t id = 0;  // 0: nothing is reserved, for a request that costs nothing
  std::int64_t unix_s = 0;
  Nanos amount = 0;
  Nanos spare = 0;  // reserved beyond it, since the reservation was made ahead (ledger_ahead.h)
  bool is_share = false;                           // of an entry for several
  std::shared_ptr<const Origin> origin = nullptr;  // null only in one that was moved away
};

struct Settlement {
  Nanos cost = 0;
  Usage usage = {};
  bool is_estimated = false;  // the provider told no usage
  bool has_failed = false;
};

struct UsageRow {
  std::string provider = {}, model = {}, day = {};  // "2026-11-23"; "" where it is not grouped
  std::string price = {};  // Charge::price; rows of two prices are not added
  std::int64_t requests = 0, failed = 0, estimated = 0;
  std::int64_t prompt_tokens = 0, cached_tokens = 0, generated_tokens = 0;
  Nanos cost = 0;
};

struct UsageFilter {  // "" = all
  std::string key = {}, tag = {};
};

struct BudgetState {
  Nanos used = 0, reserved = 0;
};

// A reservation that was asked for. One that nobody takes before this is destroyed costs nothing;
// to be destroyed before its ledger.
class AskedReservation {
 public:
  virtual ~AskedReservation() = default;
  virtual std::optional<Result<Reservation>> take() = 0;  // once; empty: not yet
};

class Ledger {
 public:
  // Reservations of processes that are gone are settled at their full amount.
  static Result<std::unique_ptr<Ledger>> open(const LedgerOptions& options);
  virtual ~Ledger() = default;  // writes what is settled

  // kUnavailable: "budget_exceeded", naming the budget; "ledger_unavailable" (disk full, damaged,
  // no server), and then nothing is reserved.
  virtual Result<Reservation> reserve(const Charge& charge, std::span<const Budget> budgets,
                                      Nanos amount, std::int64_t unix_s) = 0;
  // The same for a caller that does not wait: the ledger's thread commits it, with all others that
  // are asked for meanwhile, and sets `wake`. Where there is nothing to wait for, it is there.
  virtual std::unique_ptr<AskedReservation> ask(const Charge& charge,
                                                std::span<const Budget> budgets, Nanos amount,
                                                std::int64_t unix_s,
                                                std::shared_ptr<Wake> wake) = 0;
  // Of each reservation once. A write that fails is tried again with the next one; of requests that
  // cost nothing, so many wait at most, and later ones are not recorded.
  virtual void settle(Reservation&& held, const Settlement& settlement) = 0;

  virtual Result<void> flush() = 0;

  virtual Result<std::vector<UsageRow>> usage(std::int64_t since_unix_s, bool by_day,
                                              const UsageFilter& filter = {}) = 0;
  virtual Result<BudgetState> state(const Budget& budget, std::int64_t unix_s) = 0;
};

// The error of reserve() as things are now, if it would refuse.
std::optional<Error> refusal(Ledger& ledger, const Charge& charge, std::span<const Budget> budgets,
                             Nanos amount, std::int64_t unix_s);

}  // namespace wick::route
