// POST /v1/completions, /v1/embeddings and the routes of models.
#include <gtest/gtest.h>

#include "base/base64.h"
#include "server/server_fixture_test.h"
#include "support/scripted_provider.h"

namespace wick::server {
namespace {

using namespace test;

constexpr std::string_view kPath = "/v1/completions";

// Says its prompt's length, and scores what it is asked to.
Result<std::vector<Event>> counting(const Request& request) {
  const auto* const text = std::get_if<std::string>(&request.prompt);
  const std::size_t n =
      text != nullptr ? text->size() : std::get<std::vector<TokenId>>(request.prompt).size();
  std::vector<Event> events;
  const Generation& g = request.generation;
  const TokenLogprob token{.id = 32,
                           .bytes = " é",
                           .logprob = -0.25,
                           .top_logprobs = {{.id = 1, .bytes = "\xC3", .logprob = -1},
                                            {.id = 2, .bytes = " é", .logprob = -0.25}}};
  if (g.logprobs) events.emplace_back(LogprobsEvent{{token}});
  events.emplace_back(TextEvent{cat(" é", n)});
  DoneEvent done{.finish = FinishReason::kLength,
                 .usage = {.prompt_tokens = static_cast<int>(n), .generated_tokens = 2}};
  if (g.prompt_logprobs) {
    for (std::size_t i = text != nullptr ? 0 : 1; i < n; ++i)  // a text has a BOS before it
      done.prompt_logprobs.push_back({.id = 97, .bytes = "a", .logprob = -3});
  }
  events.emplace_back(std::move(done));
  return events;
}

struct Completing {
  std::shared_ptr<MadeProvider> provider = std::make_shared<MadeProvider>(counting);
  Server server{provider};

