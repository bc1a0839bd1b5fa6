// POST /v1/messages: blocks in and out, the order of its events, its errors.
#include <gtest/gtest.h>

#include "server/server_fixture_test.h"
#include "support/scripted_provider.h"

namespace wick::server {
namespace {

using namespace test;
using wick::test::remote_script;

constexpr std::string_view kPath = "/v1/messages";

std::string asking(std::string_view more) {
  return cat(R"({"model":"tiny","max_tokens":50,"messages":[{"role":"user","content":"Hi"}])",
             more.empty() ? "" : ",", more, "}");
}

// "event" lines and data in turns.
std::vector<std::string> names_of(const Got& got) {
  std::vector<std::string> names;
  for (std::size_t at = got.body.find("event: "); at != std::string::npos;
       at = got.body.find("event: ", at + 1))
    names.push_back(got.body.substr(at + 7, got.body.find('\n', at) - at - 7));
  return names;
}

TEST(ServerAnthropic, AnswersWhole) {
  Server server(always(remote_script("text")));
  const JsonValue json = server.post(kPath, asking("")).json();
  EXPECT_EQ(text_of(json, "type"), "message");
  EXPECT_EQ(text_of(json, "id").substr(0, 4), "msg_");
  EXPECT_EQ(text_of(json, "model"), "tiny");
  EXPECT_EQ(to_json(at(json, "content")), R"([{"type": "text", "text": "Hello there."}])");
  EXPECT_EQ(text_of(json, "stop_reason"), "end_turn");
  EXPECT_TRUE(at(json, "stop_sequence").is_null());
  EXPECT_EQ(to_json(at(json, "usage")), R"({"input_tokens": 12, "cache_creation_input_tokens": 0, )"
                                        R"("cache_read_input_tokens": 0, "output_tokens": 7})");
}

TEST(ServerAnthropic, AnAnswerThatWasCompletedInTimeSaysSo) {
  Server server(always({TextEvent{"{}"}, DoneEvent{.finish = FinishReason::kLength,
                                                   .usage = {.steered_tokens = 1}}}));
  EXPECT_EQ(text_of(server.post(kPath, asking("")).json(), "wick.steered"), "true");
  const auto events = server.post(kPath, asking(R"("stream":true)")).events();
  const JsonValue delta = *parse_json(events[events.size() - 2]);
  EXPECT_EQ(text_of(delta, "type") + " " + text_of(delta, "wick.steered"), "message_delta true");
}

TEST(ServerAnthropic, TellsThinkingAndToolsAsBlocks) {
  Server server(always(remote_script("fragments")));
  const JsonValue json = server.post(kPath, asking("")).json();
  EXPECT_EQ(text_of(json, "content.0.thinking"), "The user wants two cities.");
  EXPECT_EQ(text_of(json, "content.1.text"), "I look them up.");
  EXPECT_EQ(to_json(at(json, "content.3")),
            R"({"type": "tool_use", "id": "call_b", "name": "weather", )"
            R"("input": {"city": "Oslo"}})");
  EXPECT_EQ(text_of(json, "stop_reason"), "tool_use");
}

TEST(ServerAnthropic, StreamsEventsInTheirOrder) {
  Server server(always(remote_script("text")));
  const Got got = server.post(kPath, asking(R"("stream":true)"));
  EXPECT_EQ(names_of(got),
            (std::vector<std::string>{"message_start", "ping", "content_block_start",
                                      "content_block_delta", "content_block_delta",
                                      "content_block_stop", "message_delta", "message_stop"}));
  const auto events = got.events();
  EXPECT_EQ(text_of(*parse_json(events[0]), "message.role"), "assistant");
  EXPECT_EQ(
      events[2],
      R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})");
  EXPECT_EQ(events[3], R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta",)"
                       R"("text":"Hello "}})");
  EXPECT_EQ(events[5], R"({"type":"content_block_stop","index":0})");
  EXPECT_EQ(events[6],
            R"({"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},)"
            R"("usage":{"input_tokens":12,"cache_creation_input_tokens":0,)"
            R"("cache_read_input_tokens":0,"output_tokens":7}})");
  EXPECT_EQ(events[7], R"({"type":"message_stop"})");
}

// A client that puts blocks together by their index; one block is open at a time.
std::string joined(const Got& got) {
  std::string out;
  std::optional<std::int64_t> open;
  for (const std::string& event : got.events()) {
    const JsonValue json = *parse_json(event);
    const std::string type = text_of(json, "type");
    const JsonValue index = at(json, "index");
    if (type == "content_block_start") {
      EXPECT_FALSE(open) << got.body;
      open = *index.integer();
      out += "[" + text_of(json, "content_block.type");
      if (!at(json, "content_block.name").is_null()) out += " " + text_of(json, "content_block.id");
      out += ":";
    } else if (type == "content_block_delta") {
      EXPECT_EQ(open, *index.integer());
      for (const char* const key : {"text", "thinking", "partial_json"}) {
        if (!at(json, cat("delta.", key)).is_null()) out += text_of(json, cat("delta.", key));
      }
    } else if (type == "content_block_stop") {
      EXPECT_EQ(open, *index.integer());
      open.reset();
      out += "]";
    }
  }
  EXPECT_FALSE(open);
  return out;
}

TEST(ServerAnthropic, CallsWhoseArgumentsComeInTurnsAreBlocksOneAfterAnother) {
  Server server(always(remote_script("fragments")));
  EXPECT_EQ(joined(server.post(kPath, asking(R"("stream":true)"))),
            R"([thinking:The user wants two cities.][text:I look them up.])"
            R"([tool_use call_a:{"city": "Rome"}][tool_use call_b:{"city": "Oslo"}])");
}

