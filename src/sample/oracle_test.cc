#include "sample/oracle_test.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

namespace wick::test {

std::vector<float> random_logits(int n, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(static_cast<std::size_t>(n));
  for (float& x : logits)
    x = normal(rng);
  return logits;
}

TokenId draw(SamplerChain& chain, std::vector<float> logits, std::span<const std::uint64_t> allowed,
             std::span<const TokenId> history) {
  const std::vector<float> before = logits;
  const TokenId id = chain.sample(logits, allowed, history);
  EXPECT_EQ(std::memcmp(logits.data(), before.data(), logits.size() * sizeof(float)), 0)
      << "the logits have changed";
  return id;
}

std::map<TokenId, int> dry_lengths(std::span<const TokenId> history, const SamplingParams& p) {
  const std::size_t window =
      p.dry_penalty_last_n < 0
          ? history.size()
          : std::min(history.size(), static_cast<std::size_t>(p.dry_penalty_last_n));
  const auto h = history.last(window);
  const auto breaks_at = [&](std::size_t last) {  // a breaker ends there
    const auto& tokens = p.dry_sequence_breakers.tokens;
    if (std::count(tokens.begin(), tokens.end(), h[last]) > 0) return true;
    return std::any_of(p.dry_sequence_breakers.runs.begin(), p.dry_sequence_breakers.runs.end(),
                       [&](const auto& run) {
                         return run.size() <= last + 1 &&
                                std::equal(run.begin(), run.end(),
                                           h.begin() + static_cast<long>(last + 1 - run.size()));
                       });
  };
  std::map<TokenId, int> out;
  for (std::size_t next = 1; next < h.size(); ++next) {
    int length = 0;
    for (std::size_t i = 0; i < next; ++i) {
      const std::size_t here = next - 1 - i, end = h.size() - 1 - i;
      if (h[here] != h[end] || breaks_at(end)) break;
      ++length;
    }
    const auto& tokens = p.dry_sequence_breakers.tokens;
    if (std::count(tokens.begin(), tokens.end(), h[next]) > 0) continue;
    if (length >= std::max(1, p.dry_allowed_length)) out[h[next]] = std::max(out[h[next]], length);
  }
  return out;
}

namespace {

struct Item {
  TokenId id;
  double logit;
};

using Items = std::vector<Item>;

void sort_items(Items& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.logit > b.logit; });
}

std::vector<double> probabilities(const Items& items) {
  double top = items[0].logit;
  for (const Item& item : items)
    top = std::max(top, item.logit);
  std::vector<double> out;
  for (const Item& item : items)
    out.push_back(std::exp(item.logit - top));
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& x : out)
    x /= sum;
  return out;
}

double entropy_of(const std::vector<double>& p) {
  double entropy = 0;
  for (const double x : p)
    entropy -= x > 0 ? x * std::log(x) : 0;
  return entropy;
}

