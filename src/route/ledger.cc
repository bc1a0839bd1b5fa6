// Why a budget cannot be overspent. A table has a counter per budget and bucket with two sums:
// `used` and `reserved`. A reservation reads the sums of its window and adds its amount in one
// transaction that began with BEGIN IMMEDIATE, so no other process can read between the two. It is
// committed with synchronous = FULL before reserve() returns, that is, before the request is sent.
// Settling replaces the reserved amount by the cost; a crash in between leaves the amount reserved,
// which counts in full.
//
// Group commit. Of the callers that wait, one writes for all: it takes the queue, and one commit
// (one fsync) decides every reservation in it. Settlements wait up to 20 ms for a reservation to go
// with; losing one in a crash only leaves its amount reserved.
#include "route/ledger.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/log.h"
#include "base/thread.h"
#include "route/sqlite.h"

namespace wick::route {

namespace {

constexpr int kBusyMs = 10'000;  // another process writes
constexpr auto kSettleDelay = std::chrono::milliseconds(20);

// States of an entry: reserved, settled, and settled at its full amount after a crash.
constexpr std::int64_t kReserved = 0, kSettled = 1, kLost = 2;

constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS entry(
  id INTEGER PRIMARY KEY, owner TEXT NOT NULL, at INTEGER NOT NULL, provider TEXT NOT NULL,
  model TEXT NOT NULL, key TEXT NOT NULL, tag TEXT NOT NULL, marks TEXT NOT NULL,
  state INTEGER NOT NULL, reserved INTEGER NOT NULL, cost INTEGER NOT NULL DEFAULT 0,
  prompt INTEGER NOT NULL DEFAULT 0, cached INTEGER NOT NULL DEFAULT 0,
  generated INTEGER NOT NULL DEFAULT 0, estimated INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS entry_open ON entry(owner) WHERE state = 0;
CREATE INDEX IF NOT EXISTS entry_at ON entry(at);
CREATE TABLE IF NOT EXISTS counter(
  budget TEXT NOT NULL, bucket INTEGER NOT NULL, used INTEGER NOT NULL, reserved INTEGER NOT NULL,
  PRIMARY KEY(budget, bucket)) WITHOUT ROWID;
)";

// "4711:88123": a process and when it began, so that a process id that is used again is another.
std::string process_mark(::pid_t pid) {
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

bool is_alive(const std::string& owner) {
  int pid = 0;
  std::from_chars(owner.data(), owner.data() + owner.size(), pid);
  return pid > 0 && process_mark(pid) == owner;
}

struct Statements {
  Statement begin, commit, rollback, sum, hold, insert, settle, insert_settled, move, orphans,
      orphan;

  explicit Statements(sqlite3* db)
      : begin(db, "BEGIN IMMEDIATE"),
        commit(db, "COMMIT"),
        rollback(db, "ROLLBACK"),
        sum(db,
            "SELECT TOTAL(used), COALESCE(SUM(used), 0), COALESCE(SUM(reserved), 0) FROM counter"
            " WHERE budget = ?1 AND bucket BETWEEN ?2 AND ?3"),
        hold(db,
             "INSERT INTO counter VALUES(?1, ?2, 0, ?3)"
             " ON CONFLICT(budget, bucket) DO UPDATE SET reserved = reserved + ?3"),
        insert(db,
               "INSERT INTO entry(owner, at, provider, model, key, tag, marks, state, reserved)"
               " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8)"),
        settle(db,
               "UPDATE entry SET state = ?2, cost = ?3, prompt = ?4, cached = ?5, generated = ?6,"
               " estimated = ?7, failed = ?8 WHERE id = ?1 AND state = 0"),
        insert_settled(db,
                       "INSERT INTO entry(owner, at, provider, model, key, tag, marks, state,"
                       " reserved, cost, prompt, cached, generated, estimated, failed)"
                       " VALUES(?1, ?2, ?3, ?4, ?5, ?6, '', 1, 0, ?7, ?8, ?9, ?10, ?11, ?12)"),
        move(db,
             "UPDATE counter SET reserved = reserved - ?3, used = used + ?4"
             " WHERE budget = ?1 AND bucket = ?2"),
        orphans(db, "SELECT DISTINCT owner FROM entry WHERE state = 0"),
        orphan(db, "SELECT id, reserved, marks FROM entry WHERE state = 0 AND owner = ?1 LIMIT 1") {
  }
};

// "bucket name\n" for each counter that holds a reservation.
template <class Visit>
Result<void> each_mark(const std::string& marks, const Visit& visit) {
  for (std::size_t at = 0; at < marks.size();) {
    const std::size_t end = std::min(marks.find('\n', at), marks.size());
    const std::string line = marks.substr(at, end - at);
    const std::size_t blank = std::min(line.find(' '), line.size() - 1);
    std::int64_t bucket = 0;
    std::from_chars(line.data(), line.data() + blank, bucket);
    WICK_DO(visit(line.substr(blank + 1), bucket));
    at = end + 1;
  }
  return {};
}

struct Wanted {  // a reservation that waits for its commit
  const Charge& charge;
  std::span<const Budget> budgets;
  Nanos amount;
  std::int64_t unix_s;
  std::optional<Result<Reservation>> result = {};
};

struct Settled {
  Reservation held;
  Settlement settlement;
};

class SqliteLedger final : public Ledger {
 public:
  SqliteLedger(Database database, const LedgerOptions& options)
      : options_(options),
        database_(std::move(database)),
        sql_(database_.get()),
        owner_(process_mark(::getpid())) {}

  ~SqliteLedger() override {
    {
      // Under the lock: else the thread may look for it, and wait after the notification.
      const std::lock_guard lock(mutex_);
      thread_.request_stop();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    static_cast<void>(flush());  // what cannot be written stays reserved
  }

  Result<void> begin() {
    WICK_DO(settle_orphans());
    if (options_.writes_at_once) return {};
    WICK_TRY(thread_, start_thread([this](const std::stop_token& stop) { write_settled(stop); }));
    return {};
  }

  Result<Reservation> reserve(const Charge& charge, std::span<const Budget> budgets, Nanos amount,
                              std::int64_t unix_s) override {
    if (amount <= 0) return Reservation{.unix_s = unix_s, .charge = charge};
    Wanted wanted{.charge = charge, .budgets = budgets, .amount = amount, .unix_s = unix_s};
    std::unique_lock lock(mutex_);
    wanted_.push_back(&wanted);
    while (!wanted.result) {
      if (is_writing_) {
        changed_.wait(lock);
      } else {
        static_cast<void>(write(lock));  // an error is the result of all that waited
      }
    }
    return *std::move(wanted.result);
  }

  void settle(const Reservation& held, const Settlement& settlement) override {
    {
      const std::lock_guard lock(mutex_);
      settled_.push_back({.held = held, .settlement = settlement});
    }
    if (options_.writes_at_once) {
      static_cast<void>(flush());
    } else {
      changed_.notify_all();
    }
  }

  Result<void> flush() override {
    std::unique_lock lock(mutex_);
    while (is_writing_)
      changed_.wait(lock);
    return settled_.empty() ? Result<void>{} : write(lock);
  }

  Result<std::vector<UsageRow>> usage(std::int64_t since_unix_s, bool by_day,
                                      const UsageFilter& filter) override {
    WICK_DO(flush());
    const std::lock_guard lock(database_mutex_);
    Statement rows(database_.get(),
                   "SELECT provider, model, CASE WHEN ?2 THEN date(at, 'unixepoch') ELSE '' END d,"
                   " COUNT(*), SUM(failed), SUM(estimated), SUM(prompt), SUM(cached),"
                   " SUM(generated), SUM(cost) FROM entry WHERE at >= ?1 AND state != 0"
                   " AND (?3 = '' OR key = ?3) AND (?4 = '' OR tag = ?4)"
                   " GROUP BY d, provider, model ORDER BY d, provider, model");
    rows.bind(1, since_unix_s).bind(2, std::int64_t{by_day});
    rows.bind(3, filter.key).bind(4, filter.tag);
    std::vector<UsageRow> out;
    for (;;) {
      WICK_TRY(const bool has_row, rows.step());
      if (!has_row) return out;
      out.push_back({.provider = rows.text(0),
                     .model = rows.text(1),
                     .day = rows.text(2),
                     .requests = rows.integer(3),
                     .failed = rows.integer(4),
                     .estimated = rows.integer(5),
                     .prompt_tokens = rows.integer(6),
                     .cached_tokens = rows.integer(7),
                     .generated_tokens = rows.integer(8),
                     .cost = rows.integer(9)});
    }
  }

  Result<BudgetState> state(const Budget& budget, std::int64_t unix_s) override {
    WICK_DO(flush());
    const std::lock_guard lock(database_mutex_);
    return sum(budget, buckets_of(budget, unix_s));
  }

 private:
  Result<BudgetState> sum(const Budget& budget, const Buckets& buckets) {
    sql_.sum.bind(1, budget.name).bind(2, buckets.first).bind(3, buckets.current);
    WICK_TRY([[maybe_unused]] const bool row, sql_.sum.step());
    const BudgetState state{.used = sql_.sum.integer(1), .reserved = sql_.sum.integer(2)};
    sql_.sum.reset();
    return state;
  }

  // Writes all that waits in one transaction; `lock` is let go meanwhile.
  Result<void> write(std::unique_lock<std::mutex>& lock) {
    is_writing_ = true;
    std::vector<Wanted*> wanted;
    std::vector<Settled> settled;
    wanted.swap(wanted_);
    settled.swap(settled_);
    lock.unlock();
    auto written = write_all(wanted, settled);
    lock.lock();
    if (!written) {
      for (Wanted* const one : wanted)
        one->result = written.error();
      settled_.insert(settled_.begin(), settled.begin(), settled.end());
    }
    is_writing_ = false;
    changed_.notify_all();
    return written;
  }

  Result<void> write_all(std::span<Wanted* const> wanted, std::span<const Settled> settled) {
    const std::lock_guard lock(database_mutex_);
    WICK_DO(sql_.begin.run());
    auto done = write_rows(wanted, settled);
    if (done) done = sql_.commit.run();
    if (!done) static_cast<void>(sql_.rollback.run());
    return done;
  }

  Result<void> write_rows(std::span<Wanted* const> wanted, std::span<const Settled> settled) {
    for (const Settled& one : settled)
      WICK_DO(write_settlement(one));
    for (Wanted* const one : wanted) {
      auto held = hold(*one);
      if (!held && held.error().id != "budget_exceeded") return std::move(held).error();
      one->result = std::move(held);
    }
    return {};
  }

  Result<Reservation> hold(const Wanted& wanted) {
    Reservation held{.unix_s = wanted.unix_s, .amount = wanted.amount, .charge = wanted.charge};
    for (const Budget& budget : wanted.budgets) {
      if (!applies(budget, wanted.charge)) continue;
      const Buckets buckets = buckets_of(budget, wanted.unix_s);
      BudgetState now;
      if (budget.window != BudgetWindow::kRequest) {
        WICK_TRY(now, sum(budget, buckets));
        held.marks += cat(buckets.current, " ", budget.name, "\n");
      }
      if (wanted.amount > budget.cap - now.used - now.reserved)
        return exceeded(budget, now, wanted.amount);
    }
    WICK_DO(each_mark(held.marks, [&](const std::string& name, std::int64_t bucket) {
      return sql_.hold.bind(1, name).bind(2, bucket).bind(3, held.amount).run();
    }));
    const Charge& charge = wanted.charge;
    WICK_DO(sql_.insert.bind(1, owner_)
                .bind(2, wanted.unix_s)
                .bind(3, charge.provider)
                .bind(4, charge.model)
                .bind(5, charge.key)
                .bind(6, charge.tag)
                .bind(7, held.marks)
                .bind(8, held.amount)
                .run());
    held.id = sqlite3_last_insert_rowid(database_.get());
    return held;
  }

  static Error exceeded(const Budget& budget, const BudgetState& now, Nanos amount) {
    return {.code = ErrorCode::kUnavailable,
            .id = "budget_exceeded",
            .message = cat("the budget '", printable(budget.name), "' of ", to_dollars(budget.cap),
                           " USD has ", to_dollars(budget.cap - now.used - now.reserved),
                           " left, the request may cost ", to_dollars(amount))};
  }

  Result<void> write_settlement(const Settled& one) {
    const auto& [held, end] = one;
    if (held.id == 0) {  // a request that cost nothing
      return sql_.insert_settled.bind(1, owner_)
          .bind(2, held.unix_s)
          .bind(3, held.charge.provider)
          .bind(4, held.charge.model)
          .bind(5, held.charge.key)
          .bind(6, held.charge.tag)
          .bind(7, end.cost)
          .bind(8, std::int64_t{end.usage.prompt_tokens})
          .bind(9, std::int64_t{end.usage.cached_tokens})
          .bind(10, std::int64_t{end.usage.generated_tokens})
          .bind(11, std::int64_t{end.is_estimated})
          .bind(12, std::int64_t{end.has_failed})
          .run();
    }
    WICK_DO(sql_.settle.bind(1, held.id)
                .bind(2, kSettled)
                .bind(3, end.cost)
                .bind(4, std::int64_t{end.usage.prompt_tokens})
                .bind(5, std::int64_t{end.usage.cached_tokens})
                .bind(6, std::int64_t{end.usage.generated_tokens})
                .bind(7, std::int64_t{end.is_estimated})
                .bind(8, std::int64_t{end.has_failed})
                .run());
    if (sqlite3_changes(database_.get()) == 0) return {};  // settled before
    return move(held.marks, held.amount, end.cost);
  }

  Result<void> move(const std::string& marks, Nanos reserved, Nanos cost) {
    return each_mark(marks, [&](const std::string& name, std::int64_t bucket) {
      return sql_.move.bind(1, name).bind(2, bucket).bind(3, reserved).bind(4, cost).run();
    });
  }

  // Of processes that are gone: nobody knows what was spent, so all of it counts.
  Result<void> settle_orphans() {
    WICK_DO(sql_.begin.run());
    auto done = settle_dead_owners();
    if (done) done = sql_.commit.run();
    if (!done) static_cast<void>(sql_.rollback.run());
    return done;
  }

  Result<void> settle_dead_owners() {
    std::set<std::string> dead;
    for (;;) {
      WICK_TRY(const bool has_row, sql_.orphans.step());
      if (!has_row) break;
      if (const std::string owner = sql_.orphans.text(0); !is_alive(owner)) dead.insert(owner);
    }
    for (const std::string& owner : dead) {
      for (;;) {
        sql_.orphan.bind(1, owner);
        WICK_TRY(const bool has_row, sql_.orphan.step());
        if (!has_row) break;
        const std::int64_t id = sql_.orphan.integer(0), reserved = sql_.orphan.integer(1);
        const std::string marks = sql_.orphan.text(2);
        sql_.orphan.reset();
        sql_.settle.bind(1, id).bind(2, kLost).bind(3, reserved);
        for (int column = 4; column <= 6; ++column)
          sql_.settle.bind(column, std::int64_t{0});
        WICK_DO(sql_.settle.bind(7, std::int64_t{1}).bind(8, std::int64_t{1}).run());
        WICK_DO(move(marks, reserved, reserved));
      }
    }
    return {};
  }

  void write_settled(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    bool was_told = false;
    while (!stop.stop_requested()) {
      changed_.wait(lock,
                    [&] { return stop.stop_requested() || (!settled_.empty() && !is_writing_); });
      if (stop.stop_requested()) return;
      changed_.wait_for(lock, kSettleDelay, [&] { return stop.stop_requested(); });
      if (is_writing_ || settled_.empty()) continue;
      const auto written = write(lock);
      if (!written && !was_told) log_message(LogLevel::kWarning, to_string(written.error()));
      was_told = !written;
      if (!written)
        changed_.wait_for(lock, 50 * kSettleDelay, [&] { return stop.stop_requested(); });
    }
  }

  const LedgerOptions options_;
  std::mutex database_mutex_;
  Database database_;  // these are under the first mutex
  Statements sql_;
  const std::string owner_;

  std::mutex mutex_;  // never taken while holding the first
  std::condition_variable changed_;
  std::vector<Wanted*> wanted_;
  std::vector<Settled> settled_;
  bool is_writing_ = false;
  std::jthread thread_;
};

Result<void> execute(sqlite3* database, const char* sql) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return sqlite_error(database, "it cannot be opened");
}

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::open(const LedgerOptions& options) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(options.path.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  Database database(handle);
  if (code != SQLITE_OK) return sqlite_error(handle, cat("cannot open ", printable(options.path)));
  sqlite3_busy_timeout(handle, kBusyMs);
  WICK_DO(execute(handle, "PRAGMA journal_mode = WAL"));
  WICK_DO(execute(handle,
                  options.is_durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF"));
  WICK_DO(execute(handle, kSchema));
  auto ledger = std::make_unique<SqliteLedger>(std::move(database), options);
  WICK_DO(ledger->begin());
  return std::unique_ptr<Ledger>(std::move(ledger));
}

}  // namespace wick::route
