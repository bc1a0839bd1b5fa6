// Real sockets: a scripted upstream on 127.0.0.1. Each test over PlainHttp and over libcurl.
#include "remote/remote_provider.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/strings.h"
#include "provider/gather.h"
#include "remote/limits.h"
#include "support/scripted_upstream.h"

namespace wick::remote {

namespace {

constexpr const char* kCanary = "sk-canary-7391";

bool has_only_curl = false;  // of the test that runs

std::shared_ptr<Transfers> transfers() {
  static const std::shared_ptr<Transfers> kShared[] = {
      *Transfers::create(), *Transfers::create({.has_only_curl = true})};
  return kShared[has_only_curl ? 1 : 0];
}

class BothWays : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { has_only_curl = GetParam(); }
};

class RemoteProvider : public BothWays {};

class HostileUpstream : public BothWays {};

std::string name_of_way(const testing::TestParamInfo<bool>& one) {
  return one.param ? "Curl" : "Plain";
}

INSTANTIATE_TEST_SUITE_P(Ways, RemoteProvider, testing::Bool(), name_of_way);
INSTANTIATE_TEST_SUITE_P(Ways, HostileUpstream, testing::Bool(), name_of_way);

Endpoint endpoint(std::string_view kind, const std::string& url) {
  Endpoint out{.name = "up",
               .kind = *find_kind(kind),
               .url = url,
               .key = Secret(kCanary),
               .api_version = "2024-10-21"};  // Azure's
  return *complete(std::move(out));
}

std::vector<Message> hello() {
  return {{.role = "system", .content = "Be brief."}, {.content = "Hello"}};
}

std::string sse(std::string_view json) {
  return std::string("data: ").append(json).append("\n\n");
}

std::string chunk(std::string_view text, std::string_view finish = "") {
  std::string out = R"(data: {"model":"m-1","choices":[{"index":0,"delta":{"content":")";
  out.append(text).append("\"},\"finish_reason\":");
  out.append(finish.empty() ? "null" : "\"" + std::string(finish) + "\"");
  return out.append("}]}\n\n");
}

struct Asked {
  Gather whole = {};
  AnswerReport report = {};
};

Asked ask_it(Provider& provider, const Generation& generation = {}) {
  Asked out;
  auto answer = provider.start({.model = "m", .prompt = hello(), .generation = generation});
  EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
  if (!answer) return out;
  out.whole = read_all(**answer);
  out.report = (*answer)->report();
  return out;
}

Asked ask_script(std::vector<std::string> bytes, std::string_view kind = "vllm") {
  test::ScriptedUpstream upstream({{.bytes = std::move(bytes)}});
  return ask_it(*make_remote_provider(endpoint(kind, upstream.url("/v1")), transfers()));
}

TEST_P(RemoteProvider, AsksAsTheApiWantsAndReadsTheStream) {
  test::ScriptedUpstream upstream(
      {{.bytes = {test::sse_head(), chunk("Hi"), chunk(" you", "stop"),
                  sse(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}})"),
                  sse("[DONE]")}}});
  const auto provider = make_remote_provider(endpoint("openai", upstream.url("/v1")), transfers());
  const Asked asked = ask_it(*provider, {.temperature = 0.5, .max_tokens = 7});
  EXPECT_EQ(asked.whole.completion.text, "Hi you");
  EXPECT_EQ(asked.whole.completion.finish, FinishReason::kEos);
  EXPECT_EQ(asked.whole.completion.usage.prompt_tokens, 9);
  EXPECT_FALSE(asked.report.is_usage_estimated);
  EXPECT_EQ(asked.report.model, "m-1");
  const std::string request = upstream.requests().at(0);
  for (const char* const part :
       {"POST /v1/chat/completions HTTP/1.1\r\n", "Authorization: Bearer sk-canary-7391\r\n",
        "Content-Type: application/json\r\n", "\"model\": \"m\"", "\"max_completion_tokens\": 7",
        "{\"role\": \"system\", \"content\": \"Be brief.\"}", "\"stream\": true",
        "\"include_usage\": true", "\"temperature\": 0.5"})
    EXPECT_NE(request.find(part), std::string::npos) << part << "\n" << request;
}

TEST_P(RemoteProvider, ARequestIsNotPassedOnForEver) {
  test::ScriptedUpstream upstream({{.bytes = {test::http_head("500 No", "text/plain")}}});
  const auto vllm = make_remote_provider(endpoint("vllm", upstream.url()), transfers());
  const auto ollama = make_remote_provider(endpoint("ollama", upstream.url()), transfers());
  for (const int hops : {0, 3, 4, 1000}) {
    auto answer = vllm->start({.model = "m", .prompt = hello(), .hops = hops});
    ASSERT_EQ(static_cast<bool>(answer), hops < 4);
    if (answer) read_all(**answer);
    EXPECT_EQ(answer ? "" : answer.error().id, hops < 4 ? "" : "loop_detected");
  }
  ask_it(*ollama);  // wick has its API, too
  const std::vector<std::string> texts = {"x"};
  EXPECT_EQ(vllm->embed({.model = "m", .texts = texts, .hops = 4}).error().id, "loop_detected");
  EXPECT_FALSE(vllm->embed({.model = "m", .texts = texts, .hops = 2}));
  const auto requests = upstream.requests();
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_NE(requests[3].find("x-wick-hops: 3\r\n"), std::string::npos) << requests[3];
  EXPECT_NE(requests[0].find("x-wick-hops: 1\r\n"), std::string::npos) << requests[0];
  EXPECT_NE(requests[1].find("x-wick-hops: 4\r\n"), std::string::npos) << requests[1];
  EXPECT_NE(requests[2].find("x-wick-hops: 1\r\n"), std::string::npos) << requests[2];
}

