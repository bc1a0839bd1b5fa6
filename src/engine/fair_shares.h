// Which tenant is served next, and how much of its prompts. Engine thread only; join() allocates.
//
// Tokens served per tenant, so that the tenant served least goes first: the virtual token counter
// of Sheng et al., "Fairness in Serving Large Language Models" (2024). A tenant that arrives or
// returns starts at the minimum of the active tenants: idling earns no credit.
//
// Besides, each tenant has credit for prompt tokens that it computes beside the decoding of other
// tenants: a token bucket that pass() fills. Its debt survives the end of its requests, so that
// cancelling a request and sending it again gains nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace wick {

struct FairShare {
  std::int64_t served = 0;      // tokens computed for this tenant
  std::int64_t decodes_at = 0;  // the latest step in which it decoded
  double debt = 0;              // prompt tokens; of FairShares::turns at `debt_turns`
  double debt_turns = 0;
  int n_entries = 0;
};

class FairShares {
 public:
  // The share of a new entry of `tenant`; the address is stable until each join() has had its
  // leave().
  FairShare& join(std::uint64_t tenant) {
    forget();
    const auto [place, is_new] = shares_.try_emplace(tenant);
    FairShare& share = place->second;
    if (share.n_entries == 0) share.served = std::max(share.served, least(tenant));
    ++share.n_entries;
    return share;
  }

  void leave(std::uint64_t tenant) noexcept {
    --shares_.find(tenant)->second.n_entries;
    forget();
  }

  // A step in which each tenant may compute `tokens` of its prompts.
  void pass(double tokens) noexcept { turns_ += tokens; }

  // Tokens that the tenant has computed beyond its share until now.
  double debt(const FairShare& share) const noexcept {
    return std::max(0.0, share.debt - (turns_ - share.debt_turns));
  }

  void charge(FairShare& share, int tokens) noexcept {
    share.debt = debt(share) + tokens;
    share.debt_turns = turns_;
  }

 private:
  std::int64_t least(std::uint64_t except) const noexcept {
    std::int64_t least = -1;
    for (const auto& [tenant, share] : shares_) {
      if (tenant == except || share.n_entries == 0) continue;
      if (least < 0 || share.served < least) least = share.served;
    }
    return std::max<std::int64_t>(0, least);
  }

  // Tenants without entries and without debt.
  void forget() noexcept {
    std::erase_if(shares_, [this](const auto& one) {
      return one.second.n_entries == 0 && debt(one.second) == 0;
    });
  }

  std::map<std::uint64_t, FairShare> shares_;
  double turns_ = 0;  // tokens that each tenant could have computed so far
};

}  // namespace wick
