// Status routes, and estimates of requests.
#include <gtest/gtest.h>

#include "server/counters.h"
#include "server/server_fixture_test.h"
#include "support/scripted_provider.h"

namespace wick::server {
namespace {

using namespace test;

constexpr std::string_view kTalk = R"("messages":[{"role":"user","content":"Hi"}])";

TEST(ServerStatus, HealthIsNotReadiness) {
  bool is_ready = true;
  Server server(always({}), {.version = "1", .is_ready = [&] { return is_ready; }});
  EXPECT_EQ(server.call("GET", "/health").body, R"({"status":"ok"})");
  EXPECT_EQ(server.call("GET", "/ready").status, 200);
  is_ready = false;
  EXPECT_EQ(server.call("GET", "/health").status, 200);
  EXPECT_EQ(server.call("GET", "/ready").status, 503);
}

TEST(ServerStatus, PropsAndSlotsHaveLlamaCppsShapes) {
  const auto provider = always({});
  provider->numbers.slots = 3;
  provider->numbers.running = 1;
  Server server(provider);
  const JsonValue json = server.call("GET", "/props").json();
  EXPECT_EQ(text_of(json, "default_generation_settings.n_ctx"), "256");
  EXPECT_EQ(text_of(json, "total_slots"), "3");
  EXPECT_EQ(text_of(json, "model_alias"), "tiny");
  EXPECT_EQ(server.call("GET", "/slots?model=tiny").body,
            R"([{"id":0,"n_ctx":256,"is_processing":true},)"
            R"({"id":1,"n_ctx":256,"is_processing":false},)"
            R"({"id":2,"n_ctx":256,"is_processing":false}])");
  EXPECT_EQ(server.call("GET", "/slots?x=1&model=nope").status, 404);
}

TEST(ServerStatus, ARefusalSaysWhenByThePaceOfAnswers) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  Pace pace;
  pace.begin(30, kSecond);
  EXPECT_EQ(pace.seconds_of_backlog(kSecond), 1);  // nothing has ended
  for (int i = 0; i < 10; ++i)
    pace.end(kSecond + i * kSecond / 2);
  EXPECT_EQ(pace.under_way(), 20);
  EXPECT_EQ(pace.seconds_of_backlog(6 * kSecond), 10);  // 10 in 5 s
  EXPECT_EQ(pace.seconds_of_backlog(12 * kSecond), 22);
  EXPECT_EQ(pace.seconds_of_backlog(31 * kSecond), 60) << "10 in 30 s: they have become slower";
  pace.begin(100000, 61 * kSecond);
  pace.end(61 * kSecond);
  EXPECT_EQ(pace.seconds_of_backlog(62 * kSecond), 120);
}

TEST(ServerStatus, IdleTimeSaysNothingOfThePaceOfAnswers) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  for (const std::int64_t idle : {1, 30, 3600, 1'000'000}) {
    Pace pace;
    std::int64_t now = 5 * kSecond;
    for (int i = 0; i < 60; ++i) {  // two a second, one behind another
      pace.begin(1, now);
      now += kSecond / 2;
      pace.end(now);
    }
    EXPECT_EQ(pace.seconds_of_backlog(now), 1);
    now += idle * kSecond;
    pace.begin(41, now);
    pace.end(now + kSecond / 2);
    EXPECT_EQ(pace.seconds_of_backlog(now + kSecond / 2), 20) << "after " << idle << " s";
    pace.drop(20, now + kSecond / 2);
    EXPECT_EQ(pace.seconds_of_backlog(now + kSecond / 2), 10) << "clients left";
  }
}

std::string line(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name);
  if (at == std::string::npos) return "no " + name;
  return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

TEST(ServerMetrics, CountWhatTheProviderAndTheRoutesCount) {
  const auto provider = always(wick::test::remote_script("text"));
  provider->numbers = {.running = 2,
                       .waiting = 3,
                       .requests = 7,
                       .prompt_tokens = 100,
                       .cached_tokens = 40,
                       .cache_blocks = 8,
                       .free_blocks = 2};
  provider->numbers.ttft_ms.counts[0] = 1;
  provider->numbers.ttft_ms.counts[14] = 2;
  provider->numbers.ttft_ms.sum_ms = 150000;
  Server server(provider);
  server.post("/v1/chat/completions", cat("{", kTalk, "}"));
  server.post("/v1/chat/completions", "{}");
  const Got got = server.call("GET", "/metrics");
  EXPECT_EQ(got.type, "text/plain; version=0.0.4; charset=utf-8");
  const std::string& text = got.body;
  EXPECT_EQ(line(text, "wick_requests_running{"), R"(wick_requests_running{model="tiny"} 2)");
  EXPECT_EQ(line(text, "wick_cache_usage_ratio{"), R"(wick_cache_usage_ratio{model="tiny"} 0.75)");
  EXPECT_EQ(line(text, "wick_time_to_first_token_seconds_count{"),
            R"(wick_time_to_first_token_seconds_count{model="tiny"} 3)");
  EXPECT_EQ(line(text, R"(wick_time_to_first_token_seconds_bucket{model="tiny",le="60"})"),
            R"(wick_time_to_first_token_seconds_bucket{model="tiny",le="60"} 1)");
  EXPECT_EQ(line(text, "wick_time_to_first_token_seconds_sum{"),
            R"(wick_time_to_first_token_seconds_sum{model="tiny"} 150)");
  EXPECT_EQ(line(text, R"(wick_answers_total{finish_reason="stop"})"),
            R"(wick_answers_total{finish_reason="stop"} 1)");
  EXPECT_EQ(line(text, R"(wick_refusals_total{reason="request"})"),
            R"(wick_refusals_total{reason="request"} 1)");
  EXPECT_EQ(line(text, "wick_prefill_time_seconds_count"), "wick_prefill_time_seconds_count 1");
  EXPECT_EQ(line(text, "wick_answers_under_way"), "wick_answers_under_way 0");
  EXPECT_EQ(text.find("vllm:"), std::string::npos);
}

