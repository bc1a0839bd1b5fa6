// Ollama's /api: lines of JSON, options, models, embeddings.
#include "server/ollama.h"

#include <gtest/gtest.h>

#include "server/server_fixture_test.h"
#include "support/scripted_provider.h"

namespace wick::server {
namespace {

using namespace test;
using wick::test::remote_script;

std::vector<JsonValue> lines_of(const Got& got) {
  std::vector<JsonValue> out;
  std::string_view rest = got.body;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    EXPECT_NE(end, std::string_view::npos);
    if (end == std::string_view::npos) break;
    auto line = parse_json(rest.substr(0, end));
    EXPECT_TRUE(line) << rest.substr(0, end);
    if (line) out.push_back(*std::move(line));
    rest.remove_prefix(end + 1);
  }
  return out;
}

struct Ollama {
  std::shared_ptr<MadeProvider> provider;
  Server server;

  explicit Ollama(std::string_view script)
      : provider(always(remote_script(script))), server(provider) {}

  Got chat(std::string_view more) {
    return server.post(
        "/api/chat",
        cat(R"({"model":"tiny","messages":[{"role":"user","content":"Hi"}])", more, "}"));
  }
};

TEST(ServerOllama, AChatStreamsLinesUnlessItIsToldNotTo) {
  Ollama o("text");
  const Got got = o.chat("");
  EXPECT_EQ(got.type, "application/x-ndjson");
  const auto lines = lines_of(got);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(to_json(at(lines[0], "message")), R"({"role": "assistant", "content": "Hello "})");
  EXPECT_EQ(text_of(lines[0], "done"), "false");
  EXPECT_EQ(text_of(lines[2], "done"), "true");
  EXPECT_EQ(text_of(lines[2], "done_reason"), "stop");
  EXPECT_EQ(text_of(lines[2], "prompt_eval_count"), "12");
  EXPECT_EQ(text_of(lines[2], "eval_count"), "7");
  const Got whole = o.chat(R"(,"stream":false)");
  EXPECT_EQ(whole.type, "application/json");
  EXPECT_EQ(text_of(whole.json(), "message.content"), "Hello there.");
}

TEST(ServerOllama, AnAnswerThatWasCompletedInTimeSaysSo) {
  Server server(always({TextEvent{"{}"}, DoneEvent{.finish = FinishReason::kLength,
                                                   .usage = {.steered_tokens = 1}}}));
  const std::string ask = R"({"model":"tiny","messages":[{"role":"user","content":"Hi"}])";
  EXPECT_EQ(text_of(lines_of(server.post("/api/chat", ask + "}")).back(), "wick.steered"), "true");
  const Got whole = server.post("/api/chat", ask + R"(,"stream":false})");
  EXPECT_EQ(text_of(whole.json(), "wick.steered"), "true");
}

TEST(ServerOllama, ThinkingAndToolCallsAreTold) {
  Ollama o("fragments");
  std::string thought, calls;
  for (const JsonValue& line : lines_of(o.chat(""))) {
    if (!at(line, "message.thinking").is_null()) thought += text_of(line, "message.thinking");
    if (!at(line, "message.tool_calls").is_null()) calls += to_json(at(line, "message.tool_calls"));
  }
  EXPECT_EQ(thought, "The user wants two cities.");
  EXPECT_EQ(calls, R"([{"function": {"name": "weather", "arguments": {"city": "Rome"}}}, )"
                   R"({"function": {"name": "weather", "arguments": {"city": "Oslo"}}}])");
}

TEST(ServerOllama, OptionsReachTheProvider) {
  Ollama o("text");
  const Got got = o.chat(R"(,"think":false,"keep_alive":"5m","options":{"temperature":0.5,)"
                         R"("num_predict":-2,"stop":["x"],"seed":3,"num_ctx":4096})");
  EXPECT_EQ(got.header("x-wick-ignored"), "num_ctx");
  const Generation& g = o.provider->seen.back().generation;
  EXPECT_EQ(g.temperature, 0.5);
  EXPECT_EQ(g.max_tokens, 0);
  EXPECT_EQ(g.seed, 3U);
  EXPECT_EQ(g.stop, std::vector<std::string>{"x"});
  EXPECT_EQ(g.thinking, false);
  o.chat(R"(,"format":"json")");
  EXPECT_EQ(o.provider->seen.back().generation.response_format.type, "json_object");
  EXPECT_EQ(o.chat(R"(,"options":{"top_p":7})").body,
            R"({"error":"top_p is 7, allowed are 0 to 1"})");
}

TEST(ServerOllama, GenerateGoesThroughTheTemplateUnlessRaw) {
  Ollama o("text");
  const Got got = o.server.post("/api/generate", R"({"prompt":"Hi","system":"S"})");
  EXPECT_EQ(text_of(lines_of(got)[0], "response"), "Hello ");
  const auto& talk = std::get<std::vector<Message>>(o.provider->seen.back().prompt);
  EXPECT_EQ(talk[0].content.text() + talk[1].content.text(), "SHi");
  o.server.post("/api/generate", R"({"prompt":"Hi","raw":true})");
  EXPECT_EQ(std::get<std::string>(o.provider->seen.back().prompt), "Hi");
}

TEST(ServerOllama, NothingToAnswerLoadsOrUnloads) {
  Ollama o("text");
  EXPECT_EQ(text_of(o.server.post("/api/generate", R"({"model":"tiny"})").json(), "done_reason"),
            "load");
  EXPECT_EQ(text_of(o.server.post("/api/chat", R"({"messages":[],"keep_alive":0})").json(),
                    "done_reason"),
            "unload");
}

TEST(ServerOllama, ErrorsAreATextAndEndAStream) {
  Ollama o("broken");
  const auto lines = lines_of(o.chat(""));
  EXPECT_EQ(to_json(lines.back()), R"({"error": "the connection was lost after 17 bytes"})");
  EXPECT_EQ(o.server.post("/api/chat", R"({"model":"x","messages":[]})").status, 404);
  EXPECT_EQ(
      o.server
          .post("/api/chat", R"({"messages":[{"role":"user","content":"x","images":["aGk="]}]})")
          .status,
      400);
  EXPECT_EQ(o.server.post("/api/generate", R"({"prompt":"x","images":["aGk="]})").status, 400);
}

TEST(ServerOllama, ModelsAndVersion) {
  Ollama o("text");
  EXPECT_EQ(text_of(o.server.call("GET", "/api/tags").json(), "models.0.name"), "tiny");
  EXPECT_EQ(text_of(o.server.call("GET", "/api/ps").json(), "models.0.details.family"), "llama");
  EXPECT_EQ(o.server.call("GET", "/api/version").body, R"({"version":"1"})");
  const JsonValue shown = o.server.post("/api/show", R"({"name":"tiny:latest"})").json();
  const JsonValue info = at(shown, "model_info");
  EXPECT_EQ(to_json(*info.object()->find("llama.context_length")), "256");
  EXPECT_EQ(o.server.post("/api/show", R"({"model":"nope"})").status, 404);
  EXPECT_EQ(utc_time(1764000000), "2025-11-24T16:00:00Z");
}

TEST(ServerOllama, Embeddings) {
  Ollama o("text");
  const JsonValue json =
      o.server.post("/api/embed", R"({"input":["abc","a"],"truncate":true})").json();
  EXPECT_EQ(to_json(at(json, "embeddings")), "[[3, -0.5, 0.001], [1, -0.5, 0.001]]");
  EXPECT_EQ(text_of(json, "prompt_eval_count"), "4");
  EXPECT_EQ(o.server.post("/api/embeddings", R"({"prompt":"ab"})").body,
            R"({"embedding":[2,-0.5,0.001]})");
  EXPECT_EQ(o.server.post("/api/embed", "{}").body, R"({"error":"input is missing"})");
}

}  // namespace
}  // namespace wick::server
