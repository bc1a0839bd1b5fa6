// Where a ledger keeps its rows: the counters of budgets, and an entry for each request. The ledger
// decides what is reserved (ledger.cc); a store only reads and writes, within one transaction that
// no other process's can overlap. A new kind of store is one file and one row of kLedgerStores.
// One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "route/ledger.h"

namespace wick::route {

// States of an entry: reserved, settled, and settled at its full amount after its process was gone.
enum class EntryState : std::uint8_t { kReserved = 0, kSettled = 1, kLost = 2 };

// What an entry says of the end: of one request, or of several that cost nothing.
struct EntrySums {
  std::int64_t requests = 1;
  Nanos cost = 0;
  std::int64_t prompt_tokens = 0, cached_tokens = 0, generated_tokens = 0;
  std::int64_t estimated = 0, failed = 0;  // of the requests

  static EntrySums of(const Settlement& end) noexcept;
  void add(const EntrySums& more) noexcept;
};

struct OpenEntry {  // is reserved
  std::int64_t id = 0;
  std::int64_t requests = 1;
  Nanos reserved = 0;
  std::string marks = {};
};

class LedgerStore {
 public:
  virtual ~LedgerStore() = default;

  // Until commit() or rollback() no other process begins a transaction. What commit() wrote
  // survives a crash of this process, and of the machine if the store is durable.
  // After a begin() that failed, rollback() ends what it may have begun.
  virtual Result<void> begin() = 0;
  virtual Result<void> commit() = 0;
  virtual void rollback() = 0;

  // The sums of the budget's counters in these buckets. Also outside of a transaction.
  virtual Result<BudgetState> sum(const std::string& budget, const Buckets& buckets) = 0;
  // Adds to a counter, which is made if it is not there.
  virtual Result<void> add(const std::string& budget, std::int64_t bucket,
                           const BudgetState& change) = 0;

  // A new entry of this process; its id. A reservation without an amount is settled at once.
  virtual Result<std::int64_t> insert(const Reservation& held, EntryState state,
                                      const EntrySums& end) = 0;
  // False if it was settled before.
  virtual Result<bool> settle(std::int64_t id, EntryState state, const EntrySums& end) = 0;
  // Adds to a reservation; false if it was settled before.
  virtual Result<bool> change(std::int64_t id, Nanos amount, std::int64_t requests) = 0;
  // Deletes an entry of this process that is reserved; false if it is not there.
  virtual Result<bool> remove(std::int64_t id) = 0;

  // Tells the other processes that this one is alive; to be called every `renewal()`, if that is
  // not 0. In a transaction.
  virtual Result<void> renew() = 0;
  virtual std::chrono::milliseconds renewal() const noexcept = 0;
  // Some entries that are reserved by processes that are gone; empty = there is none. In a
  // transaction.
  virtual Result<std::vector<OpenEntry>> orphans() = 0;

  virtual Result<std::vector<UsageRow>> usage(std::int64_t since_unix_s, bool by_day,
                                              const UsageFilter& filter) = 0;
};

struct LedgerStoreKind {
  std::string_view scheme;  // the beginning of LedgerOptions::path; "" = a file
  Result<std::unique_ptr<LedgerStore>> (*open)(const LedgerOptions& options);
};

// The first row whose scheme fits is taken.
std::span<const LedgerStoreKind> ledger_stores() noexcept;

Result<std::unique_ptr<LedgerStore>> open_sqlite_store(const LedgerOptions& options);
Result<std::unique_ptr<LedgerStore>> open_postgres_store(const LedgerOptions& options);

using OpenLedgerStore = std::function<Result<std::unique_ptr<LedgerStore>>()>;

// A ledger whose store is opened by `open`, again while it fails.
Result<std::unique_ptr<Ledger>> open_ledger_in(OpenLedgerStore open, const LedgerOptions& options);

// "4711:88123": this process and when it began, so that an id that is used again is another.
std::string process_mark(int pid);

}  // namespace wick::route
