// A stream put together is the whole answer: text, reasoning, tool calls, log-probabilities, ends
// and usage, over many random requests.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "server/server_fixture_test.h"

namespace wick::server {
namespace {

using namespace test;

using Random = std::mt19937_64;

int upto(Random& random, int n) {
  return static_cast<int>(random() % static_cast<std::uint64_t>(n));
}

std::string noise(Random& random) {
  static const std::vector<std::string> kPieces = {"a", " the", "\n",   "\"",     "\\", "é",
                                                   "😀", "\x01", "</s>", "data: ", "\t", "日本"};
  std::string text;
  for (int i = upto(random, 5); i >= 0; --i)
    text += kPieces[static_cast<std::size_t>(upto(random, static_cast<int>(kPieces.size())))];
  return text;
}

TokenLogprob score(Random& random) {
  TokenLogprob token{.id = upto(random, 256), .bytes = noise(random), .logprob = -0.125};
  for (int i = upto(random, 3); i > 0; --i)
    token.top_logprobs.push_back({.id = 1, .bytes = "\xC3", .logprob = -i * 0.5});
  return token;
}

// Any answer that a provider might give, the same for the same seed.
Result<std::vector<Event>> random_script(const Request& request) {
  Random random(request.generation.seed.value_or(0) + 1);
  std::vector<Event> events;
  const auto add_scores = [&] {
    if (request.generation.logprobs) events.emplace_back(LogprobsEvent{{score(random)}});
  };
  int n_tokens = 1;
  for (int i = upto(random, 4); i > 0; --i, ++n_tokens) {
    add_scores();
    events.emplace_back(ReasoningEvent{noise(random)});
  }
  for (int i = upto(random, 20); i > 0; --i, ++n_tokens) {
    add_scores();
    events.emplace_back(TextEvent{noise(random)});
  }
  const int n_calls = request.generation.tools.empty() ? 0 : upto(random, 3);
  for (int i = 0; i < n_calls; ++i)
    events.emplace_back(ToolCallEvent{.index = i, .id = cat("call_", i), .name = "weather"});
  for (int i = n_calls * 2; i > 0; --i)
    events.emplace_back(ArgumentsEvent{.index = i % n_calls, .text = noise(random)});
  add_scores();  // of the end token, whose text nobody sees
  events.emplace_back(DoneEvent{.finish = n_calls > 0            ? FinishReason::kToolCalls
                                          : upto(random, 2) == 0 ? FinishReason::kEos
                                                                 : FinishReason::kLength,
                                .usage = {.prompt_tokens = 9,
                                          .cached_tokens = upto(random, 9),
                                          .generated_tokens = n_tokens,
                                          .draft_tokens = 4,
                                          .accepted_tokens = upto(random, 4)}});
  return events;
}

// What a client makes of a stream, in the shape of the whole answer's choices.
struct Joined {
  std::string text, reasoning, finish, scores;
  std::map<int, std::string> calls;  // "id name arguments"

  bool operator==(const Joined&) const = default;

