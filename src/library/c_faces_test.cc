// What C has beside requests: sessions that are pulled, facts, embeddings, pools; each against the
// C++ face.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "library/library_fixture_test.h"
#include "wick/pool.h"
#include "wick/wick.h"

namespace wick {
namespace {

struct CFaces : testing::Test {
  Fixture f;
  wick_error* error = nullptr;
  wick_model* model = nullptr;
  wick_generation g = {};

  CFaces() {
    wick_model_options options;
    wick_model_options_init(&options);
    options.threads = 1;
    model = wick_model_open(f.path.c_str(), &options, &error);
    EXPECT_NE(model, nullptr);
    wick_generation_init(&g);
    static const std::vector<wick_parameter> kNoise = {{"temperature", 3}};
    g.parameters = kNoise.data();
    g.n_parameters = kNoise.size();
    g.has_seed = 1;
    g.seed = 7;
    g.max_tokens = 20;
  }

  ~CFaces() override {
    wick_error_free(error);
    wick_model_free(model);
  }

  std::string error_id() {
    const std::string id = error == nullptr ? "" : error->id;
    wick_error_free(error);
    error = nullptr;
    return id;
  }
};

std::string text_of(wick_stream* stream) {
  wick_completion* const answer = wick_stream_finish(stream, nullptr);
  const std::string text = answer == nullptr ? "nothing" : answer->text;
  wick_completion_free(answer);
  wick_stream_free(stream);
  return text;
}

std::string messages_of(const wick_session* session) {
  const ptrdiff_t n = wick_session_messages(session, nullptr, 0, nullptr);
  std::string json(static_cast<std::size_t>(n), '.');
  EXPECT_EQ(wick_session_messages(session, json.data(), json.size(), nullptr), n);
  return json;
}

TEST_F(CFaces, ASessionIsPulledSentToReadAndUndone) {
  Session wanted = f.model->session("Be brief.");
  wick_session* const session = wick_session_new(model, "Be brief.", &error);
  const auto first = wanted.say("one", noise(7));
  EXPECT_EQ(text_of(wick_session_stream(session, "one", &g, &error)), first->text);
  const char* const result = R"([{"role": "tool", "content": "17", "tool_call_id": "a"}])";
  auto sent = wanted.send(messages_from_json(result)->front(), noise(7));
  EXPECT_EQ(text_of(wick_session_send(session, result, &g, &error)), sent->finish()->text);
  EXPECT_EQ(messages_of(session), messages_to_json(wanted.messages()));
  EXPECT_EQ(wick_session_send(session, "[]", &g, &error), nullptr);
  EXPECT_EQ(error_id(), "bad_message");

  wick_stream* const under_way = wick_session_stream(session, "two", &g, &error);
  EXPECT_EQ(wick_session_stream(session, "three", &g, &error), nullptr);
  EXPECT_EQ(error_id(), "session_busy");
  wick_stream_free(under_way);
  EXPECT_EQ(wick_session_undo(session), 1);
  EXPECT_EQ(messages_of(session), messages_to_json(wanted.messages()));
  wick_session_free(session);
}

TEST_F(CFaces, FactsTemplatesAndPlansAreThoseOfCpp) {
  const ModelInfo info = f.model->describe();
  wick_model_info* const c = wick_model_describe(model, &error);
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->name, info.name);
  EXPECT_EQ(c->architecture, info.architecture);
  EXPECT_EQ(c->source, info.source);
  EXPECT_EQ(c->context, info.context);
  EXPECT_EQ(c->vocabulary, info.vocabulary);
  EXPECT_EQ(c->weight_bytes + c->cache_bytes + c->scratch_bytes + c->draft_bytes,
            info.memory.total());
  wick_model_info_free(c);

  const char* const question = R"([{"role": "user", "content": "Why?"}])";
  const std::vector<Message> messages = *messages_from_json(question);
  const std::string wanted = *f.model->apply_template(messages);
  std::string text(wanted.size(), '.');
  EXPECT_EQ(wick_apply_template(model, question, nullptr, text.data(), text.size(), &error),
            static_cast<ptrdiff_t>(wanted.size()));
  EXPECT_EQ(text, wanted);