TEST_P(RemoteProvider, EachDialectIsSentAsItsApiWants) {
  struct Row {
    const char* kind;
    std::vector<std::string> parts;
  };

  const std::vector<Row> rows = {
      {"anthropic",
       {"POST /messages ", "x-api-key: sk-canary-7391\r\n",
        "anthropic-version: ", "\"system\": \"Be brief.\"", "\"max_tokens\": 7",
        "\"input_schema\": {", "[{\"type\": \"text\", \"text\": \"Hello\"}]"}},
      {"ollama", {"POST /chat ", "\"num_predict\": 7", "\"content\": \"Hello\""}},
      {"gemini",
       {"POST /models/m:streamGenerateContent?alt=sse ", "x-goog-api-key: sk-canary-7391\r\n",
        "\"maxOutputTokens\": 7", "\"systemInstruction\": {\"parts\": [{\"text\": \"Be brief.\"}]}",
        "\"functionDeclarations\": [{\"name\": \"add\""}},
      {"azure",
       {"POST /openai/deployments/m/chat/completions?api-version=2024-10-21 ",
        "api-key: sk-canary-7391\r\n", "\"tools\": [{\"type\": \"function\""}},
      {"sglang", {"POST /chat/completions ", "\"max_tokens\": 7", "\"top_k\": 5"}},
  };
  for (const Row& row : rows) {
    test::ScriptedUpstream upstream({{.bytes = {test::http_head("500 No", "text/plain")}}});
    const auto provider = make_remote_provider(endpoint(row.kind, upstream.url()), transfers());
    const Tool add{.name = "add", .description = "adds", .parameters = R"({"type":"object"})"};
    ask_it(*provider, {.top_k = 5, .max_tokens = 7, .tools = {add}});
    const std::string request = upstream.requests().at(0);
    for (const std::string& part : row.parts)
      EXPECT_NE(request.find(part), std::string::npos) << row.kind << part << "\n" << request;
  }
}

