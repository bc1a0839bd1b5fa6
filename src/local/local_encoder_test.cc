// Encoders (tests/data/model/encoders) as a provider runs them: texts through the tokenizer and the
// engine, pooled as the folder says.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "local/local.h"
#include "support/test_data.h"

namespace wick {
namespace {

std::shared_ptr<LocalModel> open_encoder(const char* name, const LocalOptions& options = {}) {
  auto model = LocalModel::open(test::test_data("model/encoders") / name, options);
  EXPECT_TRUE(model) << to_string(model.error());
  return model ? *std::move(model) : nullptr;
}

std::string text_of(int n, int seed) {
  std::string text;
  for (int i = 0; i < n; ++i)
    text += "w" + std::to_string(3 + (i * 7 + seed * 11) % 60) + " ";
  return text;
}

TEST(LocalEncoder, PoolsTheStatesOfTransformersAsTheFolderSays) {
  const auto model = open_encoder("bert");
  ASSERT_NE(model, nullptr);
  const auto folder = test::test_data("model/encoders/bert");
  const std::vector<std::vector<TokenId>> ids{test::read_values<TokenId>(folder / "ids.bin")};
  const auto states = test::read_values<float>(folder / "states.bin");
  const std::size_t width = states.size() / ids[0].size();
  const auto first = model->embed_tokens({}, ids, {.normalize = false});
  const auto mean = model->embed_tokens({}, ids, {.pooling = "mean", .normalize = false});
  ASSERT_TRUE(first && mean);
  ASSERT_EQ((*first)[0].values.size(), width);
  for (std::size_t i = 0; i < width; ++i) {
    double sum = 0;
    for (std::size_t at = i; at < states.size(); at += width)
      sum += static_cast<double>(states[at]);
    EXPECT_NEAR((*first)[0].values[i], states[i], 3e-4);
    EXPECT_NEAR((*mean)[0].values[i], sum / static_cast<double>(ids[0].size()), 3e-4);
  }
  EXPECT_EQ(model->embed_tokens({}, ids, {.pooling = "cls", .normalize = false})->at(0).values,
            first->at(0).values);
}

TEST(SameBitsLocalEncoder, AloneAndAmongHundredTexts) {
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i)
    texts.push_back(text_of(1 + i % 40, i));
  std::vector<std::vector<float>> wanted;
  for (const int threads : {1, 2, 3}) {
    const auto model = open_encoder("bert", {.threads = threads});
    ASSERT_NE(model, nullptr);
    const auto together = model->embed({.texts = texts, .only_embedding_model = true});
    ASSERT_TRUE(together) << to_string(together.error());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto alone = model->embed({.texts = std::span(texts).subspan(i, 1)});
      ASSERT_TRUE(alone);
      EXPECT_EQ(alone->at(0).values, together->at(i).values) << i;
      if (threads == 1) wanted.push_back(alone->at(0).values);
      EXPECT_EQ(alone->at(0).values, wanted[i]) << i << ", " << threads << " threads";
    }
  }
}

TEST(LocalEncoder, EmbedsTextsOfTheWholeContextAndRefusesLongerOnes) {
  const auto model = open_encoder("bert");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->context(), 128);
  const std::vector<std::string> whole{text_of(126, 1), "w5", text_of(126, 2)};
  const auto all = model->embed({.texts = whole});
  ASSERT_TRUE(all) << to_string(all.error());
  EXPECT_EQ(all->at(0).tokens, 128);
  const std::vector<std::string> longer{"w5", text_of(127, 1)};
  const auto refused = model->embed({.texts = longer});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "context_length_exceeded");
}

TEST(LocalEncoder, WritesNoText) {
  const auto model = open_encoder("bert");
  ASSERT_NE(model, nullptr);
  const auto answer = model->start({.prompt = std::string("w5 w6")});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().id, "encoder");
}

TEST(LocalEncoder, OfOneTokenIsItself) {
  const auto model = open_encoder("bert");
  ASSERT_NE(model, nullptr);
  const std::vector<std::vector<TokenId>> ids{{5}, {5}};
  const auto all = model->embed_tokens({}, ids, {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->at(0).values, all->at(1).values);
  const double length = std::inner_product(all->at(0).values.begin(), all->at(0).values.end(),
                                           all->at(0).values.begin(), 0.0);
  EXPECT_NEAR(length, 1, 1e-6);
}

}  // namespace
}  // namespace wick
