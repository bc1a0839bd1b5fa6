#include "server/traces.h"

#include <gtest/gtest.h>

#include <set>

#include "chat/json_value.h"
#include "server/server_fixture_test.h"
#include "support/scripted_provider.h"

namespace wick::server {
namespace {

using namespace test;

constexpr std::string_view kTrace = "0af7651916cd43dd8448eb211c80319c",
                           kParent = "b7ad6b7169203331";

TEST(ServerTraces, ReadTheParentAsW3cWritesIt) {
  const TraceParent parent = parse_trace_parent(cat("00-", kTrace, "-", kParent, "-01"));
  EXPECT_EQ(parent.trace_id, kTrace);
  EXPECT_EQ(parent.span_id, kParent);
  EXPECT_TRUE(parent.is_sampled);
  EXPECT_FALSE(parse_trace_parent(cat("00-", kTrace, "-", kParent, "-00")).is_sampled);
  EXPECT_EQ(parse_trace_parent(cat("cc-", kTrace, "-", kParent, "-01-what-comes")).trace_id,
            kTrace);
  const std::string zeros(32, '0');
  for (const std::string& bad :
       {std::string(), cat("00-", kTrace, "-", kParent, "-0"),
        cat("ff-", kTrace, "-", kParent, "-01"), cat("00-", kTrace, "-", kParent, "-01-more"),
        cat("00-", zeros, "-", kParent, "-01"), cat("00-", kTrace, "-", zeros.substr(16), "-01"),
        cat("00_", kTrace, "-", kParent, "-01"), cat("00-", kTrace, "-", kParent, "-0x"),
        cat("00-", "0AF7651916CD43DD8448EB211C80319C-", kParent, "-01")}) {
    EXPECT_EQ(parse_trace_parent(bad).trace_id, "") << bad;
    EXPECT_TRUE(parse_trace_parent(bad).is_sampled) << bad;
  }
}

TEST(ServerTraces, AreWrittenAsOtlpsJson) {
  const std::vector<Span> spans = {
      {.parent = parse_trace_parent(cat("00-", kTrace, "-", kParent, "-01")),
       .request_id = "req-1",
       .model = "m",
       .operation = "chat",
       .begin_ns = 1'700'000'000'000'000'001,
       .end_ns = 1'700'000'000'500'000'000,
       .finish = "stop",
       .usage = {.prompt_tokens = 7, .generated_tokens = 9}},
      {.model = "m", .operation = "chat", .error = "cancelled"}};
  const auto parsed = parse_json(otlp_json(spans, "1.2"));
  ASSERT_TRUE(parsed);
  const std::string all = "resourceSpans.0.scopeSpans.0.spans.";
  EXPECT_EQ(text_of(*parsed, all + "0.traceId"), kTrace);
  EXPECT_EQ(text_of(*parsed, all + "0.parentSpanId"), kParent);
  EXPECT_EQ(text_of(*parsed, all + "0.name"), "chat m");
  EXPECT_EQ(text_of(*parsed, all + "0.startTimeUnixNano"), "1700000000000000001");
  EXPECT_EQ(text_of(*parsed, all + "0.attributes.4.key"), "gen_ai.usage.input_tokens");
  EXPECT_EQ(text_of(*parsed, all + "0.attributes.4.value.intValue"), "7");
  EXPECT_EQ(text_of(*parsed, all + "1.traceId").size(), 32U);
  EXPECT_EQ(text_of(*parsed, all + "1.status.code"), "2");
  EXPECT_NE(text_of(*parsed, all + "0.spanId"), text_of(*parsed, all + "1.spanId"));
  EXPECT_EQ(text_of(*parsed, "resourceSpans.0.resource.attributes.1.value.stringValue"), "1.2");
}

TEST(ServerTraces, NeverHoldAnAnswerUp) {
  // Nothing listens on port 1; all spans are counted as dropped in the end, and most at once.
  auto traces = Traces::start("http://127.0.0.1:1", "1");
  ASSERT_TRUE(traces);
  for (int i = 0; i < 3000; ++i)
    (*traces)->add({.model = "m", .operation = "chat"});
  EXPECT_GE((*traces)->dropped(), 3000U - 2048U);
  EXPECT_FALSE(Traces::start("ftp://x", "1"));
}

}  // namespace
}  // namespace wick::server