TEST_P(RemoteProvider, WhatAnApiTakesBesidesIsSentToo) {
  const auto sent = [](std::string_view kind, const Generation& generation) {
    test::ScriptedUpstream upstream({{.bytes = {test::http_head("500 No", "text/plain")}}});
    ask_it(*make_remote_provider(endpoint(kind, upstream.url()), transfers()), generation);
    const std::string request = upstream.requests().at(0);
    return request.substr(request.find("\r\n\r\n"));
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  const Generation effort{.template_variables = {{"reasoning_effort", "\"low\""}, {"date", "7"}}};
  EXPECT_TRUE(has(sent("openai", effort), R"("reasoning_effort": "low")"));
  EXPECT_FALSE(has(sent("openai", effort), "date"));
  EXPECT_TRUE(has(sent("vllm", effort), R"("chat_template_kwargs": {"date": 7})"));
  const Generation choice{.response_format = {.type = "choice", .schema = R"(["a","b"])"}};
  EXPECT_TRUE(has(sent("wick", choice), R"("structured_outputs": {"choice": ["a", "b"]})"));
  const Generation regex{.response_format = {.type = "regex", .schema = "a+"}};
  EXPECT_TRUE(has(sent("vllm", regex), R"("structured_outputs": {"regex": "a+"})"));
  for (const std::uint64_t seed : {0U, 1U, 4U, 5U})
    EXPECT_TRUE(has(sent("openai", {.seed = seed}), cat("\"seed\": ", seed, "}"))) << seed;
}

TEST_P(RemoteProvider, NamesWhatItsApiAndAWickBehindItIgnore) {
  const Generation generation{.top_k = 5, .repeat_penalty = 2, .priority = 1};
  const auto ignored = [&](std::string_view kind, std::string_view header) {
    test::ScriptedUpstream upstream(
        {{.bytes = {test::http_head("200 OK", "text/event-stream", header), chunk("a", "stop")}}});
    const auto provider = make_remote_provider(endpoint(kind, upstream.url()), transfers());
    return ask_it(*provider, generation).report.ignored;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(ignored("openai", ""), (Names{"top_k", "repeat_penalty", "priority"}));
  EXPECT_EQ(ignored("wick", ""), Names());
  EXPECT_EQ(ignored("wick", "x-wick-ignored: seed, reasoning_effort\r\n"),
            (Names{"seed", "reasoning.effort"}));
}

TEST_P(RemoteProvider, StatusesMeanFailures) {
  struct Row {
    const char* status;
    const char* body;
    Failure failure;
    const char* id;
  };

  const Row rows[] = {
      {"401 No", R"({"error":{"message":"key sk-canary-7391 is wrong"}})", Failure::kCredential,
       "provider_credential"},
      {"402 No", "", Failure::kCredential, "provider_credential"},
      {"403 No", "<html>", Failure::kCredential, "provider_credential"},
      {"404 No", "", Failure::kNoModel, "model_not_found"},
      {"408 No", "", Failure::kTimeout, "provider_timeout"},
      {"409 No", "", Failure::kConflict, "provider_unavailable"},
      {"400 No", R"({"error":{"message":"x","code":"context_length_exceeded"}})",
       Failure::kContextLength, "context_length_exceeded"},
      {"400 No", R"({"error":{"message":"x","code":"content_filter"}})", Failure::kContentPolicy,
       "content_policy"},
      {"403 No", R"({"error":{"message":"requires moderation and your input was flagged"}})",
       Failure::kContentPolicy, "content_policy"},
      {"400 No", R"({"error":{"message":"Your credit balance is too low to access the API"}})",
       Failure::kQuota, "provider_quota"},
      {"400 No", R"([{"error":{"message":"API key not valid.","status":"INVALID_ARGUMENT"}}])",
       Failure::kCredential, "provider_credential"},
      {"400 No", R"({"error":{"message":"input length and `max_tokens` exceed context limit"}})",
       Failure::kContextLength, "context_length_exceeded"},
      {"422 No", R"({"detail":"x"})", Failure::kRequest, "provider_refused"},
      {"413 No", "", Failure::kRequest, "provider_refused"},
      {"429 No", R"({"error":{"message":"slow"}})", Failure::kRateLimit, "provider_rate_limit"},
      {"429 No", R"({"error":{"code":"insufficient_quota"}})", Failure::kQuota, "provider_quota"},
      {"500 No", "", Failure::kOverload, "provider_unavailable"},
      {"503 No", "", Failure::kOverload, "provider_unavailable"},
      {"529 No", "", Failure::kOverload, "provider_unavailable"},
      {"302 Found", "", Failure::kBadAnswer, "bad_answer"},  // no redirect is followed
      {"418 No", "", Failure::kRequest, "provider_refused"},
  };
  for (const Row& row : rows) {
    const Asked asked = ask_script(
        {test::http_head(row.status, "application/json", "Retry-After: 2\r\nLocation: /else\r\n"),
         row.body});
    EXPECT_EQ(asked.report.failure, row.failure) << row.status << row.body;
    EXPECT_EQ(asked.report.retry_after_ms, 2000);
    ASSERT_TRUE(asked.whole.error) << row.status;
    EXPECT_EQ(asked.whole.error->id, row.id) << row.status;
    EXPECT_EQ(asked.whole.error->message.find(kCanary), std::string::npos);
  }
}

TEST_P(RemoteProvider, ErrorsInsideAStreamKeepTheTextBeforeThem) {
  const Asked asked =
      ask_script({test::sse_head(), chunk("Hi"), sse(R"({"error":{"type":"server_error"}})")});
  EXPECT_EQ(asked.whole.completion.text, "Hi");
  EXPECT_EQ(asked.report.failure, Failure::kOverload);
  const Asked cut = ask_script({test::sse_head(), chunk("Hi")});
  EXPECT_EQ(cut.whole.completion.text, "Hi");
  EXPECT_EQ(cut.report.failure, Failure::kNetwork);
  const Asked strange = ask_script({test::sse_head(), sse("{\"choices\":")});
  EXPECT_EQ(strange.report.failure, Failure::kBadAnswer);
}

TEST_P(RemoteProvider, AWholeAnswerInsteadOfAStreamIsReadToo) {
  const Asked asked =
      ask_script({test::http_head("200 OK", "application/json; charset=utf-8"),
                  R"({"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}],)",
                  R"("usage":{"prompt_tokens":1,"completion_tokens":1}})"});
  EXPECT_EQ(asked.whole.completion.text, "Hi");
  EXPECT_EQ(asked.whole.completion.usage.generated_tokens, 1);
}

// Of a captive portal, a proxy, or an endpoint without /v1.
TEST_P(RemoteProvider, APageInsteadOfAnAnswerIsNamedAndNotAskedForAgain) {
  for (const char* const kind : {"openai", "ollama"}) {
    const Asked page = ask_script({test::http_head("200 OK", "text/html; charset=utf-8"),
                                   "<html>Log in</html>"}, kind);
    EXPECT_EQ(page.report.failure, Failure::kBadAnswer);
    ASSERT_TRUE(page.whole.error);
    EXPECT_EQ(page.whole.error->message,
              "up: the answer is text/html, wanted is JSON or a stream of it");
    EXPECT_EQ(page.whole.error->hint, "check the provider's endpoint, most end in /v1");
  }
  const std::string head = test::http_head("404 No", "application/json");
  EXPECT_NE(ask_script({head, R"({"detail":"Not Found"})"}).whole.error->hint, "");
  EXPECT_EQ(ask_script({head, R"({"error":{"message":"no model"}})"}).whole.error->hint, "");
}

