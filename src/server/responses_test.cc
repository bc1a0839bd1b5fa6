// POST /v1/responses: items in and out, its events, and what is kept of an answer.
#include <gtest/gtest.h>

#include <map>

#include "server/limits.h"
#include "server/response_store.h"
#include "server/server_fixture_test.h"
#include "support/scripted_provider.h"

namespace wick::server {
namespace {

using namespace test;
using wick::test::remote_script;

constexpr std::string_view kPath = "/v1/responses";

TEST(ServerResponses, AnswerWhole) {
  Server server(always(remote_script("text")));
  const JsonValue json = server.post(kPath, R"({"model":"tiny","input":"Hi"})").json();
  EXPECT_EQ(text_of(json, "object"), "response");
  EXPECT_EQ(text_of(json, "id").substr(0, 5), "resp_");
  EXPECT_EQ(text_of(json, "status"), "completed");
  EXPECT_EQ(text_of(json, "output.0.type"), "message");
  EXPECT_EQ(to_json(at(json, "output.0.content")),
            R"([{"type": "output_text", "text": "Hello there.", "annotations": [], )"
            R"("logprobs": []}])");
  EXPECT_EQ(text_of(json, "usage.input_tokens"), "12");
  EXPECT_EQ(text_of(json, "usage.output_tokens_details.reasoning_tokens"), "3");
  EXPECT_EQ(text_of(json, "usage.total_tokens"), "19");
  for (const char* const key : {"error", "incomplete_details", "previous_response_id",
                                "instructions", "tools", "tool_choice", "temperature", "text"})
    EXPECT_NE(json.object()->find(key), nullptr) << key;
}

TEST(ServerResponses, AnAnswerThatWasCompletedInTimeSaysSo) {
  Server server(always({TextEvent{"{}"}, DoneEvent{.finish = FinishReason::kLength,
                                                   .usage = {.steered_tokens = 1}}}));
  EXPECT_EQ(text_of(server.post(kPath, R"({"input":"Hi"})").json(), "wick.steered"), "true");
  const auto events = server.post(kPath, R"({"input":"Hi","stream":true})").events();
  EXPECT_EQ(text_of(*parse_json(events.back()), "response.wick.steered"), "true");
}

TEST(ServerResponses, TellReasoningAndCallsAsItems) {
  Server server(always(remote_script("fragments")));
  const JsonValue json = server.post(kPath, R"({"input":"Hi"})").json();
  EXPECT_EQ(text_of(json, "output.0.content.0.text"), "The user wants two cities.");
  EXPECT_EQ(text_of(json, "output.1.content.0.text"), "I look them up.");
  EXPECT_EQ(text_of(json, "output.3.type"), "function_call");
  EXPECT_EQ(text_of(json, "output.3.call_id"), "call_b");
  EXPECT_EQ(text_of(json, "output.3.arguments"), R"({"city": "Oslo"})");
}

TEST(ServerResponses, AnAnswerThatWasCutIsIncomplete) {
  Server server(always({TextEvent{"x"}, DoneEvent{.finish = FinishReason::kLength}}));
  const JsonValue json = server.post(kPath, R"({"input":"Hi"})").json();
  EXPECT_EQ(text_of(json, "status"), "incomplete");
  EXPECT_EQ(text_of(json, "incomplete_details.reason"), "max_output_tokens");
  const auto events = server.post(kPath, R"({"input":"Hi","stream":true})").events();
  EXPECT_EQ(text_of(*parse_json(events.back()), "type"), "response.incomplete");
}

TEST(ServerResponses, StreamEventsInTheirOrder) {
  Server server(always(remote_script("text")));
  std::string types;
  int number = 0;
  const Got got = server.post(kPath, R"({"input":"Hi","stream":true})");
  for (const std::string& event : got.events()) {
    const JsonValue json = *parse_json(event);
    EXPECT_EQ(text_of(json, "sequence_number"), cat(number++));
    types += text_of(json, "type") + "\n";
    EXPECT_NE(got.body.find("event: " + text_of(json, "type") + "\ndata: "), std::string::npos);
  }
  EXPECT_EQ(types,
            "response.created\nresponse.in_progress\nresponse.output_item.added\n"
            "response.content_part.added\nresponse.output_text.delta\nresponse.output_text.delta\n"
            "response.output_text.done\nresponse.content_part.done\nresponse.output_item.done\n"
            "response.completed\n");
}

// A whole answer and the last event of a stream but for what is new each time.
std::string without_ids(const JsonValue& output) {
  std::string out;
  for (std::size_t i = 0; i < output.array()->size(); ++i) {
    Object item = *(*output.array())[i].object();
    item.erase("id");
    out += to_json(item) + "\n";
  }
  return out;
}

TEST(ServerResponses, TheDeltasOfAStreamAreItsItemsAndThoseOfTheWholeAnswer) {
  Server server(always(remote_script("fragments")));
  const JsonValue whole = server.post(kPath, R"({"input":"Hi"})").json();
  std::map<std::string, std::string> deltas, done;
  JsonValue last;
  for (const std::string& event : server.post(kPath, R"({"input":"Hi","stream":true})").events()) {
    last = *parse_json(event);
    const std::string type = text_of(last, "type"), item = text_of(last, "output_index");
    if (type.ends_with(".delta")) deltas[item] += text_of(last, "delta");
    if (type.ends_with("_text.done")) done[item] = text_of(last, "text");
    if (type.ends_with("arguments.done")) done[item] = text_of(last, "arguments");
  }
  EXPECT_EQ(deltas.size(), 4U);
  EXPECT_EQ(deltas, done);
  EXPECT_EQ(without_ids(at(last, "response.output")), without_ids(at(whole, "output")));
  EXPECT_EQ(to_json(at(last, "response.usage")), to_json(at(whole, "usage")));
}

std::vector<Event> scored_answer() {
  const auto scores = [](const char* bytes, double logprob) {
    return LogprobsEvent{{{.bytes = bytes,
                           .logprob = logprob,
                           .top_logprobs = {{.bytes = bytes, .logprob = logprob}}}}};
  };
  return {scores("hm", -4), ReasoningEvent{"hm"}, scores("</think>", -3),
          scores("A", -2),  TextEvent{"A"},       scores("B", -1),
          TextEvent{"B"},   scores("<eos>", -5),  DoneEvent{.finish = FinishReason::kEos}};
}

TEST(ServerResponses, LogprobsAreThoseOfTheText) {
  const auto provider = always(scored_answer());
  Server server(provider);
  const std::string_view ask = R"({"input":"Hi","top_logprobs":1)";
  const JsonValue whole = server.post(kPath, cat(ask, "}")).json();
  EXPECT_TRUE(provider->seen.back().generation.logprobs);
  EXPECT_EQ(provider->seen.back().generation.top_logprobs, 1);
  const std::string b = R"({"token": "B", "logprob": -1, "bytes": [66], "top_logprobs": [)"
                        R"({"token": "B", "logprob": -1, "bytes": [66]}]})";
  const JsonValue told = at(whole, "output.1.content.0.logprobs");
  EXPECT_EQ(text_of(told, "0.token"), "</think>");  // without a text of its own: the next one's
  EXPECT_EQ(text_of(told, "1.token"), "A");
  EXPECT_EQ(to_json(at(told, "2")), b);
  EXPECT_TRUE(to_json(told).ends_with(cat(b, "]"))) << to_json(told);
  std::string deltas, done;
  JsonValue last;
  for (const std::string& event : server.post(kPath, cat(ask, R"(,"stream":true})")).events()) {
    last = *parse_json(event);
    const std::string type = text_of(last, "type");
    if (type == "response.output_text.delta") deltas += text_of(last, "logprobs.0.token") + " ";
    if (type == "response.output_text.done") done = to_json(at(last, "logprobs"));
  }
  EXPECT_EQ(done, to_json(told));
  EXPECT_EQ(without_ids(at(last, "response.output")), without_ids(at(whole, "output")));
  EXPECT_TRUE(deltas.find("B") != std::string::npos) << deltas;
}

TEST(ServerResponses, IncludeAsksForLogprobs) {
  const auto provider = always(remote_script("text"));
  Server server(provider);
  const auto asked = [&](std::string_view include) {
    const Got got = server.post(kPath, cat(R"({"input":"Hi","include":)", include, "}"));
    EXPECT_EQ(got.status, 200) << got.body;
    return provider->seen.back().generation.logprobs;
  };
  EXPECT_TRUE(asked(R"(["message.output_text.logprobs"])"));
  EXPECT_FALSE(asked(R"(["reasoning.encrypted_content"])"));
  EXPECT_EQ(text_of(server.post(kPath, R"({"input":"Hi","include":[1]})").json(), "error.param"),
            "include");
}

TEST(ServerResponses, GoOnFromAnAnswerThatIsKept) {
  const auto provider = always(remote_script("text"));
  Server server(provider);
  const auto id = [&](std::string_view body) {
    return text_of(server.post(kPath, body).json(), "id");
  };
  const std::string first = id(R"({"input":"One","instructions":"Be brief."})");
  EXPECT_EQ(std::get<std::vector<Message>>(provider->seen.back().prompt).front().role, "system");
  const std::string second =
      id(cat(R"({"input":"Two","stream":false,"previous_response_id":")", first, "\"}"));
  std::string talk;
  for (const Message& message : std::get<std::vector<Message>>(provider->seen.back().prompt))
    talk += message.role + ":" + message.content.text() + " ";
  EXPECT_EQ(talk, "user:One assistant:Hello there. user:Two ");  // instructions are not kept
  EXPECT_EQ(text_of(server.call("GET", "/v1/responses/" + second).json(), "id"), second);
  EXPECT_EQ(server.call("DELETE", "/v1/responses/" + second).status, 200);
  EXPECT_EQ(server.call("GET", "/v1/responses/" + second).status, 404);
  const std::string lost = id(R"({"input":"x","store":false})");
  const Got got = server.post(kPath, cat(R"({"input":"y","previous_response_id":")", lost, "\"}"));
  EXPECT_EQ(got.status, 404);
  EXPECT_EQ(text_of(got.json(), "error.code"), "response_not_found");
  EXPECT_EQ(text_of(got.json(), "error.param"), "previous_response_id");
}

