// The ledger in a SQLite file: WAL, synchronous = FULL. BEGIN IMMEDIATE keeps other processes from
// writing, so none can read a counter between this one's read and write of it. A process is gone
// when no process of this machine has its id and start time.
//
// Entries have no index by time, as they had before 2026-11-26: each commit wrote a page more for
// it, and it helped only who reads a short end of a long ledger (the last day of 116 in a million
// entries: 6 ms with it, 65 without; the last 30 days: 252 and 292).
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <set>

#include "route/ledger_store.h"
#include "route/sqlite.h"

namespace wick::route {

namespace {

constexpr int kBusyMs = 10'000;  // another process writes

// Pages of 4 KiB after which a commit moves those of the WAL to the file, with two more fsyncs. It
// takes hardly longer for more of them, since they are the same few pages again and again; with
// SQLite's 1,000 one was made each 1,240 requests of 16 clients, so that one in 80 waited for it.
constexpr const char* kCheckpoint = "PRAGMA wal_autocheckpoint = 4000";

constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS entry(
  id INTEGER PRIMARY KEY, owner TEXT NOT NULL, at INTEGER NOT NULL, provider TEXT NOT NULL,
  model TEXT NOT NULL, key TEXT NOT NULL, tag TEXT NOT NULL, marks TEXT NOT NULL,
  state INTEGER NOT NULL, reserved INTEGER NOT NULL, cost INTEGER NOT NULL DEFAULT 0,
  prompt INTEGER NOT NULL DEFAULT 0, cached INTEGER NOT NULL DEFAULT 0,
  generated INTEGER NOT NULL DEFAULT 0, estimated INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0, price TEXT NOT NULL DEFAULT '',
  requests INTEGER NOT NULL DEFAULT 1);
CREATE INDEX IF NOT EXISTS entry_open ON entry(owner) WHERE state = 0;
DROP INDEX IF EXISTS entry_at;
CREATE TABLE IF NOT EXISTS counter(
  budget TEXT NOT NULL, bucket INTEGER NOT NULL, used INTEGER NOT NULL, reserved INTEGER NOT NULL,
  PRIMARY KEY(budget, bucket)) WITHOUT ROWID;
)";

bool is_alive(const std::string& owner) {
  int pid = 0;
  std::from_chars(owner.data(), owner.data() + owner.size(), pid);
  return pid > 0 && process_mark(pid) == owner;
}

struct Statements {
  Statement begin, commit, rollback, sum, add, insert, settle, change, remove, owners, orphans;

  explicit Statements(sqlite3* db)
      : begin(db, "BEGIN IMMEDIATE"),
        commit(db, "COMMIT"),
        rollback(db, "ROLLBACK"),
        sum(db,
            "SELECT COALESCE(SUM(used), 0), COALESCE(SUM(reserved), 0) FROM counter"
            " WHERE budget = ?1 AND bucket BETWEEN ?2 AND ?3"),
        add(db,
            "INSERT INTO counter VALUES(?1, ?2, ?3, ?4) ON CONFLICT(budget, bucket)"
            " DO UPDATE SET used = used + ?3, reserved = reserved + ?4"),
        insert(db,
               "INSERT INTO entry(owner, at, provider, model, key, tag, marks, state, reserved,"
               " cost, prompt, cached, generated, estimated, failed, price, requests)"
               " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
               " ?17)"),
        settle(db,
               "UPDATE entry SET state = ?2, cost = ?3, prompt = ?4, cached = ?5, generated = ?6,"
               " estimated = ?7, failed = ?8 WHERE id = ?1 AND state = 0"),
        change(db,
               "UPDATE entry SET reserved = reserved + ?2, requests = requests + ?3"
               " WHERE id = ?1 AND state = 0"),
        remove(db, "DELETE FROM entry WHERE id = ?1 AND owner = ?2 AND state = 0"),
        owners(db, "SELECT DISTINCT owner FROM entry WHERE state = 0"),
        orphans(db,
                "SELECT id, reserved, marks, requests FROM entry WHERE state = 0 AND owner = ?1"
                " LIMIT 1000") {}
};

// Binds what an entry says of the end to `at` and those after it.
Statement& bind_end(Statement& statement, int at, const EntrySums& end) {
  return statement.bind(at, end.cost)
      .bind(at + 1, end.prompt_tokens)
      .bind(at + 2, end.cached_tokens)
      .bind(at + 3, end.generated_tokens)
      .bind(at + 4, end.estimated)
      .bind(at + 5, end.failed);
}

class SqliteStore final : public LedgerStore {
 public:
  explicit SqliteStore(Database database)
      : database_(std::move(database)), sql_(database_.get()), owner_(process_mark(::getpid())) {}

