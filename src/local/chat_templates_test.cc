#include "local/chat_templates.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace wick {
namespace {

Metadata three() {
  Metadata meta;
  meta.set_string("tokenizer.chat_template", "default{{ eos_token }}");
  meta.set_string("tokenizer.chat_template.tool_use", "tools");
  meta.set_string("tokenizer.chat_template.rag", "{% broken");
  const std::vector<std::string> names = {"tool_use", "rag", "absent"};
  meta.set_strings("tokenizer.chat_templates", names);
  return meta;
}

std::string text(const ChatTemplates& templates, std::string_view name, bool has_tools) {
  const auto tmpl = templates.pick(name, has_tools);
  if (!tmpl) return cat(tmpl.error().id, "; ", tmpl.error().hint);
  const auto out = (*tmpl)->render({});
  return out ? out->text : out.error().message;
}

TEST(ChatTemplates, ChoosesByNameElseByTools) {
  const ChatTemplates templates(three());
  EXPECT_EQ(templates.names(), (std::vector<std::string>{"default", "tool_use", "rag"}));
  EXPECT_EQ(text(templates, "", false), "default");
  EXPECT_EQ(text(templates, "", true), "tools");
  EXPECT_EQ(text(templates, "default", true), "default");
  EXPECT_EQ(templates.picked_name("", true), "tool_use");
}

TEST(ChatTemplates, ABrokenOneSpoilsNoOther) {
  const ChatTemplates templates(three());
  EXPECT_FALSE(templates.pick("rag", false));
  EXPECT_EQ(text(templates, "tool_use", false), "tools");
}

TEST(ChatTemplates, AnUnknownNameSaysWhichThereAre) {
  const ChatTemplates templates(three());
  EXPECT_EQ(text(templates, "nope", false), "no_chat_template; there are: default, tool_use, rag");
  EXPECT_EQ(templates.picked_name("nope", false), std::nullopt);
  EXPECT_TRUE(ChatTemplates(Metadata()).is_empty());
}

TEST(ChatTemplates, OneThatIsGivenStandsAlone) {
  const ChatTemplates templates(std::string("mine"));
  EXPECT_EQ(text(templates, "", true), "mine");
}

TEST(ChatTemplates, ToolsThatAreNullAreNone) {
  Object context;
  EXPECT_FALSE(has_tools(context));
  context["tools"] = nullptr;
  EXPECT_FALSE(has_tools(context));
  context["tools"] = Array{};
  EXPECT_TRUE(has_tools(context));
}

TEST(ChatTemplates, DefaultsYieldToWhatTheContextSays) {
  Object context;
  add_defaults(nullptr, context);
  EXPECT_TRUE(*context.find("add_generation_prompt")->boolean());
  context["add_generation_prompt"] = false;
  add_defaults(nullptr, context);
  EXPECT_FALSE(*context.find("add_generation_prompt")->boolean());
}

}  // namespace
}  // namespace wick