TEST_P(RemoteProvider, MissingUsageIsEstimatedAndSaysSo) {
  const Asked asked = ask_script({test::sse_head(), chunk("12345678", "stop"), sse("[DONE]")});
  EXPECT_TRUE(asked.report.is_usage_estimated);
  EXPECT_EQ(asked.whole.completion.usage.generated_tokens, 2);
  EXPECT_EQ(asked.report.answer_bytes, 8U);
}

TEST_P(RemoteProvider, UsageThatIsNoneIsEstimatedToo) {
  const auto estimated = [](std::string_view kind, const std::string& frame) {
    const Asked asked = ask_script({test::sse_head(), frame, sse("[DONE]")}, kind);
    EXPECT_EQ(asked.whole.completion.text, "12345678") << frame;
    if (asked.report.is_usage_estimated) {
      EXPECT_EQ(asked.whole.completion.usage.generated_tokens, 2) << frame;
    }
    return asked.report.is_usage_estimated;
  };
  const auto openai = [&](std::string_view usage) {
    return estimated("vllm", sse(cat(R"({"choices":[{"index":0,"delta":{"content":"12345678"},)",
                                     R"("finish_reason":"stop"}],"usage":)", usage, "}")));
  };
  for (const std::string_view wrong :
       {"{}", "null", "7", R"({"prompt_tokens":-1,"completion_tokens":3})",
        R"({"prompt_tokens":1,"completion_tokens":-3})", R"({"prompt_tokens":1})",
        R"({"prompt_tokens":1,"completion_tokens":4294967297})",
        R"({"prompt_tokens":1,"completion_tokens":"3"})",
        R"({"prompt_tokens":1,"completion_tokens":0.5})",
        R"({"prompt_tokens":1,"completion_tokens":0})",
        R"({"input_tokens":1,"output_tokens":3})"})
    EXPECT_TRUE(openai(wrong)) << wrong;
  EXPECT_FALSE(openai(R"({"prompt_tokens":1,"completion_tokens":3})"));
  EXPECT_FALSE(openai(R"({"prompt_tokens":1.0,"completion_tokens":3.0})"));
  const auto gemini = [&](std::string_view usage) {
    return estimated("gemini", sse(cat(R"({"candidates":[{"index":0,"content":{"parts":[{"text":)",
                                       R"("12345678"}]},"finishReason":"STOP"}],"usageMetadata":)",
                                       usage, "}")));
  };
  EXPECT_TRUE(gemini("{}"));
  EXPECT_TRUE(gemini(R"({"promptTokenCount":-1,"candidatesTokenCount":3})"));
  EXPECT_TRUE(gemini(R"({"promptTokenCount":1})"));
  EXPECT_FALSE(gemini(R"({"promptTokenCount":1,"candidatesTokenCount":3})"));
}

// An answer of 16 bytes; counts come before its end, or not at the end.
TEST_P(RemoteProvider, CountsOfAnAnswersBeginningAreNotThoseOfTheAnswer) {
  const auto is_estimated = [](std::string_view kind, std::vector<std::string> frames) {
    frames.insert(frames.begin(), test::sse_head());
    const Asked asked = ask_script(std::move(frames), kind);
    EXPECT_EQ(asked.whole.completion.text, "12345678 and so") << kind;
    if (asked.report.is_usage_estimated) {
      EXPECT_EQ(asked.whole.completion.usage.generated_tokens, 4) << kind;
    }
    return asked.report.is_usage_estimated;
  };
  const std::string early =
      sse(R"({"choices":[{"index":0,"delta":{"content":"12345678"}}],)"
          R"("usage":{"prompt_tokens":9,"completion_tokens":2}})");
  const std::string last = sse(R"({"usage":{"prompt_tokens":9,"completion_tokens":4}})");
  EXPECT_TRUE(is_estimated("vllm", {early, chunk(" and so", "stop"), sse("[DONE]")}));
  EXPECT_FALSE(is_estimated("vllm", {early, chunk(" and so", "stop"), last, sse("[DONE]")}));

  const auto gemini = [](std::string_view text, std::string_view more) {
    return sse(cat(R"({"candidates":[{"index":0,"content":{"parts":[{"text":")", text, "\"}]}",
                   more, "}"));
  };
  const std::string first = gemini("12345678", R"(}],"usageMetadata":{"promptTokenCount":9,)"
                                               R"("candidatesTokenCount":2})");
  const std::string end = R"(,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,)";
  EXPECT_TRUE(is_estimated("gemini", {first, gemini(" and so", R"(,"finishReason":"STOP"}])")}));
  EXPECT_TRUE(is_estimated(
      "gemini", {first, gemini(" and so", cat(end, R"("thoughtsTokenCount":9})"))}));
  EXPECT_FALSE(is_estimated(
      "gemini", {first, gemini(" and so", cat(end, R"("candidatesTokenCount":4})"))}));

  const auto anthropic = [&](std::string_view delta) {
    const auto text = [](std::string_view its) {
      return sse(cat(R"({"type":"content_block_delta","index":0,"delta":{"text":")", its, "\"}}"));
    };
    return is_estimated(
        "anthropic", {sse(R"({"type":"message_start","message":{"usage":{"input_tokens":9,)"
                          R"("output_tokens":1}}})"),
                      text("12345678"), text(" and so"),
                      sse(cat(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"})",
                              delta, "}")),
                      sse(R"({"type":"message_stop"})")});
  };
  EXPECT_TRUE(anthropic(""));
  EXPECT_TRUE(anthropic(R"(,"usage":{"output_tokens":"4"})"));
  EXPECT_TRUE(anthropic(R"(,"usage":{"output_tokens":-4})"));
  EXPECT_FALSE(anthropic(R"(,"usage":{"output_tokens":4})"));
}

