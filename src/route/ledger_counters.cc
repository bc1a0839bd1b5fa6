#include "route/ledger_counters.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>

#include "base/strings.h"

namespace wick::route {

namespace {

template <class Visit>
void each_mark(const std::string& marks, const Visit& visit) {
  for (std::size_t at = 0; at < marks.size();) {
    const std::size_t end = std::min(marks.find('\n', at), marks.size());
    const std::string_view line = std::string_view(marks).substr(at, end - at);
    const std::size_t blank = std::min(line.find(' '), line.size() - 1);
    std::int64_t bucket = 0;
    std::from_chars(line.data(), line.data() + blank, bucket);
    visit(line.substr(blank + 1), bucket);
    at = end + 1;
  }
}

}  // namespace

std::string marks_of(const Charge& charge, std::span<const Budget> budgets, std::int64_t unix_s) {
  std::string marks;
  for (const Budget& budget : budgets) {
    if (budget.window == BudgetWindow::kRequest || !applies(budget, charge)) continue;
    marks += cat(buckets_of(budget, unix_s).current, " ", budget.name, "\n");
  }
  return marks;
}

bool holds(const std::string& marks, const std::string& budget, const Buckets& buckets) {
  bool found = false;
  each_mark(marks, [&](std::string_view name, std::int64_t bucket) {
    found = found || (name == budget && bucket >= buckets.first && bucket <= buckets.current);
  });
  return found;
}

Result<BudgetState> Counters::sum(const std::string& budget, const Buckets& buckets) {
  const Key first{budget, buckets.first};
  auto found = read_.find({budget, buckets.first, buckets.current});
  if (found == read_.end()) {
    WICK_TRY(const BudgetState state, store_.sum(budget, buckets));
    found = read_.emplace(Window{budget, buckets.first, buckets.current}, state).first;
  }
  BudgetState state = found->second;
  for (auto it = changes_.lower_bound(first);
       it != changes_.end() && it->first <= Key{budget, buckets.current}; ++it) {
    state.used += it->second.used;
    state.reserved += it->second.reserved;
  }
  return state;
}

void Counters::add(const std::string& marks, const BudgetState& change) {
  each_mark(marks, [&](std::string_view name, std::int64_t bucket) {
    BudgetState& sum = changes_[{std::string(name), bucket}];
    sum.used += change.used;
    sum.reserved += change.reserved;
  });
}

Result<void> Counters::write() {
  for (const auto& [key, change] : changes_)
    WICK_DO(store_.add(key.first, key.second, change));
  return {};
}

}  // namespace wick::route
