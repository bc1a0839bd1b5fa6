// Log-probabilities as a user of the library gets them, held against the logits that a LogitsHook
// sees.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "library/library_fixture_test.h"

namespace wick {
namespace {

// A float's rounding of a log-probability down to -32.
constexpr double kFloatRounding = 2e-6;

Generation scored(std::uint64_t seed, int max_tokens = 20) {
  Generation g = noise(seed, max_tokens);
  g.logprobs = true;
  g.top_logprobs = 20;
  return g;
}

// log softmax, written down as it is defined.
std::vector<double> log_softmax(const std::vector<float>& logits) {
  const double top = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double sum = 0;
  for (const float logit : logits)
    sum += std::exp(static_cast<double>(logit) - top);
  std::vector<double> out;
  for (const float logit : logits)
    out.push_back(static_cast<double>(logit) - top - std::log(sum));
  return out;
}

// Equal bits.
void expect_same(const std::vector<TokenLogprob>& a, const std::vector<TokenLogprob>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].id, b[i].id) << i;
    EXPECT_EQ(a[i].bytes, b[i].bytes) << i;
    EXPECT_EQ(a[i].logprob, b[i].logprob) << i;
    expect_same(a[i].top_logprobs, b[i].top_logprobs);
  }
}

TEST(LibraryLogprobs, AreTheLogSoftmaxOfTheRawLogitsWhateverTheHookAndTheSamplersDo) {
  const Fixture f;
  std::vector<std::vector<float>> rows;
  Generation g = scored(1);
  g.logits = [&](std::span<float> logits, std::span<const TokenId>) {
    rows.emplace_back(logits.begin(), logits.end());
    std::reverse(logits.begin(), logits.begin() + 256);
  };
  g.repeat_penalty = 1.5;
  const auto answer = f.model->complete("abc", g);
  ASSERT_TRUE(answer) << to_string(answer.error());
  ASSERT_EQ(answer->logprobs.size(), rows.size());
  ASSERT_GT(rows.size(), 3U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<double> want = log_softmax(rows[i]);
    const TokenLogprob& token = answer->logprobs[i];
    EXPECT_NEAR(token.logprob, want[static_cast<std::size_t>(token.id)], kFloatRounding);
    std::vector<TokenId> ids(rows[i].size());
    std::iota(ids.begin(), ids.end(), 0);
    std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) {
      return rows[i][static_cast<std::size_t>(a)] > rows[i][static_cast<std::size_t>(b)];
    });
    ASSERT_EQ(token.top_logprobs.size(), 20U);
    for (std::size_t k = 0; k < 20; ++k) {
      const TokenLogprob& likely = token.top_logprobs[k];
      EXPECT_EQ(likely.id, ids[k]);
      EXPECT_NEAR(likely.logprob, want[static_cast<std::size_t>(likely.id)], kFloatRounding);
    }
  }
}

TEST(LibraryLogprobs, TheLikeliestDescendAndTheirProbabilitiesStayBelowOne) {
  const Fixture f;
  const auto answer = f.model->complete("abc", scored(2));
  ASSERT_TRUE(answer);
  ASSERT_FALSE(answer->logprobs.empty());
  for (const TokenLogprob& token : answer->logprobs) {
    double sum = 0, above = 0;
    for (const TokenLogprob& likely : token.top_logprobs) {
      sum += std::exp(likely.logprob);
      EXPECT_LE(likely.logprob, above);
      above = likely.logprob;
    }
    EXPECT_LE(sum, 1 + 1e-6);
    EXPECT_GT(sum, 20.0 / test::kTinyVocab);
  }
}

TEST(LibraryLogprobs, BytesAreTheTextAndTheEndTokenHasItsName) {
  const Fixture f;
  Generation g = scored(1, 10);
  g.logits = [](std::span<float> logits, std::span<const TokenId> history) {
    for (float& logit : logits)
      logit = -1e9F;
    logits[history.size() == 5 ? test::kTinyImEnd : 'x'] = 0;
  };
  const auto answer = f.model->complete("abc", g);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "xx");
  EXPECT_EQ(answer->usage.generated_tokens, 3);
  ASSERT_EQ(answer->logprobs.size(), 3U);
  EXPECT_EQ(answer->logprobs[1].bytes, "x");
  EXPECT_EQ(answer->logprobs[2].bytes, "<|im_end|>");
}

