// Errors of attempts that were not made or that failed, and the one error of a request whose
// attempts all did.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "route/health.h"
#include "route/rules.h"

namespace wick::route {

// Why a candidate is not asked.
Error rejection(const Candidate& candidate, const Member& member);
Error no_ledger(const Member& member);
Error resting(const Member& member, const Health& health,
              std::int64_t now_ms);  // its circuit breaker is open
// The member's own limit is reached; `wait_ms` as Limiter::take() gives it.
Error over_limit(const Member& member, std::int64_t wait_ms);
// Of a provider that reports no failure besides its error.
Failure failure_of(const Error& error);

// The errors of one request's candidates.
class AttemptErrors {
 public:
  // An attempt failed. `candidate` by its place in the decision, `name` of its member.
  void add(std::size_t candidate, const std::string& name, const Error& error);
  // It is not asked now: instead of what was said of this before, perhaps with other times.
  void set(std::size_t candidate, const std::string& name, const Error& error);
  // A rule's refusal is what a client must know; else the one kind of error there is, or all.
  Error all_failed(std::string_view asked_model) const;

 private:
  struct Told {
    std::size_t candidate = 0;
    std::string id = {}, text = {};
  };

  void note(std::size_t candidate, const Error& error);

  std::vector<Told> told_ = {};  // each text once
  bool has_refusal_ = false, has_one_kind_ = true;  // one id
  Error refusal_ = {}, last_ = {};
  std::map<std::size_t, int> waits_ = {};  // retry_after_s of each candidate's last error
};

}  // namespace wick::route
