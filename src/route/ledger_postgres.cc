// The ledger in PostgreSQL, for several machines with the same budgets. An advisory lock of the
// database lets one transaction write at a time, so none can read a counter between another's read
// and write of it. A reservation is a lease: its process renews a row of wick_owner, and what it
// has reserved counts in full once that row has expired.
#include <unistd.h>

#include <random>

#include "base/strings.h"
#include "route/ledger_store.h"
#include "route/libpq.h"

namespace wick::route {

namespace {

constexpr int kRenewalsPerLease = 6;

// A process that hangs within a transaction loses its session, and with it the lock.
constexpr const char* kSetup =
    "SET lock_timeout = '10s'; SET statement_timeout = '20s';"
    " SET idle_in_transaction_session_timeout = '10s'; SET client_encoding = 'UTF8';"
    " SET default_transaction_isolation = 'read committed';";
constexpr const char* kNotDurable = " SET synchronous_commit = off;";
constexpr const char* kDurable =  // stronger settings stay
    " SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') IN ('off', 'local');";
// A role that may not create tables can use those that are there. Tables of before 2026-11-26 lack
// some columns.
constexpr const char* kTables = R"(DO $$ BEGIN
PERFORM pg_advisory_xact_lock(5293911);
IF to_regclass('wick_owner') IS NULL THEN
CREATE TABLE wick_entry(
  id BIGSERIAL PRIMARY KEY, owner TEXT NOT NULL, at BIGINT NOT NULL, provider TEXT NOT NULL,
  model TEXT NOT NULL, key TEXT NOT NULL, tag TEXT NOT NULL, marks TEXT NOT NULL,
  state SMALLINT NOT NULL, reserved BIGINT NOT NULL, cost BIGINT NOT NULL, prompt BIGINT NOT NULL,
  cached BIGINT NOT NULL, generated BIGINT NOT NULL, estimated BIGINT NOT NULL,
  failed BIGINT NOT NULL);
CREATE INDEX wick_entry_open ON wick_entry(owner) WHERE state = 0;
CREATE INDEX wick_entry_at ON wick_entry(at);
CREATE TABLE wick_counter(
  budget TEXT NOT NULL, bucket BIGINT NOT NULL, used BIGINT NOT NULL, reserved BIGINT NOT NULL,
  PRIMARY KEY(budget, bucket));
CREATE TABLE wick_owner(owner TEXT PRIMARY KEY, expires TIMESTAMPTZ NOT NULL);
END IF;
IF NOT EXISTS(SELECT 1 FROM pg_attribute WHERE attrelid = 'wick_entry'::regclass
  AND attname = 'price' AND NOT attisdropped) THEN
ALTER TABLE wick_entry ADD COLUMN price TEXT NOT NULL DEFAULT '';
END IF;
IF NOT EXISTS(SELECT 1 FROM pg_attribute WHERE attrelid = 'wick_entry'::regclass
  AND attname = 'requests' AND NOT attisdropped) THEN
ALTER TABLE wick_entry ADD COLUMN requests BIGINT NOT NULL DEFAULT 1;
END IF; END $$;)";

constexpr PqStatement kSum{"wick_sum",
                           "SELECT COALESCE(SUM(used), 0)::BIGINT,"
                           " COALESCE(SUM(reserved), 0)::BIGINT FROM wick_counter"
                           " WHERE budget = $1 AND bucket BETWEEN $2 AND $3"};
constexpr PqStatement kAdd{"wick_add",
                           "INSERT INTO wick_counter AS c VALUES($1, $2, $3, $4)"
                           " ON CONFLICT(budget, bucket) DO UPDATE"
                           " SET used = c.used + $3, reserved = c.reserved + $4"};
constexpr PqStatement kInsert{
    "wick_insert",
    "INSERT INTO wick_entry(owner, at, provider, model, key, tag, marks, state, reserved, cost,"
    " prompt, cached, generated, estimated, failed, price, requests) VALUES($1, $2, $3, $4, $5, $6,"
    " $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) RETURNING id"};
constexpr PqStatement kSettle{
    "wick_settle",
    "UPDATE wick_entry SET state = $2, cost = $3, prompt = $4, cached = $5, generated = $6,"
    " estimated = $7, failed = $8 WHERE id = $1 AND state = 0"};
constexpr PqStatement kChange{
    "wick_change",
    "UPDATE wick_entry SET reserved = reserved + $2, requests = requests + $3"
    " WHERE id = $1 AND state = 0"};
constexpr PqStatement kRemove{"wick_remove",
                              "DELETE FROM wick_entry WHERE id = $1 AND owner = $2 AND state = 0"};
constexpr PqStatement kRenew{
    "wick_renew",
    "INSERT INTO wick_owner VALUES($1, clock_timestamp() + $2 * INTERVAL '1 millisecond')"
    " ON CONFLICT(owner) DO UPDATE SET expires = EXCLUDED.expires"};
constexpr PqStatement kForget{"wick_forget",
                              "DELETE FROM wick_owner WHERE expires < clock_timestamp()"};
constexpr PqStatement kEnd{"wick_end", "DELETE FROM wick_owner WHERE owner = $1"};
constexpr PqStatement kOrphans{
    "wick_orphans",
    // This process lives, however long its own transaction took.
    "SELECT id, reserved, marks, requests FROM wick_entry e WHERE state = 0 AND owner <> $1"
    " AND NOT EXISTS (SELECT 1 FROM wick_owner o WHERE o.owner = e.owner AND o.expires > "
    "clock_timestamp())"
    " LIMIT 1000"};
constexpr PqStatement kUsage{
    "wick_usage",
    "SELECT provider, model, CASE WHEN $2 = 1 THEN"
    " to_char(to_timestamp(at) AT TIME ZONE 'UTC', 'YYYY-MM-DD') ELSE '' END d, SUM(requests),"
    " SUM(failed), SUM(estimated), SUM(prompt), SUM(cached), SUM(generated), SUM(cost),"
    " price"
    " FROM wick_entry WHERE at >= $1 AND state != 0 AND ($3 = '' OR key = $3)"
    " AND ($4 = '' OR tag = $4) GROUP BY d, provider, model, price"
    " ORDER BY d, provider, model, price"};
constexpr PqStatement kStatements[] = {kSum,   kAdd,    kInsert, kSettle,  kChange, kRemove,
                                       kRenew, kForget, kEnd,    kOrphans, kUsage};

std::string unique_mark() {
  std::random_device random;
  return cat(process_mark(::getpid()), ":", random(), ":", random());
}

class PostgresStore final : public LedgerStore {
 public:
  explicit PostgresStore(const LedgerOptions& options)
      : lease_ms_(options.lease_ms),
        owner_(unique_mark()),
        session_(options.path, cat(kSetup, options.is_durable ? kDurable : kNotDurable, kTables),
                 kStatements) {}

