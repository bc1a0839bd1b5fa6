#include "route/libpq.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/clock.h"
#include "base/shared_library.h"
#include "base/strings.h"

namespace wick::route {

namespace {

#ifdef __APPLE__
constexpr const char* kLibrary = "libpq.5.dylib";
#else
constexpr const char* kLibrary = "libpq.so.5";
#endif
constexpr std::int64_t kRetryNs = 1'000'000'000;
// A server or network that hangs is noticed after these.
constexpr const char* kTimeouts[][2] = {
    {"connect_timeout", "3"}, {"keepalives_idle", "5"}, {"tcp_user_timeout", "10000"}};
constexpr const char* kHint =
    "start PostgreSQL, or check `ledger` of [budget]; wick serve tries it again by itself";
constexpr int kConnectionOk = 0, kCommandOk = 1, kTuplesOk = 2;  // of libpq-fe.h

struct Functions {
  PqConnection* (*connect)(const char* const*, const char* const*, int) = nullptr;
  int (*status)(const PqConnection*) = nullptr;
  void (*finish)(PqConnection*) = nullptr;
  char* (*error_message)(const PqConnection*) = nullptr;
  void (*(*set_notice_processor)(PqConnection*, void (*)(void*, const char*),
                                 void*))(void*, const char*) = nullptr;
  PqResult* (*exec)(PqConnection*, const char*) = nullptr;
  PqResult* (*prepare)(PqConnection*, const char*, const char*, int, const unsigned*) = nullptr;
  PqResult* (*exec_prepared)(PqConnection*, const char*, int, const char* const*, const int*,
                             const int*, int) = nullptr;
  int (*result_status)(const PqResult*) = nullptr;
  void (*clear)(PqResult*) = nullptr;
  int (*n_tuples)(const PqResult*) = nullptr;
  char* (*get_value)(const PqResult*, int, int) = nullptr;
  char* (*cmd_tuples)(PqResult*) = nullptr;
};

Functions g_pq;
LoadedOnce g_once;

Result<void> load_libpq() {
  return g_once([]() -> Result<void> {
    SharedLibrary library(kLibrary);
    Functions pq;
    library.find("PQconnectdbParams", pq.connect);
    library.find("PQstatus", pq.status);
    library.find("PQfinish", pq.finish);
    library.find("PQerrorMessage", pq.error_message);
    library.find("PQsetNoticeProcessor", pq.set_notice_processor);
    library.find("PQexec", pq.exec);
    library.find("PQprepare", pq.prepare);
    library.find("PQexecPrepared", pq.exec_prepared);
    library.find("PQresultStatus", pq.result_status);
    library.find("PQclear", pq.clear);
    library.find("PQntuples", pq.n_tuples);
    library.find("PQgetvalue", pq.get_value);
    library.find("PQcmdTuples", pq.cmd_tuples);
    WICK_DO(library.check("no_libpq", "install libpq (Debian: libpq5), or use a file as ledger"));
    g_pq = pq;
    return {};
  });
}

std::int64_t to_integer(const char* text) {
  const std::string_view digits = text;
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace

PqValue::PqValue(const std::string& text) : text_(repair_utf8(text)) {
  std::replace(text_.begin(), text_.end(), '\0', ' ');
}

void PqRows::Clear::operator()(PqResult* result) const {
  g_pq.clear(result);
}

bool PqRows::is_good() const {
  const int status = result_ == nullptr ? -1 : g_pq.result_status(result_.get());
  return status == kCommandOk || status == kTuplesOk;
}

int PqRows::size() const {
  return g_pq.n_tuples(result_.get());
}

std::int64_t PqRows::changed() const {
  return to_integer(g_pq.cmd_tuples(result_.get()));
}

std::string PqRows::text(int row, int column) const {
  return g_pq.get_value(result_.get(), row, column);
}

std::int64_t PqRows::integer(int row, int column) const {
  return to_integer(g_pq.get_value(result_.get(), row, column));
}

void PqSession::Finish::operator()(PqConnection* connection) const {
  g_pq.finish(connection);
}

Error PqSession::error(std::string_view doing) const {
  const std::string_view told = g_pq.error_message(connection_.get());
  return {.code = ErrorCode::kUnavailable,
          .id = "ledger_unavailable",
          .message = cat("the ledger: ", doing, ": ", printable(told.substr(0, told.find('\n')))),
          .hint = kHint};
}

Result<void> PqSession::connect() {
  if (connection_ != nullptr && g_pq.status(connection_.get()) == kConnectionOk) return {};
  WICK_DO(load_libpq());
  const std::int64_t now = monotonic_ns();
  if (now < retry_ns_) {
    return Error{.code = ErrorCode::kUnavailable,
                 .id = "ledger_unavailable",
                 .message = "the ledger: PostgreSQL did not answer a moment ago",
                 .hint = kHint};
  }
  retry_ns_ = now + kRetryNs;
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : kTimeouts) {  // the URI's own settings win
    keys.push_back(key);
    values.push_back(value);
  }
  keys.push_back("dbname");
  values.push_back(uri_.c_str());
  keys.push_back(nullptr);
  values.push_back(nullptr);
  connection_.reset(g_pq.connect(keys.data(), values.data(), 1));
  if (connection_ == nullptr) return Error{.code = ErrorCode::kNoMemory, .message = "libpq"};
  if (g_pq.status(connection_.get()) != kConnectionOk) return error("cannot connect");
  g_pq.set_notice_processor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  auto done = execute(setup_.c_str());
  for (const PqStatement& one : statements_) {
    if (!done) break;
    const PqRows prepared(g_pq.prepare(connection_.get(), one.name, one.sql, 0, nullptr));
    if (!prepared.is_good()) done = error(cat("cannot prepare ", one.name));
  }
  if (!done) connection_ = nullptr;
  if (done) retry_ns_ = 0;
  return done;
}

Result<void> PqSession::execute(const char* sql) {
  const PqRows result(g_pq.exec(connection_.get(), sql));
  if (!result.is_good()) return error("a command failed");
  return {};
}

Result<PqRows> PqSession::run(const PqStatement& statement, std::initializer_list<PqValue> values) {
  std::vector<const char*> texts;
  for (const PqValue& one : values)
    texts.push_back(one.c_str());
  PqRows rows(g_pq.exec_prepared(connection_.get(), statement.name, static_cast<int>(texts.size()),
                                 texts.data(), nullptr, nullptr, 0));
  if (!rows.is_good()) return error("a statement failed");
  return rows;
}

}  // namespace wick::route