TEST_P(RemoteProvider, CountsThatContradictEachOtherAreTheLargerOnes) {
  const auto counts = [](std::string_view kind, std::vector<std::string> frames) {
    frames.insert(frames.begin(), test::sse_head());
    const Usage usage = ask_script(std::move(frames), kind).whole.completion.usage;
    return std::pair(usage.prompt_tokens, usage.generated_tokens);
  };
  const auto openai = [&](std::string_view more) {
    return counts("vllm", {chunk("a", "stop"), sse(cat(R"({"usage":{"prompt_tokens":9,)",
                                                       R"("completion_tokens":2)", more, "}}"))});
  };
  EXPECT_EQ(openai(R"(,"completion_tokens_details":{"reasoning_tokens":2})"), std::pair(9, 2));
  EXPECT_EQ(openai(R"(,"completion_tokens_details":{"reasoning_tokens":50})"), std::pair(9, 52));
  EXPECT_EQ(openai(R"(,"total_tokens":61)"), std::pair(9, 52));
  EXPECT_EQ(openai(R"(,"total_tokens":5)"), std::pair(9, 2));
  const auto gemini = [&](std::string_view more) {
    return counts("gemini", {sse(cat(
        R"({"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],)",
        R"("usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2)", more, "}}"))});
  };
  EXPECT_EQ(gemini(R"(,"thoughtsTokenCount":3,"totalTokenCount":14)"), std::pair(9, 5));
  EXPECT_EQ(gemini(R"(,"totalTokenCount":61)"), std::pair(9, 52));
  // Proxies repeat the counts of the prompt as 0.
  const auto anthropic = [&](std::string_view begin, std::string_view end) {
    return counts(
        "anthropic",
        {sse(cat(R"({"type":"message_start","message":{"usage":{)", begin, "}}}")),
         sse(R"({"type":"content_block_delta","index":0,"delta":{"text":"a"}})"),
         sse(cat(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{)", end,
                 "}}")),
         sse(R"({"type":"message_stop"})")});
  };
  EXPECT_EQ(anthropic(R"("input_tokens":9)", R"("input_tokens":0,"output_tokens":2)"),
            std::pair(9, 2));
  EXPECT_EQ(anthropic(R"("input_tokens":1)",
                      R"("input_tokens":4,"cache_read_input_tokens":5,"output_tokens":2)"),
            std::pair(9, 2));
  // A sum of two billions and two billions is no number of tokens.
  EXPECT_GE(anthropic(R"("input_tokens":2000000000,"cache_read_input_tokens":2000000000)",
                      R"("output_tokens":2)").first, 0);
}

