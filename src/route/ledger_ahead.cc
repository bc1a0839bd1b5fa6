// Why money stays right. A reservation ahead is a share of a row of the store, with its amount in
// the row and in the counters, committed before anybody can take it. So a request that takes it has
// its cost on the disk before it is sent, and the sums of the counters never pass a cap. Taking one
// writes nothing: settling replaces its amount by the cost, as always. If the process is killed,
// nobody knows whether it was taken, so it counts in full, like every orphan; that is why they are
// few. If another process has taken the row for an orphan, all its shares count in full, so
// settling and giving back change nothing.
//
// Each had a row of its own until 2026-11-26, which was written, indexed, and written again when it
// was settled: 26 thousand instructions of a request's 129, and a quarter of its bytes on the disk.
//
// The kind of a request is all that a reservation tells, and the budgets with their caps: a budget
// that was changed makes another kind. Amounts are rounded up by an eighth at most, so that prompts
// of different lengths are of one kind. A kind has reservations of one day and of one bucket for
// each budget; if a request comes in another, they are given back.
//
// How many. As many as come in twice the time that settlements wait, 2 to 512; the writer makes
// them in each transaction, and is called when fewer than half are left.
#include "route/ledger_ahead.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

namespace wick::route {

namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMostKinds = 64;
constexpr std::int64_t kLeast = 2, kMostOfKind = 512;
constexpr auto kOften = milliseconds(1000);      // a kind whose requests come at least so often
constexpr auto kCountWindow = milliseconds(20);  // requests are counted in windows of this length
constexpr auto kMostAge = std::chrono::seconds(kMostAheadSeconds);
constexpr std::int64_t kDaySeconds = 86'400;

// Up to an eighth more; 0: too much for a kind.
Nanos rounded_up(Nanos amount) noexcept {
  constexpr Nanos kTooMuch = Nanos{1} << 60;
  if (amount <= 0 || amount >= kTooMuch) return 0;
  const auto top = static_cast<Nanos>(std::bit_floor(static_cast<std::uint64_t>(amount)));
  const Nanos step = std::max<Nanos>(top / 8, 1);
  return (amount + step - 1) / step * step;
}

// A budget of one request refuses it, and says so where it is reserved.
bool is_too_much(const Charge& charge, std::span<const Budget> budgets, Nanos amount) {
  return std::any_of(budgets.begin(), budgets.end(), [&](const Budget& budget) {
    return budget.window == BudgetWindow::kRequest && amount > budget.cap &&
           applies(budget, charge);
  });
}

}  // namespace

struct ReservationsAhead::Kind {
  std::shared_ptr<const Wish> wish = {};
  std::uint64_t serial = 0;  // another one once a reservation for it would be another
  std::int64_t unix_s = 0;   // of the newest request
  std::shared_ptr<const Origin> origin = {};
  std::int64_t row = 0;            // the last one that it got shares of; 0: none
  std::vector<Shares> ready = {};  // the oldest first
  std::int64_t n_ready = 0;
  std::int64_t filled = 0;  // so many were there after the last update
  // How often requests come.
  Time asked = {}, window_began = {};
  std::int64_t n_in_window = 0, wanted = 0;
  bool is_often = false;

  bool is_of(const Charge& charge, std::span<const Budget> budgets, Nanos amount) const {
    return wish->amount == amount && wish->charge == charge &&
           std::equal(budgets.begin(), budgets.end(), wish->budgets.begin(), wish->budgets.end());
  }

  bool is_low() const { return 2 * n_ready < filled; }

  // The oldest `n`, or fewer, of one row.
  Shares take(std::int64_t n) {
    Shares& oldest = ready.front();
    Shares taken = oldest;
    taken.n = std::min(n, oldest.n);
    oldest.n -= taken.n;
    n_ready -= taken.n;
    if (oldest.n == 0) ready.erase(ready.begin());
    return taken;
  }

  void count(Time now) {
    is_often = now - asked < kOften;
    asked = now;
    if (!is_often) {
      wanted = n_in_window = 0;
      window_began = now;
      return;
    }
    ++n_in_window;
    const auto passed = now - window_began;
    if (passed < kCountWindow && wanted > 0) return;
    const auto n =
        2 * n_in_window * kCountWindow / std::max<Steady::duration>(passed, kCountWindow);
    wanted = std::clamp<std::int64_t>(n, kLeast, kMostOfKind);
    n_in_window = 0;
    window_began = now;
  }
};

