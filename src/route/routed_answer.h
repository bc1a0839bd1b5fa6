// An answer of the router: attempts one after another, each an answer of one provider. The reader's
// poll() starts the attempts; a timer that sets the reader's Wake ends the pause between two.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "provider/answer.h"
#include "route/limiter.h"
#include "route/router.h"

namespace wick::route {

// What all answers of a router share. Any thread.
class Core {
 public:
  explicit Core(RouterOptions options);

  const RouterOptions options;
  const FactsRead facts_read = facts_read_by(options.rules);

  Health& health(const Candidate& candidate);

  Limiter& limiter(const Candidate& candidate) { return *limiters_[candidate.member]; }

  Measured measured();
  std::uint64_t random() noexcept;  // 64 bits, each call others

  // A request goes to a target.
  std::uint64_t next_turn() noexcept {
    return 1 + n_turns_.fetch_add(1, std::memory_order_relaxed);
  }

  Charge charge(const Candidate& candidate, const Facts& facts) const;
  // Why reserve() would refuse the candidate now, if it would.
  std::optional<Error> refusal(const Candidate& candidate, const Facts& facts) const;
  // Reserves the most that the candidate may cost; nothing where it costs nothing.
  Result<void> reserve(const Candidate& candidate, const Facts& facts, Reservation& held) const;
  // The same of one that costs something, without waiting: sets `wake`.
  Result<std::unique_ptr<AskedReservation>> ask(const Candidate& candidate, const Facts& facts,
                                                std::shared_ptr<Wake> wake) const;

 private:
  // Calls `act` with the budgets of such a request.
  template <class Act>
  auto with_budgets(const Facts& facts, const Act& act) const {
    const std::span<const Budget> all = options.budgets;
    if (!options.key_budgets || facts.key.empty()) return act(all);
    std::vector<Budget> more(all.begin(), all.end());
    const std::vector<Budget> of_key = options.key_budgets(facts.key);
    more.insert(more.end(), of_key.begin(), of_key.end());
    return act(std::span<const Budget>(more));
  }

  std::mutex mutex_;
  // By member, then by model.
  std::vector<std::map<std::string, Health, std::less<>>> healths_;
  std::vector<std::unique_ptr<Limiter>> limiters_ = {};  // by member
  std::atomic<std::uint64_t> n_random_ = 0, n_turns_ = 0;
};

// Tokens that a request may take at most, about, for the limits.
std::int64_t tokens_for_limits(const Candidate& candidate, const Facts& facts);

// What an attempt is, if it is not Provider::start().
using StartAttempt = std::function<Result<std::unique_ptr<Answer>>(
    Provider& provider, const Request& request, std::shared_ptr<Wake> wake)>;

// Makes the first attempt; an error if there is none that could be started. With a Wake it does not
// wait for the ledger: poll() sends the request, or ends with the ledger's refusal.
Result<std::unique_ptr<Answer>> start_routed(std::shared_ptr<Core> core, Request&& request,
                                             Decision&& decision, std::shared_ptr<Wake> wake,
                                             StartAttempt start = {});

}  // namespace wick::route
