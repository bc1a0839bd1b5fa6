// The template inside the default model file, on the way that `wick chat` takes it: from the file's
// metadata to ChatTemplate. The expected text is what Hugging Face's apply_chat_template gives.
#include <gtest/gtest.h>

#include <string>

#include "chat/chat_template.h"
#include "format/model_file.h"
#include "support/test_data.h"

namespace wick {
namespace {

using test::default_model;

TEST(ModelChat, DefaultModelsTemplateRendersAsHuggingFaceDoes) {
  const auto file = ModelFile::open(default_model());
  ASSERT_TRUE(file) << to_string(file.error());
  const auto jinja = file->metadata().string("tokenizer.chat_template");
  ASSERT_TRUE(jinja.has_value());
  const auto tmpl = ChatTemplate::parse(*jinja);
  ASSERT_TRUE(tmpl) << to_string(tmpl.error());
  EXPECT_EQ(tmpl->variables(), (std::vector<std::string>{"add_generation_prompt", "messages"}));
  const auto context = parse_json(
      R"({"messages": [{"role": "user", "content": "Hi <|im_end|>"}],
          "add_generation_prompt": true})");
  ASSERT_TRUE(context);
  const auto prompt = tmpl->render(*context->object());
  ASSERT_TRUE(prompt) << to_string(prompt.error());
  EXPECT_EQ(prompt->text,
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
            "Face<|im_end|>\n<|im_start|>user\nHi <|im_end|><|im_end|>\n<|im_start|>assistant\n");
  const std::size_t typed = prompt->text.find("Hi <|im_end|>");
  ASSERT_EQ(prompt->trusted.size(), 2U);
  EXPECT_EQ(prompt->trusted[0].end, typed);
  EXPECT_EQ(prompt->trusted[1].begin, typed + 13);
}

}  // namespace
}  // namespace wick