  wick_plan* const of_messages = wick_chat_json_plan(model, question, &g, &error);
  EXPECT_EQ(of_messages->prompt_tokens, f.model->plan(messages)->prompt_tokens);
  wick_plan_free(of_messages);
  const std::vector<int32_t> ids = {72, 105};
  wick_plan* const of_ids = wick_complete_ids_plan(model, ids.data(), ids.size(), &g, &error);
  EXPECT_EQ(of_ids->prompt_tokens, 2);
  EXPECT_EQ(of_ids->max_tokens, 20);
  wick_plan_free(of_ids);
}

TEST_F(CFaces, EmbeddingsOfManyTextsHaveTheOptionsOfCpp) {
  const std::vector<std::string> texts = {"xyz", "a longer text"};
  const auto wanted =
      *f.model->embed(texts, {.pooling = "first", .normalise = false, .tenant = 3});
  wick_embed_options options;
  wick_embed_options_init(&options);
  options.pooling = "first";
  options.normalise = 0;
  options.tenant = 3;
  const char* const given[] = {texts[0].c_str(), texts[1].c_str()};
  const size_t lengths[] = {texts[0].size(), texts[1].size()};
  std::vector<float> all(2 * wanted[0].values.size());
  ASSERT_EQ(wick_embed_all(model, given, lengths, 2, &options, all.data(), all.size(), &error),
            static_cast<ptrdiff_t>(all.size()));
  std::vector<float> joined = wanted[0].values;
  joined.insert(joined.end(), wanted[1].values.begin(), wanted[1].values.end());
  EXPECT_EQ(all, joined);
  options.priority = 9;
  EXPECT_EQ(wick_embed_all(model, given, lengths, 2, &options, nullptr, 0, &error), -1);
  EXPECT_NE(error_id(), "");
}

TEST_F(CFaces, APoolHandsOutPinsAndUnloads) {
  wick_model_options model_options;
  wick_model_options_init(&model_options);
  model_options.threads = 1;
  wick_pool_options options;
  wick_pool_options_init(&options);
  options.max_models = 1;
  options.model = &model_options;
  wick_pool* const pool = wick_pool_new(&options, &error);
  wick_model* const got = wick_pool_get(pool, f.path.c_str(), &error);
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(wick_pool_pin(pool, f.path.c_str(), 1), 1);
  EXPECT_EQ(wick_pool_pin(pool, "another", 1), 0);
  wick_model_info* const info = wick_pool_describe(pool, 0, &error);
  EXPECT_EQ(info->is_pinned, 1);
  EXPECT_EQ(info->is_used, 1);
  wick_model_info_free(info);
  EXPECT_EQ(wick_pool_describe(pool, 1, &error), nullptr);
  EXPECT_EQ(error, nullptr);
  wick_model* const replaced = wick_pool_replace(pool, "other", f.path.c_str(), &error);
  EXPECT_EQ(replaced, nullptr) << "there is room for one";
  EXPECT_EQ(error_id(), "pool_full");
  EXPECT_EQ(wick_pool_unload(pool, f.path.c_str()), 1);
  EXPECT_EQ(wick_pool_unload(pool, f.path.c_str()), 0);
  wick_pool_free(pool);
  wick_completion* const answer = wick_complete(got, "abc", &g, nullptr, nullptr, &error);
  EXPECT_EQ(answer->text, f.model->complete("abc", noise(7))->text) << "it outlives its pool";
  wick_completion_free(answer);
  wick_model_free(got);
  options.max_models = -1;
  options.size = 1;
  EXPECT_EQ(wick_pool_new(&options, &error), nullptr);
  EXPECT_EQ(error_id(), "bad_struct_size");
}

TEST_F(CFaces, SettingsOfListsAreReadAndRefused) {
  Generation wanted = noise(7, 300);
  wanted.stop_ids = {101};
  wanted.logit_bias = {{.bias = 5, .text = "ab"}, {.id = 'c', .bias = 5}};
  wanted.dry_breakers = {{"x"}};
  const int32_t stop_ids[] = {101};
  const wick_token_bias biases[] = {{-1, 5, "ab"}, {'c', 5, nullptr}};
  const char* const breakers[] = {"x"};
  g.max_tokens = 300;
  g.stop_ids = stop_ids;
  g.n_stop_ids = 1;
  g.logit_bias = biases;
  g.n_logit_bias = 2;
  g.dry_breakers = breakers;
  g.n_dry_breakers = 1;
  wick_completion* const answer = wick_complete(model, "abc", &g, nullptr, nullptr, &error);
  ASSERT_NE(answer, nullptr) << error_id();
  EXPECT_EQ(answer->text, f.model->complete("abc", wanted)->text);
  wick_completion_free(answer);
  g.response_format = "json_schema";
  EXPECT_EQ(wick_complete(model, "abc", &g, nullptr, nullptr, &error), nullptr);
  EXPECT_EQ(error_id(), "response_format_unsupported");
  g.logit_bias = nullptr;
  EXPECT_EQ(wick_complete(model, "abc", &g, nullptr, nullptr, &error), nullptr);
  EXPECT_EQ(error_id(), "null_argument");
}

}  // namespace
}  // namespace wick
