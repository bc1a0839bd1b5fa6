#include "toolcalls/reasoning.h"

#include <gtest/gtest.h>

namespace wick {
namespace {

struct Split {
  std::string reasoning, text;

  friend bool operator==(const Split&, const Split&) = default;
};

// The same for every cut of `whole` into two pieces, and byte by byte.
Split split(const std::string& whole, bool is_inside = false,
            const ReasoningMarks& marks = reasoning_marks_of({})) {
  Split first;
  for (std::size_t cut = 0; cut <= whole.size() + 1; ++cut) {
    ReasoningSplit parts(is_inside, marks);
    Split out;
    if (cut <= whole.size()) {
      parts.push(whole.substr(0, cut), out.reasoning, out.text);
      EXPECT_LE(out.reasoning.size() + out.text.size() + parts.held(), cut);
      parts.push(whole.substr(cut), out.reasoning, out.text);
    } else {
      for (const char byte : whole)
        parts.push({&byte, 1}, out.reasoning, out.text);
    }
    parts.finish(out.reasoning, out.text);
    if (cut == 0) first = out;
    EXPECT_EQ(out.reasoning, first.reasoning) << cut;
    EXPECT_EQ(out.text, first.text) << cut;
  }
  return first;
}

TEST(ReasoningSplit, TakesThePairAtTheBeginningAlone) {
  EXPECT_EQ(split("<think>\nHm. 2 < 3?\n</think>\n\nYes."), (Split{"Hm. 2 < 3?", "Yes."}));
  EXPECT_EQ(split(" \n<think></think>\n\nYes."), (Split{"", "Yes."}));
  EXPECT_EQ(split("Use <think>a</think> so."), (Split{"", "Use <think>a</think> so."}));
  EXPECT_EQ(split("<think>a</think>b<think>c</think>"), (Split{"a", "b<think>c</think>"}));
}

TEST(ReasoningSplit, SpaceIsLookedAtOnce) {
  for (const bool is_inside : {false, true}) {
    ReasoningSplit parts(is_inside);
    std::string reasoning, text;
    if (is_inside) parts.push("a", reasoning, text);
    for (int i = 0; i < 200'000; ++i)
      parts.push("          ", reasoning, text);
    parts.push("b", reasoning, text);
    EXPECT_EQ((is_inside ? reasoning : text).size(), 2'000'001U + is_inside);
  }
}

TEST(ReasoningSplit, WithoutThePairNoByteChanges) {
  for (const char* const whole :
       {"", " ", "\n\n a ", "<", "<thin", "<thinking>", " <b> ", "a<think>"})
    EXPECT_EQ(split(whole), (Split{"", whole})) << whole;
}

TEST(ReasoningSplit, WhatIsNeverClosedIsReasoning) {
  EXPECT_EQ(split("<think>So many < words </thi"), (Split{"So many < words </thi", ""}));
  EXPECT_EQ(split("<think>a  \n"), (Split{"a", ""}));
}

TEST(ReasoningSplit, MayBeginInside) {
  EXPECT_EQ(split("\nHm.\n</think>\nYes.", true), (Split{"Hm.", "Yes."}));
  EXPECT_TRUE(ends_inside_reasoning("<|im_start|>assistant\n<think>\n"));
  EXPECT_FALSE(ends_inside_reasoning("<|im_start|>assistant\n<think>\n\n</think>\n\n"));
  EXPECT_FALSE(ends_inside_reasoning(""));
}

TEST(ReasoningSplit, AClosingMarkerAloneIsDropped) {
  EXPECT_EQ(split("</think>\nYes."), (Split{"", "Yes."}));
  EXPECT_EQ(split("Yes.</think>"), (Split{"", "Yes.</think>"}));
}

// The texts by which these templates are recognized, and what their models write.
TEST(ReasoningSplit, KnowsTheMarksOfOtherFamilies) {
  struct Case {
    const char *sign, *open, *close;
  };

  for (const auto& [sign, open, close] :
       {Case{"{{ '<think>' }}", "<think>", "</think>"},
        Case{"{{ '<seed:think>' }}", "<seed:think>", "</seed:think>"},
        Case{"= '<mm:think>' %}", "<mm:think>", "</mm:think>"},
        Case{"'<think{}>'.format(HYTK)", "<think:opensource>", "</think:opensource>"},
        Case{"<|START_THINKING|>", "<|START_THINKING|>", "<|END_THINKING|>"},
        Case{"'<|channel>thought\\n'", "<|channel>thought\n", "\n<channel|>"},
        Case{"'[THINK]' + block", "[THINK]", "[/THINK]"},
        Case{"open_tag('think')", "<|open|>think<|sep|>", "<|close|>think<|sep|>"},
        Case{"'Here are my reasoning steps:\\n'", "Here are my reasoning steps:\n",
             "\n[BEGIN FINAL RESPONSE]\n"}}) {
    const ReasoningMarks& marks = reasoning_marks_of(sign);
    const std::string said = std::string(open) + "Hm. 2 < 3?" + close + "Yes.";
    EXPECT_EQ(split(said, false, marks), (Split{"Hm. 2 < 3?", "Yes."})) << sign;
    EXPECT_EQ(split("Yes.", false, marks), (Split{"", "Yes."})) << sign;
    EXPECT_TRUE(ends_inside_reasoning(std::string("assistant\n") + open, marks)) << sign;
    EXPECT_EQ(split(said.substr(std::string(open).size()), true, marks),
              (Split{"Hm. 2 < 3?", "Yes."}))
        << sign;
  }
}

// Muse Glimmer: each message has a header that names its recipient.
TEST(ReasoningSplit, MessagesWithHeaders) {
  const ReasoningMarks& marks = reasoning_marks_of("{{- '<|start|>assistant to=self<|message|>' +");
  const std::string next = "<|eom|><|start|>assistant to=";
  EXPECT_EQ(split(" to=self<|message|>Hm." + next + "user<|message|>Yes.", false, marks),
            (Split{"Hm.", "Yes."}));
  EXPECT_EQ(split(" to=f<|message|><a>" + next + "g<|message|> <b>", false, marks),
            (Split{"", "<a> <b>"}));
  EXPECT_EQ(split(" to=self<|message|>a" + next + "self<|message|>b<|eo", false, marks),
            (Split{"ab<|eo", ""}));
  EXPECT_EQ(split("{\"a\":1}", false, marks), (Split{"", "{\"a\":1}"})) << "a response format";
  EXPECT_EQ(split("to=" + std::string(2'000, 'a'), false, marks).text.size(), 2'003U);
  for (const char* const whole : {"", "t", "to", "to me", " to", "<|start|> x", "<|eom"})
    EXPECT_EQ(split(whole, false, marks).reasoning, "") << whole;
}

TEST(ReasoningSplit, OffAllIsText) {
  ReasoningSplit parts = ReasoningSplit::off();
  Split out;
  parts.push("<think>a</think>", out.reasoning, out.text);
  parts.finish(out.reasoning, out.text);
  EXPECT_EQ(out, (Split{"", "<think>a</think>"}));
}

}  // namespace
}  // namespace wick