  ~PostgresStore() override {  // who cannot say so is gone when its lease ends
    if (is_owner_ && session_.connect()) static_cast<void>(session_.run(kEnd, {owner_}));
  }

  Result<void> begin() override {
    WICK_DO(session_.connect());
    return session_.execute("BEGIN; SELECT pg_advisory_xact_lock(5293911)");
  }

  Result<void> commit() override { return session_.execute("COMMIT"); }

  void rollback() override {
    if (session_.is_open()) static_cast<void>(session_.execute("ROLLBACK"));
  }

  Result<BudgetState> sum(const std::string& budget, const Buckets& buckets) override {
    WICK_DO(session_.connect());
    WICK_TRY(const PqRows rows, session_.run(kSum, {budget, buckets.first, buckets.current}));
    return BudgetState{.used = rows.integer(0, 0), .reserved = rows.integer(0, 1)};
  }

  Result<void> add(const std::string& budget, std::int64_t bucket,
                   const BudgetState& change) override {
    return done(session_.run(kAdd, {budget, bucket, change.used, change.reserved}));
  }

  Result<std::int64_t> insert(const Reservation& held, EntryState state,
                              const EntrySums& end) override {
    const Charge& charge = held.origin->charge;
    WICK_TRY(const PqRows rows,
             session_.run(kInsert, {owner_, held.unix_s, charge.provider, charge.model, charge.key,
                                    charge.tag, held.origin->marks,
                                    std::int64_t{static_cast<int>(state)}, held.amount, end.cost,
                                    end.prompt_tokens, end.cached_tokens, end.generated_tokens,
                                    end.estimated, end.failed, charge.price, end.requests}));
    return rows.integer(0, 0);
  }

