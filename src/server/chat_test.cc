// POST /v1/chat/completions: each rule of its chunks, each field, each error.
#include <gtest/gtest.h>

#include "server/server_fixture_test.h"
#include "support/scripted_provider.h"

namespace wick::server {
namespace {

using namespace test;
using wick::test::remote_script;
using wick::test::ScriptedProvider;

constexpr std::string_view kPath = "/v1/chat/completions";
constexpr std::string_view kAsk = R"({"model":"tiny","messages":[{"role":"user","content":"Hi"}])";

std::string asking(std::string_view more) {
  return cat(kAsk, more.empty() ? "" : ",", more, "}");
}

std::shared_ptr<MadeProvider> hello() {
  return always(remote_script("text"));
}

TEST(ServerChat, AnswersWhole) {
  Server server(hello());
  const Got got = server.post(kPath, asking(""));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.type, "application/json");
  const JsonValue json = got.json();
  EXPECT_EQ(text_of(json, "object"), "chat.completion");
  EXPECT_EQ(text_of(json, "model"), "tiny");
  EXPECT_EQ(text_of(json, "id").substr(0, 9), "chatcmpl-");
  EXPECT_EQ(text_of(json, "system_fingerprint"), "wick-1");
  EXPECT_EQ(to_json(at(json, "choices")),
            R"([{"index": 0, "message": {"role": "assistant", "content": "Hello there.", )"
            R"("refusal": null}, "logprobs": null, "finish_reason": "stop"}])");
  EXPECT_EQ(text_of(json, "usage.prompt_tokens"), "12");
  EXPECT_EQ(text_of(json, "usage.completion_tokens"), "7");
  EXPECT_EQ(text_of(json, "usage.total_tokens"), "19");
  EXPECT_EQ(text_of(json, "usage.completion_tokens_details.reasoning_tokens"), "3");
  EXPECT_TRUE(at(json, "timings").is_null());
  EXPECT_TRUE(at(json, "wick").is_null());
}

TEST(ServerChat, StreamsByTheRulesOfChunks) {
  Server server(hello());
  const Got got = server.post(kPath, asking(R"("stream":true)"));
  EXPECT_TRUE(got.is_stream);
  EXPECT_EQ(got.type, "text/event-stream");
  const auto events = got.events();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events.back(), "[DONE]");
  std::vector<JsonValue> chunks;
  for (std::size_t i = 0; i + 1 < events.size(); ++i)
    chunks.push_back(*parse_json(events[i]));
  for (const JsonValue& chunk : chunks) {
    EXPECT_EQ(text_of(chunk, "object"), "chat.completion.chunk");
    EXPECT_EQ(text_of(chunk, "id"), text_of(chunks[0], "id"));
    EXPECT_EQ(text_of(chunk, "created"), text_of(chunks[0], "created"));
    EXPECT_EQ(chunk.object()->find("usage"), nullptr);
    EXPECT_NE(at(chunk, "choices.0").object()->find("finish_reason"), nullptr);
  }
  EXPECT_EQ(to_json(at(chunks[0], "choices.0.delta")), R"({"role": "assistant", "content": ""})");
  EXPECT_EQ(to_json(at(chunks[1], "choices.0")),
            R"({"index": 0, "delta": {"content": "Hello "}, "logprobs": null, )"
            R"("finish_reason": null})");
  EXPECT_EQ(to_json(at(chunks[3], "choices.0.delta")), "{}");
  EXPECT_EQ(text_of(chunks[3], "choices.0.finish_reason"), "stop");
}

TEST(ServerChat, TellsTheUsageOfAStreamInALastChunkIfAsked) {
  Server server(hello());
  const auto events =
      server.post(kPath, asking(R"("stream":true,"stream_options":{"include_usage":true})"))
          .events();
  ASSERT_EQ(events.size(), 6U);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NE(events[i].find(R"("usage":null)"), std::string::npos) << events[i];
  const JsonValue last = *parse_json(events[4]);
  EXPECT_EQ(to_json(at(last, "choices")), "[]");
  EXPECT_EQ(text_of(last, "usage.total_tokens"), "19");
}

