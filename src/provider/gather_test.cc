#include "provider/gather.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/scripted_provider.h"

namespace wick {
namespace {

TEST(Gather, PutsFragmentsOfToolCallsTogether) {
  test::ScriptedProvider provider(test::remote_script("fragments"));
  const auto answer = ask(provider, {.prompt = "x"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->reasoning, "The user wants two cities.");
  EXPECT_EQ(answer->text, "I look them up.");
  ASSERT_EQ(answer->tool_calls.size(), 2U);
  EXPECT_EQ(answer->tool_calls[0].id, "call_a");
  EXPECT_EQ(answer->tool_calls[0].arguments, R"({"city": "Rome"})");
  EXPECT_EQ(answer->tool_calls[1].name, "weather");
  EXPECT_EQ(answer->tool_calls[1].arguments, R"({"city": "Oslo"})");
  EXPECT_EQ(answer->finish, FinishReason::kToolCalls);
  EXPECT_EQ(answer->usage.reasoning_tokens, 3);
}

TEST(Gather, AnErrorLeavesWhatCameBeforeIt) {
  test::ScriptedProvider provider(test::remote_script("broken"));
  const auto answer = provider.start({.prompt = "x"});
  ASSERT_TRUE(answer);
  const Gather whole = read_all(**answer);
  ASSERT_TRUE(whole.error);
  EXPECT_EQ(whole.error->id, "connection_lost");
  EXPECT_EQ(whole.completion.text, "Half of an answer");
  EXPECT_EQ(whole.completion.finish, FinishReason::kError);
  EXPECT_FALSE((*answer)->poll());
  EXPECT_FALSE((*answer)->wait());
}

TEST(Gather, ASilentAnswerEndsWhenItIsCancelled) {
  test::ScriptedProvider provider(test::remote_script("silent"));
  const auto answer = provider.start({.prompt = "x"});
  ASSERT_TRUE(answer);
  std::stop_source stop;
  const Gather whole = read_all(
      **answer, [&](const Event&) { return stop.request_stop(); }, stop.get_token());
  EXPECT_EQ(whole.completion.text, "And then");
  EXPECT_EQ(whole.completion.finish, FinishReason::kCancelled);
}

TEST(Gather, AHostileIndexOfACallTakesNoMemory) {
  Gather whole;
  for (const int index : {-1, 1 << 30, 3}) {
    whole.add(ToolCallEvent{.index = index, .id = "a", .name = "b"});
    whole.add(ArgumentsEvent{.index = index, .text = "{}"});
  }
  EXPECT_EQ(whole.completion.tool_calls.size(), 4U);
}

TEST(Provider, WhatItLacksIsRefusedByItsName) {
  test::ScriptedProvider scripted(test::remote_script("text"));
  Provider& provider = scripted;
  const auto refused = [](const auto& result, std::string_view what) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(result.error().id, "not_supported");
    EXPECT_EQ(result.error().message, "the provider 'scripted' has no " + std::string(what));
  };
  refused(provider.estimate({}), "estimate");
  refused(provider.models(), "list of models");
  refused(provider.load("a"), "load");
  refused(provider.replace("a", "b"), "replace");
  refused(provider.unload("a"), "unload");
  refused(provider.pin("a", true), "pin");
  refused(provider.tokenize({}, "a"), "tokenize");
  refused(provider.detokenize({}, {}), "detokenize");
  refused(provider.apply_template({}), "chat template");
  refused(provider.prompt_tokens({}), "count of tokens");
  refused(provider.embed({}), "embeddings");
  refused(provider.statistics({}), "statistics");
  refused(provider.save_session("a", {}), "session files");
  refused(provider.load_session("a"), "session files");
  refused(provider.close_tenant(1, false), "tenants");
}

}  // namespace
}  // namespace wick
