// Top-p (nucleus sampling, Holtzman et al. 2020): the smallest set of most likely tokens whose
// probabilities reach p. It is small as a rule, so that of unsorted tokens ever more of the most
// likely tokens are moved to the front, until they reach p; only these are sorted.
// Hot: all of it.
#include <algorithm>

#include "sample/stage.h"

namespace wick {

namespace {

constexpr std::size_t kFirst = 256, kGrowth = 8;

// Keeps the most likely tokens that reach `wanted` together, sorted.
void narrow(Candidates& c, double wanted) noexcept {
  const std::span<Candidate> all = c.items;
  const float top = largest(c);
  for (std::size_t k = kFirst; k < all.size(); k *= kGrowth) {
    bring_to_front(c, k);
    double sum = 0;
    for (const Candidate& item : all.first(k))
      sum += exp_of(static_cast<double>(item.logit) - static_cast<double>(top));
    if (sum >= wanted) {
      c.items = all.first(k);
      break;
    }
  }
  sort(c);
}

}  // namespace

void apply_top_p(Candidates& c, const SamplingParams& p) noexcept {
  const double wanted = static_cast<double>(p.top_p) * exp_weights(c);
  if (!c.is_sorted) {
    narrow(c, wanted);
    exp_weights(c);
  }
  double sum = 0;
  for (std::size_t i = 0; i < c.items.size(); ++i) {
    sum += c.weights[i];
    if (sum >= wanted) {
      c.items = c.items.first(i + 1);
      return;
    }
  }
}

}  // namespace wick