TEST(ServerChat, StreamsReasoningAndToolCallsWithNamesInTheFirstFragmentAlone) {
  Server server(always(remote_script("fragments")));
  const auto events = server.post(kPath, asking(R"("stream":true)")).events();
  std::string thought, calls;
  for (const std::string& event : events) {
    if (event == "[DONE]") continue;
    const JsonValue delta = at(*parse_json(event), "choices.0.delta");
    if (!at(delta, "reasoning_content").is_null()) {
      thought += text_of(delta, "reasoning_content");
      EXPECT_EQ(text_of(delta, "reasoning"), text_of(delta, "reasoning_content"));
    }
    if (!at(delta, "tool_calls").is_null()) calls += to_json(at(delta, "tool_calls.0")) + "\n";
  }
  EXPECT_EQ(thought, "The user wants two cities.");
  const std::string first = R"({"index": 0, "id": "call_a", "type": "function", )"
                            R"("function": {"name": "weather", "arguments": ""}})";
  const std::string second = R"({"index": 1, "id": "call_b", "type": "function", )"
                             R"("function": {"name": "weather", "arguments": ""}})";
  EXPECT_EQ(calls, first + "\n" + R"({"index": 0, "function": {"arguments": "{\"city\": "}})" +
                       "\n" + second + "\n" +
                       R"({"index": 1, "function": {"arguments": "{\"city\": \"Os"}})" + "\n" +
                       R"({"index": 0, "function": {"arguments": "\"Rome\"}"}})" + "\n" +
                       R"({"index": 1, "function": {"arguments": "lo\"}"}})" + "\n");
  EXPECT_NE(events[events.size() - 2].find(R"("finish_reason":"tool_calls")"), std::string::npos);
}

TEST(ServerChat, TellsToolCallsWhole) {
  Server server(always(remote_script("fragments")));
  const JsonValue json = server.post(kPath, asking("")).json();
  const JsonValue message = at(json, "choices.0.message");
  EXPECT_EQ(text_of(message, "reasoning_content"), "The user wants two cities.");
  EXPECT_EQ(text_of(message, "tool_calls.1.function.arguments"), R"({"city": "Oslo"})");
  EXPECT_EQ(text_of(json, "choices.0.finish_reason"), "tool_calls");
}

TEST(ServerChat, ANumberOfChoicesHasSeedsOfItsOwn) {
  const auto provider = hello();
  Server server(provider);
  const JsonValue json = server.post(kPath, asking(R"("n":3,"seed":5)")).json();
  ASSERT_EQ(at(json, "choices").array()->size(), 3U);
  EXPECT_EQ(text_of(json, "choices.2.index"), "2");
  EXPECT_EQ(text_of(json, "usage.prompt_tokens"), "12");  // once
  EXPECT_EQ(text_of(json, "usage.completion_tokens"), "21");
  ASSERT_EQ(provider->seen.size(), 3U);
  EXPECT_EQ(provider->seen[0].generation.seed, 5U);
  EXPECT_NE(provider->seen[1].generation.seed, provider->seen[2].generation.seed);
  EXPECT_NE(provider->seen[1].generation.seed, 5U);
  provider->seen.clear();
  server.post(kPath, asking(R"("n":2)"));
  EXPECT_FALSE(provider->seen[1].generation.seed.has_value());
}

TEST(ServerChat, ChoicesOfAStreamInterleave) {
  Server server(hello());
  const auto events = server.post(kPath, asking(R"("n":2,"stream":true)")).events();
  std::string order;
  for (const std::string& event : events) {
    if (event != "[DONE]") order += text_of(*parse_json(event), "choices.0.index");
  }
  EXPECT_EQ(order, "01010101");
}

TEST(ServerChat, ErrorsInMidStreamComeAsDataBehindWhatWasSaid) {
  Server server(always(remote_script("broken")));
  const auto events = server.post(kPath, asking(R"("stream":true)")).events();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_NE(events[2].find("an answer"), std::string::npos);
  const JsonValue error = *parse_json(events[3]);
  EXPECT_EQ(to_json(error),
            R"({"error": {"message": "the connection was lost after 17 bytes", )"
            R"("type": "overloaded_error", "param": null, "code": "connection_lost"}})");
  EXPECT_EQ(events[4], "[DONE]");
}