struct ReservationsAhead::Plan {
  std::uint64_t kind = 0;
  std::shared_ptr<const Wish> wish = {};
  std::int64_t unix_s = 0;
  std::shared_ptr<const Origin> origin = {};
  std::int64_t row = 0;
  std::int64_t n_ready = 0, wanted = 0;
};

ReservationsAhead::ReservationsAhead() = default;
ReservationsAhead::~ReservationsAhead() = default;

ReservationsAhead::Taken ReservationsAhead::take(const Charge& charge,
                                                 std::span<const Budget> budgets, Nanos amount,
                                                 std::int64_t unix_s) {
  const Nanos rounded = rounded_up(amount);
  if (rounded == 0 || is_too_much(charge, budgets, amount)) return {};
  const Time now = Steady::now();
  const std::lock_guard lock(mutex_);
  Kind* const kind = is_closed_ ? nullptr : find(charge, budgets, rounded, now);
  if (kind == nullptr) return {};
  move_to(*kind, unix_s);
  kind->count(now);
  retire_old(*kind, now);
  if (kind->n_ready == 0) return {};
  Taken taken{.held = Reservation{.id = kind->take(1).row,
                                  .unix_s = unix_s,
                                  .amount = amount,
                                  .spare = rounded - amount,
                                  .is_share = true,
                                  .origin = kind->origin}};
  taken.calls_writer = !is_low_ && kind->is_low();
  is_low_ = is_low_ || taken.calls_writer;
  return taken;
}

// It is made if it is not known; null if there are too many.
ReservationsAhead::Kind* ReservationsAhead::find(const Charge& charge,
                                                 std::span<const Budget> budgets, Nanos amount,
                                                 Time now) {
  for (const auto& one : kinds_) {
    if (one->is_of(charge, budgets, amount)) return one.get();
  }
  if (kinds_.size() == kMostKinds) {
    const auto oldest =
        std::min_element(kinds_.begin(), kinds_.end(),
                         [](const auto& a, const auto& b) { return a->asked < b->asked; });
    if (now - (*oldest)->asked < kOften) return nullptr;
    retire(**oldest, (*oldest)->n_ready);
    kinds_.erase(oldest);
  }
  auto kind = std::make_unique<Kind>();
  kind->wish = std::make_shared<const Wish>(
      Wish{.charge = charge, .budgets = {budgets.begin(), budgets.end()}, .amount = amount});
  return kinds_.emplace_back(std::move(kind)).get();
}

// What was reserved for another day or other buckets does not fit any more.
void ReservationsAhead::move_to(Kind& kind, std::int64_t unix_s) {
  if (kind.serial != 0 && kind.unix_s == unix_s) return;
  std::string marks = marks_of(kind.wish->charge, kind.wish->budgets, unix_s);
  if (kind.serial == 0 || marks != kind.origin->marks ||
      unix_s / kDaySeconds != kind.unix_s / kDaySeconds) {
    retire(kind, kind.n_ready);
    kind.origin = origin_of(kind.wish->charge, std::move(marks));
    kind.serial = ++n_serials_;
    kind.row = 0;
  }
  kind.unix_s = unix_s;
}

void ReservationsAhead::retire(Kind& kind, std::int64_t n) {
  if (n == 0) return;
  old_.reserve(old_.size() + kind.ready.size());
  while (n > 0) {
    old_.push_back(kind.take(n));
    n -= old_.back().n;
  }
}

void ReservationsAhead::retire_old(Kind& kind, Time now) {
  std::int64_t n_old = 0;
  for (const Shares& one : kind.ready)
    n_old += now - one.made >= kMostAge ? one.n : 0;
  retire(kind, n_old);
}

bool ReservationsAhead::is_due() const {
  return due() <= Steady::now();
}

ReservationsAhead::Time ReservationsAhead::due() const {
  const std::lock_guard lock(mutex_);
  if (is_low_ || !old_.empty()) return {};
  Time due = Steady::now() + std::chrono::hours(1);
  for (const auto& kind : kinds_) {
    if (!kind->ready.empty()) due = std::min(due, kind->ready.front().made + kMostAge);
  }
  return due;
}

Result<void> ReservationsAhead::give_back(LedgerStore& store, Counters& counters) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& kind : kinds_) {
      retire(*kind, kind->n_ready);
      kind->filled = 0;
    }
  }
  return remove(store, counters);
}

