// Which client is served next, and how much of its prompts. Engine thread only; join() allocates.
//
// Tokens served per client, so that the client served least goes first: the virtual token counter
// of Sheng et al., "Fairness in Serving Large Language Models" (2024). A client that arrives or
// returns starts at the minimum of the active clients: idling earns no credit.
//
// Besides, each client has credit for prompt tokens that it computes beside the decoding of other
// clients: a token bucket that pass() fills. Its debt survives the end of its requests, so that
// cancelling a request and sending it again gains nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace wick {

struct FairShare {
  std::int64_t served = 0;      // tokens computed for this client
  std::int64_t decodes_at = 0;  // the latest step in which it decoded
  double debt = 0;              // prompt tokens; of FairShares::turns at `debt_turns`
  double debt_turns = 0;
  int n_entries = 0;
};

class FairShares {
 public:
  // The share of a new entry of `client`; the address is stable until each join() has had its
  // leave().
  FairShare& join(std::uint64_t client) {
    forget();
    const auto [place, is_new] = shares_.try_emplace(client);
    FairShare& share = place->second;
    if (share.n_entries == 0) share.served = std::max(share.served, least(client));
    ++share.n_entries;
    return share;
  }

  void leave(FairShare& share) noexcept {
    --share.n_entries;
    forget();
  }

  // A step in which each client may compute `tokens` of its prompts.
  void pass(double tokens) noexcept { turns_ += tokens; }

  // Tokens that the client has computed beyond its share until now.
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
    for (const auto& [client, share] : shares_) {
      if (client == except || share.n_entries == 0) continue;
      if (least < 0 || share.served < least) least = share.served;
    }
    return std::max<std::int64_t>(0, least);
  }

  // Clients without entries and without debt.
  void forget() noexcept {
    std::erase_if(shares_, [this](const auto& one) {
      return one.second.n_entries == 0 && debt(one.second) == 0;
    });
  }

  std::map<std::uint64_t, FairShare> shares_;
  double turns_ = 0;  // tokens that each client could have computed so far
};

}  // namespace wick
