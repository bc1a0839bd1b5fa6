// The server's routes over a local model: what is asked for is what the model does, in each API,
// and the table of fields is that of the samplers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "local/local.h"
#include "local/local_pool.h"
#include "remote/endpoint.h"
#include "sample/sampler.h"
#include "server/fields.h"
#include "server/server_fixture_test.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick::server {
namespace {

using namespace test;

TEST(ServerFields, HaveEachSamplerParameterWithItsRange) {
  for (const SamplerParam& row : sampler_params()) {
    const Field* const field = find_field(kChat, row.key);
    ASSERT_NE(field, nullptr) << row.key;
    EXPECT_EQ(field->key, row.key);
    if (field->kind == FieldKind::kBoolean) continue;
    const bool has_off = row.key == "top_k" || row.key == "top_n_sigma";  // -1 stands for 0
    EXPECT_EQ(field->min, has_off ? -1 : row.min) << row.key;
    EXPECT_EQ(field->max, row.max) << row.key;
  }
  for (const Field& field : fields()) {
    const auto rows = sampler_params();
    EXPECT_TRUE(field.key.empty() ||
                std::any_of(rows.begin(), rows.end(),
                            [&](const auto& row) { return row.key == field.key; }))
        << field.name;
  }
}

TEST(ServerFields, OfSamplersAreSentToAnotherWick) {
  const remote::Kind& wick = **remote::find_kind("wick");
  for (const SamplerParam& row : sampler_params()) {
    const Request request{.generation = {.more = {{std::string(row.key), row.min}}}};
    EXPECT_TRUE(remote::ignored_settings(wick, request).empty()) << row.key;
  }
}

struct Local {
  wick::test::TempDir dir;
  std::shared_ptr<LocalModel> model;
  std::unique_ptr<Server> server;

  explicit Local(const wick::test::TinyModel& tiny = {}) {
    wick::test::write_tiny_model(dir.path() / "tiny.gguf", tiny);
    auto opened = LocalModel::open(dir.path() / "tiny.gguf", {.threads = 1});
    EXPECT_TRUE(opened) << (opened ? "" : to_string(opened.error()));
    if (opened) model = *std::move(opened);
    server = std::make_unique<Server>(model);
  }

