#include "route/similar_answers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "provider/gather.h"
#include "route/router.h"
#include "route/sim_test.h"

namespace wick::route {

namespace {

Request asking(std::string text) {
  Request request{.model = "cloud/m",
                  .prompt = std::vector<Message>{{.role = "system", .content = "Be brief."},
                                                 {.content = std::move(text)}}};
  request.generation.temperature = 0;
  return request;
}

TEST(SimilarAnswers, AQuestionIsTheLastTextAndAllElseItsContext) {
  const auto question = question_of(asking("a"));
  ASSERT_TRUE(question);
  EXPECT_EQ(question->text, "a");
  EXPECT_EQ(question_of(asking("b"))->context, question->context);
  const auto differs = [&](auto&& change) {
    Request other = asking("a");
    change(other);
    EXPECT_NE(question_of(other)->context, question->context);
  };
  differs([](Request& r) { r.model = "n"; });
  differs([](Request& r) { r.key = "alice"; });
  differs([](Request& r) { r.generation.tenant = 7; });
  differs([](Request& r) { r.generation.max_tokens = 7; });
  differs([](Request& r) {
    std::get<std::vector<Message>>(r.prompt).front().content = std::string("Be long.");
  });
  const auto is_none = [](auto&& change) {
    Request other = asking("a");
    change(other);
    EXPECT_FALSE(question_of(other));
  };
  is_none([](Request& r) { r.generation.tools = {{.name = "f"}}; });
  is_none([](Request& r) { r.generation.response_format.type = "json_object"; });
  is_none([](Request& r) { r.generation.logprobs = true; });
  is_none([](Request& r) { r.prompt = std::string("a"); });
  is_none([](Request& r) { std::get<std::vector<Message>>(r.prompt).back().role = "assistant"; });
}

TEST(SimilarAnswers, AreFoundWithinTheirContextAndThreshold) {
  SimilarAnswers answers(1 << 20, 0.95);
  answers.add("c", std::vector<float>{2, 0}, "east");
  answers.add("c", std::vector<float>{0, 3}, "north");
  answers.add("d", std::vector<float>{1, 1}, "other");
  EXPECT_EQ(answers.find("c", std::vector<float>{5, 0.1F})->key, "east");
  EXPECT_NEAR(answers.find("c", std::vector<float>{0, 7})->similarity, 1, 1e-6);
  EXPECT_FALSE(answers.find("c", std::vector<float>{1, 1}));
  EXPECT_FALSE(answers.find("e", std::vector<float>{1, 0}));
  EXPECT_FALSE(answers.find("c", std::vector<float>{1, 0, 0}));
  EXPECT_FALSE(answers.find("c", std::vector<float>{0, 0}));
  EXPECT_FALSE(answers.find("c", std::vector<float>{NAN, 0}));
}

TEST(SimilarAnswers, StayWithinTheirBytes) {
  constexpr std::size_t kMost = 50'000;
  SimilarAnswers answers(kMost, 0.95);
  const auto context = [](int i) { return std::string("context ").append(std::to_string(i % 7)); };
  for (int i = 0; i < 1000; ++i) {
    std::vector<float> vector(64, 0.F);
    vector[static_cast<std::size_t>(i) % 64] = 1;
    answers.add(context(i), vector, std::to_string(i));
    ASSERT_LE(answers.bytes(), kMost);
    ASSERT_EQ(answers.find(context(i), vector)->similarity, 1);
  }
  EXPECT_GT(answers.bytes(), kMost / 2);
  answers.add("c", std::vector<float>(20'000, 1.F), "too large");
  EXPECT_FALSE(answers.find("c", std::vector<float>(20'000, 1.F)));
}

// Vectors by the first letter: 'a' and 'A' are near, 'b' is not.
class Embedder final : public test::SimProvider {
 public:
  using test::SimProvider::SimProvider;

  Result<std::vector<Embedding>> embed(const EmbedTexts& request) override {
    EXPECT_EQ(request.model, "e");
    EXPECT_TRUE(request.only_embedding_model);
    if (fails) return Error{.code = ErrorCode::kNotFound, .id = "model_not_found"};
    const char first = request.texts.front().front();
    const float x = first == 'a' ? 1.F : first == 'A' ? 0.99F : 0.F;
    return std::vector<Embedding>{{.values = {x, first == 'b' ? 1.F : 0.05F}}};
  }

  bool fails = false;
};

TEST(SimilarAnswers, ARouterGivesThemAndSaysSo) {
  const auto clock = std::make_shared<test::VirtualClock>();
  const auto local = std::make_shared<Embedder>(clock);
  const auto cloud = std::make_shared<test::SimProvider>(clock);
  cloud->name_ = "cloud";
  RouterOptions options{.members = {{.name = "local", .provider = local, .is_local = true},
                                    {.name = "cloud",
                                     .provider = cloud,
                                     .models = {{.name = "m", .price = Price{}}}}},
                        .clock = clock,
                        .cache = {.max_bytes = 1 << 20, .similar_by = "local/e"}};
  const auto router = make_router(options);
  const auto ask = [&](const Request& request) {
    auto answer = router->start(request);
    EXPECT_TRUE(answer);
    const Gather whole = read_all(**answer);
    EXPECT_EQ(whole.completion.text, "cloud");
    for (const EffectiveParameter& one : whole.completion.parameters) {
      if (one.key == "cache") return std::get<std::string>(one.value);
    }
    return std::string("none");
  };
  EXPECT_EQ(ask(asking("apples?")), "none");
  EXPECT_EQ(ask(asking("apples?")), "hit");
  EXPECT_EQ(ask(asking("Apples?")), "similar");
  EXPECT_EQ(ask(asking("bears?")), "none");
  Request bob = asking("Apples?");
  bob.key = "bob";
  EXPECT_EQ(ask(bob), "none") << "another client";
  EXPECT_EQ(cloud->n_started, 3);
  local->fails = true;
  EXPECT_EQ(ask(asking("Apples!")), "none");
  EXPECT_EQ(cloud->n_started, 4);
}

}  // namespace

}  // namespace wick::route
