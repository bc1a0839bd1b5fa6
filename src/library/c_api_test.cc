// What C has beside requests: sessions that are pulled, streams that are polled, facts, embeddings,
// pools; each compared with the C++ API.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "library/library_fixture_test.h"
#include "wick/pool.h"

namespace wick {
namespace {

struct CFaces : testing::Test, CFixture {
  Result<Model> cpp = Model::open(path, {.threads = 1});
  wick_generation g = {};

  CFaces() {
    wick_generation_init(&g);
    static const std::vector<wick_parameter> kNoise = {{"temperature", 3}};
    g.parameters = kNoise.data();
    g.n_parameters = kNoise.size();
    g.has_seed = 1;
    g.seed = 7;
    g.max_tokens = 20;
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
  Session wanted = cpp->session("Be brief.");
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
  const ModelInfo info = cpp->describe();
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
  const std::string wanted = *cpp->apply_template(messages);
  std::string text(wanted.size(), '.');
  EXPECT_EQ(wick_apply_template(model, question, nullptr, text.data(), text.size(), &error),
            static_cast<ptrdiff_t>(wanted.size()));
  EXPECT_EQ(text, wanted);

  wick_estimate* const of_messages = wick_chat_json_estimate(model, question, &g, &error);
  EXPECT_EQ(of_messages->prompt_tokens, cpp->estimate(messages)->prompt_tokens);
  wick_estimate_free(of_messages);
  const std::vector<int32_t> ids = {72, 105};
  wick_estimate* const of_ids =
      wick_complete_ids_estimate(model, ids.data(), ids.size(), &g, &error);
  EXPECT_EQ(of_ids->prompt_tokens, 2);
  EXPECT_EQ(of_ids->max_tokens, 20);
  wick_estimate_free(of_ids);
}

TEST_F(CFaces, EmbeddingsOfManyTextsHaveTheOptionsOfCpp) {
  const std::vector<std::string> texts = {"xyz", "a longer text"};
  const auto wanted = *cpp->embed(texts, {.pooling = "first", .normalize = false, .tenant = 3});
  wick_embed_options options;
  wick_embed_options_init(&options);
  options.pooling = "first";
  options.normalize = 0;
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
  wick_model* const got = wick_pool_get(pool, path.c_str(), &error);
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(wick_pool_pin(pool, path.c_str(), 1), 1);
  EXPECT_EQ(wick_pool_pin(pool, "another", 1), 0);
  wick_model_info* const info = wick_pool_describe(pool, 0, &error);
  EXPECT_EQ(info->is_pinned, 1);
  EXPECT_EQ(info->is_used, 1);
  wick_model_info_free(info);
  EXPECT_EQ(wick_pool_describe(pool, 1, &error), nullptr);
  EXPECT_EQ(error, nullptr);
  wick_model* const replaced = wick_pool_replace(pool, "other", path.c_str(), &error);
  EXPECT_EQ(replaced, nullptr) << "there is room for one";
  EXPECT_EQ(error_id(), "pool_full");
  EXPECT_EQ(wick_pool_unload(pool, path.c_str()), 1);
  EXPECT_EQ(wick_pool_unload(pool, path.c_str()), 0);
  wick_pool_free(pool);
  wick_completion* const answer = wick_complete(got, "abc", &g, nullptr, nullptr, &error);
  EXPECT_EQ(answer->text, cpp->complete("abc", noise(7))->text) << "it outlives its pool";
  wick_completion_free(answer);
  wick_model_free(got);
  options.max_models = -1;
  options.size = 1;
  EXPECT_EQ(wick_pool_new(&options, &error), nullptr);
  EXPECT_EQ(error_id(), "bad_struct_size");
}

TEST_F(CFaces, SettingsOfListsAreReadAndRefused) {
  Generation wanted = noise(7, 300);
  wanted.stop_token_ids = {101};
  wanted.logit_bias = {{.bias = 5, .text = "ab"}, {.id = 'c', .bias = 5}};
  wanted.dry_sequence_breakers = {{"x"}};
  const int32_t stop_token_ids[] = {101};
  const wick_token_bias biases[] = {{-1, 5, "ab"}, {'c', 5, nullptr}};
  const char* const breakers[] = {"x"};
  g.max_tokens = 300;
  g.stop_token_ids = stop_token_ids;
  g.n_stop_token_ids = 1;
  g.logit_bias = biases;
  g.n_logit_bias = 2;
  g.dry_sequence_breakers = breakers;
  g.n_dry_breakers = 1;
  wick_completion* const answer = wick_complete(model, "abc", &g, nullptr, nullptr, &error);
  ASSERT_NE(answer, nullptr) << error_id();
  EXPECT_EQ(answer->text, cpp->complete("abc", wanted)->text);
  wick_completion_free(answer);
  g.response_format = "json_schema";
  EXPECT_EQ(wick_complete(model, "abc", &g, nullptr, nullptr, &error), nullptr);
  EXPECT_EQ(error_id(), "format_without_schema");
  g.response_schema = "{\"enum\":[7]}";
  wick_completion* const seven = wick_complete(model, "abc", &g, nullptr, nullptr, &error);
  ASSERT_NE(seven, nullptr) << error_id();
  EXPECT_STREQ(seven->text, "7");
  EXPECT_EQ(seven->steered_tokens, 0);
  wick_completion_free(seven);
  g.logit_bias = nullptr;
  EXPECT_EQ(wick_complete(model, "abc", &g, nullptr, nullptr, &error), nullptr);
  EXPECT_EQ(error_id(), "null_argument");
}

// Streams of one set, and what each has said; its even ones are polled by events.
struct Polled {
  std::vector<wick_stream*> streams = {};
  std::vector<std::string> texts = {};

