// A provider as remote ones are, through the library's C++ and C APIs: each event arrives as it was
// told, and an error takes nothing of what came before it.
#include <gtest/gtest.h>

#include "provider/openers.h"
#include "support/scripted_provider.h"
#include "wick/model.h"
#include "wick/wick.h"

namespace wick {
namespace {

const bool kIsAdded = add_opener("scripted", [](std::string_view name) {
  return Result<std::shared_ptr<Provider>>(
      std::make_shared<test::ScriptedProvider>(test::remote_script(name)));
});

// "text Hello ", "call 0 call_a weather", …
std::string line_of(const Event& event) {
  if (const auto* e = std::get_if<TextEvent>(&event)) return "text " + e->text;
  if (const auto* e = std::get_if<ReasoningEvent>(&event)) return "reasoning " + e->text;
  if (const auto* e = std::get_if<ToolCallEvent>(&event))
    return "call " + std::to_string(e->index) + " " + e->id + " " + e->name;
  if (const auto* e = std::get_if<ArgumentsEvent>(&event))
    return "arguments " + std::to_string(e->index) + " " + e->text;
  if (const auto* e = std::get_if<UsageEvent>(&event))
    return "usage " + std::to_string(e->usage.generated_tokens);
  if (const auto* e = std::get_if<DoneEvent>(&event)) return "done " + std::string(name(e->finish));
  return "logprobs";
}

std::string line_of(const wick_event& e) {
  const std::string text(e.text, e.length), index = std::to_string(e.index);
  switch (e.kind) {
    case WICK_EVENT_TEXT:
      return "text " + text;
    case WICK_EVENT_REASONING:
      return "reasoning " + text;
    case WICK_EVENT_TOOL_CALL:
      return "call " + index + " " + e.id + " " + e.name;
    case WICK_EVENT_ARGUMENTS:
      return "arguments " + index + " " + text;
    case WICK_EVENT_USAGE:
      return "usage " + std::to_string(e.generated_tokens);
    case WICK_EVENT_DONE:
      return "done " + std::string(name(static_cast<FinishReason>(e.finish)));
    default:
      return "logprobs";
  }
}

std::vector<std::string> told(std::string_view script) {
  std::vector<std::string> lines;
  for (const Event& event : test::remote_script(script))
    lines.push_back(line_of(event));
  return lines;
}

TEST(LibraryRemote, EachEventArrivesAsToldInCppAndInC) {
  ASSERT_TRUE(kIsAdded);
  for (const char* const script : {"text", "fragments", "broken"}) {
    const std::string name = std::string("scripted:") + script;
    auto stream = *(*Model::open(name)).stream("x");
    std::vector<std::string> cpp, c;
    while (const auto event = stream.next_event())
      cpp.push_back(line_of(*event));
    EXPECT_EQ(cpp, told(script));

    wick_model* const model = wick_model_open(name.c_str(), nullptr, nullptr);
    wick_stream* const pulled = wick_complete_stream(model, "x", nullptr, nullptr);
    while (const wick_event* const event = wick_stream_next_event(pulled, nullptr))
      c.push_back(line_of(*event));
    EXPECT_EQ(c, told(script));
    wick_stream_free(pulled);
    wick_model_free(model);
  }
}

TEST(LibraryRemote, ToolCallsAndReasoningAreInTheCompletionAndInTheSession) {
  const Model model = *Model::open("scripted:fragments");
  Session session = model.session();
  const auto answer = session.say("Rome and Oslo?");
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->text, "I look them up.");
  EXPECT_EQ(answer->reasoning, "The user wants two cities.");
  EXPECT_EQ(answer->tool_calls.at(1).arguments, R"({"city": "Oslo"})");
  const Content& kept = session.messages().at(1).content;
  EXPECT_EQ(kept.text(), "I look them up.");
  EXPECT_EQ(kept.text<ReasoningPart>(), "The user wants two cities.");
  EXPECT_EQ(std::get<ToolCall>(kept.parts.at(3)).name, "weather");
  auto next = session.send(
      {.role = "tool", .content = std::vector<Part>{ToolResult{"call_a", "17 degrees"}}});
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->finish());
  EXPECT_EQ(session.messages().size(), 4U);

  wick_model* const c_model = wick_model_open("scripted:fragments", nullptr, nullptr);
  wick_completion* const c = wick_chat(c_model, "x", nullptr, nullptr, nullptr, nullptr);
  ASSERT_NE(c, nullptr);
  EXPECT_STREQ(c->reasoning, "The user wants two cities.");
  ASSERT_EQ(c->n_tool_calls, 2U);
  EXPECT_STREQ(c->tool_calls[0].id, "call_a");
  EXPECT_STREQ(c->tool_calls[0].arguments, R"({"city": "Rome"})");
  EXPECT_EQ(c->finish, WICK_FINISH_TOOL_CALLS);
  wick_completion_free(c);
  wick_model_free(c_model);
}

TEST(LibraryRemote, AnErrorKeepsThePartialText) {
  const Model model = *Model::open("scripted:broken");
  const auto blocking = model.complete("x");
  ASSERT_FALSE(blocking);
  EXPECT_EQ(blocking.error().id, "connection_lost");
  EXPECT_EQ(blocking.error().partial_text, "Half of an answer");
  auto stream = *model.stream("x");
  while (stream.next()) {
  }
  EXPECT_EQ(stream.text(), "Half of an answer");
  EXPECT_EQ(stream.finish().error().partial_text, "Half of an answer");

  wick_model* const c_model = wick_model_open("scripted:broken", nullptr, nullptr);
  wick_error* error = nullptr;
  EXPECT_EQ(wick_complete(c_model, "x", nullptr, nullptr, nullptr, &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_STREQ(error->partial_text, "Half of an answer");
  wick_error_free(error);
  wick_model_free(c_model);
}

TEST(LibraryRemote, ASilentAnswerCanBeCancelledWithWhatItSaid) {
  const Model model = *Model::open("scripted:silent");
  const auto answer = model.complete("x", {}, [](std::string_view) { return false; });
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "And then");
  EXPECT_EQ(answer->finish, FinishReason::kCancelled);
  EXPECT_EQ(model.estimate("x").error().id, "not_supported");
  EXPECT_EQ(model.describe().name, "scripted");
}

}  // namespace
}  // namespace wick
