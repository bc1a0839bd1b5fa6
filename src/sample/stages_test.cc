// Every stage, alone, together and in any order, against the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "sample/oracle_test.h"
#include "sample/stage.h"

namespace wick {
namespace {

using P = SamplingParams;
using test::draw;
using test::random_logits;

const P kAllOff{.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0};

P only(void (*set)(P&)) {
  P params = kAllOff;
  set(params);
  return params;
}

// One draw of each of many requests, so that what a sampler remembers does not count.
std::map<TokenId, int> draw_often(const std::vector<float>& logits, P params, int draws,
                                  const std::vector<TokenId>& history) {
  std::map<TokenId, int> seen;
  for (int i = 0; i < draws; ++i) {
    params.seed = static_cast<std::uint64_t>(i) + 1000;
    SamplerChain chain(params, {.vocab = static_cast<int>(logits.size()),
                                .history = static_cast<int>(history.size())});
    ++seen[draw(chain, logits, {}, history)];
  }
  return seen;
}

const std::vector<TokenId> kHistory = {5, 6, 7, 8, 9, 5, 6, 7, 1, 5, 6, 7};

class SamplerOracle : public testing::TestWithParam<P> {};

TEST_P(SamplerOracle, DrawsFromTheSameSetWithTheSameFrequencies) {
  const auto logits = random_logits(500, 3);
  constexpr int kDraws = 5000;
  test::expect_drawn_from(test::oracle(logits, GetParam(), kHistory),
                          draw_often(logits, GetParam(), kDraws, kHistory), kDraws);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, SamplerOracle,
    testing::Values(
        P{}, kAllOff, P{.temperature = 2, .top_k = 0}, only([](P& p) { p.top_k = 3; }),
        only([](P& p) { p.top_p = 0.5F; }), only([](P& p) { p.top_p = 0.999F; }),
        only([](P& p) { p.min_p = 0.2F; }), only([](P& p) { p.top_n_sigma = 1.5F; }),
        only([](P& p) { p.typical_p = 0.3F; }), only([](P& p) { p.typical_p = 0.9F; }),
        only([](P& p) { p.xtc_probability = 0.4F, p.xtc_threshold = 0.05F; }),
        only([](P& p) { p.dynatemp_range = 0.6F, p.dynatemp_exponent = 1.7F; }),
        only([](P& p) { p.adaptive_target = 0.1F; }), only([](P& p) { p.adaptive_target = 0.9F; }),
        only([](P& p) { p.repeat_penalty = 1.5F, p.frequency_penalty = 0.4F; }),
        only([](P& p) { p.presence_penalty = -2, p.repeat_last_n = 4; }),
        only([](P& p) { p.dry_multiplier = 0.8F; }), only([](P& p) {
          p.logit_bias = {{9, 8}, {8, 8}, {9, -1}};
        }),
        P{.top_n_sigma = 2, .typical_p = 0.8F, .xtc_probability = 0.5F, .dynatemp_range = 0.5F}));

TEST(SamplerOracle, AnyOrderDrawsAsTheOracleInThatOrder) {
  std::mt19937 rng(5);
  std::vector<std::string> names = {"penalties",   "dry",       "top_n_sigma", "top_k",
                                    "typ_p",       "top_p",     "min_p",       "xtc",
                                    "temperature", "adaptive_p"};
  for (int round = 0; round < 60; ++round) {
    std::shuffle(names.begin(), names.end(), rng);
    P params{.temperature = 1.4F, .top_k = 60, .top_p = 0.9F, .min_p = 0.01F};
    params.repeat_penalty = 1.3F;
    params.frequency_penalty = 0.3F;
    params.dry_multiplier = 0.5F;
    params.top_n_sigma = 2.5F;
    params.typical_p = 0.97F;
    params.xtc_probability = 0.3F;
    params.dynatemp_range = round % 2 == 0 ? 0.3F : 0;
    params.adaptive_target = round % 3 == 0 ? 0.2F : -1;
    std::string order;
    const std::size_t n = 1 + rng() % names.size();
    for (std::size_t i = 0; i < n; ++i)
      order += (order.empty() ? "" : ";") + names[i];
    if (order.find("adaptive_p") == std::string::npos) params.adaptive_target = -1;
    params.order = *parse_sampler_order(order);
    SCOPED_TRACE(order);
    const auto logits = random_logits(300, static_cast<unsigned>(round));
    constexpr int kDraws = 1500;
    test::expect_drawn_from(test::oracle(logits, params, kHistory),
                            draw_often(logits, params, kDraws, kHistory), kDraws);
  }
}

TEST(Penalties, FollowAGrowingHistoryAsCountingItAnewWould) {
  std::mt19937 rng(3);
  for (const int window : {1, 5, 64, -1}) {
    P params = kAllOff;
    params.repeat_penalty = 1.25F, params.frequency_penalty = 0.5F, params.presence_penalty = 0.25F;
    params.repeat_last_n = window;
    params.temperature = 0;
    SamplerChain chain(params, {.vocab = 30});
    std::vector<TokenId> history;
    for (int i = 0; i < 200; ++i) {
      const auto logits = random_logits(30, static_cast<unsigned>(i));
      SamplerChain fresh(params, {.vocab = 30});
      const auto wanted = test::oracle(
          logits,
          [&] {
            P p = params;
            p.temperature = 1;
            return p;
          }(),
          history);
      const auto best =
          std::max_element(wanted.begin(), wanted.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      const TokenId id = draw(chain, logits, {}, history);
      ASSERT_EQ(id, draw(fresh, logits, {}, history)) << window << " " << i;
      ASSERT_EQ(id, best->first) << window << " " << i;
      for (std::size_t n = rng() % 3 + 1; n > 0; --n)
        history.push_back(static_cast<TokenId>(rng() % 33));  // some outside the vocabulary
    }
  }
}

TEST(Dry, FindsTheRepetitionsThatItsDefinitionNames) {
  std::mt19937 rng(8);
  for (int round = 0; round < 400; ++round) {
    const auto alphabet = static_cast<unsigned>(2 + round % 5);
    std::vector<TokenId> history(rng() % 80);
    for (TokenId& id : history)
      id = static_cast<TokenId>(rng() % alphabet);
    P params = kAllOff;
    params.dry_multiplier = 1, params.dry_base = 1.1F;
    params.dry_allowed_length = static_cast<int>(rng() % 4);
    params.dry_penalty_last_n = round % 3 == 0 ? -1 : static_cast<int>(rng() % 70) + 1;
    if (round % 4 == 1) params.dry_sequence_breakers.tokens = {1};
    if (round % 4 == 2) params.dry_sequence_breakers.runs = {{0, 1}, {1, 1, 0}};
    SamplerMemory memory;
    prepare_dry(memory, params, {.vocab = 8, .history = 80});
    std::vector<float> logits(8, 0);
    Candidates c{.logits = logits, .history = history, .memory = &memory};
    apply_dry(c, params);
    const auto wanted = test::dry_lengths(history, params);
    for (TokenId id = 0; id < 8; ++id) {
      const auto it = wanted.find(id);
      const double loss = it == wanted.end() ? 0
                                             : std::pow(static_cast<double>(params.dry_base),
                                                        it->second - params.dry_allowed_length);
      ASSERT_NEAR(static_cast<double>(-logits[static_cast<std::size_t>(id)]), loss, 1e-5 * loss)
          << "round " << round << ", token " << id;
    }
  }
}

TEST(Dry, AVeryLongRepetitionIsAsGoodAsABanAndFinite) {
  const std::vector<TokenId> history(5000, 1);
  P params = kAllOff;
  params.dry_multiplier = 1, params.dry_penalty_last_n = -1;
  SamplerChain chain(params, {.vocab = 2, .history = 5000});
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(draw(chain, {0, 30}, {}, history), 0);
  SamplerChain alone(params, {.vocab = 2, .history = 5000});
  const std::uint64_t allowed = 0b10;
  EXPECT_EQ(draw(alone, {0, 30}, {&allowed, 1}, history), 1);
}

// Logits by Zipf's law whose exponent changes from token to token, their ids shuffled.
std::vector<float> zipf_logits(std::mt19937& rng, int vocab) {
  const double exponent = std::uniform_real_distribution<double>(0.9, 1.6)(rng);
  std::vector<float> logits(static_cast<std::size_t>(vocab));
  for (std::size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>(-exponent * std::log(static_cast<double>(i + 1)));
  std::shuffle(logits.begin(), logits.end(), rng);
  return logits;
}

double log2_probability(const std::vector<float>& logits, TokenId id) {
  double sum = 0;
  for (const float x : logits)
    sum += std::exp(static_cast<double>(x));
  return (static_cast<double>(logits[static_cast<std::size_t>(id)]) - std::log(sum)) /
         std::log(2.0);
}

TEST(Mirostat, HoldsTheMeanSurpriseNearTau) {
  for (const int version : {1, 2}) {
    for (const float tau : {3.5F, 5.0F}) {
      std::mt19937 rng(17);
      P params{.temperature = 1, .mirostat = version, .mirostat_tau = tau, .seed = 4};
      SamplerChain chain(params, {.vocab = 4000});
      double sum = 0;
      constexpr int kTokens = 2000;
      for (int i = 0; i < kTokens; ++i) {
        std::vector<float> logits = zipf_logits(rng, 4000);
        sum -= log2_probability(logits, chain.sample(logits, {}, {}));
      }
      const double wanted = static_cast<double>(tau);
      EXPECT_NEAR(sum / kTokens, wanted, 0.05 * wanted) << "version " << version;
    }
  }
}

TEST(Mirostat, FlatAndPointedDistributionsLeaveATokenToDraw) {
  for (const int version : {1, 2}) {
    SamplerChain chain({.temperature = 1, .mirostat = version, .mirostat_tau = 0.1F},
                       {.vocab = 50});
    std::vector<float> pointed(50, -80);
    pointed[7] = 80;
    for (int i = 0; i < 300; ++i) {
      const TokenId id = draw(chain, i % 2 == 0 ? pointed : std::vector<float>(50, 1), {}, {});
      ASSERT_TRUE(id >= 0 && id < 50);
    }
  }
}

TEST(AdaptiveP, HoldsTheMeanProbabilityNearItsTarget) {
  for (const float target : {0.3F, 0.5F}) {
    std::mt19937 rng(23);
    SamplerChain chain(
        {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0.01F, .adaptive_target = target},
        {.vocab = 6});
    double sum = 0;
    constexpr int kTokens = 4000;
    for (int i = 0; i < kTokens; ++i) {
      std::vector<float> logits = {2.5F, 2, 1.5F, 1, 0.5F, 0};
      for (float& x : logits)
        x *= static_cast<float>(1 + rng() % 3) * 0.5F;
      sum += std::exp2(log2_probability(logits, chain.sample(logits, {}, {})));
    }
    EXPECT_NEAR(sum / kTokens, static_cast<double>(target), 0.05) << target;
  }
}

}  // namespace
}  // namespace wick