TEST(ServerChat, ErrorsOfAWholeAnswerKeepWhatWasSaid) {
  Server server(always(remote_script("broken")));
  const Got got = server.post(kPath, asking(""));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.header("retry-after"), "1");
  EXPECT_EQ(text_of(got.json(), "choices.0.message.content"), "Half of an answer");
  EXPECT_EQ(text_of(got.json(), "error.code"), "connection_lost");
}

TEST(ServerErrors, EachApiKeepsReasoningThatWasAllAnErrorLeft) {
  Server server(always({ReasoningEvent{"Half of"},
                        DoneEvent{.finish = FinishReason::kError,
                                  .error = Error{.code = ErrorCode::kUnavailable,
                                                 .id = "connection_lost",
                                                 .message = "the connection was lost"}}}));
  constexpr std::string_view kTalk = R"({"max_tokens":9,"messages":[{"role":"user",)"
                                     R"("content":"x"}],"stream":false})";

  struct Case {
    std::string_view path, body, where;
  };

  for (const Case& one : {
           Case{kPath, kTalk, "choices.0.message.reasoning"},
           Case{"/v1/completions", R"({"prompt":"x"})", "choices.0.text"},
           Case{"/v1/messages", kTalk, "content.0.thinking"},
           Case{"/v1/responses", R"({"input":"x"})", "output.0.content.0.text"},
           Case{"/api/chat", kTalk, "thinking"},
       }) {
    const Got got = server.post(one.path, one.body);
    EXPECT_GE(got.status, 500) << one.path;
    EXPECT_EQ(text_of(got.json(), one.where), "Half of") << one.path << " said " << got.body;
  }
}

TEST(ServerChat, AnErrorBeforeTheFirstWordHasItsStatus) {
  Server server(always({DoneEvent{
      .finish = FinishReason::kError,
      .error = Error{
          .code = ErrorCode::kDevice, .id = "device_lost", .message = "the device is gone"}}}));
  const Got got = server.post(kPath, asking(R"("stream":true)"));
  EXPECT_FALSE(got.is_stream);
  EXPECT_EQ(got.status, 500);
  EXPECT_EQ(text_of(got.json(), "error.type"), "server_error");
}

TEST(ServerChat, AClientThatIsGoneCancelsEachAnswer) {
  const auto provider = always({TextEvent{"And then"}});
  Server server(provider);
  const auto wake = std::make_shared<Wake>();
  http::Reply made = server.reply("POST", kPath, asking(R"("n":3,"stream":true)"), wake);
  Got got;
  KeptWriter out(got);
  drive(*std::get<std::unique_ptr<http::Work>>(made), *wake, out, got, 2);
  EXPECT_TRUE(got.is_stream);
  made = http::Response();
  EXPECT_EQ(provider->n_cancelled, 3);
}

TEST(ServerChat, TheEndOfADrainEndsAStreamWithAnError) {
  const auto provider = always({TextEvent{"And then"}});
  Server server(provider);
  const auto wake = std::make_shared<Wake>();
  http::Reply made = server.reply("POST", kPath, asking(R"("stream":true)"), wake);
  http::Work& work = *std::get<std::unique_ptr<http::Work>>(made);
  EXPECT_EQ(work.heartbeat(), "");  // nothing has begun
  Got got;
  KeptWriter out(got);
  drive(work, *wake, out, got, 2);
  EXPECT_EQ(work.heartbeat(), ": \n\n");
  work.drain();  // of the server: what is under way goes on
  drive(work, *wake, out, got, 1);
  EXPECT_FALSE(got.is_done);
  work.drain();  // of its patience
  drive(work, *wake, out, got);
  ASSERT_TRUE(got.is_done);
  const auto events = got.events();
  EXPECT_NE(events[1].find("And then"), std::string::npos);
  EXPECT_EQ(text_of(*parse_json(events[2]), "error.code"), "cancelled");
  EXPECT_EQ(events[3], "[DONE]");
}

