#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "sample/random.h"
#include "sample/stage.h"

namespace wick {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr SamplingParams kAllOff{.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0};

std::vector<float> random_logits(int n, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(static_cast<std::size_t>(n));
  for (float& x : logits)
    x = normal(rng);
  return logits;
}

// The chain in plain double arithmetic on the whole vocabulary: token → probability.
std::map<TokenId, double> oracle(const std::vector<float>& logits, const SamplingParams& p) {
  std::vector<TokenId> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto logit = [&](TokenId id) {
    return static_cast<double>(logits[static_cast<std::size_t>(id)]);
  };
  std::stable_sort(ids.begin(), ids.end(),
                   [&](TokenId a, TokenId b) { return logit(a) > logit(b); });
  if (p.top_n_sigma > 0) {
    double mean = 0, squares = 0;
    for (const float x : logits)
      mean += static_cast<double>(x) / static_cast<double>(logits.size());
    for (const float x : logits)
      squares += std::pow(static_cast<double>(x) - mean, 2);
    const double sigma = std::sqrt(squares / static_cast<double>(logits.size()));
    const double least = logit(ids[0]) - static_cast<double>(p.top_n_sigma) * sigma;
    std::erase_if(ids, [&](TokenId id) { return logit(id) < least; });
  }
  if (p.top_k > 0) ids.resize(std::min(ids.size(), static_cast<std::size_t>(p.top_k)));
  const auto probabilities = [&](double temperature) {
    std::vector<double> out;
    for (const TokenId id : ids)
      out.push_back(std::exp((logit(id) - logit(ids[0])) / temperature));
    const double sum = std::accumulate(out.begin(), out.end(), 0.0);
    for (double& x : out)
      x /= sum;
    return out;
  };
  if (p.typical_p < 1) {
    const auto probability = probabilities(1);
    double entropy = 0;
    for (const double x : probability)
      entropy -= x * std::log(x);
    std::vector<std::size_t> order(ids.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto distance = [&](std::size_t i) {
      return std::abs(-std::log(probability[i]) - entropy);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    double sum = 0;
    std::size_t n = 0;
    while (n < order.size() && sum < static_cast<double>(p.typical_p))
      sum += probability[order[n++]];
    order.resize(n);
    std::sort(order.begin(), order.end());
    std::vector<TokenId> kept;
    for (const std::size_t i : order)
      kept.push_back(ids[i]);
    ids = kept;
  }
  if (p.top_p < 1) {
    const auto probability = probabilities(1);
    double sum = 0;
    std::size_t n = 0;
    while (n < ids.size() && sum < static_cast<double>(p.top_p))
      sum += probability[n++];
    ids.resize(n);
  }
  if (p.min_p > 0) {
    const auto probability = probabilities(1);
    std::size_t n = 1;
    while (n < ids.size() && probability[n] >= static_cast<double>(p.min_p) * probability[0])
      ++n;
    ids.resize(n);
  }
  // The ends of the chain, with and without XTC's cut.
  const auto finish = [&](double share, std::map<TokenId, double>& out) {
    double temperature = static_cast<double>(p.temperature);
    if (p.dynatemp_range > 0 && ids.size() > 1) {
      double entropy = 0;
      for (const double x : probabilities(1))
        entropy -= x * std::log(x);
      const double range = static_cast<double>(p.dynatemp_range);
      const double low = std::max(0.0, temperature - range), high = temperature + range;
      temperature = low + (high - low) * std::pow(entropy / std::log(ids.size()),
                                                  static_cast<double>(p.dynatemp_exponent));
    }
    const auto probability = probabilities(temperature);
    for (std::size_t i = 0; i < ids.size(); ++i)
      out[ids[i]] += share * probability[i];
  };
  std::map<TokenId, double> out;
  const double excluded = p.xtc_threshold <= 0.5F ? static_cast<double>(p.xtc_probability) : 0;
  finish(1 - excluded, out);
  if (excluded > 0) {
    const auto probability = probabilities(1);
    std::size_t n = 0;
    while (n < ids.size() && probability[n] >= static_cast<double>(p.xtc_threshold))
      ++n;
    if (n >= 2) ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n - 1));
    finish(excluded, out);
  }
  return out;
}

TEST(Random, IsPhilox4x32WithTenRounds) {
  // Known answer of the authors' Random123 library for a zero counter and key.
  EXPECT_EQ(uniform(0, 0), static_cast<double>(0xe169c58d6627e8d5ULL >> 11) * 0x1p-53);
}

TEST(Random, DrawsOfNeighbouringSeedsAndCountersAreUniformAndDiffer) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const double x = uniform(i % 7, i);
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.015);  // five standard deviations
  EXPECT_NE(uniform(1, 2), uniform(2, 1));
}

