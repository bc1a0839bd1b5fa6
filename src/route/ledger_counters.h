// The counters of budgets within one transaction of the ledger, and the marks by which an entry
// names those that hold it. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "base/result.h"
#include "route/ledger_store.h"

namespace wick::route {

// "bucket name\n" for each counter that holds a reservation; budgets of one request have none.
std::string marks_of(const Charge& charge, std::span<const Budget> budgets, std::int64_t unix_s);

// Of the lines of marks: that of this budget and these buckets is among them.
bool holds(const std::string& marks, const std::string& budget, const Buckets& buckets);

// Each counter is read once, and its change is written once.
class Counters {
 public:
  explicit Counters(LedgerStore& store) : store_(store) {}

  // With the changes of this transaction.
  Result<BudgetState> sum(const std::string& budget, const Buckets& buckets);

  // To each counter of the marks.
  void add(const std::string& marks, const BudgetState& change);

  Result<void> write();

 private:
  using Key = std::pair<std::string, std::int64_t>;
  using Window = std::tuple<std::string, std::int64_t, std::int64_t>;

  LedgerStore& store_;
  std::map<Window, BudgetState> read_ = {};
  std::map<Key, BudgetState> changes_ = {};
};

}  // namespace wick::route
