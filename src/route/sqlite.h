// SQLite's handles with owners. Statements are prepared once and bound; no SQL is put together from
// values. One thread at a time. The library is loaded (dlopen) when the first file is opened.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/strings.h"

namespace wick::route {

// kUnavailable where SQLite is not installed. Any thread, before all else of SQLite.
Result<void> load_sqlite();

struct SqliteClose {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};

using Database = std::unique_ptr<sqlite3, SqliteClose>;

inline Error sqlite_error(sqlite3* database, std::string_view doing) {
  return {.code = ErrorCode::kUnavailable,
          .id = "ledger_unavailable",
          .message = cat("the ledger: ", doing, ": ", sqlite3_errmsg(database))};
}

class Statement {
 public:
  Statement() = default;

  Statement(sqlite3* database, const char* sql) : database_(database) {
    sqlite3_stmt* made = nullptr;
    sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    handle_.reset(made);
  }

  Statement& bind(int at, std::int64_t value) {
    sqlite3_bind_int64(handle_.get(), at, value);
    return *this;
  }

  // `value` stays where it is until the statement has run.
  Statement& bind(int at, std::string_view value) {
    sqlite3_bind_text(handle_.get(), at, value.data(), static_cast<int>(value.size()),
                      SQLITE_STATIC);
    return *this;
  }

  // True if there is a row.
  Result<bool> step() {
    const int code = handle_ ? sqlite3_step(handle_.get()) : SQLITE_ERROR;
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) {
      reset();
      return false;
    }
    const Error error = sqlite_error(database_, "a statement failed");
    reset();
    return error;
  }

  Result<void> run() {
    WICK_TRY([[maybe_unused]] const bool row, step());
    reset();
    return {};
  }

  void reset() { sqlite3_reset(handle_.get()); }

  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }

  std::string text(int column) const {
    const unsigned char* const bytes = sqlite3_column_text(handle_.get(), column);
    return bytes == nullptr ? std::string() : reinterpret_cast<const char*>(bytes);
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  sqlite3* database_ = nullptr;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_ = {};
};

}  // namespace wick::route