TEST(LibraryLogprobs, EveryTokenHasItsScoreHoweverTheAnswerEnds) {
  const Fixture f({.context = 8192});
  Generation endless = scored(1, 8000);
  endless.logit_bias = {{test::kTinyImEnd, -1e6}, {test::kTinyBeginOfText, -1e6}};
  const auto cancelled = f.model->complete("abc", endless, [](std::string_view) { return false; });
  Generation stops = scored(3, 200);
  stops.logits = [](std::span<float> logits, std::span<const TokenId> history) {
    for (float& logit : logits)
      logit = -1e9F;
    logits[static_cast<std::size_t>("abcxyz"[history.size()])] = 0;
  };
  stops.stop = {"yz"};
  const auto stopped = f.model->complete("abc", stops);
  for (const auto* answer : {&cancelled, &stopped}) {
    ASSERT_TRUE(*answer) << to_string(answer->error());
    EXPECT_EQ((*answer)->logprobs.size(),
              static_cast<std::size_t>((*answer)->usage.generated_tokens));
  }
  EXPECT_EQ(cancelled->finish, FinishReason::kCancelled);
  EXPECT_EQ(stopped->text, "x");
  EXPECT_EQ(stopped->logprobs.size(), 3U);
}

TEST(LibraryLogprobs, FourTogetherHaveTheBitsOfEachAlone) {
  const Fixture f;
  std::vector<Completion> alone;
  for (std::uint64_t i = 0; i < 4; ++i) {
    Generation g = scored(i);
    g.prompt_logprobs = i % 2 == 0;
    alone.push_back(*f.model->complete(std::string(5 + 20 * i, 'b'), g));
  }
  std::vector<Stream> streams;
  for (std::uint64_t i = 0; i < 4; ++i) {
    Generation g = scored(i);
    g.prompt_logprobs = i % 2 == 0;
    streams.push_back(*f.model->stream(std::string(5 + 20 * i, 'b'), g));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const auto together = streams[i].finish();
    ASSERT_TRUE(together);
    expect_same(together->logprobs, alone[i].logprobs);
    expect_same(together->prompt_logprobs, alone[i].prompt_logprobs);
  }
}

TEST(LibraryLogprobs, APromptIsScoredAsIfItsTokensHadBeenDrawn) {
  const Fixture f;
  Generation drawn = scored(4, 40);
  for (TokenId id = 0; id < test::kTinyVocab; ++id) {
    if (id < 'A' || id > 'Z') drawn.logit_bias.push_back({id, -1e6});  // one token a letter
  }
  const auto answer = f.model->complete("ABC", drawn);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->text.size(), 40U);
  const Generation logprobs{.max_tokens = 1, .prompt_logprobs = true, .top_logprobs = 20};
  const auto again = f.model->complete("ABC" + answer->text, logprobs);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_TRUE(again->logprobs.empty());
  EXPECT_EQ(again->usage.cached_tokens, 0);
  ASSERT_EQ(again->prompt_logprobs.size(), 42U);  // nothing precedes the first
  EXPECT_EQ(again->prompt_logprobs[0].bytes, "B");
  expect_same({again->prompt_logprobs.begin() + 2, again->prompt_logprobs.end()}, answer->logprobs);
  EXPECT_TRUE(f.model->complete("A", logprobs)->prompt_logprobs.empty());
}

TEST(LibraryLogprobs, SessionsAndChatsHaveThemAndTheTextIsTheSameWithout) {
  const Fixture f;
  Session session = f.model->session();
  const auto said = session.say("one", scored(5));
  ASSERT_TRUE(said);
  EXPECT_EQ(said->logprobs.size(), static_cast<std::size_t>(said->usage.generated_tokens));
  const auto plain = f.model->chat({{.content = "one"}}, noise(5));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->text, said->text);
  EXPECT_TRUE(plain->logprobs.empty());
  Generation chosen_only = noise(5);
  chosen_only.logprobs = true;
  const auto chosen = f.model->chat({{.content = "one"}}, chosen_only);
  ASSERT_TRUE(chosen);
  ASSERT_EQ(chosen->logprobs.size(), said->logprobs.size());
  for (std::size_t i = 0; i < said->logprobs.size(); ++i) {
    EXPECT_EQ(chosen->logprobs[i].logprob, said->logprobs[i].logprob);
    EXPECT_TRUE(chosen->logprobs[i].top_logprobs.empty());
  }
}

TEST(LibraryLogprobs, WhatMakesNoSenseIsRefused) {
  const Fixture f;
  const auto message = [&](const Generation& g) {
    const auto answer = f.model->complete("a", g);
    return answer ? "" : to_string(answer.error());
  };
  EXPECT_EQ(message({.logprobs = true, .top_logprobs = 21}),
            "top_logprobs is 21, allowed are 0 to 20");
  EXPECT_EQ(message({.logprobs = true, .top_logprobs = -1}),
            "top_logprobs is -1, allowed are 0 to 20");
  EXPECT_EQ(message({.top_logprobs = 5}),
            "top_logprobs is 5, which needs logprobs or prompt_logprobs");
}

}  // namespace
}  // namespace wick