void keep_typical(Items& items, double wanted) {
  const auto p = probabilities(items);
  const double entropy = entropy_of(p);
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto distance = [&](std::size_t i) { return std::abs(-std::log(p[i]) - entropy); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  double sum = 0;
  std::size_t n = 0;
  while (n < order.size() && sum < wanted)
    sum += p[order[n++]];
  order.resize(n);
  std::sort(order.begin(), order.end());
  Items kept;
  for (const std::size_t i : order)
    kept.push_back(items[i]);
  items = kept;
}

void cut_by_sigma(Items& items, double n_sigma) {
  double mean = 0, squares = 0;
  const auto n = static_cast<double>(items.size());
  for (const Item& item : items)
    mean += item.logit / n;
  for (const Item& item : items)
    squares += (item.logit - mean) * (item.logit - mean);
  const double least = items[0].logit - n_sigma * std::sqrt(squares / n);
  std::erase_if(items, [&](const Item& item) { return item.logit < least; });
}

void scale(Items& items, const SamplingParams& p) {
  double temperature = static_cast<double>(p.temperature);
  if (p.dynatemp_range > 0 && items.size() > 1) {
    const double range = static_cast<double>(p.dynatemp_range);
    const double low = std::max(0.0, temperature - range), high = temperature + range;
    const double share = entropy_of(probabilities(items)) / std::log(items.size());
    temperature = low + (high - low) * std::pow(share, static_cast<double>(p.dynatemp_exponent));
  }
  for (Item& item : items)
    item.logit /= temperature;
}

void penalise(Items& items, std::span<const TokenId> history, const SamplingParams& p) {
  const std::size_t window =
      p.repeat_last_n < 0 ? history.size()
                          : std::min(history.size(), static_cast<std::size_t>(p.repeat_last_n));
  std::map<TokenId, int> counts;
  for (const TokenId id : history.last(window))
    ++counts[id];
  for (Item& item : items) {
    const int count = counts.contains(item.id) ? counts[item.id] : 0;
    if (count == 0) continue;
    const double by = static_cast<double>(p.repeat_penalty);
    item.logit = item.logit > 0 ? item.logit / by : item.logit * by;
    item.logit -=
        count * static_cast<double>(p.frequency_penalty) + static_cast<double>(p.presence_penalty);
  }
}

void draw_adaptively(const Items& items, double target, double share,
                     std::map<TokenId, double>& out) {
  std::vector<double> weights;
  for (const double p : probabilities(items)) {
    const double d = std::abs(p - target) / 0.3;
    weights.push_back(std::exp(-10 * d * d / (1 + d)));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < items.size(); ++i)
    out[items[i].id] += share * weights[i] / sum;
}

using Names = std::vector<std::string>;

struct Asked {
  const SamplingParams& p;
  std::span<const TokenId> history;
};

// The stages from `at` on; XTC splits the way in two.
void go_on(Items items, const Names& names, std::size_t at, double share, const Asked& asked,
           std::map<TokenId, double>& out) {
  const SamplingParams& p = asked.p;
  for (; at < names.size(); ++at) {
    const std::string& name = names[at];
    sort_items(items);
    const auto probability = probabilities(items);
    std::size_t n = 0;
    if (name == "penalties") {
      penalise(items, asked.history, p);
    } else if (name == "dry" && p.dry_multiplier > 0) {
      auto lengths = dry_lengths(asked.history, p);
      for (Item& item : items) {
        if (!lengths.contains(item.id)) continue;
        item.logit -=
            static_cast<double>(p.dry_multiplier) *
            std::pow(static_cast<double>(p.dry_base), lengths[item.id] - p.dry_allowed_length);
      }
    } else if (name == "top_n_sigma" && p.top_n_sigma > 0) {
      cut_by_sigma(items, static_cast<double>(p.top_n_sigma));
    } else if (name == "top_k" && p.top_k > 0) {
      items.resize(std::min(items.size(), static_cast<std::size_t>(p.top_k)));
    } else if (name == "typ_p" && p.typical_p < 1) {
      keep_typical(items, static_cast<double>(p.typical_p));
    } else if (name == "top_p" && p.top_p < 1) {
      for (double sum = 0; n < items.size() && sum < static_cast<double>(p.top_p);)
        sum += probability[n++];
      items.resize(n);
    } else if (name == "min_p" && p.min_p > 0) {
      while (n < items.size() && probability[n] >= static_cast<double>(p.min_p) * probability[0])
        ++n;
      items.resize(n);
    } else if (name == "xtc" && p.xtc_probability > 0 && p.xtc_threshold <= 0.5F) {
      const double excluded = static_cast<double>(p.xtc_probability);
      while (n < items.size() && probability[n] >= static_cast<double>(p.xtc_threshold))
        ++n;
      Items rest = items;
      if (n >= 2) rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n - 1));
      go_on(rest, names, at + 1, share * excluded, asked, out);
      share *= 1 - excluded;
    } else if (name == "temperature") {
      scale(items, p);
    }
  }
  if (p.adaptive_target >= 0)
    return draw_adaptively(items, static_cast<double>(p.adaptive_target), share, out);
  const auto probability = probabilities(items);
  for (std::size_t i = 0; i < items.size(); ++i)
    out[items[i].id] += share * probability[i];
}

}  // namespace

std::map<TokenId, double> oracle(const std::vector<float>& logits, const SamplingParams& p,
                                 std::span<const TokenId> history) {
  Items items;
  for (std::size_t i = 0; i < logits.size(); ++i)
    items.push_back({static_cast<TokenId>(i), static_cast<double>(logits[i])});
  for (const LogitBias& one : p.logit_bias)
    items[static_cast<std::size_t>(one.id)].logit += static_cast<double>(one.bias);
  Names names;
  std::string word;
  for (const char c : to_string(p.order) + ";") {
    if (c != ';') {
      word += c;
      continue;
    }
    names.push_back(word);
    word.clear();
  }
  std::map<TokenId, double> out;
  go_on(items, names, 0, 1, {.p = p, .history = history}, out);
  return out;
}

void expect_drawn_from(const std::map<TokenId, double>& wanted, const std::map<TokenId, int>& seen,
                       int draws) {
  const auto count = [&](TokenId id) {
    const auto it = seen.find(id);
    return it == seen.end() ? 0 : it->second;
  };
  double chi2 = 0;
  int cells = 0;
  double rest_wanted = 0, rest_seen = 0;  // tokens expected fewer than five times share a cell
  for (const auto& [id, probability] : wanted) {
    const double expected = probability * draws;
    if (expected < 5) {
      rest_wanted += expected;
      rest_seen += count(id);
    } else {
      chi2 += (count(id) - expected) * (count(id) - expected) / expected;
      ++cells;
    }
    if (expected > 30) {
      EXPECT_GT(count(id), 0) << "token " << id << " is never drawn";
    }
  }
  if (rest_wanted > 1) {
    chi2 += (rest_seen - rest_wanted) * (rest_seen - rest_wanted) / rest_wanted;
    ++cells;
  }
  for (const auto& [id, n] : seen) {
    const auto it = wanted.find(id);
    EXPECT_TRUE(n == 0 || (it != wanted.end() && it->second > 0)) << "token " << id << " is drawn";
  }
  if (cells < 2) return;
  // The 0.999 quantile by Wilson and Hilferty (1931).
  const double spread = 2 / (9.0 * (cells - 1));
  const double bound = (cells - 1) * std::pow(1 - spread + 3.0902 * std::sqrt(spread), 3);
  EXPECT_LT(chi2, bound) << "chi-square of " << cells << " cells, p < 0.001";
}

}  // namespace wick::test
