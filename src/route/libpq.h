// libpq, which is loaded (dlopen) when the first PostgreSQL ledger is opened: wick is built and
// runs without it. Its functions are declared here, because their C interface has been the same
// since libpq 5.0. A session prepares its statements once; no SQL is put together from values. One
// thread at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wick::route {

struct PqConnection;  // libpq's PGconn
struct PqResult;      // and PGresult

struct PqStatement {
  const char* name;
  const char* sql;
};

// A value of a statement, as text. PostgreSQL's texts are UTF-8 without NUL: other bytes are
// replaced.
class PqValue {
 public:
  PqValue(std::int64_t value) : text_(std::to_string(value)) {}  // implicit: an argument

  PqValue(const std::string& text);  // implicit: an argument

  const char* c_str() const noexcept { return text_.c_str(); }

 private:
  std::string text_;
};

class PqRows {
 public:
  explicit PqRows(PqResult* result) : result_(result) {}

  bool is_good() const;  // the statement did not fail
  int size() const;
  std::int64_t changed() const;  // rows that the statement has written
  std::string text(int row, int column) const;
  std::int64_t integer(int row, int column) const;

 private:
  struct Clear {
    void operator()(PqResult* result) const;
  };

  std::unique_ptr<PqResult, Clear> result_;
};

class PqSession {
 public:
  // `setup`: commands of each new connection, before its statements are prepared.
  PqSession(std::string uri, std::string setup, std::span<const PqStatement> statements)
      : uri_(std::move(uri)), setup_(std::move(setup)), statements_(statements) {}

  // Connects, again where the connection was lost; after a failure not within a second. Errors are
  // kUnavailable with the id "ledger_unavailable" and never name the URI, which may have a
  // password.
  Result<void> connect();
  bool is_open() const noexcept { return connection_ != nullptr; }
  Result<void> execute(const char* sql);  // commands without values
  Result<PqRows> run(const PqStatement& statement, std::initializer_list<PqValue> values = {});

 private:
  struct Finish {
    void operator()(PqConnection* connection) const;
  };

  Error error(std::string_view doing) const;

  const std::string uri_, setup_;
  const std::span<const PqStatement> statements_;
  std::unique_ptr<PqConnection, Finish> connection_ = {};
  std::int64_t retry_ns_ = 0;
};

}  // namespace wick::route