TEST(ServerAnthropic, WhatIsSaidBehindACallIsKept) {
  Server server(always({ToolCallEvent{.index = 0, .id = "c", .name = "w"}, TextEvent{"and"},
                        ReasoningEvent{"hm"}, ArgumentsEvent{.index = 0, .text = "{}"},
                        DoneEvent{.finish = FinishReason::kToolCalls}}));
  EXPECT_EQ(joined(server.post(kPath, asking(R"("stream":true)"))),
            "[tool_use c:{}][text:and][thinking:hm]");
}

TEST(ServerAnthropic, BlocksSystemAndThinkingReachTheProvider) {
  const auto provider = always(remote_script("text"));
  Server server(provider);
  const Got got = server.post(kPath, R"({"max_tokens":9,"system":[{"type":"text","text":"Brief."}],
    "thinking":{"type":"enabled","budget_tokens":1024},"stop_sequences":["a","b","c","d","e"],
    "tools":[{"name":"w","description":"d","input_schema":{"type":"object"}}],
    "tool_choice":{"type":"any","disable_parallel_tool_use":true},"top_k":3,
    "messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},
    {"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"x"},
      {"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"w","input":{"a":1}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1",
      "content":[{"type":"text","text":"sun"}]},{"type":"text","text":"and?"}]}]})");
  ASSERT_EQ(got.status, 200) << got.body;
  const Request& request = provider->seen.back();
  const auto& talk = std::get<std::vector<Message>>(request.prompt);
  ASSERT_EQ(talk.size(), 4U);
  EXPECT_EQ(talk[0].role + talk[0].content.text(), "systemBrief.");
  EXPECT_EQ(talk[2].content.text<ReasoningPart>(), "Hm");
  EXPECT_EQ(std::get<ToolCall>(talk[2].content.parts[2]).arguments, R"({"a": 1})");
  EXPECT_EQ(std::get<ToolResult>(talk[3].content.parts[0]).text, "sun");
  EXPECT_EQ(talk[3].content.text(), "and?");
  const Generation& g = request.generation;
  EXPECT_EQ(g.thinking, true);
  EXPECT_EQ(g.max_tokens, 9);
  EXPECT_EQ(g.stop.size(), 5U);
  EXPECT_EQ(g.tools[0].parameters, R"({"type": "object"})");
  EXPECT_EQ(g.tool_choice, "required");
  EXPECT_FALSE(g.parallel_tool_calls);
  EXPECT_EQ(g.top_k, 3);
}

TEST(ServerAnthropic, StopSequencesAreTold) {
  Server server(always({DoneEvent{.finish = FinishReason::kStop}}));
  const JsonValue json = server.post(kPath, asking(R"("stop_sequences":["END"])")).json();
  EXPECT_EQ(text_of(json, "stop_reason"), "stop_sequence");
  EXPECT_EQ(text_of(json, "stop_sequence"), "END");
}

TEST(ServerAnthropic, ErrorsHaveItsShape) {
  Server server(always(remote_script("broken")));
  const auto refused = [&](std::string_view body, int status) {
    const Got got = server.post(kPath, body);
    EXPECT_EQ(got.status, status) << got.body;
    EXPECT_EQ(text_of(got.json(), "type"), "error");
    return text_of(got.json(), "error.type") + ": " + text_of(got.json(), "error.message");
  };
  EXPECT_EQ(refused("{}", 400), "invalid_request_error: messages is missing");
  EXPECT_EQ(refused(R"({"messages":[{"role":"user","content":"x"}]})", 400),
            "invalid_request_error: max_tokens is missing");
  EXPECT_EQ(refused(asking(R"("model":"gpt")"), 404).substr(0, 15), "not_found_error");
  EXPECT_EQ(
      refused(R"({"max_tokens":1,"messages":[{"role":"user","content":[{"type":"image"}]}]})", 400),
      "invalid_request_error: messages[0].content[0] is of the type 'image', the models "
      "here take text alone");
  EXPECT_EQ(refused(R"({"max_tokens":1,"messages":[{"role":"tool","content":"x"}]})", 400),
            "invalid_request_error: messages[0].role is 'tool', known are user and assistant");
  EXPECT_EQ(refused(asking(""), 529), "overloaded_error: the connection was lost after 17 bytes");
  const Got stream = server.post(kPath, asking(R"("stream":true)"));
  EXPECT_EQ(stream.events().back(), R"({"type":"error","error":{"type":"overloaded_error",)"
                                    R"("message":"the connection was lost after 17 bytes"}})");
  EXPECT_EQ(text_of(server.post(kPath, asking("")).json(), "content.0.text"), "Half of an answer");
}

TEST(ServerAnthropic, ATimeLimitIsATimeoutError) {
  Server server(
      std::make_shared<MadeProvider>([](const Request& /*request*/) -> Result<std::vector<Event>> {
        return Error{ErrorCode::kCancelled, "time_limit", "the time limit ended the answer"};
      }));
  const Got got = server.post(kPath, asking(""));
  EXPECT_EQ(got.status, 504);
  EXPECT_EQ(text_of(got.json(), "error.type"), "timeout_error") << got.body;
}

TEST(ServerAnthropic, CountsTokens) {
  Server server(always({}));
  EXPECT_EQ(server
                .post("/v1/messages/count_tokens",
                      R"({"messages":[{"role":"user","content":"abc"}],"system":"s"})")
                .body,
            R"({"input_tokens":19})");  // 259 <system>s<user>abc
}

}  // namespace
}  // namespace wick::server
