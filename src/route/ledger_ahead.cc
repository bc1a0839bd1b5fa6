// Why money stays right. A reservation ahead is a row of the store with its amount in the counters,
// committed before anybody can take it, so a request that takes it has its cost on the disk before
// it is sent, and the sums of the counters never pass a cap. Taking one writes nothing: settling
// replaces its amount by the cost, as always. If the process is killed, nobody knows whether it was
// taken, so it counts in full, like every orphan; that is why they are few.
//
// The kind of a request is all that a reservation tells, and the budgets with their caps: a budget
// that was changed makes another kind. Amounts are rounded up by an eighth at most, so that prompts
// of different lengths are of one kind. A kind has reservations of one day and of one bucket for
// each budget; if a request comes in another, they are given back.
//
// How many. As many as come in twice the time that settlements wait, 2 to 128; the writer makes
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
constexpr int kLeast = 2, kMostOfKind = 128;
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
  struct Wish {
    Charge charge = {};
    std::vector<Budget> budgets = {};
    Nanos amount = 0;
  };

  std::shared_ptr<const Wish> wish = {};
  std::uint64_t serial = 0;  // another one once a reservation for it would be another
  std::int64_t unix_s = 0;   // of the newest request
  std::string marks = {};
  std::vector<One> ready = {};  // the oldest first
  int filled = 0;               // so many were there after the last update
  // How often requests come.
  Time asked = {}, window_began = {};
  int n_in_window = 0, wanted = 0;
  bool is_often = false;

  bool is_of(const Charge& charge, std::span<const Budget> budgets, Nanos amount) const {
    return wish->amount == amount && wish->charge == charge &&
           std::equal(budgets.begin(), budgets.end(), wish->budgets.begin(), wish->budgets.end());
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
    wanted = std::clamp(static_cast<int>(n), kLeast, kMostOfKind);
    n_in_window = 0;
    window_began = now;
  }
};

struct ReservationsAhead::Plan {
  std::uint64_t kind = 0;
  std::shared_ptr<const Kind::Wish> wish = {};
  std::int64_t unix_s = 0;
  std::string marks = {};
  int n_ready = 0, wanted = 0;
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
  if (kind->ready.empty()) return {};
  const One one = kind->ready.front();
  Taken taken{.held = Reservation{.id = one.id,
                                  .unix_s = one.unix_s,
                                  .amount = amount,
                                  .spare = rounded - amount,
                                  .charge = charge,
                                  .marks = kind->marks}};
  kind->ready.erase(kind->ready.begin());
  taken.calls_writer = !is_low_ && 2 * std::ssize(kind->ready) < kind->filled;
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
    retire(**oldest, (*oldest)->ready.size());
    kinds_.erase(oldest);
  }
  auto kind = std::make_unique<Kind>();
  kind->wish = std::make_shared<const Kind::Wish>(
      Kind::Wish{.charge = charge, .budgets = {budgets.begin(), budgets.end()}, .amount = amount});
  return kinds_.emplace_back(std::move(kind)).get();
}

// What was reserved for another day or other buckets does not fit any more.
void ReservationsAhead::move_to(Kind& kind, std::int64_t unix_s) {
  if (kind.serial != 0 && kind.unix_s == unix_s) return;
  std::string marks = marks_of(kind.wish->charge, kind.wish->budgets, unix_s);
  if (kind.serial == 0 || marks != kind.marks ||
      unix_s / kDaySeconds != kind.unix_s / kDaySeconds) {
    retire(kind, kind.ready.size());
    kind.marks = std::move(marks);
    kind.serial = ++n_serials_;
  }
  kind.unix_s = unix_s;
}

void ReservationsAhead::retire(Kind& kind, std::size_t n) {
  old_.reserve(old_.size() + n);
  for (std::size_t i = 0; i < n; ++i)
    old_.push_back({.id = kind.ready[i].id, .amount = kind.wish->amount, .marks = kind.marks});
  kind.ready.erase(kind.ready.begin(), kind.ready.begin() + static_cast<std::ptrdiff_t>(n));
}

void ReservationsAhead::retire_old(Kind& kind, Time now) {
  const auto young = std::find_if(kind.ready.begin(), kind.ready.end(),
                                  [&](const One& one) { return now - one.made < kMostAge; });
  retire(kind, static_cast<std::size_t>(young - kind.ready.begin()));
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
      retire(*kind, kind->ready.size());
      kind->filled = 0;
    }
  }
  return remove(store, counters);
}

Result<void> ReservationsAhead::update(LedgerStore& store, Counters& counters) {
  const std::vector<Plan> all = plans(Steady::now());
  WICK_DO(remove(store, counters));
  for (const Plan& plan : all)
    WICK_DO(fill(plan, store, counters));
  return remove(store, counters);  // what was more than its share
}

