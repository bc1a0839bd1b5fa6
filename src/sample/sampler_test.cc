#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/hot_scope.h"
#include "sample/limits.h"
#include "sample/oracle_test.h"
#include "support/hot_counters.h"

namespace wick {
namespace {

using test::draw;
using test::random_logits;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const SamplingParams kAllOff{.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0};

TEST(Sampler, GreedyTakesTheLowestIdAmongEqualMaximaAndSkipsNan) {
  SamplerChain chain({.temperature = 0}, {.vocab = 5});
  EXPECT_EQ(draw(chain, std::vector<float>{kNan, 1, 3, 3, 2}, {}, {}), 2);
  const std::uint64_t allowed = 0b11000;
  EXPECT_EQ(draw(chain, std::vector<float>{9, 9, 9, 1, 2}, {&allowed, 1}, {}), 4);
  EXPECT_EQ(draw(chain, std::vector<float>(5, kNan), {}, {}), -1);
}

TEST(Sampler, NothingAllowedGivesNoToken) {
  const std::uint64_t none = 0;
  for (const int top_k : {0, 40}) {
    SamplerChain chain({.top_k = top_k}, {.vocab = 4});
    EXPECT_EQ(draw(chain, std::vector<float>{1, 2, 3, 4}, {&none, 1}, {}), -1);
  }
}

TEST(Sampler, PresenceCountsOnceAndFrequencyEachTime) {
  const std::vector<float> logits = {2, 1, 0};
  const std::vector<TokenId> history = {0, 0, 0};
  const auto greedy = [&](float presence, float frequency) {
    SamplerChain chain(
        {.temperature = 0, .presence_penalty = presence, .frequency_penalty = frequency},
        {.vocab = 3});
    return draw(chain, logits, {}, history);
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
    SamplerChain a(set, {.vocab = 200}), b(plain, {.vocab = 200});
    const std::vector<TokenId> history = {1, 2, 3};
    for (int i = 0; i < 200; ++i)
      ASSERT_EQ(draw(a, logits, {}, history), draw(b, logits, {}, history)) << row.key;
  }
}

TEST(Sampler, NoExtremeOfAParameterEmptiesTheSet) {
  const auto logits = random_logits(64, 21);
  for (const SamplerParam& row : sampler_params()) {
    for (const double value : {row.min, row.max}) {
      SamplingParams params;
      row.set(params, value);
      SamplerChain chain(params, {.vocab = 64});
      const TokenId id = draw(chain, logits, {}, std::vector<TokenId>{1, 5, 5});
      EXPECT_TRUE(id >= 0 && id < 64) << row.key << " = " << value;
    }
  }
}

TEST(Sampler, RepeatPenaltyCountsATokenOnceAndRespectsItsWindow) {
  const std::vector<float> logits = {4, 3.9F, 0};
  SamplingParams params{.temperature = 0, .repeat_penalty = 1.02F, .repeat_last_n = 2};
  SamplerChain chain(params, {.vocab = 3});
  EXPECT_EQ(draw(chain, logits, {}, std::vector<TokenId>{0, 0}), 0);  // twice would give 3.845
  params.repeat_penalty = 1.1F;
  SamplerChain strong(params, {.vocab = 3});
  EXPECT_EQ(draw(strong, logits, {}, std::vector<TokenId>{0}), 1);
  EXPECT_EQ(draw(strong, logits, {}, std::vector<TokenId>{0, 2, 2}), 0);  // out of the window
  EXPECT_EQ(draw(strong, logits, {}, std::vector<TokenId>{0}), 1);        // nothing is left over
}

TEST(Sampler, ASeedGivesTheSameTokensAgain) {
  const auto logits = random_logits(300, 2);
  const auto draw_all = [&](std::uint64_t seed) {
    SamplerChain chain({.temperature = 1.5F, .seed = seed}, {.vocab = 300});
    std::vector<TokenId> out;
    for (int i = 0; i < 50; ++i)
      out.push_back(draw(chain, logits, {}, {}));
    return out;
  };
  EXPECT_EQ(draw_all(7), draw_all(7));
  EXPECT_NE(draw_all(7), draw_all(8));
}

TEST(Sampler, AnInfiniteLogitIsDrawnAndOneOfMinusInfinityNever) {
  for (const int top_k : {0, 2}) {
    SamplerChain chain({.top_k = top_k}, {.vocab = 3});
    EXPECT_EQ(draw(chain, {1, kInf, 2}, {}, {}), 1);
    EXPECT_EQ(draw(chain, {-kInf, kNan, -50}, {}, {}), 2);
    EXPECT_EQ(draw(chain, {-kInf, kNan, -kInf}, {}, {}), -1);
  }
}

TEST(Sampler, LogitBiasBansAndForcesTokens) {
  SamplingParams params{.temperature = 0, .logit_bias = {{2, -kInf}, {0, 1.5F}, {99, 5}, {-1, 5}}};
  SamplerChain chain(params, {.vocab = 3});
  EXPECT_EQ(draw(chain, {1, 2, 9}, {}, {}), 0);
  params.logit_bias.push_back({1, 1});
  SamplerChain other(params, {.vocab = 3});
  EXPECT_EQ(draw(other, {1, 2, 9}, {}, {}), 1);
}

TEST(Sampler, NoEndTokenIsDrawnBeforeMinTokens) {
  const std::vector<TokenId> ends = {1, 2};
  SamplerChain chain({.temperature = 0, .min_tokens = 2}, {.vocab = 3, .ends = ends});
  std::vector<TokenId> seen;
  for (int i = 0; i < 4; ++i)
    seen.push_back(draw(chain, {0, 5, 4}, {}, {}));
  EXPECT_EQ(seen, (std::vector<TokenId>{0, 0, 1, 1}));
}

TEST(Sampler, IgnoreEosMeansThatNoEndTokenIsEverDrawn) {
  const std::vector<TokenId> ends = {1};
  for (const float temperature : {0.0F, 1.0F}) {
    SamplerChain chain({.temperature = temperature, .ignore_eos = 1}, {.vocab = 3, .ends = ends});
    for (int i = 0; i < 50; ++i)
      ASSERT_NE(draw(chain, {0, 5, 4}, {}, {}), 1);
  }
}

TEST(SamplerOrder, IsReadAsLlamaCppWritesIt) {
  const auto order = parse_sampler_order("top-k;typical;temp");
  ASSERT_TRUE(order);
  EXPECT_EQ(to_string(*order), "top_k;typ_p;temperature");
  EXPECT_EQ(to_string(SamplerOrder{}),
            "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature;adaptive_p");
  EXPECT_EQ(to_string(*parse_sampler_order(to_string(SamplerOrder{}))), to_string(SamplerOrder{}));
}

TEST(SamplerOrder, RefusesUnknownAndRepeatedNames) {
  for (const char* text : {"top_q", "top_k;top_k", "top_k;;temp", "mirostat", "logit_bias"}) {
    const auto order = parse_sampler_order(text);
    ASSERT_FALSE(order) << text;
    EXPECT_EQ(order.error().id, "bad_sampler_order");
  }
}

TEST(SamplerOrder, ASamplerThatIsNotNamedIsOff) {
  SamplingParams params{.temperature = 0, .top_k = 1};
  params.order = *parse_sampler_order("top_p");
  SamplerChain chain(params, {.vocab = 2});
  std::vector<int> seen(2);
  for (int i = 0; i < 100; ++i)
    ++seen[static_cast<std::size_t>(draw(chain, {1, 1.1F}, {}, {}))];
  EXPECT_GT(seen[0], 10);
  EXPECT_GT(seen[1], 10);
}

TEST(HotPathSampler, DrawingNeitherAllocatesNorLocks) {
  std::vector<SamplingParams> all(6);
  all[0].temperature = 0;
  all[1].repeat_penalty = 1.2F, all[1].repeat_last_n = -1, all[1].dry_multiplier = 1;
  all[1].dry_penalty_last_n = -1, all[1].logit_bias = {{3, 1}}, all[1].min_tokens = 5;
  all[2].top_k = 0, all[2].top_n_sigma = 2, all[2].typical_p = 0.9F, all[2].xtc_probability = 0.5F;
  all[3].mirostat = 1;
  all[4].mirostat = 2;
  all[5].adaptive_target = 0.4F;
  std::vector<float> logits = random_logits(5000, 4);
  const std::vector<TokenId> ends = {7};
  for (const SamplingParams& params : all) {
    SamplerChain chain(params, {.vocab = 5000, .history = 200, .ends = ends});
    std::vector<TokenId> history;
    history.reserve(200);
    test::reset_hot_counts();
    for (int i = 0; i < 150; ++i) {
      const HotScope hot;
      history.push_back(chain.sample(logits, {}, history) % 40);
    }
    EXPECT_EQ(test::hot_counts().allocations, 0);
    EXPECT_EQ(test::hot_counts().locks, 0);
  }
}

TEST(Sampler, CheckNamesKeyValueAndRange) {
  const auto result = check({.top_p = 1.5F});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "top_p is 1.5, allowed are 0 to 1");
  EXPECT_FALSE(check({.temperature = kNan}));
  EXPECT_TRUE(check({}));
  EXPECT_FALSE(check({.logit_bias = {{0, kNan}}}));
  EXPECT_TRUE(check({.logit_bias = {{0, -kInf}}}));
  EXPECT_FALSE(check({.logit_bias = std::vector<LogitBias>(kMaxLogitBiases + 1)}));
  EXPECT_FALSE(check({.dry_sequence_breakers = {.runs = {{}}}}));
}

}  // namespace
}  // namespace wick
