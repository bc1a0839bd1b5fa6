#include "sample/stage.h"

#include <algorithm>
#include <cmath>

namespace wick {

void list(Candidates& c) noexcept {
  if (c.is_listed) return;
  c.items = c.items.first(select_from(c.vocabulary(), c.least, c.items));
  c.is_listed = true;
}

void sort(Candidates& c) noexcept {
  list(c);
  if (c.is_sorted) return;
  std::sort(c.items.begin(), c.items.end(), is_likelier);
  c.is_sorted = true;
  c.n_weights = 0;
}

void bring_to_front(Candidates& c, std::size_t k) noexcept {
  list(c);
  if (c.is_sorted || c.items.size() <= k) return;
  const auto kth = c.items.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(c.items.begin(), kth, c.items.end(), is_likelier);
  c.n_weights = 0;
}

float largest(Candidates& c) noexcept {
  if (!c.is_listed) return largest_logit(c.vocabulary());
  if (c.is_sorted && !c.items.empty()) return c.items[0].logit;
  float most = -std::numeric_limits<float>::infinity();
  for (const Candidate& item : c.items)
    most = std::max(most, item.logit);
  return most;
}

void keep_from(Candidates& c, double least) noexcept {
  if (!c.is_listed) {
    auto bound = static_cast<float>(least);
    if (static_cast<double>(bound) < least) {  // rounded down
      bound = std::nextafter(bound, std::numeric_limits<float>::infinity());
    }
    c.least = std::max(c.least, bound);
    return;
  }
  const std::size_t weighted = c.is_sorted ? c.n_weights : 0;
  std::size_t n = 0;
  for (const Candidate& item : c.items) {
    if (static_cast<double>(item.logit) >= least) c.items[n++] = item;
  }
  c.items = c.items.first(n);
  c.n_weights = std::min(weighted, n);
}

double exp_weights(Candidates& c) noexcept {
  list(c);
  const std::size_t n = c.items.size();
  if (c.n_weights < n) {
    const float top = largest(c);
    weigh(c.items, top, c.weights);
    const bool is_finite = top <= -kLowest;
    for (std::size_t i = 0; i < n && !is_finite; ++i)
      c.weights[i] = c.items[i].logit == top ? 1 : 0;
  }
  c.n_weights = n;
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += c.weights[i];
  return sum;
}

std::size_t draw_item(Candidates& c, double sum) noexcept {
  const double target = c.memory->draws.next() * sum;
  double reached = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < c.items.size(); ++i) {
    if (c.weights[i] == 0) continue;
    last = i;
    reached += c.weights[i];
    if (target < reached) break;
  }
  return last;
}

Spread measure_spread(Candidates& c) noexcept {
  const double sum = exp_weights(c);
  const double top = static_cast<double>(largest(c));
  Spread out{.sum = sum, .log_sum = log_of(sum)};
  for (std::size_t i = 0; i < c.items.size(); ++i) {
    if (c.weights[i] == 0) continue;
    out.entropy += c.weights[i] / sum * (out.log_sum + top - static_cast<double>(c.items[i].logit));
  }
  return out;
}

}  // namespace wick