  Result<void> begin() override { return sql_.begin.run(); }

  Result<void> commit() override { return sql_.commit.run(); }

  void rollback() override { static_cast<void>(sql_.rollback.run()); }

  Result<BudgetState> sum(const std::string& budget, const Buckets& buckets) override {
    sql_.sum.bind(1, budget).bind(2, buckets.first).bind(3, buckets.current);
    WICK_TRY([[maybe_unused]] const bool row, sql_.sum.step());
    const BudgetState state{.used = sql_.sum.integer(0), .reserved = sql_.sum.integer(1)};
    sql_.sum.reset();
    return state;
  }

  Result<void> add(const std::string& budget, std::int64_t bucket,
                   const BudgetState& change) override {
    return sql_.add.bind(1, budget)
        .bind(2, bucket)
        .bind(3, change.used)
        .bind(4, change.reserved)
        .run();
  }

  Result<std::int64_t> insert(const Reservation& held, EntryState state,
                              const EntrySums& end) override {
    const Charge& charge = held.origin->charge;
    sql_.insert.bind(1, owner_)
        .bind(2, held.unix_s)
        .bind(3, charge.provider)
        .bind(4, charge.model)
        .bind(5, charge.key)
        .bind(6, charge.tag)
        .bind(7, held.origin->marks)
        .bind(8, static_cast<std::int64_t>(state))
        .bind(9, held.amount)
        .bind(16, charge.price)
        .bind(17, end.requests);
    WICK_DO(bind_end(sql_.insert, 10, end).run());
    return sqlite3_last_insert_rowid(database_.get());
  }

  Result<bool> settle(std::int64_t id, EntryState state, const EntrySums& end) override {
    sql_.settle.bind(1, id).bind(2, static_cast<std::int64_t>(state));
    WICK_DO(bind_end(sql_.settle, 3, end).run());
    return sqlite3_changes(database_.get()) > 0;
  }

  Result<bool> change(std::int64_t id, Nanos amount, std::int64_t requests) override {
    WICK_DO(sql_.change.bind(1, id).bind(2, amount).bind(3, requests).run());
    return sqlite3_changes(database_.get()) > 0;
  }

  Result<bool> remove(std::int64_t id) override {
    WICK_DO(sql_.remove.bind(1, id).bind(2, owner_).run());
    return sqlite3_changes(database_.get()) > 0;
  }

  Result<void> renew() override { return {}; }

  std::chrono::milliseconds renewal() const noexcept override { return {}; }

  Result<std::vector<OpenEntry>> orphans() override {
    std::set<std::string> dead;
    for (;;) {
      WICK_TRY(const bool has_row, sql_.owners.step());
      if (!has_row) break;
      if (const std::string owner = sql_.owners.text(0); !is_alive(owner)) dead.insert(owner);
    }
    std::vector<OpenEntry> out;
    if (dead.empty()) return out;
    sql_.orphans.bind(1, *dead.begin());
    for (;;) {
      WICK_TRY(const bool has_row, sql_.orphans.step());
      if (!has_row) return out;
      out.push_back({.id = sql_.orphans.integer(0),
                     .requests = sql_.orphans.integer(3),
                     .reserved = sql_.orphans.integer(1),
                     .marks = sql_.orphans.text(2)});
    }
  }

