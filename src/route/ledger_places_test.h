// Where the tests of ledgers run: a SQLite file, and the PostgreSQL database that the variable
// WICK_TEST_POSTGRES names as a URI (.ci/long stores starts one). Each place is empty at first.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/strings.h"
#include "route/ledger.h"
#include "route/libpq.h"
#include "route/sqlite.h"
#include "support/temp_dir.h"

namespace wick::route::test {

constexpr const char* kSqlite = "sqlite";
constexpr const char* kPostgres = "postgres";

inline std::vector<std::string> store_names() {
  std::vector<std::string> names = {kSqlite};
  if (std::getenv("WICK_TEST_POSTGRES") != nullptr) names.emplace_back(kPostgres);
  return names;
}

inline std::string store_name(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}

class LedgerPlace {
 public:
  explicit LedgerPlace(const std::string& store) : path_((dir_.path() / "usage.db").string()) {
    if (store != kPostgres) return;
    uri_ = std::getenv("WICK_TEST_POSTGRES");
    schema_ = cat("wick", std::random_device()());
    execute(cat("CREATE SCHEMA ", schema_));
    path_ = cat(uri_, uri_.find('?') == std::string::npos ? '?' : '&', "options=-csearch_path%3D",
                schema_);
  }

  ~LedgerPlace() {
    if (!schema_.empty()) execute(cat("DROP SCHEMA ", schema_, " CASCADE"));
  }

  LedgerPlace(const LedgerPlace&) = delete;
  LedgerPlace& operator=(const LedgerPlace&) = delete;

  // A process that is gone must be seen as such after this.
  std::int64_t lease_ms() const { return schema_.empty() ? 0 : 50; }

  LedgerOptions options() const {
    LedgerOptions options{.path = path_, .is_durable = false};
    if (!schema_.empty()) options.lease_ms = lease_ms();
    return options;
  }

  std::unique_ptr<Ledger> open(bool writes_at_once = false) const {
    LedgerOptions wanted = options();
    wanted.writes_at_once = writes_at_once;
    auto ledger = Ledger::open(wanted);
    if (!ledger) ADD_FAILURE() << to_string(ledger.error());
    return ledger ? *std::move(ledger) : nullptr;
  }

  // Another process's transaction, which lasts as long as what is returned.
  std::shared_ptr<void> lock() const {
    if (schema_.empty()) {
      sqlite3* database = nullptr;
      sqlite3_open(path_.c_str(), &database);
      sqlite3_busy_timeout(database, 10'000);
      EXPECT_EQ(sqlite3_exec(database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
      return {database, SqliteClose()};
    }
    const std::span<const PqStatement> none;
    const auto session =
        std::make_shared<PqSession>(uri_, "BEGIN; SELECT pg_advisory_xact_lock(5293911)", none);
    const auto connected = session->connect();
    EXPECT_TRUE(connected) << to_string(connected.error());
    return session;
  }

  // Takes columns away, as if an older wick had made the ledger.
  void drop_newer() const {
    if (!schema_.empty())
      return execute(cat("ALTER TABLE ", schema_, ".wick_entry DROP price, DROP requests"));
    sqlite3* handle = nullptr;
    sqlite3_open(path_.c_str(), &handle);
    const Database database(handle);
    const char* const sql =
        "ALTER TABLE entry DROP COLUMN price; ALTER TABLE entry DROP COLUMN requests";
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  }

  // On the server: from now on a renewal of a lease takes so long.
  void slow_renewals(double seconds) const {
    execute(cat("CREATE FUNCTION ", schema_, ".slow() RETURNS trigger LANGUAGE plpgsql AS",
                " $$ BEGIN PERFORM pg_sleep(", seconds, "); RETURN NULL; END $$;",
                " CREATE TRIGGER slow AFTER INSERT OR UPDATE ON ", schema_,
                ".wick_owner FOR EACH STATEMENT EXECUTE FUNCTION ", schema_, ".slow()"));
  }

  // On the server, beside the ledgers.
  void execute(const std::string& sql) const {
    PqSession session(uri_, "SET client_min_messages = warning", {});
    const auto connected = session.connect();
    ASSERT_TRUE(connected) << to_string(connected.error());
    const auto done = session.execute(sql.c_str());
    EXPECT_TRUE(done) << to_string(done.error());
  }

 private:
  const wick::test::TempDir dir_;
  std::string path_, uri_, schema_;
};

}  // namespace wick::route::test