// Some servers keep the connection open and send no [DONE].
TEST_P(RemoteProvider, AnAnswerWithItsUsageIsOver) {
  test::ScriptedUpstream open(
      {{.bytes = {test::sse_head(), chunk("a", "stop"),
                  sse(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}})")},
        .stays_open = true}});
  const std::int64_t begin = monotonic_ns();
  const Asked asked = ask_it(*make_remote_provider(endpoint("vllm", open.url()), transfers()));
  EXPECT_LT(monotonic_ns() - begin, std::int64_t{2'000'000'000});
  EXPECT_EQ(asked.whole.completion.finish, FinishReason::kEos);
  EXPECT_EQ(asked.whole.completion.usage.prompt_tokens, 9);
}

TEST_P(RemoteProvider, CountsBeforeTheEndAreNotTheLastOnes) {
  const auto usage = [](int tokens) {
    return sse(cat(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":)", tokens,
                   "}}"));
  };
  const Asked asked = ask_script(
      {test::sse_head(), usage(1), chunk("abc", "stop"), usage(700), sse("[DONE]")});
  EXPECT_EQ(asked.whole.completion.usage.generated_tokens, 700);
}

// A server that begins its stream before cannot send the status of a refusal any more.
TEST_P(RemoteProvider, IsAcceptedOnceTheStreamHasBegun) {
  test::ScriptedUpstream upstream(
      {{.bytes = {test::sse_head(), ": working\n\n"}, .stays_open = true},
       {.bytes = {test::http_head("429 No", "application/json"), "{}"}}});
  const auto provider = make_remote_provider(endpoint("vllm", upstream.url()), transfers());
  const auto begun = *provider->start({.model = "m", .prompt = hello()});
  for (int i = 0; i < 5000 && !begun->is_accepted(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(begun->is_accepted());
  const auto refused = *provider->start({.model = "m", .prompt = hello()});
  EXPECT_TRUE(read_all(*refused).error);
  EXPECT_FALSE(refused->is_accepted());
}

TEST_P(RemoteProvider, LimitsEndWhatHangs) {
  test::ScriptedUpstream silent(
      {{.bytes = {test::sse_head(), ": working\n\n"}, .stays_open = true}});
  Endpoint slow = endpoint("vllm", silent.url());
  slow.first_token_ms = 100;
  const std::int64_t begin = monotonic_ns();
  EXPECT_EQ(ask_it(*make_remote_provider(slow, transfers())).report.failure, Failure::kTimeout);
  EXPECT_LT(monotonic_ns() - begin, std::int64_t{2'000'000'000});
  test::ScriptedUpstream idle({{.bytes = {test::sse_head(), chunk("a")}, .stays_open = true}});
  Endpoint stuck = endpoint("vllm", idle.url());
  stuck.idle_ms = 100;
  const Asked asked = ask_it(*make_remote_provider(stuck, transfers()));
  EXPECT_EQ(asked.whole.completion.text, "a");
  EXPECT_EQ(asked.report.failure, Failure::kTimeout);
  const Asked limited = ask_it(*make_remote_provider(endpoint("vllm", idle.url()), transfers()),
                               {.time_limit_ms = 100});
  ASSERT_TRUE(limited.whole.error);
  EXPECT_EQ(limited.whole.error->id, "time_limit");
}

TEST_P(RemoteProvider, CancelClosesTheConnection) {
  test::ScriptedUpstream upstream({{.bytes = {test::sse_head(), chunk("a")}, .stays_open = true}});
  const auto provider = make_remote_provider(endpoint("vllm", upstream.url()), transfers());
  auto answer = provider->start({.model = "m", .prompt = hello()});
  ASSERT_TRUE(answer);
  ASSERT_TRUE((*answer)->wait());
  (*answer)->cancel();
  EXPECT_EQ(read_all(**answer).completion.finish, FinishReason::kCancelled);
  for (int i = 0; i < 500 && upstream.n_left() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(upstream.n_left(), 1);
}

TEST_P(RemoteProvider, ASlowReaderPausesTheConnectionAndLosesNothing) {
  std::vector<std::string> bytes = {test::sse_head()};
  const std::string piece(4000, 'x');
  for (int i = 0; i < 500; ++i)
    bytes.push_back(chunk(piece));
  bytes.push_back(chunk("end", "stop") + sse("[DONE]"));
  test::ScriptedUpstream upstream({{.bytes = std::move(bytes)}});
  const auto provider = make_remote_provider(endpoint("vllm", upstream.url()), transfers());
  auto answer = provider->start({.model = "m", .prompt = hello()});
  ASSERT_TRUE(answer);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(read_all(**answer).completion.text.size(), 500 * piece.size() + 3);
}

TEST_P(HostileUpstream, AnEndlessLineAndAnEndlessErrorEnd) {
  std::vector<std::string> bytes = {test::sse_head()};
  for (int i = 0; i < 40; ++i)
    bytes.emplace_back(64 << 10, 'a');
  EXPECT_EQ(ask_script(bytes).report.failure, Failure::kBadAnswer);
  bytes.front() = test::http_head("500 No", "text/plain");
  EXPECT_EQ(ask_script(bytes).report.failure, Failure::kOverload);
}

// 'a' again and again: 13 bits of deflate's fixed codes for each 258 bytes.
std::string gzip_bomb(std::size_t n_bytes) {
  std::string out("\x1F\x8B\x08\0\0\0\0\0\0\x03", 10);
  unsigned byte = 0;
  int n_bits = 0;
  const auto put = [&](unsigned bit) {
    byte |= bit << static_cast<unsigned>(n_bits);
    if (++n_bits < 8) return;
    out += static_cast<char>(byte);
    byte = 0;
    n_bits = 0;
  };
  const auto put_code = [&](unsigned code, int length) {  // codes begin with their highest bit
    for (int i = length - 1; i >= 0; --i)
      put(code >> static_cast<unsigned>(i) & 1U);
  };
  for (const unsigned bit : {1U, 1U, 0U})  // the last block, of fixed codes
    put(bit);
  put_code(0x30 + 'a', 8);
  for (std::size_t n = 0; n < n_bytes; n += 258) {
    put_code(0xC5, 8);  // 258 bytes
    put_code(0, 5);     // from one byte before
  }
  return out;
}

TEST_P(HostileUpstream, ACompressedLineWithoutEndIsRefused) {
  const std::string bomb = gzip_bomb(std::size_t{64} << 20);
  ASSERT_LT(bomb.size(), 512U << 10);
  for (const char* const type : {"text/event-stream", "application/json"}) {
    const Asked asked =
        ask_script({test::http_head("200 OK", type, "Content-Encoding: gzip\r\n"), bomb});
    EXPECT_EQ(asked.report.failure, Failure::kBadAnswer) << type;
    ASSERT_TRUE(asked.whole.error);
    const char* const why = has_only_curl ? "longer than" : "compressed";
    EXPECT_NE(asked.whole.error->message.find(why), std::string::npos);
  }
}

TEST_P(HostileUpstream, NoAddressButThoseOfTheEndpointIsConnectedTo) {
  test::ScriptedUpstream upstream({{.bytes = {test::sse_head()}}});
  Endpoint made{
      .name = "up", .kind = *find_kind("vllm"), .url = upstream.url(), .is_private = true};
  made.url.replace(made.url.find("127.0.0.1"), 9, "[::ffff:127.0.0.1]");  // loopback all the same
  EXPECT_TRUE(complete(made));
  for (const char* const url :
       {"http://169.254.169.254/v1", "http://[fe80::1]/", "http://0.0.0.0:1/", "ftp://a/",
        "http://example.com/v1", "https://user:pw@example.com/", "https://example.com/?a=1"}) {
    made.url = url;
    made.is_private = false;
    EXPECT_FALSE(complete(made)) << url;
  }
  // A name that leads to loopback, though its owner said that it leads elsewhere.
  TransferRequest request{.url = upstream.url(), .endpoint = AddressKind::kPublic};
  const auto answer = make_remote_provider(endpoint("vllm", upstream.url()), transfers());

  class Sink final : public TransferSink {
   public:
    void head(TransferHead) override { ADD_FAILURE() << "connected"; }

    TransferTake body(std::string_view) override { return TransferTake::kProgress; }

    void end(std::optional<Error> error) override {
      id = error ? error->id : "none";
      is_over = true;
      is_over.notify_one();
    }

    std::string id;
    std::atomic<bool> is_over = false;
  };

  const auto sink = std::make_shared<Sink>();
  ASSERT_TRUE(transfers()->start(request, sink));
  sink->is_over.wait(false);
  EXPECT_EQ(sink->id, "address_refused");
  EXPECT_TRUE(upstream.requests().empty());
}

TEST_P(RemoteProvider, EmbeddingsAndModels) {
  test::ScriptedUpstream upstream(
      {{.bytes = {test::http_head("200 OK", "application/json"),
                  R"({"data":[{"embedding":[1,0.5]},{"embedding":[0,2]}],)",
                  R"("usage":{"prompt_tokens":4}})"}},
       {.bytes = {test::http_head("200 OK", "application/json"),
                  R"({"object":"list","data":[{"id":"a"},{"id":"b"}]})"}}});
  const auto provider = make_remote_provider(endpoint("vllm", upstream.url("/v1")), transfers());
  const std::vector<std::string> texts = {"x", "y"};
  const auto embedded = provider->embed({.model = "m", .texts = texts});
  ASSERT_TRUE(embedded) << embedded.error().message;
  EXPECT_EQ(embedded->at(0).values, (std::vector<float>{1, 0.5F}));
  const auto ranked = provider->embed({.model = "m", .texts = texts, .options = {.query = "q"}});
  EXPECT_EQ(ranked.error().id, "not_supported") << "vectors are no scores";
  const auto models = provider->models();
  ASSERT_TRUE(models);
  EXPECT_EQ(models->at(1).name, "b");
}

struct EmbedRow {
  const char* kind;
  std::vector<std::string> parts;  // of the request
  const char* answer;
  int tokens;
};

// As the references of the APIs show them.
TEST_P(RemoteProvider, EmbeddingsOfEachDialect) {
  const char* const openai = R"({"object":"list","data":[
      {"object":"embedding","index":1,"embedding":[0.25,-2]},
      {"object":"embedding","index":0,"embedding":[1,0.5]}],
      "model":"text-embedding-3-small","usage":{"prompt_tokens":4,"total_tokens":4}})";
  const char* const body = R"("input": ["x", "y"])";
  const EmbedRow rows[] = {
      {"openai",
       {"POST /embeddings ", "Authorization: Bearer sk-", body, R"("dimensions": 2)"},
       openai,
       4},
      {"azure",
       {"POST /openai/deployments/m/embeddings?api-version=2024-10-21 ", "api-key: sk-", body,
        R"("dimensions": 2)"},
       openai,
       4},
      {"gemini",
       {"POST /models/m:batchEmbedContents ", "x-goog-api-key: sk-",
        R"({"model": "models/m", "content": {"parts": [{"text": "x"}]}, )"
        R"("outputDimensionality": 2})"},
       R"({"embeddings":[{"values":[1,0.5]},{"values":[0.25,-2]}],
           "usageMetadata":{"promptTokenCount":4}})",
       4},
      {"gemini",
       {R"({"text": "y"})"},
       R"({"embeddings":[{"values":[1,0.5]},{"values":[0.25,-2]}]})",
       0},
      {"ollama",
       {"POST /embed ", R"("model": "m")", body, R"("dimensions": 2)"},
       R"({"model":"m","embeddings":[[1,0.5],[0.25,-2]],"total_duration":14143917,
           "load_duration":1019500,"prompt_eval_count":4})",
       4},
  };
  const std::vector<std::string> texts = {"x", "y"};
  for (const EmbedRow& row : rows) {
    SCOPED_TRACE(row.kind);
    test::ScriptedUpstream upstream(
        {{.bytes = {test::http_head("200 OK", "application/json"), row.answer}}});
    const auto provider = make_remote_provider(endpoint(row.kind, upstream.url()), transfers());
    AnswerReport report;
    const auto embedded = provider->embed({.model = "m",
                                           .texts = texts,
                                           .options = {.pooling = "mean"},
                                           .dimensions = 2,
                                           .remote_fields = {{"verbosity", "1"}},
                                           .report = &report});
    ASSERT_TRUE(embedded) << to_string(embedded.error());
    EXPECT_EQ(report.ignored.front(), "pooling");
    EXPECT_EQ(report.ignored.size(), std::string_view(row.kind) == "openai" ? 1U : 2U);
    EXPECT_EQ(embedded->at(0).values, (std::vector<float>{1, 0.5F}));
    EXPECT_EQ(embedded->at(1).values, (std::vector<float>{0.25F, -2}));
    EXPECT_EQ(embedded->at(0).tokens + embedded->at(1).tokens, row.tokens);
    const std::string request = upstream.requests().at(0);
    for (const std::string& part : row.parts)
      EXPECT_NE(request.find(part), std::string::npos) << part << "\n" << request;
  }
  const auto anthropic =
      make_remote_provider(endpoint("anthropic", "http://127.0.0.1:9"), transfers());
  EXPECT_EQ(anthropic->embed({.model = "m", .texts = texts}).error().id, "not_supported");
}