Result<void> ReservationsAhead::settle(const Reservation& held, const EntrySums& end,
                                       LedgerStore& store, Counters& counters) {
  const Nanos reserved = held.amount + held.spare;
  {
    const std::lock_guard lock(mutex_);
    if (!rows_.contains(held.id)) return {};  // it was settled before
  }
  WICK_TRY(const bool was_open, change(held.id, -end.requests, -reserved, store));
  if (!was_open) return {};
  counters.add(held.origin->marks, {.used = end.cost, .reserved = -reserved});
  WICK_TRY([[maybe_unused]] const std::int64_t id, store.insert(held, EntryState::kSettled, end));
  return {};
}

Result<void> ReservationsAhead::update(LedgerStore& store, Counters& counters) {
  const std::vector<Plan> all = plans(Steady::now());
  WICK_DO(remove(store, counters));
  for (const Plan& plan : all)
    WICK_DO(fill(plan, store, counters));
  WICK_DO(remove(store, counters));  // what was more than its share
  return remove_empty_rows(store);
}

std::vector<ReservationsAhead::Plan> ReservationsAhead::plans(Time now) {
  std::vector<Plan> plans;
  const std::lock_guard lock(mutex_);
  is_low_ = false;
  for (const auto& kind : kinds_) {
    retire_old(*kind, now);
    const bool is_wanted = !is_closed_ && kind->is_often && now - kind->asked < kOften;
    kind->filled = kind->n_ready;
    const std::int64_t wanted = std::max(is_wanted ? kind->wanted : 0, kind->filled);
    if (wanted == 0) continue;
    plans.push_back({.kind = kind->serial,
                     .wish = kind->wish,
                     .unix_s = kind->unix_s,
                     .origin = kind->origin,
                     .row = kind->row,
                     .n_ready = kind->filled,
                     .wanted = wanted});
  }
  return plans;
}

// Of the row in the store; false if another process has taken it for an orphan.
Result<bool> ReservationsAhead::change(std::int64_t row, std::int64_t n, Nanos amount,
                                       LedgerStore& store) {
  WICK_TRY(const bool was_open, store.change(row, amount, n));
  const std::lock_guard lock(mutex_);
  rows_.at(row).change += n;
  return was_open;
}

Result<void> ReservationsAhead::remove(LedgerStore& store, Counters& counters) {
  const std::size_t first = leaving_.size();
  {
    const std::lock_guard lock(mutex_);
    leaving_.insert(leaving_.end(), old_.begin(), old_.end());
    old_.clear();
  }
  for (std::size_t i = first; i < leaving_.size(); ++i) {
    const Shares& old = leaving_[i];
    Row row;
    {
      const std::lock_guard lock(mutex_);
      row = rows_.at(old.row);
    }
    const Nanos amount = old.n * row.amount;
    WICK_TRY(const bool was_open, change(old.row, -old.n, -amount, store));
    if (was_open) counters.add(row.origin->marks, {.reserved = -amount});
  }
  return {};
}

// Behind all else, since SQLite may give the id of a row that was removed to another one.
Result<void> ReservationsAhead::remove_empty_rows(LedgerStore& store) {
  std::vector<std::int64_t> empty;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, row] : rows_) {
      if (row.open + row.change == 0) empty.push_back(id);
    }
  }
  for (const std::int64_t id : empty) {
    WICK_TRY([[maybe_unused]] const bool was_there, store.remove(id));
  }
  return {};
}

// So many of the kind may be there. Their amounts fit in what is left, because all reservations
// ahead fit in a part of it.
Result<std::int64_t> ReservationsAhead::most(const Plan& plan, Counters& counters) const {
  const Nanos amount = plan.wish->amount;
  Nanos most = std::min<Nanos>(plan.wanted, kMostAhead - count() + plan.n_ready);
  for (const Budget& budget : plan.wish->budgets) {
    if (budget.window == BudgetWindow::kRequest || !applies(budget, plan.wish->charge)) continue;
    const Buckets buckets = buckets_of(budget, plan.unix_s);
    WICK_TRY(const BudgetState now, counters.sum(budget.name, buckets));
    const Nanos ahead = held(budget.name, buckets);
    const Nanos share = (budget.cap - now.used - now.reserved + ahead) / kAheadShare;
    most = std::min(most, (share - ahead + plan.n_ready * amount) / amount);
  }
  return std::max<std::int64_t>(most, 0);
}

