#include "route/response_bytes.h"

#include <gtest/gtest.h>

#include "base/mix.h"

namespace wick::route {

namespace {

TokenLogprob token_of(int id) {
  return {.id = id, .bytes = "\xF0\x9F", .logprob = -0.1 * id};
}

CachedResponse response_of_every_event() {
  TokenLogprob token = token_of(7);
  token.top_logprobs = {token_of(7), token_of(1 << 30)};
  DoneEvent done{.finish = FinishReason::kToolCalls,
                 .usage = {.prompt_tokens = 11, .cached_tokens = 3, .generated_tokens = 5},
                 .parameters = {{"temperature", 0.25, "request"},
                                {"samplers", std::string("top_k"), "default"},
                                {"seed", std::uint64_t{0xFFFF'FFFF'FFFF'FFFF}, "request"}},
                 .prompt_logprobs = {token_of(2)}};
  done.usage.miss = {.reason = MissReason::kOff, .position = 4, .wanted = -1, .cached = 9};
  done.usage.queue_ms = 0.1;
  done.usage.generate_ms = 1e300;
  return {.events = {ReasoningEvent{"so"}, TextEvent{std::string("a\0b", 3)},
                     ToolCallEvent{.index = 1, .id = "c1", .name = "f"},
                     ArgumentsEvent{.index = 1, .text = "{}"}, LogprobsEvent{{token}},
                     UsageEvent{{.prompt_tokens = 2}}, std::move(done)},
          .report = {.provider = "openai",
                     .model = "m",
                     .failure = Failure::kBadAnswer,
                     .status = 200,
                     .is_usage_estimated = true,
                     .answer_bytes = 42,
                     .ignored = {"top_k", "min_p"}}};
}

TEST(ResponseBytes, EveryFieldOfEveryEventComesBack) {
  const std::string bytes = to_bytes(response_of_every_event());
  const auto read = from_bytes(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_bytes(*read), bytes);
  ASSERT_EQ(read->events.size(), 7U);
  EXPECT_EQ(std::get<TextEvent>(read->events[1]).text, std::string("a\0b", 3));
  EXPECT_EQ(std::get<ToolCallEvent>(read->events[2]).name, "f");
  EXPECT_EQ(std::get<LogprobsEvent>(read->events[4]).tokens[0].top_logprobs[1].id, 1 << 30);
  const auto& done = std::get<DoneEvent>(read->events[6]);
  EXPECT_EQ(done.finish, FinishReason::kToolCalls);
  EXPECT_EQ(done.usage.miss.wanted, -1);
  EXPECT_EQ(done.usage.generate_ms, 1e300);
  EXPECT_EQ(std::get<std::uint64_t>(done.parameters[2].value), 0xFFFF'FFFF'FFFF'FFFF);
  EXPECT_EQ(done.parameters[1].origin, "default");
  EXPECT_EQ(read->report.provider, "openai");
  EXPECT_EQ(read->report.retry_after_ms, -1);
  EXPECT_EQ(read->report.ignored, (std::vector<std::string>{"top_k", "min_p"}));
  EXPECT_TRUE(read->report.is_usage_estimated);
}

TEST(HostileResponseBytes, APartOfAnAnswerIsNone) {
  const std::string bytes = to_bytes(response_of_every_event());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(from_bytes(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(from_bytes(bytes + "x"));
  CachedResponse open = response_of_every_event();
  open.events.pop_back();
  EXPECT_FALSE(from_bytes(to_bytes(open))) << "without its end";
  open.events = {DoneEvent{}, DoneEvent{}};
  EXPECT_FALSE(from_bytes(to_bytes(open))) << "with two ends";
}

TEST(HostileResponseBytes, OtherBytesAreReadWithinTheirBounds) {
  const std::string bytes = to_bytes(response_of_every_event());
  int n_read = 0;
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    std::string other = bytes;
    for (std::uint64_t n = 0; n <= i % 3; ++n) {
      const std::uint64_t chance = splitmix64(i, n);
      other[chance % other.size()] = static_cast<char>(chance >> 32U);
    }
    if (const auto read = from_bytes(other)) {
      EXPECT_EQ(to_bytes(*read), other);
      ++n_read;
    }
  }
  EXPECT_GT(n_read, 1000);
  EXPECT_LT(n_read, 45'000);
  CachedResponse deep{.events = {LogprobsEvent{{token_of(1)}}, DoneEvent{}}};
  TokenLogprob* last = &std::get<LogprobsEvent>(deep.events[0]).tokens[0];
  for (int depth = 0; depth < 10'000; ++depth) {
    last->top_logprobs = {token_of(1)};
    last = &last->top_logprobs[0];
  }
  EXPECT_FALSE(from_bytes(to_bytes(std::move(deep))));
}

}  // namespace

}  // namespace wick::route
