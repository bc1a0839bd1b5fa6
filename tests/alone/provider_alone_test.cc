// Links base, net, chat and provider alone: whoever knows a Provider needs no engine.
#include <gtest/gtest.h>

#include "provider/gather.h"
#include "support/scripted_provider.h"

namespace wick {
namespace {

TEST(ProviderAlone, StreamsAScriptedAnswer) {
  test::ScriptedProvider provider(test::remote_script("text"));
  std::string pieces;
  const auto answer = ask(provider, {.prompt = "hello"}, [&](const Event& event) {
    if (const auto* text = std::get_if<TextEvent>(&event)) pieces += "[" + text->text + "]";
    return true;
  });
  ASSERT_TRUE(answer);
  EXPECT_EQ(pieces, "[Hello ][there.]");
  EXPECT_EQ(answer->text, "Hello there.");
  EXPECT_EQ(answer->finish, FinishReason::kEos);
  EXPECT_EQ(answer->usage.prompt_tokens, 12);
}

}  // namespace
}  // namespace wick
