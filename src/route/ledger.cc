// Why a budget cannot be overspent. A store has a counter per budget and bucket with two sums:
// `used` and `reserved`. A reservation reads the sums of its window and adds its amount in one
// transaction that no other process's overlaps (LedgerStore::begin), and the transaction is
// committed before reserve() returns, that is, before the request is sent. Settling replaces the
// reserved amount by the cost; a crash in between leaves the amount reserved, which counts in full.
//
// Group commit. Of the callers that wait, one writes for all: it takes the queue, and one commit
// (one fsync) decides every reservation in it. For callers that do not wait (ask()) the ledger's
// thread does so. Each counter is read and written once in it (Counters). Settlements wait up to
// 20 ms for a reservation to go with; losing one in a crash only leaves its amount reserved.
// Requests that cost nothing wait longer, up to a second: with one commit each 20 ms an fsync was
// under way half of the time. Those of one second with the same charge share an entry, and so do
// those of one second that were reserved ahead together: one takes 20 thousand instructions, so
// that a group of 1,024 kept requests waiting.
//
// Reservations ahead (ledger_ahead.h). Where requests of one kind come often, the transactions make
// reservations for those to come; one that is there is taken without a commit. None is the reason
// of a refusal: before one is told, those of this process are given back in the same transaction.
//
// A store that is away at first. The ledger's thread tries it again, after 1, 2, 4 and then every
// 8 s. Until then reservations are refused at once and settlements wait; nothing is written before
// renew(), without which other processes would take this one's reservations for lost.
#include "route/ledger.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "route/ledger_ahead.h"
#include "route/ledger_counters.h"
#include "route/ledger_store.h"

