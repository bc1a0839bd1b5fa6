#include "toolcalls/harmony.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "toolcalls/limits.h"

namespace wick {
namespace {

// "r:…|t:…|f(…)": the same for every cut into two pieces, and byte by byte.
std::string channels_of(const std::string& whole) {
  std::string first;
  for (std::size_t cut = 0; cut <= whole.size() + 1; ++cut) {
    HarmonySplit parts({"f", "g"});
    std::vector<ToolPiece> out;
    if (cut <= whole.size()) {
      parts.push(whole.substr(0, cut), out);
      parts.push(whole.substr(cut), out);
    } else {
      for (const char byte : whole)
        parts.push({&byte, 1}, out);
    }
    parts.finish(out);
    std::string text;
    for (const ToolPiece& piece : out) {
      static constexpr std::string_view kNames[] = {"t:", "r:", "call ", ""};
      const auto kind = static_cast<std::size_t>(piece.kind);
      const bool follows = piece.kind != ToolPiece::Kind::kArguments && !text.empty();
      text += cat(follows ? "|" : "", kNames[kind], piece.text);
      if (piece.kind == ToolPiece::Kind::kCall) text += " ";
    }
    if (cut == 0) first = text;
    EXPECT_EQ(text, first) << cut;
  }
  return first;
}

TEST(HarmonySplit, ChannelsBecomeReasoningAndText) {
  EXPECT_EQ(
      channels_of("<|channel|>analysis<|message|>Hm, 1 < 2.<|end|><|start|>assistant<|channel|>"
                  "final<|message|>Yes <b>."),
      "r:Hm, 1 < 2.|t:Yes <b>.");
  EXPECT_EQ(channels_of("<|channel|>final<|message|>Yes."), "t:Yes.");
  EXPECT_EQ(
      channels_of("<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>"
                  "analysis<|message|>So"),
      "t:I look.|r:So");
}

TEST(HarmonySplit, ARecipientMakesACall) {
  EXPECT_EQ(
      channels_of("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary "
                  "to=functions.f <|constrain|>json<|message|>{\"x\": \"<|\"}"),
      "r:a|call f {\"x\": \"<|\"}");
  EXPECT_EQ(channels_of(" to=functions.g<|channel|>commentary<|message|>{}"), "call g {}");
  EXPECT_EQ(channels_of("<|channel|>analysis to=functions.f code<|message|>{}"), "call f {}");
  EXPECT_EQ(channels_of("<|channel|>commentary to=functions.h<|message|>{}"), "t:{}");
}

TEST(HarmonySplit, ArgumentsThatAreNoObjectAreText) {
  constexpr std::string_view kHead = "<|channel|>commentary to=functions.f<|message|>";
  EXPECT_EQ(channels_of(cat(kHead, "[1]")), "t:[1]");
  EXPECT_EQ(channels_of(cat(kHead, "  hello <b>")), "t:hello <b>");
  EXPECT_EQ(channels_of(cat(kHead, " \n{}")), "call f {}");
  EXPECT_EQ(channels_of(std::string(kHead)), "");
}

TEST(HarmonySplit, AnAnswerWithoutAHeaderIsText) {
  EXPECT_EQ(channels_of("{\"a\": 1}"), "t:{\"a\": 1}");
  EXPECT_EQ(channels_of("assistants are <fine>"), "t:assistants are <fine>");
  EXPECT_EQ(channels_of(""), "");
  EXPECT_EQ(channels_of("to"), "t:to");
}

TEST(HarmonySplit, AnAnswerCutShort) {
  EXPECT_EQ(channels_of("<|channel|>analysis<|message|>a<|en"), "r:a<|en");
  EXPECT_EQ(channels_of("<|channel|>analysis<|message|>a<|end|><|start|>assist"), "r:a");
  EXPECT_EQ(channels_of("<|channel|>fin"), "");
  EXPECT_EQ(channels_of("<|channel|>final<|message|>a<|channel|>final<|message|>b"), "t:ab");
}

TEST(HostileHarmony, AHeaderHasALimit) {
  HarmonySplit parts({});
  std::vector<ToolPiece> out;
  parts.push(cat("<|channel|>", std::string(5000, 'x')), out);
  EXPECT_LE(parts.held(), kMaxHarmonyHeader);
  parts.finish(out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].text.size(), 5011U);
}

TEST(HarmonySplit, TheTemplateTells) {
  EXPECT_TRUE(is_harmony("{{ '<|start|>assistant<|channel|>analysis<|message|>' }}"));
  EXPECT_FALSE(is_harmony("<|im_start|>assistant"));
}

}  // namespace
}  // namespace wick
