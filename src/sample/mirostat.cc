// Mirostat (Basu et al. 2021): holds the surprise of the drawn tokens, in bits, near tau. What may
// be drawn is bounded by mu, which begins at 2 tau and after each token moves by eta times the
// error. Version 1 assumes that probabilities fall by rank as Zipf's law says, estimates its
// exponent from the hundred most likely and takes so many tokens that their surprise is mu; version
// 2 takes those whose own surprise is at most mu. A token's surprise is that under the distribution
// before anything is left out, as in the authors' code; llama.cpp takes the one after it, whose
// mean is then near tau, and the text's own surprise above.
// Hot: all of it.
#include <algorithm>

#include "sample/stage.h"

namespace wick {

namespace {

constexpr std::size_t kRanks = 100;
constexpr double kLn2 = 0.69314718055994530942;

// The number of tokens that version 1 draws from. The first kRanks candidates are sorted.
double zipf_rank(const Candidates& c, double mu) noexcept {
  double products = 0, squares = 0;
  for (std::size_t i = 0; i + 1 < std::min(kRanks, c.items.size()); ++i) {
    const double t = log_of(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    products +=
        t * (static_cast<double>(c.items[i].logit) - static_cast<double>(c.items[i + 1].logit));
    squares += t * t;
  }
  const auto all = static_cast<double>(c.logits.size());
  const double exponent = squares > 0 ? products / squares : 0;
  if (!(exponent > 1e-3)) return all;  // flat: no rank is too far
  const double epsilon = exponent - 1;
  // epsilon / (1 - N^-epsilon) has a hole at epsilon = 0, where it is 1 / ln N.
  const double share =
      epsilon > -1e-6 && epsilon < 1e-6 ? 1 / log_of(all) : epsilon / (1 - power_of(all, -epsilon));
  const double k = power_of(std::max(1e-300, share * exp_of(mu * kLn2)), 1 / exponent);
  return std::min(k, all);
}

}  // namespace

void prepare_mirostat(SamplerMemory& m, const SamplingParams& p, const ChainSizes& /*sizes*/) {
  m.mirostat_mu = 2 * static_cast<double>(p.mirostat_tau);
}

std::size_t choose_mirostat(Candidates& c, const SamplingParams& p) noexcept {
  double& mu = c.memory->mirostat_mu;
  const double all = exp_weights(c), top = static_cast<double>(largest(c));
  std::size_t kept = 1;
  if (p.mirostat == 1) {
    bring_to_front(c, kRanks);
    const auto ranks = c.items.first(std::min(kRanks, c.items.size()));
    std::sort(ranks.begin(), ranks.end(), is_likelier);
    kept = std::max<std::size_t>(1, static_cast<std::size_t>(zipf_rank(c, mu)));
  } else {
    // -log2 p <= mu is a bound on the logits. Only the most likely token stays if none reaches it.
    keep_from(c, std::min(top, top + log_of(all) - mu * kLn2));
    kept = c.items.size();
  }
  bring_to_front(c, kept);
  c.items = c.items.first(std::min(kept, c.items.size()));
  c.n_weights = 0;
  sort(c);
  const std::size_t chosen = draw_item(c, exp_weights(c));
  const double surprise = log_of(all / c.weights[chosen]) / kLn2;
  mu -= static_cast<double>(p.mirostat_eta) * (surprise - static_cast<double>(p.mirostat_tau));
  return chosen;
}

}  // namespace wick
