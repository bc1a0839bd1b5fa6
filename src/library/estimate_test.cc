// What an estimate says, held against what the request then does.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "library/library_fixture_test.h"

namespace wick {
namespace {

TEST(LibraryPlan, SaysWhatTheAnswerThenReports) {
  const Fixture f;
  const std::string text(100, 'a');
  ASSERT_TRUE(f.model->complete(text, noise(1)));
  const std::string edited = text.substr(0, 70) + std::string(60, 'b');
  const auto estimate = f.model->estimate(edited, noise(2, 30));
  ASSERT_TRUE(estimate) << to_string(estimate.error());
  EXPECT_EQ(estimate->miss.reason, MissReason::kEdited);
  EXPECT_EQ(name(estimate->miss.reason), "edited");
  EXPECT_EQ(estimate->miss.position, 70);
  EXPECT_EQ(estimate->miss.wanted, 'b');
  EXPECT_EQ(estimate->miss.cached, 'a');
  EXPECT_EQ(estimate->max_tokens, 30);
  EXPECT_EQ(estimate->blocks, 10);  // of 16: 160 tokens
  EXPECT_EQ(estimate->cache_bytes % 10, 0U);
  EXPECT_GE(estimate->free_blocks, 1024 / 16);
  EXPECT_EQ(estimate->requests_before, 0);
  const auto answer = f.model->complete(edited, noise(2, 30));
  ASSERT_TRUE(answer);
  EXPECT_EQ(estimate->prompt_tokens, answer->usage.prompt_tokens);
  EXPECT_EQ(estimate->cached_tokens, answer->usage.cached_tokens);
  EXPECT_EQ(estimate->cached_tokens, 70);
}

TEST(LibraryPlan, OfAConversationGoesThroughTheTemplate) {
  const Fixture f;
  std::vector<Message> talk = {{.content = "hello"}};
  const auto first = f.model->estimate(talk);
  ASSERT_TRUE(first) << to_string(first.error());
  EXPECT_EQ(first->miss.reason, MissReason::kNeverSeen);
  EXPECT_EQ(first->prompt_tokens + first->max_tokens, 1024);
  const auto answer = f.model->chat(talk, noise(1));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->usage.prompt_tokens, first->prompt_tokens);
  const auto second = f.model->estimate(talk);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->miss.reason, MissReason::kNone);
  EXPECT_EQ(second->cached_tokens, second->prompt_tokens - 1);
}

TEST(LibraryPlan, OfASessionIsWhatItsNextQuestionThenReports) {
  const Fixture f;
  Session session = f.model->session("Be brief.");
  ASSERT_TRUE(session.say("one", noise(1)));
  const std::vector<Message> before = session.messages();
  const auto estimate = session.estimate("two", noise(2, 30));
  ASSERT_TRUE(estimate) << to_string(estimate.error());
  EXPECT_EQ(session.messages().size(), before.size());
  EXPECT_EQ(estimate->max_tokens, 30);
  EXPECT_GT(estimate->cached_tokens, 20);
  ASSERT_TRUE(estimate->ttft_ms);
  std::vector<Message> asked = before;
  asked.push_back({.content = "two"});
  EXPECT_EQ(f.model->estimate(asked)->prompt_tokens, estimate->prompt_tokens);
  const auto answer = session.say("two", noise(2, 30));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->usage.prompt_tokens, estimate->prompt_tokens);
  EXPECT_EQ(answer->usage.cached_tokens, estimate->cached_tokens);
}

TEST(LibraryPlan, OfASessionIsRefusedAsTheQuestionWouldBe) {
  const Fixture f({.context = 128});
  Session session = f.model->session();
  const auto id = [&](std::string_view text, const Generation& g) {
    const auto estimate = session.estimate(text, g);
    const auto answer = session.say(text, g);
    EXPECT_FALSE(estimate);
    EXPECT_FALSE(answer);
    if (estimate || answer) return std::string();
    EXPECT_EQ(estimate.error().message, answer.error().message);
    return estimate.error().id;
  };
  EXPECT_EQ(id(std::string(160, 'a'), noise(1)), "context_length_exceeded");
  EXPECT_EQ(id("a", {.top_logprobs = 2}), "bad_top_logprobs");
  EXPECT_EQ(id("a", {.min_p = 2}), "sampling_out_of_range");
  auto stream = session.stream("a", noise(1));
  ASSERT_TRUE(stream);
  EXPECT_EQ(id("b", noise(1)), "session_busy");
  ASSERT_TRUE(stream->finish());
  EXPECT_TRUE(session.estimate("b", noise(1)));
}

TEST(LibraryPlan, ComputesNothingAndHasNoTimeUntilSomethingRan) {
  const Fixture f;
  const std::string text(64, 'a');
  for (int i = 0; i < 2; ++i) {
    const auto estimate = f.model->estimate(text);
    ASSERT_TRUE(estimate);
    EXPECT_EQ(estimate->cached_tokens, 0);
    EXPECT_FALSE(estimate->ttft_ms);
  }
  ASSERT_TRUE(f.model->complete(text, noise(1)));
  const auto half = f.model->estimate(text + std::string(100, 'b')),
             whole = f.model->estimate(text + std::string(200, 'b'));
  ASSERT_TRUE(half && half->ttft_ms);
  ASSERT_TRUE(whole && whole->ttft_ms);
  EXPECT_GT(*half->ttft_ms, 0);
  EXPECT_DOUBLE_EQ(*whole->ttft_ms, 2 * *half->ttft_ms);  // only what is not cached counts
}

TEST(LibraryPlan, AScoredPromptReusesNothing) {
  const Fixture f;
  const std::string text(64, 'a');
  ASSERT_TRUE(f.model->complete(text, noise(1)));
  const auto estimate = f.model->estimate(text, {.prompt_logprobs = true});
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->miss.reason, MissReason::kOff);
  EXPECT_EQ(estimate->cached_tokens, 0);
  EXPECT_FALSE(estimate->ttft_ms);
}

TEST(LibraryPlan, RefusesWithTheNumbersWhatTheRequestWouldBeRefusedFor) {
  const Fixture f({.context = 64});
  const std::string text(80, 'a');
  const auto estimate = f.model->estimate(text, {.max_tokens = 5});
  const auto answer = f.model->complete(text, {.max_tokens = 5});
  ASSERT_FALSE(estimate);
  ASSERT_FALSE(answer);
  EXPECT_EQ(estimate.error().id, "context_length_exceeded");
  EXPECT_EQ(estimate.error().message, "prompt 80 + max 5 > context 64 tokens");
  EXPECT_EQ(estimate.error().message, answer.error().message);
  EXPECT_EQ(f.model->estimate("a", {.min_p = 2}).error().message, "min_p is 2, allowed are 0 to 1");
  EXPECT_FALSE(f.model->estimate("a", {.top_logprobs = 2}));
}

}  // namespace
}  // namespace wick