TEST(ServerMetrics, TellWhatTheTransportCounts) {
  http::Counters counts;
  counts.open = 3;
  counts.sent_bytes = 1000;
  const http::Counters* now = nullptr;
  Server server(always({}), {.version = "1", .transport = [&now] { return now; }});
  EXPECT_EQ(server.call("GET", "/metrics").body.find("wick_http_"), std::string::npos);
  now = &counts;
  const std::string text = server.call("GET", "/metrics").body;
  EXPECT_EQ(line(text, "wick_http_connections_open"), "wick_http_connections_open 3");
  EXPECT_EQ(line(text, "wick_http_sent_bytes_total"), "wick_http_sent_bytes_total 1000");
}

TEST(ServerMetrics, HaveVllmsNamesIfWanted) {
  Server server(always({}), {.version = "1", .has_vllm_metrics = true});
  const std::string text = server.call("GET", "/metrics").body;
  for (const char* const name :
       {"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc",
        "prefix_cache_queries_total", "prefix_cache_hits_total", "prompt_tokens_total",
        "generation_tokens_total", "request_success_total", "time_to_first_token_seconds",
        "inter_token_latency_seconds", "e2e_request_latency_seconds", "request_queue_time_seconds",
        "request_prefill_time_seconds", "request_decode_time_seconds"}) {
    EXPECT_NE(text.find(cat("# TYPE vllm:", name, " ")), std::string::npos) << name;
  }
}

struct Tokens {
  std::shared_ptr<MadeProvider> provider = always({});
  Server server{provider};

  std::string of(std::string_view path, std::string_view body) {
    return server.post(path, body).body;
  }
};

TEST(ServerTokens, TokenizeATextAPromptOrAConversation) {
  Tokens t;
  EXPECT_EQ(t.of("/tokenize", R"({"content":"ab"})"), R"({"tokens":[97,98],"count":2})");
  EXPECT_EQ(t.of("/tokenize", R"({"content":"ab","add_special":true})"),
            R"({"tokens":[259,97,98],"count":3})");
  EXPECT_EQ(t.of("/tokenize", R"({"prompt":"ab"})"), R"({"tokens":[259,97,98],"count":3})");
  EXPECT_EQ(t.of("/tokenize", R"({"prompt":"ab","add_special_tokens":false})"),
            R"({"tokens":[97,98],"count":2})");
  EXPECT_EQ(t.of("/tokenize", R"({"content":"ab","with_pieces":true})"),
            R"({"tokens":[{"id":97,"piece":"a"},{"id":98,"piece":"b"}],"count":2})");
  EXPECT_EQ(t.server.post("/tokenize", cat("{", kTalk, "}")).status, 200);
  EXPECT_EQ(t.server.post("/tokenize", "{}").status, 400);
  EXPECT_EQ(text_of(t.server.post("/tokenize", R"({"content":"a","parse_special":true})").json(),
                    "error.code"),
            "parse_special_unsupported");
}

TEST(ServerTokens, DetokenizeAndApplyTheTemplate) {
  Tokens t;
  EXPECT_EQ(t.of("/detokenize", R"({"tokens":[97,98]})"), R"({"content":"ab","prompt":"ab"})");
  EXPECT_EQ(t.server.post("/detokenize", "{}").status, 400);
  EXPECT_EQ(t.server.post("/detokenize", R"({"tokens":[1000]})").status, 400);
  EXPECT_EQ(t.of("/apply-template", cat("{", kTalk, "}")), R"({"prompt":"<user>Hi"})");
  EXPECT_EQ(t.server.post("/apply-template", "{}").status, 400);
}

TEST(ServerTokens, EstimateTellsWhatARequestWouldTake) {
  Tokens t;
  EXPECT_EQ(t.of("/v1/estimate", cat("{", kTalk, R"(,"max_tokens":9})")),
            R"({"object":"estimate","model":"tiny","prompt_tokens":12,"cached_tokens":5,)"
            R"("max_tokens":100,"cache_miss":{"reason":"none","position":0},"blocks":7,)"
            R"("free_blocks":9,"cache_bytes":4096,"requests_before":2,"ttft_ms":12.5})");
  EXPECT_EQ(t.provider->seen.back().generation.max_tokens, 9);
  EXPECT_EQ(t.server.post("/v1/estimate", R"({"prompt":"x"})").status, 200);
  EXPECT_EQ(t.server.post("/v1/estimate", "{}").status, 400);
}

}  // namespace
}  // namespace wick::server
