// Tokens served per tenant, so that the tenant served least goes first: the virtual token counter
// of Sheng et al., "Fairness in Serving Large Language Models" (2024). A tenant that arrives or
// returns starts at the minimum of the active tenants: idling earns no credit. Engine thread only;
// join() allocates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace wick {

struct FairShare {
  std::int64_t served = 0;  // tokens computed for this tenant
  int n_entries = 0;
};

class FairShares {
 public:
  // The share of a new entry of `tenant`; the address is stable until each join() has had its
  // leave().
  FairShare& join(std::uint64_t tenant) {
    const auto [place, is_new] = shares_.try_emplace(tenant);
    FairShare& share = place->second;
    if (is_new) share.served = least(tenant);
    ++share.n_entries;
    return share;
  }

  void leave(std::uint64_t tenant) noexcept {
    const auto place = shares_.find(tenant);
    if (--place->second.n_entries == 0) shares_.erase(place);
  }

 private:
  std::int64_t least(std::uint64_t except) const noexcept {
    std::int64_t least = -1;
    for (const auto& [tenant, share] : shares_) {
      if (tenant != except && (least < 0 || share.served < least)) least = share.served;
    }
    return std::max<std::int64_t>(0, least);
  }

  std::map<std::uint64_t, FairShare> shares_;
};

}  // namespace wick