  friend void PrintTo(const Joined& one, std::ostream* out) {
    *out << one.text << "|" << one.reasoning << "|" << one.finish << "|" << one.scores;
    for (const auto& [index, call] : one.calls)
      *out << "\n" << index << ": " << call;
  }
};

void append_text(const JsonValue& value, std::string& out) {
  if (value.string() != nullptr) out += *value.string();
}

void append_scores(const JsonValue& choice, std::string& out) {
  const JsonValue content = at(choice, "logprobs.content");
  if (content.array() == nullptr) return;
  for (const JsonValue& token : *content.array())
    out += to_json(token) + "\n";
}

void append_calls(const JsonValue& calls, std::map<int, std::string>& out) {
  if (calls.array() == nullptr) return;
  int i = 0;
  for (const JsonValue& call : *calls.array()) {
    const JsonValue index = at(call, "index");
    std::string& whole = out[index.integer() != nullptr ? static_cast<int>(*index.integer()) : i];
    for (const char* const path : {"id", "function.name", "function.arguments"})
      append_text(at(call, path), whole);
    ++i;
  }
}

std::vector<Joined> join_chat(const Got& got, std::size_t n, std::string& usage) {
  std::vector<Joined> out(n);
  if (!got.is_stream) {
    const JsonValue json = got.json();
    for (std::size_t i = 0; i < n; ++i) {
      const JsonValue choice = at(json, cat("choices.", i));
      append_text(at(choice, "message.content"), out[i].text);
      append_text(at(choice, "message.reasoning_content"), out[i].reasoning);
      append_text(at(choice, "finish_reason"), out[i].finish);
      append_scores(choice, out[i].scores);
      append_calls(at(choice, "message.tool_calls"), out[i].calls);
    }
    usage = to_json(at(json, "usage"));
    return out;
  }
  for (const std::string& event : got.events()) {
    if (event == "[DONE]") break;
    const JsonValue chunk = *parse_json(event);
    if (!at(chunk, "usage").is_null()) usage = to_json(at(chunk, "usage"));
    const JsonValue choice = at(chunk, "choices.0");
    if (choice.is_null()) continue;
    Joined& one = out[static_cast<std::size_t>(*at(choice, "index").integer())];
    append_text(at(choice, "delta.content"), one.text);
    append_text(at(choice, "delta.reasoning_content"), one.reasoning);
    append_text(at(choice, "finish_reason"), one.finish);
    append_scores(choice, one.scores);
    append_calls(at(choice, "delta.tool_calls"), one.calls);
  }
  return out;
}

TEST(ServerStream, OfAChatIsTheWholeAnswerOver500Requests) {
  Server server(std::make_shared<MadeProvider>(random_script));
  Random random(17);
  for (int i = 0; i < 500; ++i) {
    const int n = 1 + upto(random, 3);
    std::string body = cat(R"({"messages":[{"role":"user","content":"x"}],"seed":)", i,
                           ",\"n\":", n, ",\"logprobs\":", upto(random, 2) == 0);
    if (upto(random, 2) == 0) body += R"(,"tools":[{"function":{"name":"weather"}}])";
    const Got whole = server.post("/v1/chat/completions", body + "}");
    const Got stream = server.call(
        "POST", "/v1/chat/completions",
        body + R"(,"stream":true,"stream_options":{"include_usage":true}})", 1 + random() % 2000);
    ASSERT_TRUE(stream.is_stream) << stream.body;
    std::string usage, stream_usage;
    const auto choices = static_cast<std::size_t>(n);
    EXPECT_EQ(join_chat(whole, choices, usage), join_chat(stream, choices, stream_usage)) << body;
    EXPECT_EQ(usage, stream_usage);
    EXPECT_NE(usage, "");
  }
}

std::vector<Joined> join_text(const Got& got, std::size_t n, std::string& usage) {
  std::vector<Joined> out(n);
  const auto add = [&](const JsonValue& choice) {
    Joined& one = out[static_cast<std::size_t>(*at(choice, "index").integer())];
    append_text(at(choice, "text"), one.text);
    append_text(at(choice, "finish_reason"), one.finish);
    int kind = 0;
    for (const char* const key : {"tokens", "token_logprobs", "top_logprobs", "text_offset"}) {
      ++kind;
      const JsonValue list = at(choice, cat("logprobs.", key));
      for (std::size_t i = 0; list.array() != nullptr && i < list.array()->size(); ++i)
        one.calls[kind] += to_json((*list.array())[i]) + "\n";
    }
  };
  if (!got.is_stream) {
    for (std::size_t i = 0; i < n; ++i)
      add(at(got.json(), cat("choices.", i)));
    usage = to_json(at(got.json(), "usage"));
    return out;
  }
  for (const std::string& event : got.events()) {
    if (event == "[DONE]") break;
    const JsonValue chunk = *parse_json(event);
    if (!at(chunk, "usage").is_null()) usage = to_json(at(chunk, "usage"));
    if (!at(chunk, "choices.0").is_null()) add(at(chunk, "choices.0"));
  }
  return out;
}

TEST(ServerStream, OfACompletionIsTheWholeAnswerOver500Requests) {
  Server server(std::make_shared<MadeProvider>([](const Request& request) {
    auto events = random_script(request);
    std::erase_if(*events, [](const Event& event) {  // of a text all is text
      return std::holds_alternative<ReasoningEvent>(event);
    });
    return events;
  }));
  Random random(18);
  for (int i = 0; i < 500; ++i) {
    std::string body = cat(R"({"prompt":["a","b"],"n":2,"seed":)", i);
    if (upto(random, 2) == 0) body += R"(,"logprobs":2)";
    const Got whole = server.post("/v1/completions", body + "}");
    const Got stream = server.call(
        "POST", "/v1/completions",
        body + R"(,"stream":true,"stream_options":{"include_usage":true}})", 1 + random() % 2000);
    ASSERT_TRUE(stream.is_stream) << stream.body;
    std::string usage, stream_usage;
    EXPECT_EQ(join_text(whole, 4, usage), join_text(stream, 4, stream_usage)) << body;
    EXPECT_EQ(usage, stream_usage);
  }
}

}  // namespace
}  // namespace wick::server