std::string gemini_embeddings(int n) {
  std::string out = R"({"usageMetadata":{"promptTokenCount":7},"embeddings":[)";
  for (int i = 0; i < n; ++i)
    out += cat(i == 0 ? "" : ",", R"({"values":[)", i, "]}");
  return out + "]}";
}

// Gemini takes at most 100 texts.
TEST_P(RemoteProvider, MoreTextsThanTheApiTakesAreSentInSeveralRequests) {
  const std::string head = test::http_head("200 OK", "application/json");
  const std::vector<std::string> texts(201, "x");
  test::ScriptedUpstream upstream({{.bytes = {head, gemini_embeddings(100)}},
                                   {.bytes = {head, gemini_embeddings(100)}},
                                   {.bytes = {head, gemini_embeddings(1)}}});
  const auto embedded = make_remote_provider(endpoint("gemini", upstream.url()), transfers())
                            ->embed({.model = "m", .texts = texts});
  ASSERT_TRUE(embedded) << to_string(embedded.error());
  ASSERT_EQ(embedded->size(), 201U);
  EXPECT_EQ(embedded->at(199).values, std::vector<float>{99});
  EXPECT_EQ(embedded->at(0).tokens + embedded->at(100).tokens + embedded->at(200).tokens, 21);
  EXPECT_EQ(upstream.requests().size(), 3U);
  test::ScriptedUpstream broken({{.bytes = {head, gemini_embeddings(100)}},
                                 {.bytes = {test::http_head("429 No", "application/json",
                                                            "Retry-After: 2\r\n")}}});
  AnswerReport report;
  const auto provider = make_remote_provider(endpoint("gemini", broken.url()), transfers());
  EXPECT_EQ(provider->embed({.model = "m", .texts = texts, .report = &report}).error().id,
            "provider_rate_limit");
  EXPECT_EQ(report.failure, Failure::kRateLimit);
  EXPECT_EQ(report.retry_after_ms, 2000);
  EXPECT_EQ(report.status, 0) << "not 429, which costs nothing: 100 texts may be billed";
  const std::vector<std::string> one = {"x"};
  EXPECT_FALSE(provider->embed({.model = "m", .texts = one, .report = &report}));
  EXPECT_EQ(report.status, 429);
}

TEST_P(RemoteProvider, RefusesWhatItCannotSend) {
  const auto provider =
      make_remote_provider(endpoint("anthropic", "http://127.0.0.1:9"), transfers());
  EXPECT_EQ(provider->start({.model = "m", .prompt = std::vector<TokenId>{1}}).error().id,
            "not_supported");
  EXPECT_EQ(provider->start({.model = "..", .prompt = hello()}).error().id, "model_not_found");
  Endpoint keyless = endpoint("openai", "http://127.0.0.1:9");
  keyless.no_key = "the environment has no OPENAI_API_KEY";
  EXPECT_EQ(make_remote_provider(keyless, transfers())
                ->start({.model = "m", .prompt = hello()})
                .error()
                .id,
            "no_key");
  const Asked dead =
      ask_it(*make_remote_provider(endpoint("vllm", "http://127.0.0.1:9"), transfers()));
  EXPECT_EQ(dead.report.failure, Failure::kNetwork);
}

}  // namespace

}  // namespace wick::remote
