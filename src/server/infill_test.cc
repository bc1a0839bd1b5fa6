// POST /infill, and the field `suffix`.
#include <gtest/gtest.h>

#include "server/server_fixture_test.h"

namespace wick::server {
namespace {

using namespace test;

Result<std::vector<Event>> answer_x(const Request&) {
  return std::vector<Event>{
      TextEvent{"x"}, TextEvent{"y"},
      DoneEvent{.finish = FinishReason::kEos,
                .usage = {.prompt_tokens = 9, .cached_tokens = 4, .generated_tokens = 3}}};
}

struct Filling {
  std::shared_ptr<MadeProvider> provider = std::make_shared<MadeProvider>(answer_x);
  Server server{provider};

  std::vector<TokenId> seen(std::size_t back = 0) const {
    const Prompt& prompt = provider->seen[provider->seen.size() - 1 - back].prompt;
    const auto* const ids = std::get_if<std::vector<TokenId>>(&prompt);
    return ids == nullptr ? std::vector<TokenId>() : *ids;
  }
};

using Ids = std::vector<TokenId>;

TEST(ServerInfill, AnswersAsLlamaCppDoes) {
  Filling f;
  const Got got =
      f.server.post("/infill", R"j({"input_prefix":"a(","input_suffix":")","prompt":"b",)j"
                               R"("n_predict":8,"stop":"z","t_max_predict_ms":500})");
  ASSERT_EQ(got.status, 200) << got.body;
  EXPECT_EQ(f.seen(), (Ids{1, 'a', '(', 2, ')', 3, 'b'}));
  const Generation& g = f.provider->seen.back().generation;
  EXPECT_EQ(g.stop_token_ids, Ids{4});
  EXPECT_EQ(g.stop, std::vector<std::string>{"z"});
  EXPECT_EQ(g.max_tokens, 8);
  const JsonValue json = got.json();
  EXPECT_EQ(text_of(json, "content"), "xy");
  EXPECT_EQ(text_of(json, "stop"), "true");
  EXPECT_EQ(text_of(json, "stop_type"), "eos");
  EXPECT_EQ(text_of(json, "tokens_predicted"), "3");
  EXPECT_EQ(text_of(json, "tokens_evaluated"), "9");
  EXPECT_EQ(text_of(json, "tokens_cached"), "4");
  EXPECT_EQ(text_of(json, "timings.predicted_n"), "3");
  EXPECT_EQ(got.header("x-wick-ignored"), "t_max_predict_ms");
}

TEST(ServerInfill, StreamsChunksUntilTheOneThatStops) {
  Filling f;
  const auto events =
      f.server.post("/infill", R"({"input_prefix":"a","input_suffix":"","stream":true})").events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0], R"({"index":0,"content":"x","stop":false})");
  EXPECT_EQ(events[1], R"({"index":0,"content":"y","stop":false})");
  EXPECT_EQ(text_of(*parse_json(events[2]), "stop"), "true");
  EXPECT_EQ(text_of(*parse_json(events[2]), "content"), "");
}

TEST(ServerInfill, TakesTheOtherFilesOfTheProject) {
  Filling f;
  const Got got =
      f.server.post("/infill", R"({"input_prefix":"a","input_extra":[{"filename":"n","text":"t"},)"
                               R"({"text":"u"}]})");
  EXPECT_EQ(got.status, 200) << got.body;
  EXPECT_EQ(f.seen(), (Ids{5, 'n', ':', 't', 5, 'f', 'i', 'l', 'e', ':', 'u', 1, 'a', 2, 3}));
}

TEST(ServerInfill, RefusesByName) {
  Filling f;
  const auto refused = [&](std::string_view body) {
    const Got got = f.server.post("/infill", body);
    EXPECT_EQ(got.status, 400);
    return text_of(got.json(), "error.param");
  };
  EXPECT_EQ(refused("{}"), "input_prefix");
  EXPECT_EQ(refused(R"({"input_prefix":3})"), "input_prefix");
  EXPECT_EQ(refused(R"({"input_suffix":"a","input_extra":[{"filename":"n"}]})"),
            "input_extra[0].text");
  std::string many = R"({"input_suffix":"a","input_extra":[{"text":""})";
  for (int i = 0; i < 256; ++i)
    many += R"(,{"text":""})";
  EXPECT_EQ(refused(many + "]}"), "input_extra");
}

TEST(ServerInfill, SuffixMakesACompletionOne) {
  Filling f;
  const Got got = f.server.post(
      "/v1/completions", R"({"prompt":["a","b"],"suffix":"c","echo":true,"stop_token_ids":[7]})");
  ASSERT_EQ(got.status, 200) << got.body;
  EXPECT_EQ(text_of(got.json(), "choices.0.text"), "axy");
  EXPECT_EQ(f.seen(1), (Ids{1, 'a', 2, 'c', 3}));
  EXPECT_EQ(f.seen(), (Ids{1, 'b', 2, 'c', 3}));
  EXPECT_EQ(f.provider->seen.back().generation.stop_token_ids, (Ids{7, 4}));
  f.server.post("/v1/completions", R"({"prompt":"a","suffix":""})");
  EXPECT_TRUE(std::holds_alternative<std::string>(f.provider->seen.back().prompt));
}

TEST(ServerInfill, SuffixMakesOllamasGenerateOne) {
  Filling f;
  const Got got = f.server.post("/api/generate", R"({"prompt":"a","suffix":"c","stream":false})");
  ASSERT_EQ(got.status, 200) << got.body;
  EXPECT_EQ(text_of(got.json(), "response"), "xy");
  EXPECT_EQ(f.seen(), (Ids{1, 'a', 2, 'c', 3}));
}

}  // namespace
}  // namespace wick::server