Result<void> ReservationsAhead::fill(const Plan& plan, LedgerStore& store, Counters& counters) {
  WICK_TRY(const std::int64_t n, most(plan, counters));
  if (n < plan.n_ready) {
    const std::lock_guard lock(mutex_);
    for (const auto& kind : kinds_) {
      if (kind->serial != plan.kind) continue;
      retire(*kind, std::min(kind->n_ready, plan.n_ready - n));
      kind->filled = n;
    }
    return {};
  }
  if (n == plan.n_ready) return {};
  const std::int64_t n_new = n - plan.n_ready;
  WICK_TRY(const std::int64_t row, add(plan, n_new, store));
  counters.add(plan.origin->marks, {.reserved = n_new * plan.wish->amount});
  const std::lock_guard lock(mutex_);
  made_.push_back({.kind = plan.kind, .shares = {.row = row, .n = n_new, .made = Steady::now()}});
  return {};
}

// To the row of the kind, else to a new one. Its id.
Result<std::int64_t> ReservationsAhead::add(const Plan& plan, std::int64_t n, LedgerStore& store) {
  const Nanos amount = n * plan.wish->amount;
  bool is_known = false;
  {
    const std::lock_guard lock(mutex_);
    is_known = rows_.contains(plan.row);
  }
  if (is_known) {
    WICK_TRY(const bool is_open, store.change(plan.row, amount, n));
    const std::lock_guard lock(mutex_);
    if (is_open) {
      rows_.at(plan.row).change += n;
      return plan.row;
    }
  }
  const Reservation held{.unix_s = plan.unix_s, .amount = amount, .origin = plan.origin};
  WICK_TRY(const std::int64_t id, store.insert(held, EntryState::kReserved, {.requests = n}));
  const std::lock_guard lock(mutex_);
  rows_[id] = {.origin = plan.origin, .amount = plan.wish->amount, .change = n};
  return id;
}

void ReservationsAhead::end(bool is_committed) noexcept {
  const std::lock_guard lock(mutex_);
  std::vector<Made> made;
  std::vector<Shares> left;
  made.swap(made_);
  left.swap(leaving_);
  for (auto& [id, row] : rows_) {
    row.open += is_committed ? row.change : 0;
    row.change = 0;
  }
  std::erase_if(rows_, [](const auto& one) { return one.second.open == 0; });
  try {  // what cannot be kept for want of memory stays reserved
    if (!is_committed) {
      old_.insert(old_.end(), left.begin(), left.end());
      return;
    }
    for (const Made& one : made) {
      const auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                                     [&](const auto& k) { return k->serial == one.kind; });
      if (kind == kinds_.end() || is_closed_) {
        old_.push_back(one.shares);
      } else {
        (*kind)->ready.push_back(one.shares);
        (*kind)->n_ready += one.shares.n;
        (*kind)->row = one.shares.row;
        (*kind)->filled = std::max((*kind)->filled, (*kind)->n_ready);
      }
    }
    is_low_ =
        std::any_of(kinds_.begin(), kinds_.end(), [](const auto& kind) { return kind->is_low(); });
  } catch (const std::exception&) {
  }
}

Nanos ReservationsAhead::held(const std::string& budget, const Buckets& buckets) const {
  const std::lock_guard lock(mutex_);
  Nanos sum = 0;
  for (const auto& kind : kinds_) {
    if (kind->n_ready > 0 && holds(kind->origin->marks, budget, buckets))
      sum += kind->n_ready * kind->wish->amount;
  }
  const auto add = [&](const Shares& one) {
    const Row& row = rows_.at(one.row);
    sum += holds(row.origin->marks, budget, buckets) ? one.n * row.amount : 0;
  };
  for (const Shares& one : old_)
    add(one);
  for (const Made& one : made_)
    add(one.shares);
  return sum;
}

std::int64_t ReservationsAhead::count() const {
  const std::lock_guard lock(mutex_);
  std::int64_t n = 0;
  for (const Made& one : made_)
    n += one.shares.n;
  for (const auto& kind : kinds_)
    n += kind->n_ready;
  return n;
}

void ReservationsAhead::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  for (const auto& kind : kinds_)
    retire(*kind, kind->n_ready);
}

}  // namespace wick::route