TEST(ServerChat, AnswersOfAThreadOfTheirOwnArriveWhole) {
  Server server(std::make_shared<ScriptedProvider>(remote_script("text")));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(text_of(server.post(kPath, asking("")).json(), "choices.0.message.content"),
              "Hello there.");
  }
}

TEST(ServerChat, ASlowReaderGetsTheSameStream) {
  const auto provider = always(remote_script("fragments"));
  Server server(provider);
  const std::string body = asking(R"("n":4,"stream":true)");
  const auto full = server.post(kPath, body).events();
  const auto slow = server.call("POST", kPath, body, 1).events();
  ASSERT_EQ(full.size(), slow.size());
  EXPECT_EQ(slow.back(), "[DONE]");
}

TEST(ServerChat, TellsTimingsAndParametersIfAsked) {
  Server server(always(
      {TextEvent{"x"}, DoneEvent{.finish = FinishReason::kLength,
                                 .usage = {.prompt_tokens = 10,
                                           .cached_tokens = 2,
                                           .generated_tokens = 4,
                                           .queue_ms = 1,
                                           .prompt_ms = 16,
                                           .generate_ms = 8},
                                 .parameters = {{"temperature", 0.8, "default"},
                                                {"seed", std::uint64_t{7}, "request"},
                                                {"samplers", std::string("top_k"), "default"}}}}));
  const std::string both = R"("wick":{"timings":true,"parameters":true})";
  const JsonValue json = server.post(kPath, asking(both)).json();
  EXPECT_EQ(text_of(json, "timings.prompt_n"), "8");
  EXPECT_EQ(text_of(json, "timings.predicted_per_second"), "500");
  EXPECT_EQ(to_json(at(json, "wick.parameters.seed")), R"({"value": 7, "origin": "request"})");
  EXPECT_EQ(text_of(json, "wick.parameters.samplers.value"), "top_k");
  const auto events = server.post(kPath, asking(both + R"(,"stream":true)")).events();
  const JsonValue last = *parse_json(events[events.size() - 2]);
  EXPECT_EQ(text_of(last, "timings.cache_n"), "2");
  EXPECT_EQ(text_of(last, "choices.0.finish_reason"), "length");
  const JsonValue only = server.post(kPath, asking(R"("timings_per_token":true)")).json();
  EXPECT_EQ(text_of(only, "timings.predicted_n"), "4");
  EXPECT_TRUE(at(only, "wick").is_null());
}

TEST(ServerChat, ScoresComeWithTheirText) {
  const TokenLogprob token{.id = 72,
                           .bytes = "H",
                           .logprob = -0.5,
                           .top_logprobs = {{.id = 72, .bytes = "H", .logprob = -0.5},
                                            {.id = 195, .bytes = "\xC3", .logprob = -1.0 / 0.0}}};
  const TokenLogprob end{.id = 261, .bytes = "<|im_end|>", .logprob = -2};
  Server server(always({LogprobsEvent{{token}}, TextEvent{"H"}, LogprobsEvent{{end}},
                        DoneEvent{.finish = FinishReason::kEos}}));
  const std::string ask = R"("logprobs":true,"top_logprobs":2)";
  const JsonValue whole = server.post(kPath, asking(ask)).json();
  const std::string first = R"({"token": "H", "logprob": -0.5, "bytes": [72], "top_logprobs": [)"
                            R"({"token": "H", "logprob": -0.5, "bytes": [72]}, )"
                            R"({"token": "�", "logprob": -9999, "bytes": [195]}]})";
  EXPECT_EQ(to_json(at(whole, "choices.0.logprobs.content.0")), first);
  EXPECT_EQ(text_of(whole, "choices.0.logprobs.content.1.token"), "<|im_end|>");
  const auto events = server.post(kPath, asking(ask + R"(,"stream":true)")).events();
  EXPECT_EQ(to_json(at(*parse_json(events[1]), "choices.0.logprobs.content.0")), first);
  EXPECT_EQ(text_of(*parse_json(events[2]), "choices.0.logprobs.content.0.token"), "<|im_end|>");
}

}  // namespace
}  // namespace wick::server