TEST(ServerResponses, ItemsReachTheProvider) {
  const auto provider = always(remote_script("text"));
  Server server(provider);
  const Got got = server.post(kPath, R"({"max_output_tokens":5,"reasoning":{"effort":"none"},
    "text":{"format":{"type":"json_schema","schema":{"type":"object"}}},
    "tools":[{"type":"function","name":"w","parameters":{"type":"object"},"strict":true}],
    "input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}]},
    {"type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}]},
    {"type":"function_call","call_id":"c","name":"w","arguments":"{}"},
    {"type":"function_call_output","call_id":"c","output":"sun"}]})");
  ASSERT_EQ(got.status, 200) << got.body;
  const Request& request = provider->seen.back();
  const auto& talk = std::get<std::vector<Message>>(request.prompt);
  ASSERT_EQ(talk.size(), 3U);
  EXPECT_EQ(talk[1].content.text<ReasoningPart>(), "Hm");
  EXPECT_EQ(std::get<ToolCall>(talk[1].content.parts[1]).name, "w");
  EXPECT_EQ(std::get<ToolResult>(talk[2].content.parts[0]).text, "sun");
  EXPECT_EQ(request.generation.max_tokens, 5);
  EXPECT_EQ(request.generation.thinking, false);
  EXPECT_EQ(request.generation.response_format.type, "json_schema");
  EXPECT_EQ(request.generation.tools[0].name, "w");
}