TEST(Sampler, GreedyTakesTheLowestIdAmongEqualMaximaAndSkipsNan) {
  SamplerChain chain({.temperature = 0}, 5);
  EXPECT_EQ(chain.sample(std::vector<float>{kNan, 1, 3, 3, 2}, {}, {}), 2);
  const std::uint64_t allowed = 0b11000;
  EXPECT_EQ(chain.sample(std::vector<float>{9, 9, 9, 1, 2}, {&allowed, 1}, {}), 4);
  EXPECT_EQ(chain.sample(std::vector<float>(5, kNan), {}, {}), -1);
}

TEST(Sampler, NothingAllowedGivesNoToken) {
  const std::uint64_t none = 0;
  for (const int top_k : {0, 40}) {
    SamplerChain chain({.top_k = top_k}, 4);
    EXPECT_EQ(chain.sample(std::vector<float>{1, 2, 3, 4}, {&none, 1}, {}), -1);
  }
}

TEST(Sampler, SelectTopKEqualsASortOfEverything) {
  for (const int n : {1, 31, 32, 33, 1000, 5000}) {
    std::vector<float> logits = random_logits(n, static_cast<unsigned>(n));
    for (float& x : logits)
      x = std::round(x * 4) / 4;  // many ties
    logits[0] = -kInf;
    std::vector<TokenId> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) {
      return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
    });
    for (const int k : {1, 2, 40, 999}) {
      std::vector<Candidate> out(static_cast<std::size_t>(k));
      const int found = select_top_k(logits, {}, k, out);
      ASSERT_EQ(found, std::min(n, k));
      for (int i = 0; i < found; ++i) {
        ASSERT_EQ(out[static_cast<std::size_t>(i)].id, ids[static_cast<std::size_t>(i)])
            << n << " " << k;
      }
    }
  }
}

using P = SamplingParams;

// One stage alone, at temperature 1.
P only(void (*set)(P&)) {
  P params = kAllOff;
  set(params);
  return params;
}

class SamplerOracle : public testing::TestWithParam<SamplingParams> {};

TEST_P(SamplerOracle, DrawsFromTheSameSetWithTheSameFrequencies) {
  const SamplingParams params = GetParam();
  const auto logits = random_logits(500, 3);
  const auto wanted = oracle(logits, params);
  constexpr int kDraws = 10000;
  std::map<TokenId, int> seen;
  SamplerChain chain(params, 500);
  for (int i = 0; i < kDraws; ++i)
    ++seen[chain.sample(logits, {}, {})];
  double chi2 = 0;
  int cells = 0;
  double rest_wanted = 0, rest_seen = 0;  // tokens expected fewer than five times share a cell
  for (const auto& [id, probability] : wanted) {
    const double expected = probability * kDraws;
    if (expected < 5) {
      rest_wanted += expected;
      rest_seen += seen[id];
    } else {
      chi2 += (seen[id] - expected) * (seen[id] - expected) / expected;
      ++cells;
    }
  }
  if (rest_wanted > 1) {
    chi2 += (rest_seen - rest_wanted) * (rest_seen - rest_wanted) / rest_wanted;
    ++cells;
  }
  for (const auto& [id, count] : seen)
    EXPECT_TRUE(wanted.contains(id) || count == 0) << id;
  const double degrees = std::max(1, cells - 1);
  EXPECT_LT(chi2, degrees + 4.3 * std::sqrt(2 * degrees) + 8) << "p < 0.001";
}

INSTANTIATE_TEST_SUITE_P(
    Settings, SamplerOracle,
    testing::Values(
        SamplingParams{.seed = 1}, kAllOff, SamplingParams{.temperature = 2, .top_k = 0, .seed = 5},
        SamplingParams{.temperature = 1, .top_k = 3, .top_p = 1, .min_p = 0},
        SamplingParams{.temperature = 1, .top_k = 0, .top_p = 0.5F, .min_p = 0},
        SamplingParams{.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0.2F},
        only([](P& p) { p.top_n_sigma = 1.5F; }), only([](P& p) { p.typical_p = 0.3F; }),
        only([](P& p) { p.typical_p = 0.9F; }),
        only([](P& p) { p.xtc_probability = 0.4F, p.xtc_threshold = 0.05F; }),
        only([](P& p) { p.dynatemp_range = 0.6F, p.dynatemp_exponent = 1.7F; }),
        SamplingParams{
            .top_n_sigma = 2, .typical_p = 0.8F, .xtc_probability = 0.5F, .dynatemp_range = 0.5F}));