  JsonValue json(std::string_view path, std::string_view body) {
    const Got got = server->post(path, body);
    EXPECT_EQ(got.status, 200) << got.body;
    return got.json();
  }
};

constexpr std::string_view kTalk = R"("messages":[{"role":"user","content":"Hello there"}])";

std::string streamed(const Got& got, std::string_view path) {
  std::string text;
  for (const std::string& event : got.events()) {
    if (event == "[DONE]") break;
    const JsonValue piece = at(*parse_json(event), path);
    if (piece.string() != nullptr) text += *piece.string();
  }
  return text;
}

TEST(ServerModel, ChatsSayTheSameInEachApiAndStreamed) {
  Local f;
  const JsonValue chat =
      f.json("/v1/chat/completions", cat("{", kTalk, R"(,"seed":5,"max_tokens":20})"));
  const std::string text = text_of(chat, "choices.0.message.content");
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(streamed(f.server->post("/v1/chat/completions",
                                    cat("{", kTalk, R"(,"seed":5,"max_tokens":20,"stream":true})")),
                     "choices.0.delta.content"),
            text);
  EXPECT_EQ(text_of(f.json("/v1/messages", cat("{", kTalk, R"(,"seed":5,"max_tokens":20})")),
                    "content.0.text"),
            text);
  EXPECT_EQ(
      text_of(f.json("/v1/responses", R"({"input":"Hello there","seed":5,"max_output_tokens":20})"),
              "output.0.content.0.text"),
      text);
  EXPECT_EQ(text_of(f.json("/api/chat", cat("{", kTalk, R"(,"stream":false,"options":{"seed":5,)",
                                            R"("num_predict":20}})")),
                    "message.content"),
            text);
  EXPECT_EQ(text_of(chat, "usage.completion_tokens"), "20");
  EXPECT_EQ(text_of(chat, "choices.0.finish_reason"), "length");
}

TEST(ServerModel, TheFirstOfSeveralChoicesIsTheOneAlone) {
  Local f;
  const std::string ask = cat("{", kTalk, R"(,"seed":9,"max_tokens":12)");
  const JsonValue one = f.json("/v1/chat/completions", ask + "}");
  const JsonValue three = f.json("/v1/chat/completions", ask + R"(,"n":3})");
  EXPECT_EQ(to_json(at(three, "choices.0.message")), to_json(at(one, "choices.0.message")));
  EXPECT_NE(to_json(at(three, "choices.1.message")), to_json(at(one, "choices.0.message")));
  EXPECT_NE(to_json(at(three, "choices.1.message")), to_json(at(three, "choices.2.message")));
}

TEST(ServerModel, StreamsOverManySeedsAreTheWholeAnswers) {
  Local f;
  for (int seed = 0; seed < 40; ++seed) {
    const std::string ask = cat("{", kTalk, ",\"seed\":", seed,
                                R"(,"max_tokens":16,"temperature":1.5,"logprobs":true)");
    const JsonValue whole = f.json("/v1/chat/completions", ask + "}");
    const Got stream =
        f.server->call("POST", "/v1/chat/completions",
                       ask + R"(,"stream":true,"stream_options":{"include_usage":true}})", 300);
    EXPECT_EQ(streamed(stream, "choices.0.delta.content"),
              text_of(whole, "choices.0.message.content"));
    std::string logprobs, usage;
    for (const std::string& event : stream.events()) {
      if (event == "[DONE]") break;
      const JsonValue chunk = *parse_json(event);
      const JsonValue tokens = at(chunk, "choices.0.logprobs.content");
      for (std::size_t i = 0; tokens.array() != nullptr && i < tokens.array()->size(); ++i)
        logprobs += to_json((*tokens.array())[i]);
      if (!at(chunk, "usage").is_null()) usage = text_of(chunk, "usage.completion_tokens");
    }
    std::string want;
    const JsonValue tokens = at(whole, "choices.0.logprobs.content");
    for (const JsonValue& token : *tokens.array())
      want += to_json(token);
    EXPECT_EQ(logprobs, want);
    EXPECT_EQ(usage, text_of(whole, "usage.completion_tokens"));
    EXPECT_EQ(usage, cat(tokens.array()->size()));
  }
}

TEST(ServerModel, EchoWithLogprobsScoresThePrompt) {
  Local f;
  const JsonValue json = f.json(
      "/v1/completions", R"({"prompt":[72,101,108],"echo":true,"logprobs":1,"max_tokens":0})");
  EXPECT_EQ(text_of(json, "choices.0.text"), "Hel");
  EXPECT_EQ(to_json(at(json, "choices.0.logprobs.tokens")), R"(["H", "e", "l"])");
  const JsonValue scores = at(json, "choices.0.logprobs.token_logprobs");
  ASSERT_EQ(scores.array()->size(), 3U);
  EXPECT_TRUE((*scores.array())[0].is_null());
  EXPECT_LT(*(*scores.array())[1].number(), 0);
}

TEST(ServerModel, ParametersAreThoseOfTheRequest) {
  Local f;
  const JsonValue json = f.json(
      "/v1/chat/completions",
      cat("{", kTalk, R"(,"top_p":0.5,"min_p":0.1,"max_tokens":2,"wick":{"parameters":true}})"));
  EXPECT_EQ(to_json(at(json, "wick.parameters.top_p")), R"({"value": 0.5, "origin": "request"})");
  EXPECT_EQ(text_of(json, "wick.parameters.min_p.origin"), "request");
  EXPECT_EQ(text_of(json, "wick.parameters.temperature.origin"), "default");
}

TEST(ServerModel, StructuredOutputInEachApi) {
  Local f;
  const std::string talk = cat("{", kTalk, ",\"temperature\":2,");
  const auto schema = R"({"type":"array","items":{"enum":[1,22]},"minItems":2,"maxItems":2})";
  const auto fits = [](const std::string& text) {
    const auto value = parse_json(text);
    const Array* const items = value ? value->array() : nullptr;
    return items != nullptr && items->size() == 2 &&
           std::all_of(items->begin(), items->end(), [](const JsonValue& item) {
             const bool is_whole = item.integer() != nullptr;
             const double number = is_whole ? static_cast<double>(*item.integer()) : *item.number();
             return number == 1 || number == 22;
           });
  };
  const auto chat = f.json("/v1/chat/completions",
                           cat(talk, R"("response_format":{"type":"json_schema","json_schema":)",
                               R"({"name":"x","schema":)", schema, "}}}"));
  EXPECT_TRUE(fits(text_of(chat, "choices.0.message.content"))) << to_json(chat);
  EXPECT_EQ(text_of(chat, "choices.0.finish_reason"), "stop");
  EXPECT_NE(text_of(chat, "wick.steered"), "true");
  const auto steered = f.json("/v1/chat/completions",
                              cat(talk, R"("guided_regex":"a{5,99}b","max_tokens":8})"));
  EXPECT_TRUE(text_of(steered, "choices.0.message.content").ends_with("b")) << to_json(steered);
  EXPECT_EQ(text_of(steered, "choices.0.finish_reason") == "length",
            text_of(steered, "wick.steered") == "true");
  const auto ollama =
      f.json("/api/chat", cat("{", kTalk, R"(,"stream":false,"format":)", schema, "}"));
  EXPECT_TRUE(fits(text_of(ollama, "message.content"))) << to_json(ollama);
  const auto response = f.json(
      "/v1/responses", cat(R"({"input":"Hi","text":{"format":{"type":"json_schema","name":"x",)",
                           R"("schema":)", schema, "}}}"));
  EXPECT_TRUE(fits(text_of(response, "output.0.content.0.text"))) << to_json(response);
}

// A call that the schema leaves one form, by each API, whole and streamed.
TEST(ServerModel, ARequiredToolIsCalledInEachApi) {
  Local f({.context = 4096});
  const std::string_view schema =
      R"({"type":"object","properties":{"city":{"const":"Rome"}},"required":["city"],)"
      R"("additionalProperties":false})";
  const auto city_of = [](const std::string& arguments) {  // the noise may spell it "\u0052ome"
    const auto json = parse_json(arguments);
    return json ? text_of(*json, "city") : arguments;
  };
  const std::string chat = cat("{", kTalk, R"(,"seed":3,"tools":[{"type":"function","function":{)",
                               R"("name":"w","parameters":)", schema, R"(}}],"tool_choice":{)",
                               R"("type":"function","function":{"name":"w"}})");
  const JsonValue whole = f.json("/v1/chat/completions", cat(chat, "}"));
  EXPECT_EQ(text_of(whole, "choices.0.finish_reason"), "tool_calls");
  const std::string call = "choices.0.message.tool_calls.0.";
  EXPECT_EQ(text_of(whole, call + "function.name"), "w");
  EXPECT_EQ(city_of(text_of(whole, call + "function.arguments")), "Rome");
  EXPECT_TRUE(at(whole, "choices.0.message.content").is_null());
  const Got stream = f.server->post("/v1/chat/completions", cat(chat, R"(,"stream":true})"));
  const std::string delta = "choices.0.delta.tool_calls.0.";
  EXPECT_EQ(streamed(stream, delta + "function.arguments"),
            text_of(whole, call + "function.arguments"));
  EXPECT_EQ(streamed(stream, delta + "id"), text_of(whole, call + "id"));
  EXPECT_EQ(streamed(stream, "choices.0.finish_reason"), "tool_calls");
  const JsonValue message = f.json(
      "/v1/messages", cat("{", kTalk, R"(,"max_tokens":99,"tools":[{"name":"w","input_schema":)",
                          schema, R"(}],"tool_choice":{"type":"any"}})"));
  EXPECT_EQ(text_of(message, "content.0.type"), "tool_use") << to_json(message);
  EXPECT_EQ(text_of(message, "content.0.input.city"), "Rome");
  const JsonValue response = f.json(
      "/v1/responses", cat(R"({"input":"Hi","tools":[{"type":"function","name":"w","parameters":)",
                           schema, R"(}],"tool_choice":"required"})"));
  EXPECT_EQ(text_of(response, "output.0.type"), "function_call") << to_json(response);
  EXPECT_EQ(city_of(text_of(response, "output.0.arguments")), "Rome");
}

TEST(ServerModel, WhatTheModelCannotIsRefusedByName) {
  Local f;
  const auto refused = [&](std::string_view more) {
    const Got got = f.server->post("/v1/chat/completions", cat("{", kTalk, ",", more, "}"));
    EXPECT_EQ(got.status, 400) << got.body;
    return text_of(got.json(), "error.param") + " " + text_of(got.json(), "error.code");
  };
  EXPECT_EQ(refused(R"("response_format":{"type":"yaml"})"),
            "response_format response_format_unsupported");
  EXPECT_EQ(refused(R"("json_schema":{"multipleOf":3})"), "response_format schema_keyword");
  EXPECT_EQ(refused(R"("guided_regex":"(a")"), "response_format regex_syntax");
  EXPECT_EQ(refused(R"("grammar":"root ::= (")"), "response_format bad_grammar");
  EXPECT_EQ(refused(R"("guided_regex":"a{99}","max_tokens":9)"), "max_tokens max_tokens_too_small");
  EXPECT_EQ(refused(R"("tool_choice":"required")"), "tool_choice bad_tool_choice");
  EXPECT_EQ(refused(R"("max_tokens":1000000)"), "messages context_length_exceeded");
  EXPECT_EQ(refused(R"("top_logprobs":3)").substr(0, 12), "top_logprobs");
  EXPECT_EQ(refused(R"("samplers":"nonsense")"), "samplers bad_sampler_order");
}

TEST(ServerModel, TokensEstimatesEmbeddingsAndMetricsAreTheModels) {
  Local f;
  EXPECT_EQ(f.server->post("/tokenize", R"({"content":"Hi"})").body,
            R"({"tokens":[72,105],"count":2})");
  const JsonValue templated = f.json("/apply-template", cat("{", kTalk, "}"));
  EXPECT_NE(text_of(templated, "prompt").find("Hello there"), std::string::npos);
  const JsonValue estimate = f.json("/v1/estimate", cat("{", kTalk, R"(,"max_tokens":4})"));
  const JsonValue counted = f.json("/v1/messages/count_tokens", cat("{", kTalk, "}"));
  EXPECT_EQ(text_of(estimate, "prompt_tokens"), text_of(counted, "input_tokens"));
  const JsonValue vectors = f.json("/v1/embeddings", R"({"input":["Hi",[72,105]]})");
  EXPECT_EQ(at(vectors, "data.0.embedding").array()->size(), 32U);
  f.json("/v1/chat/completions", cat("{", kTalk, R"(,"max_tokens":4})"));
  const std::string metrics = f.server->call("GET", "/metrics").body;
  EXPECT_NE(metrics.find("wick_generated_tokens_total{model="), std::string::npos);
  EXPECT_EQ(text_of(f.server->call("GET", "/props").json(), "default_generation_settings.n_ctx"),
            "256");
  EXPECT_GT(f.server->call("GET", "/slots").json().array()->size(), 0U);
}

TEST(ServerModel, ASocketSaysWhatAPostSays) {
  Local f;
  const std::string ask = cat("{", kTalk, R"(,"seed":3,"max_tokens":10})");
  const std::string want =
      text_of(f.json("/v1/chat/completions", ask), "choices.0.message.content");
  const auto wake = std::make_shared<Wake>();
  http::Reply reply = f.server->reply("WEBSOCKET", "/v1/ws", "", wake);
  http::Work& work = *std::get<std::unique_ptr<http::Work>>(reply);
  work.message(cat(R"({"id":"a","request":)", ask, "}"));

  struct Frames final : http::Writer {
    std::vector<std::string> all;

    void whole(http::Response response) override { all.push_back(std::move(response.body)); }

    void begin(http::Response head) override { all.push_back(std::move(head.body)); }

    void write(std::string_view piece) override { all.emplace_back(piece); }

    std::size_t room() const noexcept override { return 1 << 16; }
  } frames;

  while (frames.all.empty() || frames.all.back() != R"({"id":"a","done":true})") {
    const std::uint32_t seen = wake->signal();
    work.advance(frames);
    if (frames.all.empty() || frames.all.back() != R"({"id":"a","done":true})") wake->wait(seen);
  }
  std::string said;
  for (const std::string& frame : frames.all) {
    const JsonValue piece = at(*parse_json(frame), "chunk.choices.0.delta.content");
    if (piece.string() != nullptr) said += *piece.string();
  }
  EXPECT_EQ(said, want);
}

}  // namespace
}  // namespace wick::server