  JsonValue of(std::string_view body) {
    const Got got = server.post(kPath, body);
    EXPECT_EQ(got.status, 200) << got.body;
    return got.json();
  }
};

TEST(ServerCompletions, GoOnFromAText) {
  Completing c;
  const JsonValue json = c.of(R"({"prompt":"abc"})");
  EXPECT_EQ(text_of(json, "object"), "text_completion");
  EXPECT_EQ(text_of(json, "id").substr(0, 5), "cmpl-");
  EXPECT_EQ(to_json(at(json, "choices")),
            R"([{"index": 0, "text": " é3", "logprobs": null, "finish_reason": "length"}])");
  EXPECT_EQ(text_of(json, "usage.total_tokens"), "5");
  EXPECT_EQ(c.provider->seen.back().generation.max_tokens, 16);
  c.of(R"({"prompt":"abc","max_tokens":-1})");
  EXPECT_EQ(c.provider->seen.back().generation.max_tokens, 0);
}

TEST(ServerCompletions, TakeTextsTokensAndBothManyTimes) {
  Completing c;
  EXPECT_EQ(text_of(c.of(R"({"prompt":[5,6]})"), "choices.0.text"), " é2");
  const JsonValue json = c.of(R"({"prompt":["a","abc",[1,2,3,4]],"n":2})");
  std::string said;
  const JsonValue choices = at(json, "choices");
  for (const JsonValue& choice : *choices.array())
    said += text_of(choice, "index") + text_of(choice, "text") + ";";
  EXPECT_EQ(said, "0 é1;1 é1;2 é3;3 é3;4 é4;5 é4;");
  EXPECT_EQ(text_of(json, "usage.prompt_tokens"), "8");  // each prompt once
  EXPECT_EQ(text_of(json, "usage.completion_tokens"), "12");
}

TEST(ServerCompletions, Stream) {
  Completing c;
  const auto events = c.server
                          .post(kPath, R"({"prompt":"abc","echo":true,"stream":true,)"
                                       R"("stream_options":{"include_usage":true}})")
                          .events();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(to_json(at(*parse_json(events[0]), "choices")),
            R"([{"index": 0, "text": "abc", "logprobs": null, "finish_reason": null}])");
  EXPECT_EQ(text_of(*parse_json(events[1]), "choices.0.text"), " é3");
  EXPECT_EQ(text_of(*parse_json(events[2]), "choices.0.finish_reason"), "length");
  EXPECT_EQ(text_of(*parse_json(events[3]), "usage.total_tokens"), "5");
  EXPECT_EQ(events[4], "[DONE]");
}

TEST(ServerCompletions, TellLogProbabilitiesInTheOldShape) {
  Completing c;
  const JsonValue json = c.of(R"({"prompt":"abc","logprobs":2})");
  EXPECT_EQ(to_json(at(json, "choices.0.logprobs")),
            R"({"tokens": [" é"], "token_logprobs": [-0.25], "top_logprobs": )"
            R"([{"bytes:\\xc3": -1, " é": -0.25}], "text_offset": [0]})");
  EXPECT_EQ(c.provider->seen.back().generation.top_logprobs, 2);
}

TEST(ServerCompletions, EchoWithScoresHasThoseOfThePrompt) {
  Completing c;
  const JsonValue json = c.of(R"({"prompt":[97,97,97],"logprobs":0,"echo":true,"max_tokens":0})");
  EXPECT_EQ(text_of(json, "choices.0.text"), "aaa");
  EXPECT_EQ(text_of(json, "usage.completion_tokens"), "0");
  EXPECT_EQ(to_json(at(json, "choices.0.logprobs.token_logprobs")), "[null, -3, -3]");
  EXPECT_EQ(to_json(at(json, "choices.0.logprobs.text_offset")), "[0, 1, 2]");
  EXPECT_EQ(c.provider->seen.back().generation.max_tokens, 1);
  const JsonValue both = c.of(R"({"prompt":"aa","logprobs":0,"echo":true})");
  EXPECT_EQ(text_of(both, "choices.0.text"), "aa é2");
  EXPECT_EQ(to_json(at(both, "choices.0.logprobs.tokens")), R"(["a", "a", " é"])");
  EXPECT_EQ(to_json(at(both, "choices.0.logprobs.token_logprobs")), "[-3, -3, -0.25]");
  EXPECT_EQ(to_json(at(both, "choices.0.logprobs.text_offset")), "[0, 1, 2]");
}

TEST(ServerCompletions, RefuseByName) {
  Completing c;
  const auto refused = [&](std::string_view body) {
    const Got got = c.server.post(kPath, body);
    EXPECT_EQ(got.status, 400);
    return text_of(got.json(), "error.param") + " " + text_of(got.json(), "error.code");
  };
  EXPECT_EQ(refused("{}"), "prompt invalid_value");
  EXPECT_EQ(refused(R"({"prompt":[]})"), "prompt invalid_value");
  EXPECT_EQ(refused(R"({"prompt":[["a"]]})"), "prompt[0] invalid_value");
  EXPECT_EQ(refused(R"({"prompt":[1,"a"]})"), "prompt invalid_value");
  EXPECT_EQ(refused(R"({"prompt":[1],"suffix":"b"})"), "prompt invalid_value");
  EXPECT_EQ(refused(R"({"prompt":"a","suffix":"b","echo":true,"logprobs":1})"),
            "echo echo_unsupported");
  EXPECT_EQ(refused(R"({"prompt":"a","best_of":2})"), "best_of best_of_unsupported");
  EXPECT_EQ(refused(R"({"prompt":"a","echo":true,"logprobs":1,"stream":true})"),
            "echo echo_unsupported");
  EXPECT_EQ(refused(R"({"prompt":["a","b","c","d","e"],"n":16})"), "prompt invalid_value");
  EXPECT_EQ(refused(R"({"prompt":"a","logprobs":21})"), "logprobs invalid_value");
}

TEST(ServerEmbeddings, AreFloatsOrBase64InTheOrderOfTheInput) {
  Completing c;
  const JsonValue json =
      c.server.post("/v1/embeddings", R"({"input":["abc",[1,2],"a"],"dimensions":3})").json();
  EXPECT_EQ(text_of(json, "object"), "list");
  EXPECT_EQ(to_json(at(json, "data.0")),
            R"({"object": "embedding", "index": 0, "embedding": [3, -0.5, 0.001]})");
  EXPECT_EQ(to_json(at(json, "data.1.embedding")), "[1, 2, 2]");
  EXPECT_EQ(to_json(at(json, "data.2.embedding")), "[1, -0.5, 0.001]");
  EXPECT_EQ(to_json(at(json, "usage")), R"({"prompt_tokens": 6, "total_tokens": 6})");
  const JsonValue base64 =
      c.server.post("/v1/embeddings", R"({"input":[1,2],"encoding_format":"base64"})").json();
  EXPECT_EQ(text_of(base64, "data.0.embedding"), "AACAPwAAAEAAAABA");
}

TEST(ServerEmbeddings, RefuseByName) {
  Completing c;
  const auto refused = [&](std::string_view body) {
    const Got got = c.server.post("/v1/embeddings", body);
    EXPECT_EQ(got.status, 400);
    return text_of(got.json(), "error.message");
  };
  EXPECT_EQ(refused("{}"), "input is missing");
  EXPECT_EQ(refused(R"({"input":"a","dimensions":5})"),
            "dimensions is 5, this model's vectors have 3");
  EXPECT_EQ(refused(R"({"input":"a","encoding_format":"int8"})"),
            "encoding_format is 'int8', known are float and base64");
}

TEST(ServerBase64, IsThatOfTheStandard) {
  const auto encoded = [](std::string_view text) {
    std::string out;
    append_base64(out, std::as_bytes(std::span(text)));
    return out;
  };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xFF\xFE\xFD"), "//79");
}

TEST(ServerModels, AreListedWithTheirAliasesAndWhatIsLoaded) {
  const auto provider = always({});
  Server server(provider, {.version = "1", .models = [] {
                             return list_of({{"tiny", {"t", "/home/a/tiny.gguf"}}, {"a/b"}});
                           }});
  const JsonValue json = server.call("GET", "/v1/models").json();
  EXPECT_EQ(text_of(json, "object"), "list");
  EXPECT_EQ(text_of(json, "data.0.id"), "tiny");
  EXPECT_EQ(text_of(json, "data.0.object"), "model");
  EXPECT_EQ(text_of(json, "data.0.owned_by"), "wick");
  EXPECT_EQ(to_json(at(json, "data.0.aliases")), R"(["t"])");
  EXPECT_EQ(text_of(json, "data.0.max_model_len"), "256");
  EXPECT_EQ(text_of(json, "data.0.loaded"), "true");
  EXPECT_EQ(text_of(json, "data.1.loaded"), "false");
  // A model of a remote API is not loaded here.
  provider->infos.push_back({.name = "a/b", .source = "a", .context = 4096});
  const JsonValue with_remote = server.call("GET", "/v1/models").json();
  EXPECT_EQ(text_of(with_remote, "data.1.loaded"), "false");
  EXPECT_EQ(text_of(with_remote, "data.1.max_model_len"), "4096");
  const JsonValue loaded = server.call("GET", "/api/ps").json();
  EXPECT_EQ(at(loaded, "models").array()->size(), 1U);
  EXPECT_EQ(text_of(loaded, "models.0.name"), "tiny");
  EXPECT_EQ(text_of(server.call("GET", "/v1/models/t").json(), "id"), "tiny");
  EXPECT_EQ(text_of(server.call("GET", "/v1/models/a/b").json(), "id"), "a/b");
  EXPECT_EQ(text_of(server.call("GET", "/v1/models//home/a/tiny.gguf").json(), "id"), "tiny");
  const Got missing = server.call("GET", "/v1/models/nope");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(text_of(missing.json(), "error.code"), "model_not_found");
  EXPECT_EQ(server.call("GET", "/v1/models/").status, 400);
}

TEST(ServerModels, LoadAndUnload) {
  Server server(always({}));
  EXPECT_EQ(text_of(server.post("/v1/models/load", R"({"model":"tiny"})").json(), "loaded"),
            "true");
  EXPECT_EQ(text_of(server.post("/v1/models/unload", R"({"model":"tiny"})").json(), "loaded"),
            "false");
  EXPECT_EQ(server.post("/v1/models/load", R"({"model":"x"})").status, 404);
  for (const http::Route& route : server.routes) {
    if (route.path == "/v1/models/load" || route.path == "/v1/models/unload") {
      EXPECT_EQ(route.access, http::Access::kAdmin);
    }
  }
}

TEST(ServerModels, WhatAProviderLacksIs501) {
  Server server(std::make_shared<wick::test::ScriptedProvider>(std::vector<Event>()));
  const Got got = server.post("/v1/embeddings", R"({"input":"a"})");
  EXPECT_EQ(got.status, 501);
  EXPECT_EQ(text_of(got.json(), "error.code"), "not_supported");
  EXPECT_EQ(to_json(at(server.call("GET", "/v1/models").json(), "data")), "[]");
}

}  // namespace
}  // namespace wick::server