TEST(Elementary, AgreesWithTheCLibrary) {
  for (double x = 1e-12; x < 1e12; x *= 1.37)
    EXPECT_NEAR(log_of(x), std::log(x), 1e-15 * std::max(1.0, std::abs(std::log(x)))) << x;
  EXPECT_EQ(log_of(1), 0);
  for (double x = 0; x > -690; x -= 0.73)
    EXPECT_NEAR(exp_of_negative(x) / std::exp(x), 1, 1e-14) << x;
}

TEST(Sampler, PresenceCountsOnceAndFrequencyEachTime) {
  const std::vector<float> logits = {2, 1, 0};
  const std::vector<TokenId> history = {0, 0, 0};
  const auto greedy = [&](float presence, float frequency) {
    SamplerChain chain(
        {.temperature = 0, .presence_penalty = presence, .frequency_penalty = frequency}, 3);
    return chain.sample(logits, {}, history);
  };
  EXPECT_EQ(greedy(0.9F, 0), 0);
  EXPECT_EQ(greedy(1.1F, 0), 1);
  EXPECT_EQ(greedy(0, 0.3F), 0);
  EXPECT_EQ(greedy(0, 0.4F), 1);  // three times 0.4
  EXPECT_EQ(greedy(0.2F, 0.3F), 1);
}

TEST(Sampler, EachStageSwitchedOffIsTheIdentity) {
  const auto logits = random_logits(200, 9);
  for (const SamplerParam& row : sampler_params()) {
    SamplingParams set = kAllOff, plain = kAllOff;
    row.set(set, row.off);
    set.seed = plain.seed = 11;
    SamplerChain a(set, 200), b(plain, 200);
    const std::vector<TokenId> history = {1, 2, 3};
    for (int i = 0; i < 200; ++i)
      ASSERT_EQ(a.sample(logits, {}, history), b.sample(logits, {}, history)) << row.key;
  }
}

TEST(Sampler, NoExtremeOfAParameterEmptiesTheSet) {
  const auto logits = random_logits(64, 21);
  for (const SamplerParam& row : sampler_params()) {
    for (const double value : {row.min, row.max}) {
      SamplingParams params;
      row.set(params, value);
      SamplerChain chain(params, 64);
      const TokenId id = chain.sample(logits, {}, std::vector<TokenId>{1, 5, 5});
      EXPECT_TRUE(id >= 0 && id < 64) << row.key << " = " << value;
    }
  }
}

TEST(Sampler, RepeatPenaltyCountsATokenOnceAndRespectsItsWindow) {
  const std::vector<float> logits = {4, 3.9F, 0};
  SamplingParams params{.temperature = 0, .repeat_penalty = 1.02F, .repeat_window = 2};
  SamplerChain chain(params, 3);
  EXPECT_EQ(chain.sample(logits, {}, std::vector<TokenId>{0, 0}), 0);  // twice would give 3.845
  params.repeat_penalty = 1.1F;
  SamplerChain strong(params, 3);
  EXPECT_EQ(strong.sample(logits, {}, std::vector<TokenId>{0}), 1);
  EXPECT_EQ(strong.sample(logits, {}, std::vector<TokenId>{0, 2, 2}), 0);  // out of the window
  EXPECT_EQ(strong.sample(logits, {}, std::vector<TokenId>{0}), 1);        // nothing is left over
}

TEST(Sampler, ASeedGivesTheSameTokensAgain) {
  const auto logits = random_logits(300, 2);
  const auto draw = [&](std::uint64_t seed) {
    SamplerChain chain({.temperature = 1.5F, .seed = seed}, 300);
    std::vector<TokenId> out;
    for (int i = 0; i < 50; ++i)
      out.push_back(chain.sample(logits, {}, {}));
    return out;
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7), draw(8));
}

TEST(Sampler, CheckNamesKeyValueAndRange) {
  const auto result = check({.top_p = 1.5F});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "top_p is 1.5, allowed are 0 to 1");
  EXPECT_FALSE(check({.temperature = kNan}));
  EXPECT_TRUE(check({}));
}

}  // namespace
}  // namespace wick
