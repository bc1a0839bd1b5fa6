// Cross-encoders (tests/data/model/rerank): the scores that transformers gives pairs of texts, with
// the tokenizer's own pairing, alone and beside others.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "chat/json_value.h"
#include "local/local.h"
#include "support/test_data.h"

namespace wick {
namespace {

class ParityRerank : public testing::TestWithParam<const char*> {
 protected:
  ParityRerank() {
    const auto folder = test::test_data("model/rerank") / GetParam();
    auto model = LocalModel::open(folder, {.threads = 2});
    EXPECT_TRUE(model) << to_string(model.error());
    if (model) model_ = *std::move(model);
    std::ifstream file(folder / "pairs.json");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto pairs = parse_json(text);
    EXPECT_TRUE(pairs);
    query_ = *pairs->object()->find("query")->string();
    for (const JsonValue& one : *pairs->object()->find("texts")->array())
      texts_.push_back(*one.string());
    for (const JsonValue& one : *pairs->object()->find("scores")->array())
      scores_.push_back(*one.number());
  }

  std::shared_ptr<LocalModel> model_;
  std::string query_;
  std::vector<std::string> texts_;
  std::vector<double> scores_;
};

TEST_P(ParityRerank, ScoresAreThoseOfTransformers) {
  ASSERT_NE(model_, nullptr);
  const auto together = model_->embed({.texts = texts_, .options = {.query = query_}});
  ASSERT_TRUE(together) << to_string(together.error());
  ASSERT_EQ(together->size(), scores_.size());
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    ASSERT_EQ((*together)[i].values.size(), 1U);
    EXPECT_NEAR((*together)[i].values[0], scores_[i], 3e-4);
    const auto alone =
        model_->embed({.texts = std::span(texts_).subspan(i, 1), .options = {.query = query_}});
    EXPECT_EQ(alone->front().values, (*together)[i].values) << "the same bits";
  }
}

TEST_P(ParityRerank, RefusesWhatItCannotRank) {
  ASSERT_NE(model_, nullptr);
  const auto pooled = model_->embed({.texts = texts_, .options = {.pooling = "mean"}});
  ASSERT_FALSE(pooled);
  EXPECT_EQ(pooled.error().id, "bad_pooling");
  const auto ids =
      model_->embed_tokens({}, std::vector<std::vector<TokenId>>{{2, 5, 3}}, {.query = query_});
  ASSERT_FALSE(ids);
  EXPECT_EQ(ids.error().id, "bad_query");
  const auto other = LocalModel::open(test::test_data("model/encoders/bert"), {});
  ASSERT_TRUE(other);
  const auto refused = (*other)->embed({.texts = texts_, .options = {.query = query_}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "no_cross_encoder");
}

INSTANTIATE_TEST_SUITE_P(CrossEncoders, ParityRerank, testing::Values("bert", "xlm-roberta"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace wick