std::vector<ReservationsAhead::Plan> ReservationsAhead::plans(Time now) {
  std::vector<Plan> plans;
  const std::lock_guard lock(mutex_);
  is_low_ = false;
  for (const auto& kind : kinds_) {
    retire_old(*kind, now);
    const bool is_wanted = !is_closed_ && kind->is_often && now - kind->asked < kOften;
    kind->filled = static_cast<int>(kind->ready.size());
    const int wanted = std::max(is_wanted ? kind->wanted : 0, kind->filled);
    if (wanted == 0) continue;
    plans.push_back({.kind = kind->serial,
                     .wish = kind->wish,
                     .unix_s = kind->unix_s,
                     .marks = kind->marks,
                     .n_ready = kind->filled,
                     .wanted = wanted});
  }
  return plans;
}

Result<void> ReservationsAhead::remove(LedgerStore& store, Counters& counters) {
  const std::size_t first = leaving_.size();
  {
    const std::lock_guard lock(mutex_);
    leaving_.insert(leaving_.end(), old_.begin(), old_.end());
    old_.clear();
  }
  for (std::size_t i = first; i < leaving_.size(); ++i) {
    const Old& old = leaving_[i];
    WICK_TRY(const bool was_there, store.remove(old.id));
    if (was_there) counters.add(old.marks, {.reserved = -old.amount});
  }
  return {};
}

// So many of the kind may be there. Their amounts fit in what is left, because all reservations
// ahead fit in a part of it.
Result<int> ReservationsAhead::most(const Plan& plan, Counters& counters) const {
  const Nanos amount = plan.wish->amount;
  Nanos most = std::min(plan.wanted, kMostAhead - count() + plan.n_ready);
  for (const Budget& budget : plan.wish->budgets) {
    if (budget.window == BudgetWindow::kRequest || !applies(budget, plan.wish->charge)) continue;
    const Buckets buckets = buckets_of(budget, plan.unix_s);
    WICK_TRY(const BudgetState now, counters.sum(budget.name, buckets));
    const Nanos ahead = held(budget.name, buckets);
    const Nanos share = (budget.cap - now.used - now.reserved + ahead) / kAheadShare;
    most = std::min(most, (share - ahead + plan.n_ready * amount) / amount);
  }
  return static_cast<int>(std::max<Nanos>(most, 0));
}

Result<void> ReservationsAhead::fill(const Plan& plan, LedgerStore& store, Counters& counters) {
  WICK_TRY(const int n, most(plan, counters));
  if (n < plan.n_ready) {
    const std::lock_guard lock(mutex_);
    for (const auto& kind : kinds_) {
      if (kind->serial != plan.kind) continue;
      const auto surplus = static_cast<std::size_t>(plan.n_ready - n);
      retire(*kind, std::min(kind->ready.size(), surplus));
      kind->filled = n;
    }
    return {};
  }
  const Nanos amount = plan.wish->amount;
  const Time now = Steady::now();
  for (int i = plan.n_ready; i < n; ++i) {
    const Reservation held{
        .unix_s = plan.unix_s, .amount = amount, .charge = plan.wish->charge, .marks = plan.marks};
    WICK_TRY(const std::int64_t id, store.insert(held, EntryState::kReserved, {}));
    counters.add(plan.marks, {.reserved = amount});
    const std::lock_guard lock(mutex_);
    made_.push_back({.kind = plan.kind,
                     .one = {.id = id, .unix_s = plan.unix_s, .made = now},
                     .old = {.id = id, .amount = amount, .marks = plan.marks}});
  }
  return {};
}

void ReservationsAhead::end(bool is_committed) noexcept {
  const std::lock_guard lock(mutex_);
  std::vector<Made> made;
  std::vector<Old> left;
  made.swap(made_);
  left.swap(leaving_);
  try {  // what cannot be kept for want of memory stays reserved
    if (!is_committed) {
      old_.insert(old_.end(), left.begin(), left.end());
      return;
    }
    for (Made& one : made) {
      const auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                                     [&](const auto& k) { return k->serial == one.kind; });
      if (kind == kinds_.end() || is_closed_) {
        old_.push_back(std::move(one.old));
      } else {
        (*kind)->ready.push_back(one.one);
        (*kind)->filled = std::max((*kind)->filled, static_cast<int>((*kind)->ready.size()));
      }
    }
    is_low_ = std::any_of(kinds_.begin(), kinds_.end(), [](const auto& kind) {
      return 2 * std::ssize(kind->ready) < kind->filled;
    });
  } catch (const std::exception&) {
  }
}

Nanos ReservationsAhead::held(const std::string& budget, const Buckets& buckets) const {
  const std::lock_guard lock(mutex_);
  Nanos sum = 0;
  for (const auto& kind : kinds_) {
    if (!kind->ready.empty() && holds(kind->marks, budget, buckets))
      sum += std::ssize(kind->ready) * kind->wish->amount;
  }
  for (const Old& one : old_)
    sum += holds(one.marks, budget, buckets) ? one.amount : 0;
  for (const Made& one : made_)
    sum += holds(one.old.marks, budget, buckets) ? one.old.amount : 0;
  return sum;
}

int ReservationsAhead::count() const {
  const std::lock_guard lock(mutex_);
  std::size_t n = made_.size();
  for (const auto& kind : kinds_)
    n += kind->ready.size();
  return static_cast<int>(n);
}

void ReservationsAhead::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  for (const auto& kind : kinds_)
    retire(*kind, kind->ready.size());
}

}  // namespace wick::route