  void read(std::uint64_t key) {
    if (key % 2 == 0) {
      while (const wick_event* const event = wick_stream_poll_event(streams[key], nullptr))
        if (event->kind == WICK_EVENT_TEXT) texts[key] += std::string(event->text, event->length);
    } else {
      size_t length = 0;
      while (const char* const piece = wick_stream_poll(streams[key], &length))
        texts[key] += std::string(piece, length);
    }
  }

  bool are_over() const {
    return std::all_of(streams.begin(), streams.end(),
                       [](const wick_stream* s) { return wick_stream_is_over(s) != 0; });
  }
};

TEST_F(CFaces, OneLoopPollsManyStreams) {
  wick_stream_set* const set = wick_stream_set_new(&error);
  ASSERT_NE(set, nullptr) << error_id();
  g.stream_set = set;
  Polled polled;
  for (g.seed = 0; g.seed < 6; ++g.seed) {
    g.stream_key = g.seed;
    polled.streams.push_back(wick_complete_stream(model, "Once", &g, &error));
    ASSERT_NE(polled.streams.back(), nullptr) << error_id();
  }
  polled.texts.resize(polled.streams.size());
  while (!polled.are_over()) {
    pollfd watched{.fd = wick_stream_set_fd(set), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&watched, 1, 20'000), 1);
    wick_stream_set_take(
        set, [](void* user, std::uint64_t key) { static_cast<Polled*>(user)->read(key); }, &polled);
  }
  for (std::uint64_t seed = 0; seed < polled.streams.size(); ++seed) {
    EXPECT_EQ(polled.texts[seed], cpp->complete("Once", noise(seed))->text);
    EXPECT_EQ(wick_stream_poll(polled.streams[seed], nullptr), nullptr);
    EXPECT_EQ(text_of(polled.streams[seed]), polled.texts[seed]);
  }
  wick_stream* const outlives = wick_complete_stream(model, "Once", &g, &error);
  wick_stream_set_free(set);
  EXPECT_NE(text_of(outlives), "nothing");
}

TEST_F(CFaces, PollingRefusesNulls) {
  size_t length = 7;
  EXPECT_EQ(wick_stream_poll(nullptr, &length), nullptr);
  EXPECT_EQ(length, 0U);
  EXPECT_EQ(wick_stream_poll_event(nullptr, &error), nullptr);
  EXPECT_EQ(error_id(), "null_argument");
  EXPECT_EQ(wick_stream_is_over(nullptr), 1);
  EXPECT_EQ(wick_stream_set_fd(nullptr), -1);
  wick_stream_set_take(nullptr, nullptr, nullptr);
  wick_stream_set_free(nullptr);
}

TEST_F(CFaces, AQueueHasItsLimit) {
  wick_model_options options;
  wick_model_options_init(&options);
  EXPECT_EQ(options.max_queue, ModelOptions{}.max_queue);
  options.threads = options.max_concurrent = options.max_queue = 1;
  wick_model* const narrow = wick_model_open(path.c_str(), &options, &error);
  ASSERT_NE(narrow, nullptr) << error_id();
  g.max_tokens = 900;
  g.parameters = nullptr;
  g.n_parameters = 0;
  std::vector<wick_stream*> streams;
  while (error == nullptr && streams.size() < 100)
    streams.push_back(wick_complete_stream(narrow, "Once", &g, &error));
  EXPECT_EQ(error_id(), "queue_full");
  for (wick_stream* const stream : streams)
    wick_stream_free(stream);
  options.max_queue = 0;
  EXPECT_EQ(wick_model_open(path.c_str(), &options, &error), nullptr);
  EXPECT_NE(error_id(), "");
  wick_model_free(narrow);
}

TEST_F(CFaces, AnAnswerSaysWhyNotMoreWasCached) {
  const std::string first(50, 'a');
  std::string other = first;
  other.replace(40, 10, 10, 'b');
  for (const std::string& text : {first, other, first}) {
    const Usage wanted = cpp->complete(text, noise(7))->usage;
    wick_completion* const answer =
        wick_complete(model, text.c_str(), &g, nullptr, nullptr, &error);
    ASSERT_NE(answer, nullptr) << error_id();
    EXPECT_EQ(answer->cached_tokens, wanted.cached_tokens);
    EXPECT_EQ(answer->miss, static_cast<wick_miss>(wanted.miss.reason));
    EXPECT_EQ(answer->miss_position, wanted.miss.position);
    EXPECT_EQ(answer->miss_wanted, wanted.miss.wanted);
    EXPECT_EQ(answer->miss_cached, wanted.miss.cached);
    EXPECT_EQ(answer->miss == WICK_MISS_EDITED, text == other);
    wick_completion_free(answer);
  }
}

TEST_F(CFaces, AnAnswerSaysWhoSetWhat) {
  const wick_origin origins[] = {{"temperature", "flag --temp"}, {"seed", "config.toml:3"}};
  g.origins = origins;
  g.n_origins = 2;
  wick_completion* const answer = wick_complete(model, "abc", &g, nullptr, nullptr, &error);
  ASSERT_NE(answer, nullptr) << error_id();
  int n_found = 0;
  for (size_t i = 0; i < answer->n_parameters; ++i) {
    const wick_effective& one = answer->parameters[i];
    const std::string_view key = one.key;
    if (key == "max_tokens") {
      EXPECT_STREQ(one.origin, "request");
    }
    for (const wick_origin& origin : origins) {
      if (key != origin.key) continue;
      EXPECT_STREQ(one.origin, origin.origin);
      ++n_found;
    }
  }
  EXPECT_EQ(n_found, 2);
  wick_completion_free(answer);
  g.origins = nullptr;
  EXPECT_EQ(wick_complete(model, "abc", &g, nullptr, nullptr, &error), nullptr);
  EXPECT_EQ(error_id(), "null_argument");
}

}  // namespace
}  // namespace wick
