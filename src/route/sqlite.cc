#include "route/sqlite.h"


#include "base/late_functions.h"

namespace wick::route {

namespace {

// clang-format off
#define WICK_SQLITE(each) \
  each(sqlite3_bind_int64) each(sqlite3_bind_text) each(sqlite3_busy_timeout) \
  each(sqlite3_changes) each(sqlite3_close_v2) each(sqlite3_column_int64) \
  each(sqlite3_column_text) each(sqlite3_config) each(sqlite3_errmsg) each(sqlite3_exec) \
  each(sqlite3_finalize) each(sqlite3_last_insert_rowid) each(sqlite3_open_v2) \
  each(sqlite3_prepare_v3) each(sqlite3_reset) each(sqlite3_step)
// clang-format on

LoadedOnce g_once;

}  // namespace

WICK_LATE_FUNCTIONS(WICK_SQLITE);

Result<void> load_sqlite() {
  return g_once([]() -> Result<void> {
    SharedLibrary library("libsqlite3.so.0");
    WICK_FIND_FUNCTIONS(library, WICK_SQLITE)
    WICK_DO(library.check("no_libsqlite3", "install SQLite (Debian: libsqlite3-0)"));
    // No counts of allocated bytes: a seventh of the instructions of an entry, and a mutex for each
    // allocation. Refused, and no harm, where this process has used SQLite before.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    return {};
  });
}

}  // namespace wick::route