  Result<bool> settle(std::int64_t id, EntryState state, const EntrySums& end) override {
    WICK_TRY(const PqRows rows,
             session_.run(kSettle,
                          {id, std::int64_t{static_cast<int>(state)}, end.cost, end.prompt_tokens,
                           end.cached_tokens, end.generated_tokens, end.estimated, end.failed}));
    return rows.changed() > 0;
  }

  Result<bool> change(std::int64_t id, Nanos amount, std::int64_t requests) override {
    WICK_TRY(const PqRows rows, session_.run(kChange, {id, amount, requests}));
    return rows.changed() > 0;
  }

  Result<bool> remove(std::int64_t id) override {
    WICK_TRY(const PqRows rows, session_.run(kRemove, {id, owner_}));
    return rows.changed() > 0;
  }

  Result<void> renew() override {
    WICK_DO(done(session_.run(kRenew, {owner_, lease_ms_})));
    is_owner_ = true;
    return done(session_.run(kForget));
  }

  std::chrono::milliseconds renewal() const noexcept override {
    return std::chrono::milliseconds(lease_ms_ / kRenewalsPerLease);
  }

  Result<std::vector<OpenEntry>> orphans() override {
    WICK_TRY(const PqRows rows, session_.run(kOrphans, {owner_}));
    std::vector<OpenEntry> out;
    for (int i = 0; i < rows.size(); ++i) {
      out.push_back({.id = rows.integer(i, 0),
                     .requests = rows.integer(i, 3),
                     .reserved = rows.integer(i, 1),
                     .marks = rows.text(i, 2)});
    }
    return out;
  }

  Result<std::vector<UsageRow>> usage(std::int64_t since_unix_s, bool by_day,
                                      const UsageFilter& filter) override {
    WICK_DO(session_.connect());
    WICK_TRY(const PqRows rows,
             session_.run(kUsage, {since_unix_s, std::int64_t{by_day}, filter.key, filter.tag}));
    std::vector<UsageRow> out;
    for (int i = 0; i < rows.size(); ++i) {
      out.push_back({.provider = rows.text(i, 0),
                     .model = rows.text(i, 1),
                     .day = rows.text(i, 2),
                     .price = rows.text(i, 10),
                     .requests = rows.integer(i, 3),
                     .failed = rows.integer(i, 4),
                     .estimated = rows.integer(i, 5),
                     .prompt_tokens = rows.integer(i, 6),
                     .cached_tokens = rows.integer(i, 7),
                     .generated_tokens = rows.integer(i, 8),
                     .cost = rows.integer(i, 9)});
    }
    return out;
  }

 private:
  static Result<void> done(const Result<PqRows>& rows) {
    if (!rows) return rows.error();
    return {};
  }

  const std::int64_t lease_ms_;
  const std::string owner_;
  bool is_owner_ = false;  // the server may have been told of it
  PqSession session_;
};

}  // namespace

Result<std::unique_ptr<LedgerStore>> open_postgres_store(const LedgerOptions& options) {
  return std::unique_ptr<LedgerStore>(std::make_unique<PostgresStore>(options));
}

}  // namespace wick::route