  Result<std::vector<UsageRow>> usage(std::int64_t since_unix_s, bool by_day,
                                      const UsageFilter& filter) override {
    Statement rows(database_.get(),
                   "SELECT provider, model, CASE WHEN ?2 THEN date(at, 'unixepoch') ELSE '' END d,"
                   " SUM(requests), SUM(failed), SUM(estimated), SUM(prompt), SUM(cached),"
                   " SUM(generated), SUM(cost), price FROM entry WHERE at >= ?1 AND state != 0"
                   " AND (?3 = '' OR key = ?3) AND (?4 = '' OR tag = ?4)"
                   " GROUP BY d, provider, model, price ORDER BY d, provider, model, price");
    rows.bind(1, since_unix_s).bind(2, std::int64_t{by_day});
    rows.bind(3, filter.key).bind(4, filter.tag);
    std::vector<UsageRow> out;
    for (;;) {
      WICK_TRY(const bool has_row, rows.step());
      if (!has_row) return out;
      out.push_back({.provider = rows.text(0),
                     .model = rows.text(1),
                     .day = rows.text(2),
                     .price = rows.text(10),
                     .requests = rows.integer(3),
                     .failed = rows.integer(4),
                     .estimated = rows.integer(5),
                     .prompt_tokens = rows.integer(6),
                     .cached_tokens = rows.integer(7),
                     .generated_tokens = rows.integer(8),
                     .cost = rows.integer(9)});
    }
  }

 private:
  Database database_;
  Statements sql_;
  const std::string owner_;
};

Result<void> execute(sqlite3* database, const char* sql) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return sqlite_error(database, "it cannot be opened");
}

// Ledgers of before 2026-11-26 lack some. Another process may add the column meanwhile.
Result<void> add_column(sqlite3* database, std::string_view name, const char* sql) {
  const auto is_there = [&] {
    Statement column(database, "SELECT 1 FROM pragma_table_info('entry') WHERE name = ?1");
    column.bind(1, name);
    const auto found = column.step();
    return found && *found;
  };
  if (is_there()) return {};
  const auto added = execute(database, sql);
  if (!added && !is_there()) return added;
  return {};
}

}  // namespace

std::string process_mark(int pid) {
  std::ifstream file(cat("/proc/", pid, "/stat"));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t name_end = text.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return {};
  std::size_t at = name_end;
  for (int field = 2; field < 22 && at != std::string::npos; ++field)
    at = text.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return cat(pid, ":", text.substr(at + 1, text.find(' ', at + 1) - at - 1));
}

Result<std::unique_ptr<LedgerStore>> open_sqlite_store(const LedgerOptions& options) {
  WICK_DO(load_sqlite());
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(options.path.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle);
  if (code != SQLITE_OK) {
    Error error = sqlite_error(handle, cat("cannot open ", printable(options.path)));
    error.hint = "check the folder of `ledger` in [budget]; wick serve tries it again by itself";
    return error;
  }
  sqlite3_busy_timeout(handle, kBusyMs);
  WICK_DO(execute(handle, "PRAGMA journal_mode = WAL"));
  WICK_DO(execute(handle,
                  options.is_durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF"));
  WICK_DO(execute(handle, kCheckpoint));
  WICK_DO(execute(handle, kSchema));
  WICK_DO(
      add_column(handle, "price", "ALTER TABLE entry ADD COLUMN price TEXT NOT NULL DEFAULT ''"));
  WICK_DO(add_column(handle, "requests",
                     "ALTER TABLE entry ADD COLUMN requests INTEGER NOT NULL DEFAULT 1"));
  return std::unique_ptr<LedgerStore>(std::make_unique<SqliteStore>(std::move(database)));
}

}  // namespace wick::route
