// A prompt as one vector: what it is, and that company and chunks change no bit of it.
#include <gtest/gtest.h>

#include "base/hot_scope.h"
#include "engine/engine_fixture_test.h"
#include "support/hot_counters.h"

namespace wick {
namespace {

EmbedRequest pooled(Pooling pooling, std::vector<TokenId> tokens) {
  return {.prompt = std::move(tokens), .pooling = pooling};
}

std::vector<float> embed(Fixture& f, Pooling pooling, std::vector<TokenId> tokens) {
  const auto n = static_cast<int>(tokens.size());
  const auto result = *f.engine->submit(pooled(pooling, std::move(tokens)));
  f.finish();
  const auto embedding = result->wait();
  EXPECT_TRUE(embedding);
  EXPECT_EQ(embedding->tokens, n);
  return embedding->values;
}

TEST(Pooling, TheLastStateTimesTheTableIsTheNextTokensLogits) {
  Fixture f;
  const auto state = embed(f, Pooling::kLast, prompt(40, 1));
  EXPECT_EQ(f.device->n_logits, 0);
  ASSERT_EQ(state.size(), std::size_t{32});
  const TensorView* table = f.file->find("token_embd.weight");
  ASSERT_NE(table, nullptr);
  const auto* rows = reinterpret_cast<const float*>(table->bytes.data());
  auto request = GenerateRequest{.prompt = prompt(40, 1), .max_tokens = 1, .top_logprobs = 5};
  request.sampling.temperature = 0;
  const auto reader = f.submit(std::move(request));
  f.finish();
  const auto logit = [&](TokenId id) {
    double sum = 0;
    for (std::size_t i = 0; i < state.size(); ++i)
      sum += static_cast<double>(state[i]) *
             static_cast<double>(rows[static_cast<std::size_t>(id) * state.size() + i]);
    return sum;
  };
  ASSERT_GE(reader->logprobs.size(), std::size_t{6});
  const IdLogprob& best = reader->logprobs[1];
  for (std::size_t i = 2; i < 6; ++i) {
    const IdLogprob& other = reader->logprobs[i];
    EXPECT_NEAR(logit(best.id) - logit(other.id), best.logprob - other.logprob, 1e-4);
  }
}

TEST(Pooling, TheMeanIsThatOfTheLastStatesOfAllBeginnings) {
  Fixture f;
  const auto tokens = prompt(23, 5);
  std::vector<double> sum(32);
  for (std::size_t n = 1; n <= tokens.size(); ++n) {
    const auto last =
        embed(f, Pooling::kLast, {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n)});
    if (n == 1) {
      EXPECT_EQ(embed(f, Pooling::kFirst, tokens), last);
    }
    std::transform(sum.begin(), sum.end(), last.begin(), sum.begin(), std::plus<>());
  }
  const auto mean = embed(f, Pooling::kMean, tokens);
  for (std::size_t i = 0; i < mean.size(); ++i)
    EXPECT_FLOAT_EQ(mean[i], static_cast<float>(sum[i] / 23));
}

TEST(SameBitsPooling, ChunksThreadsAndCompanyChangeNothing) {
  Fixture plain;
  const auto wanted = embed(plain, Pooling::kMean, prompt(200, 3));
  for (const int chunk : {1, 7, 64, 512}) {
    for (const int threads : {1, 3}) {
      Fixture f({.max_seqs = 3}, threads, chunk);
      std::vector<std::shared_ptr<Reader>> others;
      std::vector<std::shared_ptr<EmbedResult>> results;
      others.push_back(f.submit(request(30, 1, 100)));
      for (int i = 0; i < 3; ++i)
        results.push_back(*f.engine->submit(pooled(Pooling::kMean, prompt(200, 3))));
      others.push_back(f.submit(request(90, 2, 50)));
      f.finish();
      for (const auto& result : results)
        EXPECT_EQ(result->wait()->values, wanted) << chunk << " " << threads;
      for (const auto& other : others)
        EXPECT_FALSE(other->text.empty());
    }
  }
}

TEST(Pooling, TakesAWholeContextAndRefusesMore) {
  Fixture f;
  EXPECT_EQ(embed(f, Pooling::kMean, prompt(256, 1)).size(), std::size_t{32});
  const auto refused = f.engine->submit(pooled(Pooling::kMean, prompt(257, 1)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "context_length_exceeded");
}

TEST(Pooling, ACancelledOneSaysSo) {
  Fixture f;
  const auto result = *f.engine->submit(pooled(Pooling::kMean, prompt(100, 1)));
  f.engine->cancel(result->id());
  f.finish();
  EXPECT_EQ(result->wait().error().id, "cancelled");
}

TEST(HotPathPooling, NeitherAllocatesNorLocks) {
  Fixture f({}, 1, 16);
  const auto result = *f.engine->submit(pooled(Pooling::kMean, prompt(100, 1)));
  f.engine->step();
  f.engine->step();
  test::reset_hot_counts();
  f.finish();
  EXPECT_EQ(test::hot_counts().allocations, 0);
  EXPECT_EQ(test::hot_counts().locks, 0);
  EXPECT_TRUE(result->wait());
}

}  // namespace
}  // namespace wick