namespace wick::route {

namespace {

constexpr auto kSettleDelay = std::chrono::milliseconds(20);
// Entries of requests that cost nothing: so many are written at once, and while the store cannot be
// written so many wait. Later ones are dropped.
constexpr std::size_t kFullGroup = 1024, kMaxWaitingRows = 8192;
constexpr std::size_t kMaxShared = 16;  // among so many entries, the newest, one to share is sought
constexpr std::chrono::milliseconds kNeverRenewed = std::chrono::hours(10'000);
constexpr int kMaxRetry = 8;  // times LedgerOptions::retry_ms, between tries of a store

struct Wanted {  // a reservation that waits for its commit
  Charge charge = {};
  std::vector<Budget> budgets = {};
  Nanos amount = 0;
  std::int64_t unix_s = 0;
  std::shared_ptr<Wake> wake = {};                  // null: its caller waits
  std::optional<Result<Reservation>> decided = {};  // the writer's alone, until it is committed
  std::optional<Result<Reservation>> result = {};
  bool is_left = false;  // nobody wants it any more
};

struct Settled {
  Reservation held;  // its id 0: of requests that cost nothing
  EntrySums sums;

  void add(const Reservation& more, const EntrySums& its_sums) noexcept {
    held.amount += more.amount;
    held.spare += more.spare;
    sums.add(its_sums);
  }
};

Error exceeded(const Budget& budget, const BudgetState& now, Nanos amount) {
  return {.code = ErrorCode::kUnavailable,
          .id = "budget_exceeded",
          .message = cat("the budget '", printable(budget.name), "' of ", to_dollars(budget.cap),
                         " USD has ", to_dollars(budget.cap - now.used - now.reserved),
                         " left, the request may cost ", to_dollars(amount))};
}

class GroupLedger final : public Ledger {
 public:
  GroupLedger(OpenLedgerStore open, const LedgerOptions& options)
      : options_(options), open_(std::move(open)) {}

  ~GroupLedger() override {
    {
      // Under the lock: else the thread may look for it, and wait after the notification.
      const std::lock_guard lock(mutex_);
      thread_.request_stop();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    ahead_.close();
    static_cast<void>(flush());  // what cannot be written stays reserved
  }

  Result<void> begin() {
    const auto found = find_store();
    if (!found && (!options_.may_be_away || options_.writes_at_once)) return found;
    if (!found) {
      away_ = found.error();
      log_message(LogLevel::kWarning,
                  cat("providers with a price are refused for now: ", to_string(*away_)));
    }
    if (options_.writes_at_once) return {};
    WICK_TRY(thread_, start_thread([this](const std::stop_token& stop) {
               if (wait_for_store(stop)) write_settled(stop);
             }));
    return {};
  }

  Result<Reservation> reserve(const Charge& charge, std::span<const Budget> budgets, Nanos amount,
                              std::int64_t unix_s) override {
    if (amount <= 0) return Reservation{.unix_s = unix_s, .origin = origin_of(charge)};
    if (auto held = take_ahead(charge, budgets, amount, unix_s)) return *std::move(held);
    const auto wanted = std::make_shared<Wanted>(
        Wanted{.charge = charge,
               .budgets = std::vector<Budget>(budgets.begin(), budgets.end()),
               .amount = amount,
               .unix_s = unix_s});
    std::unique_lock lock(mutex_);
    if (away_) return *away_;
    wanted_.push_back(wanted);
    while (!wanted->result) {
      if (is_writing_) {
        changed_.wait(lock);
      } else {
        static_cast<void>(write(lock));  // an error is the result of all that waited
      }
    }
    return *std::move(wanted->result);
  }

  std::unique_ptr<AskedReservation> ask(const Charge& charge, std::span<const Budget> budgets,
                                        Nanos amount, std::int64_t unix_s,
                                        std::shared_ptr<Wake> wake) override {
    if (amount <= 0 || options_.writes_at_once)
      return std::make_unique<Ready>(*this, reserve(charge, budgets, amount, unix_s));
    if (auto held = take_ahead(charge, budgets, amount, unix_s))
      return std::make_unique<Ready>(*this, *std::move(held));
    auto wanted = std::make_shared<Wanted>(
        Wanted{.charge = charge,
               .budgets = std::vector<Budget>(budgets.begin(), budgets.end()),
               .amount = amount,
               .unix_s = unix_s,
               .wake = std::move(wake)});
    {
      const std::lock_guard lock(mutex_);
      if (away_) {
        wanted->result = *away_;
      } else {
        wanted_.push_back(wanted);
      }
    }
    changed_.notify_all();
    return std::make_unique<Asked>(*this, std::move(wanted));
  }

  void settle(Reservation&& held, const Settlement& settlement) override {
    if (held.origin == nullptr) return;  // it was settled before
    bool is_news = false;                // else the thread has its time to write already
    const EntrySums sums = EntrySums::of(settlement);
    {
      const std::lock_guard lock(mutex_);
      if (Settled* const shared = find_shared(held)) {
        shared->add(held, sums);
      } else if (held.id == 0 && settled_.size() >= kMaxWaitingRows) {
        ++n_dropped_;
        return;
      } else {
        is_news = settled_.empty() || settled_.size() == kFullGroup || (held.id != 0 && !has_held_);
        has_held_ = has_held_ || held.id != 0;
        settled_.push_back({.held = std::move(held), .sums = sums});
      }
    }
    if (options_.writes_at_once) {
      static_cast<void>(flush());
    } else if (is_news) {
      changed_.notify_all();
    }
  }

  Result<void> flush() override {
    std::unique_lock lock(mutex_);
    if (away_) return *away_;
    while (is_writing_)
      changed_.wait(lock);
    return settled_.empty() && !ahead_.is_due() ? Result<void>{} : write(lock);
  }

  Result<std::vector<UsageRow>> usage(std::int64_t since_unix_s, bool by_day,
                                      const UsageFilter& filter) override {
    WICK_DO(flush());
    const std::lock_guard lock(store_mutex_);
    return store_->usage(since_unix_s, by_day, filter);
  }

  Result<BudgetState> state(const Budget& budget, std::int64_t unix_s) override {
    WICK_DO(flush());
    const std::lock_guard lock(store_mutex_);
    const Buckets buckets = buckets_of(budget, unix_s);
    WICK_TRY(BudgetState sum, store_->sum(budget.name, buckets));
    sum.reserved = std::max<Nanos>(sum.reserved - ahead_.held(budget.name, buckets), 0);
    return sum;
  }

 private:
  using Wants = std::vector<std::shared_ptr<Wanted>>;

  std::optional<Reservation> take_ahead(const Charge& charge, std::span<const Budget> budgets,
                                        Nanos amount, std::int64_t unix_s) {
    if (options_.writes_at_once) return std::nullopt;
    auto taken = ahead_.take(charge, budgets, amount, unix_s);
    if (taken.calls_writer) {
      // Else the thread may have looked for it, and wait after the notification.
      { const std::lock_guard lock(mutex_); }
      changed_.notify_all();
    }
    return std::move(taken.held);
  }

  // The entry that waits for more requests of this kind: they cost nothing, or were reserved ahead
  // together.
  Settled* find_shared(const Reservation& held) {
    if (held.id != 0 && !held.is_share) return nullptr;
    const auto end = settled_.rend();
    const auto last = settled_.size() > kMaxShared ? settled_.rbegin() + kMaxShared : end;
    const auto found = std::find_if(settled_.rbegin(), last, [&](const Settled& one) {
      return one.held.id == held.id && one.held.unix_s == held.unix_s &&
             (held.is_share || one.held.origin->charge == held.origin->charge);
    });
    return found == last ? nullptr : &*found;
  }

  // One that nobody has to wait for.
  class Ready final : public AskedReservation {
   public:
    Ready(GroupLedger& ledger, Result<Reservation> result)
        : ledger_(ledger), result_(std::move(result)) {}

    ~Ready() override {
      if (result_) ledger_.give_back(*std::move(result_));
    }

    std::optional<Result<Reservation>> take() override {
      return std::exchange(result_, std::nullopt);
    }

   private:
    GroupLedger& ledger_;
    std::optional<Result<Reservation>> result_;
  };

  class Asked final : public AskedReservation {
   public:
    Asked(GroupLedger& ledger, std::shared_ptr<Wanted> wanted)
        : ledger_(ledger), wanted_(std::move(wanted)) {}

    ~Asked() override {
      if (wanted_ != nullptr) ledger_.leave(*wanted_);
    }

    std::optional<Result<Reservation>> take() override {
      if (wanted_ == nullptr) return std::nullopt;
      std::optional<Result<Reservation>> result;
      {
        const std::lock_guard lock(ledger_.mutex_);
        result.swap(wanted_->result);
      }
      if (result) wanted_ = nullptr;
      return result;
    }

   private:
    GroupLedger& ledger_;
    std::shared_ptr<Wanted> wanted_;
  };

  // What was never sent costs nothing.
  void give_back(Result<Reservation> held) {
    if (held && held->id != 0) settle(*std::move(held), {.has_failed = true});
  }

  // Nobody wants it any more. What is being committed is given back by publish().
  void leave(Wanted& wanted) {
    {
      const std::lock_guard lock(mutex_);
      wanted.is_left = true;
      std::erase_if(wanted_, [&](const auto& one) { return one.get() == &wanted; });
      if (!wanted.result) return;
    }
    give_back(*std::move(wanted.result));
  }

  // Only what was committed is told. A write's error is the result of all that it was to commit.
  void publish(const Wants& wanted, const Result<void>& written) {
    for (const auto& one : wanted) {
      if (written) {
        one->result = std::move(one->decided);
      } else {
        one->result = written.error();
      }
      if (one->is_left && *one->result && (*one->result)->id != 0) {
        settled_.push_back({.held = **one->result, .sums = {.failed = 1}});
        has_held_ = true;
      }
      if (one->wake != nullptr) one->wake->set();
    }
  }

  // Writes all that waits in one transaction; `lock` is let go meanwhile.
  Result<void> write(std::unique_lock<std::mutex>& lock) {
    is_writing_ = true;
    Wants wanted;
    std::vector<Settled> settled;
    wanted.swap(wanted_);
    settled.swap(settled_);
    const bool had_held = std::exchange(has_held_, false);
    const std::int64_t n_dropped = std::exchange(n_dropped_, 0);
    lock.unlock();
    auto written = write_all(wanted, settled);
    if (written && n_dropped > 0) {
      log_message(LogLevel::kWarning, cat("the ledger could not be written for a while: it lacks ",
                                          n_dropped, " requests that cost nothing"));
    }
    lock.lock();
    publish(wanted, written);
    if (!written) {
      settled_.insert(settled_.begin(), std::make_move_iterator(settled.begin()),
                      std::make_move_iterator(settled.end()));
      n_dropped_ += n_dropped;
      // Those that came meanwhile may be too many beside them.
      while (settled_.size() > kMaxWaitingRows && settled_.back().held.id == 0) {
        n_dropped_ += settled_.back().sums.requests;
        settled_.pop_back();
      }
      has_held_ = has_held_ || had_held;
    }
    is_writing_ = false;
    changed_.notify_all();
    if (written) take_for_waiting();
    return written;
  }

  Result<void> write_all(const Wants& wanted, std::span<const Settled> settled) {
    const std::lock_guard lock(store_mutex_);
    auto written = in_transaction([&] { return write_rows(wanted, settled); });
    ahead_.end(static_cast<bool>(written));
    return written;
  }

  // For those that came during the commit.
  void take_for_waiting() {
    std::erase_if(wanted_, [&](const auto& one) {
      auto taken = ahead_.take(one->charge, one->budgets, one->amount, one->unix_s);
      if (!taken.held) return false;
      one->result = *std::move(taken.held);
      if (one->wake != nullptr) one->wake->set();
      return true;
    });
  }

  // Under the mutex of the store. An exception is an error, too: callers wait for the result.
  template <class Do>
  Result<void> in_transaction(const Do& act) {
    Result<void> done = catch_bad_alloc([&]() -> Result<void> {
      WICK_DO(store_->begin());
      WICK_DO(act());
      return store_->commit();
    });
    if (!done) store_->rollback();
    return done;
  }

  Result<void> write_rows(const Wants& wanted, std::span<const Settled> settled) {
    Counters counters(*store_);
    for (const auto& [held, end] : settled) {
      if (held.id == 0) {  // requests that cost nothing
        WICK_TRY([[maybe_unused]] const std::int64_t id,
                 store_->insert(held, EntryState::kSettled, end));
        continue;
      }
      if (held.is_share) {
        WICK_DO(ahead_.settle(held, end, *store_, counters));
        continue;
      }
      WICK_TRY(const bool was_open, store_->settle(held.id, EntryState::kSettled, end));
      if (was_open)
        counters.add(held.origin->marks, {.used = end.cost, .reserved = -held.amount - held.spare});
    }
    for (const auto& one : wanted) {
      auto held = hold(*one, counters);
      if (!held && held.error().id != "budget_exceeded") return std::move(held).error();
      one->decided = std::move(held);
    }
    if (!options_.writes_at_once) WICK_DO(ahead_.update(*store_, counters));
    return counters.write();
  }

  Result<Reservation> hold(const Wanted& wanted, Counters& counters) {
    for (const Budget& budget : wanted.budgets) {
      if (!applies(budget, wanted.charge)) continue;
      WICK_TRY(const auto refused, check(budget, wanted, counters));
      if (refused) return *refused;
    }
    Reservation held{
        .unix_s = wanted.unix_s,
        .amount = wanted.amount,
        .origin = origin_of(wanted.charge, marks_of(wanted.charge, wanted.budgets, wanted.unix_s))};
    WICK_TRY(held.id, store_->insert(held, EntryState::kReserved, {}));
    counters.add(held.origin->marks, {.reserved = held.amount});
    return held;
  }

  // Why the budget refuses it; before that, all that was reserved ahead is given back, if this lets
  // it fit.
  Result<std::optional<Error>> check(const Budget& budget, const Wanted& wanted,
                                     Counters& counters) {
    const bool is_counted = budget.window != BudgetWindow::kRequest;
    const Buckets buckets = buckets_of(budget, wanted.unix_s);
    for (;;) {
      BudgetState now;
      if (is_counted) {
        WICK_TRY(now, counters.sum(budget.name, buckets));
      }
      if (wanted.amount <= budget.cap - now.used - now.reserved) return std::optional<Error>();
      now.reserved -= is_counted ? ahead_.held(budget.name, buckets) : 0;
      if (wanted.amount > budget.cap - now.used - now.reserved)
        return std::optional(exceeded(budget, now, wanted.amount));
      WICK_DO(ahead_.give_back(*store_, counters));
    }
  }

  // Says that this process lives, and settles for those that are gone: nobody knows what they
  // spent, so all of it counts.
  Result<void> renew() {
    const std::lock_guard lock(store_mutex_);
    return in_transaction([&]() -> Result<void> {
      WICK_DO(store_->renew());
      Counters counters(*store_);
      for (;;) {
        WICK_TRY(const std::vector<OpenEntry> orphans, store_->orphans());
        if (orphans.empty()) return counters.write();
        for (const OpenEntry& one : orphans) {
          const EntrySums end{
              .cost = one.reserved, .estimated = one.requests, .failed = one.requests};
          WICK_TRY(const bool was_open, store_->settle(one.id, EntryState::kLost, end));
          if (was_open) counters.add(one.marks, {.used = one.reserved, .reserved = -one.reserved});
        }
      }
    });
  }

  Result<void> find_store() {
    {
      const std::lock_guard lock(store_mutex_);
      if (store_ == nullptr) {
        WICK_TRY(store_, open_());
      }
    }
    return renew();
  }

  // True once the store is there; false: it is not, and the ledger ends.
  bool wait_for_store(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!away_) return true;
    for (int n = 1;; n = std::min(2 * n, kMaxRetry)) {
      const auto delay = std::chrono::milliseconds(n * options_.retry_ms);
      if (changed_.wait_for(lock, delay, [&] { return stop.stop_requested(); })) return false;
      lock.unlock();
      const auto found = find_store();
      lock.lock();
      if (found) break;
      away_ = found.error();
    }
    away_.reset();
    log_message(LogLevel::kInfo, "the ledger was opened: providers with a price are asked again");
    return true;
  }

  void write_settled(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    bool was_told = false;
    const auto tell = [&](const Result<void>& written) {
      if (!written && !was_told) log_message(LogLevel::kWarning, to_string(written.error()));
      was_told = !written;
    };
    const auto renewal = store_->renewal().count() > 0 ? store_->renewal() : kNeverRenewed;
    auto due = std::chrono::steady_clock::now() + renewal;
    const auto is_stopped = [&] { return stop.stop_requested(); };
    const auto is_asked = [&] { return is_stopped() || !wanted_.empty(); };
    const auto is_urgent = [&] { return is_asked() || ahead_.is_due(); };
    const auto has_any = [&] { return !settled_.empty() || !wanted_.empty() || ahead_.is_due(); };
    const auto has_work = [&] { return is_stopped() || (has_any() && !is_writing_); };
    while (!is_stopped()) {
      while (!has_work()) {
        const auto until = is_writing_ ? due : std::min(due, ahead_.due());
        if (changed_.wait_until(lock, until) == std::cv_status::timeout) break;
      }
      if (std::chrono::steady_clock::now() >= due) {
        lock.unlock();
        const auto done = renew();
        lock.lock();
        tell(done);
        due = std::chrono::steady_clock::now() + renewal;
      }
      if (is_stopped()) return;
      if (is_writing_ || !has_any()) continue;
      const auto has_many = [&] {
        return has_held_ || settled_.size() > kFullGroup || is_urgent();
      };
      const auto later =
          std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.free_ms);
      changed_.wait_until(lock, std::min(later, due), [&] { return is_writing_ || has_many(); });
      if (has_held_) changed_.wait_for(lock, kSettleDelay, is_urgent);
      if (is_writing_ || !has_any()) continue;
      const auto written = write(lock);
      tell(written);
      if (!written) changed_.wait_for(lock, 50 * kSettleDelay, is_asked);
    }
  }

  const LedgerOptions options_;
  const OpenLedgerStore open_;
  ReservationsAhead ahead_;
  std::mutex store_mutex_;
  std::unique_ptr<LedgerStore> store_ = {};  // under the first mutex; null until it was opened

  std::mutex mutex_;  // never taken while holding the first
  std::condition_variable changed_;
  Wants wanted_;
  std::vector<Settled> settled_;
  bool has_held_ = false;  // one of them was reserved
  std::int64_t n_dropped_ = 0;
  bool is_writing_ = false;
  std::optional<Error> away_ = {};  // why the store was never there
  std::jthread thread_;
};

}  // namespace

std::optional<Error> refusal(Ledger& ledger, const Charge& charge, std::span<const Budget> budgets,
                             Nanos amount, std::int64_t unix_s) {
  if (const auto there = ledger.flush(); !there) return there.error();
  for (const Budget& budget : budgets) {
    if (!applies(budget, charge)) continue;
    BudgetState now;
    if (budget.window != BudgetWindow::kRequest) {
      const auto found = ledger.state(budget, unix_s);
      if (!found) return found.error();
      now = *found;
    }
    if (amount > budget.cap - now.used - now.reserved) return exceeded(budget, now, amount);
  }
  return std::nullopt;
}

Result<std::unique_ptr<Ledger>> Ledger::open(const LedgerOptions& options) {
  const auto stores = ledger_stores();
  const auto kind = std::find_if(stores.begin(), stores.end(), [&](const LedgerStoreKind& one) {
    return options.path.starts_with(one.scheme);
  });
  return open_ledger_in([kind, options] { return kind->open(options); }, options);
}

Result<std::unique_ptr<Ledger>> open_ledger_in(OpenLedgerStore open, const LedgerOptions& options) {
  auto ledger = std::make_unique<GroupLedger>(std::move(open), options);
  WICK_DO(ledger->begin());
  return std::unique_ptr<Ledger>(std::move(ledger));
}

}  // namespace wick::route
