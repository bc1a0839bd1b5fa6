#include "provider/messages.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "provider/conversation.h"

namespace wick {
namespace {

constexpr std::string_view kTalk =
    R"([{"role": "user", "content": "Rome?"}, )"
    R"({"role": "assistant", "content": "", "reasoning_content": )"
    R"("A tool knows the weather, and a word that is longer than any string keeps in itself.", )"
    R"("tool_calls": )"
    R"([{"id": "c1", "type": "function", "function": )"
    R"({"name": "weather", "arguments": "{\"city\": \"Rome\"}"}}]}, )"
    R"({"role": "tool", "content": "17 degrees", "tool_call_id": "c1"}])";

TEST(Messages, ComeBackFromJsonAsTheyWere) {
  const auto messages = messages_from_json(kTalk);
  ASSERT_TRUE(messages) << to_string(messages.error());
  ASSERT_EQ(messages->size(), 3U);
  EXPECT_EQ((*messages)[0].content.text(), "Rome?");
  EXPECT_EQ((*messages)[1].content.text<ReasoningPart>(),
            "A tool knows the weather, and a word that is longer than any string keeps in itself.");
  EXPECT_EQ(std::get<ToolCall>((*messages)[1].content.parts.at(1)).name, "weather");
  EXPECT_EQ(std::get<ToolResult>((*messages)[2].content.parts.at(0)).text, "17 degrees");
  EXPECT_EQ(messages_to_json(*messages), kTalk);
}

TEST(Messages, SeveralResultsInOneMessageAreAsManyMessages) {
  const std::vector<Message> one = {
      {.role = "user", .content = std::vector<Part>{ToolResult{"a", "1"}, ToolResult{"b", "2"}}}};
  EXPECT_EQ(messages_to_json(one), R"([{"role": "tool", "content": "1", "tool_call_id": "a"}, )"
                                   R"({"role": "tool", "content": "2", "tool_call_id": "b"}])");
}

TEST(HostileMessages, NameTheOneThatMakesNoSense) {
  const auto message_of = [](std::string_view json) {
    const auto messages = messages_from_json(json);
    return messages ? std::string("taken") : messages.error().message;
  };
  EXPECT_EQ(message_of("{}"), "messages are a JSON array of objects");
  EXPECT_EQ(message_of(R"([{"role": "user", "content": "a"}, {}])"), "message 2 has no role");
  EXPECT_EQ(message_of(R"([7])"), "message 1 has no role");
  EXPECT_EQ(message_of(R"([{"role": "user", "content": 7}])"),
            "message 1 has a content that is no text");
  EXPECT_EQ(message_of(R"([{"role": "user", "content": [{"type": "video"}]}])"),
            "message 1 has a part of the type 'video', known are text and image_url");
  EXPECT_EQ(message_of(R"([{"role": "assistant", "tool_calls": [{"id": "a"}]}])"),
            "message 1 has a tool call without a function");
  EXPECT_EQ(message_of(R"([{"role": "assistant", "tool_calls": "a"}])"),
            "message 1 has tool_calls that are no array");
}

TEST(TemplateContext, HoldsToolsTheirArgumentsAsObjectsAndVariables) {
  Generation g{.tools = {{.name = "weather", .description = "Of a city"}},
               .thinking = false,
               .template_variables = {{"date", "\"today\""}, {"depth", "3"}}};
  const auto context = template_context(*messages_from_json(kTalk), g);
  ASSERT_TRUE(context) << to_string(context.error());
  const std::string json = to_json(JsonValue(*context));
  EXPECT_NE(json.find(R"("arguments": {"city": "Rome"})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("tools": [{"type": "function", "function": {"name": "weather")"),
            std::string::npos);
  EXPECT_NE(json.find(R"("enable_thinking": false)"), std::string::npos);
  EXPECT_NE(json.find(R"("date": "today", "depth": 3)"), std::string::npos);
  g.tool_choice = "none";
  EXPECT_EQ(to_json(JsonValue(*template_context({}, g))).find("weather"), std::string::npos);
}

TEST(TemplateContext, RefusesByNameWhatItCannotDo) {
  const auto id_of = [](const std::vector<Message>& messages, const Generation& g) {
    const auto context = template_context(messages, g);
    return context ? std::string("taken") : context.error().id;
  };
  const std::vector<Message> image = {
      {.content = std::vector<Part>{TextPart{"What is it?"}, ImagePart{"data:,"}}}};
  EXPECT_EQ(id_of(image, {}), "images_unsupported");
  EXPECT_EQ(id_of({}, {.tool_choice = "required"}), "bad_tool_choice");
  EXPECT_EQ(id_of({}, {.tools = {{.name = "a", .parameters = "7"}}}), "bad_tool");
  EXPECT_EQ(id_of({}, {.tools = {{.description = "a"}}}), "bad_tool");
  for (const std::string_view type : {R"("integer")", R"(["null","array"])", "7"}) {
    const std::string schema = cat(R"({"type":)", type, "}");
    EXPECT_EQ(id_of({}, {.tools = {{.name = "a", .parameters = schema}}}), "bad_tool") << schema;
  }
  const std::string either = R"({"type":["null","object"]})";
  EXPECT_EQ(id_of({}, {.tools = {{.name = "a", .parameters = either}}}), "taken");
  EXPECT_EQ(id_of({}, {.template_variables = {{"date", "today"}}}), "bad_variable");
  // A template writes these as control tokens.
  EXPECT_EQ(id_of({}, {.template_variables = {{"bos_token", "\"<|im_start|>\""}}}), "bad_variable");
  EXPECT_EQ(id_of({}, {.template_variables = {{"messages", "[]"}}}), "bad_variable");
}

TEST(ConversationOfMessages, UndoTakesAQuestionBackWithAllBehindIt) {
  Conversation talk;
  talk.set_system("Be brief.");
  talk.say("one");
  talk.answer({.text = "1", .reasoning = "easy"});
  ASSERT_TRUE(talk.read_json(talk.to_json()));
  EXPECT_EQ(talk.messages()[2].content.text(), "1");
  EXPECT_EQ(talk.messages()[2].content.text<ReasoningPart>(), "easy");
  talk.say("two");
  talk.answer({.tool_calls = {{.id = "a", .name = "b", .arguments = "{}"}}});
  talk.add({.role = "tool", .content = std::vector<Part>{ToolResult{"a", "2"}}});
  EXPECT_EQ(talk.last_question(), "two");
  EXPECT_TRUE(talk.undo());
  EXPECT_EQ(talk.messages().size(), 3U);
  EXPECT_TRUE(talk.drop_answer());
  EXPECT_FALSE(talk.drop_answer());
  EXPECT_TRUE(talk.undo());
  EXPECT_FALSE(talk.undo());
  EXPECT_EQ(talk.messages().size(), 1U);
  EXPECT_FALSE(talk.read_json("{}"));
}

}  // namespace
}  // namespace wick