TEST(ServerResponses, RepeatFormatAndToolChoiceAsTheyWereAsked) {
  Server server(always(remote_script("text")));
  const auto told = [&](std::string_view fields) {
    const Got got = server.post(
        kPath, cat(R"({"input":"Hi","tools":[{"type":"function","name":"add"}])", fields, "}"));
    EXPECT_EQ(got.status, 200) << got.body;
    return to_json(at(got.json(), "tool_choice")) + " " + to_json(at(got.json(), "text.format"));
  };
  EXPECT_EQ(told(""), R"("auto" {"type": "text"})");
  EXPECT_EQ(told(R"(,"tool_choice":"required")"), R"("required" {"type": "text"})");
  EXPECT_EQ(told(R"(,"tool_choice":{"type":"function","name":"add"})"),
            R"({"type": "function", "name": "add"} {"type": "text"})");
  const std::string format =
      R"({"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true})";
  EXPECT_EQ(told(cat(R"(,"tool_choice":"none","text":{"format":)", format, "}")),
            cat("\"none\" ", format));
}

TEST(ServerResponses, RefuseByName) {
  Server server(always(remote_script("broken")));
  const auto refused = [&](std::string_view body) {
    const Got got = server.post(kPath, body);
    EXPECT_EQ(got.status, 400) << got.body;
    return text_of(got.json(), "error.param") + " " + text_of(got.json(), "error.code");
  };
  EXPECT_EQ(refused("{}"), "input invalid_value");
  EXPECT_EQ(refused(R"({"input":[]})"), "input invalid_value");
  EXPECT_EQ(refused(R"({"input":[{"type":"item_reference"}]})"), "input[0].type item_unsupported");
  EXPECT_EQ(refused(R"({"input":[{"role":"user","content":[{"type":"input_image"}]}]})"),
            "input[0].content[0] images_unsupported");
  const auto events = server.post(kPath, R"({"input":"Hi","stream":true})").events();
  EXPECT_EQ(text_of(*parse_json(events[events.size() - 2]), "type"), "error");
  const JsonValue last = *parse_json(events.back());
  EXPECT_EQ(text_of(last, "type"), "response.failed");
  EXPECT_EQ(text_of(last, "response.status"), "failed");
  EXPECT_EQ(text_of(last, "response.error.code"), "connection_lost");
}

TEST(HostileServerResponses, WhatIsKeptIsBoundedAndItsTenantsOwn) {
  ResponseStore store;
  for (std::size_t i = 0; i < kMaxStoredResponses + 10; ++i)
    store.put({.id = cat("r", i), .tenant = i % 2});
  EXPECT_FALSE(store.find("r9", 1));
  EXPECT_TRUE(store.find("r11", 1));
  EXPECT_FALSE(store.find("r11", 0));
  EXPECT_FALSE(store.erase("r11", 0));
  EXPECT_TRUE(store.erase("r11", 1));
  EXPECT_FALSE(store.find("r11", 1));
  store.put({.id = "large", .body = std::string(kMaxStoredBytes - (1 << 10), 'x')});
  EXPECT_TRUE(store.find("large", 0));
  EXPECT_FALSE(store.find("r1000", 0));  // made room
  store.put({.id = "too large", .body = std::string(kMaxStoredBytes, 'x')});
  EXPECT_FALSE(store.find("too large", 0));
  EXPECT_TRUE(store.find("large", 0));
}

}  // namespace
}  // namespace wick::server
