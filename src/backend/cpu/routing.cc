#include "backend/cpu/routing.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "backend/cpu/series.h"
#include "backend/limits.h"

namespace wick {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr float kLeastSum = 1e-20F;  // weights that are all zero stay zero

float float_exponential(float x) noexcept {
  return x == x ? static_cast<float>(exponential(static_cast<double>(x))) : x;
}

// x_i becomes exp(x_i - the largest); returns the sum.
float exponentials(std::span<float> x) noexcept {
  const float largest = *std::max_element(x.begin(), x.end());
  float sum = 0;
  for (float& value : x) {
    value = float_exponential(value - largest);
    sum += value;
  }
  return sum;
}

void divide_all(std::span<float> x, float by) noexcept {
  for (float& value : x)
    value /= by;
}

void to_scores(const Routing& routing, std::span<float> products) noexcept {
  if (routing.score == Routing::Score::kSoftmax) {
    divide_all(products, exponentials(products));
    return;
  }
  for (float& value : products)
    value = sigmoid(value);
}

// The places of the largest, largest first, of equal ones the first; each becomes kNever.
void take_best(std::span<float> from, std::span<int> places) noexcept {
  for (int& place : places) {
    const auto best = std::max_element(from.begin(), from.end());  // the first of them
    place = static_cast<int>(best - from.begin());
    *best = kNever;
  }
}

float group_score(std::span<const float> choice, bool adds_two_best) noexcept {
  float best = kNever, second = kNever;
  for (const float value : choice) {
    if (value > best) {
      second = std::exchange(best, value);
    } else if (value > second) {
      second = value;
    }
  }
  return adds_two_best ? best + second : best;
}

// Experts outside of the best groups become kNever. Groups are few, so each is ranked by counting
// those before it.
void keep_best_groups(const Routing& routing, std::span<float> choice) noexcept {
  const int n = routing.n_groups;
  const std::size_t size = choice.size() / static_cast<std::size_t>(n);
  float scores[kMaxExpertGroups];
  for (int g = 0; g < n; ++g) {
    scores[g] = group_score(choice.subspan(static_cast<std::size_t>(g) * size, size),
                            routing.adds_two_best);
  }
  for (int g = 0; g < n; ++g) {
    int n_better = 0;
    for (int other = 0; other < n; ++other)
      n_better += scores[other] > scores[g] || (scores[other] == scores[g] && other < g) ? 1 : 0;
    if (n_better < routing.n_active_groups) continue;
    const auto group = choice.subspan(static_cast<std::size_t>(g) * size, size);
    std::fill(group.begin(), group.end(), kNever);
  }
}

}  // namespace

void route(const Routing& routing, std::span<float> scores, std::span<const float> choice_bias,
           std::span<float> choice, std::span<int> chosen, std::span<float> weights) noexcept {
  const bool is_softmax = routing.score == Routing::Score::kSoftmax;
  // The order of products is that of their softmax, and the sum over all divides out.
  const bool needs_all =
      !is_softmax || !routing.normalizes || !choice_bias.empty() || routing.n_groups > 1;
  if (needs_all) to_scores(routing, scores);
  std::copy(scores.begin(), scores.end(), choice.begin());
  for (std::size_t i = 0; i < choice_bias.size(); ++i)
    choice[i] += choice_bias[i];
  if (routing.n_groups > 1) keep_best_groups(routing, choice);
  take_best(choice, chosen);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    weights[i] = scores[static_cast<std::size_t>(chosen[i])];
  if (routing.normalizes) {
    float sum = 0;
    if (needs_all) {
      for (const float weight : weights)
        sum += weight;
    } else {
      sum = exponentials(weights);
    }
    divide_all(weights, std::max(sum, kLeastSum));
  }
  for (float& weight : weights)
    weight *= routing.scale;
}

float sigmoid(float x) noexcept {
  return 1 / (1 + float_exponential(-x));
}

}  // namespace wick
