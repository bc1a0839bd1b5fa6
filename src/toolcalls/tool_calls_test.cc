#include "toolcalls/tool_calls.h"

#include <gtest/gtest.h>

#include <random>

#include "base/strings.h"

namespace wick {
namespace {

const char* const kQwenCoder = "{{ '<function=' }} <parameter=x>";
const char* const kLlama =
    R"(Respond in the format {"name": function name, "parameters": …} tools)";

const ToolFormat& hermes = hermes_tool_format();

std::vector<ToolSignature> tools() {
  return {{"f", *parse_json(R"({"properties": {"s": {"type": "string"}}})")}, {"g", JsonValue()}};
}

// "text|f(arguments)|text": the same for every cut into two pieces, and byte by byte.
std::string calls_in(const std::string& whole, const ToolFormat& format = hermes) {
  std::string first;
  for (std::size_t cut = 0; cut <= whole.size() + 1; ++cut) {
    ToolCallSplit parts(format, tools());
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
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool is_call = out[i].kind == ToolPiece::Kind::kCall;
      if (is_call) text += cat(i > 0 ? "|" : "", out[i].text, "(");
      if (out[i].kind == ToolPiece::Kind::kArguments) text += out[i].text;
      const bool ends = i + 1 == out.size() || out[i + 1].kind != ToolPiece::Kind::kArguments;
      if (out[i].kind == ToolPiece::Kind::kText) text += cat(i > 0 ? "|" : "", out[i].text);
      if (ends && out[i].kind != ToolPiece::Kind::kText) text += ")";
    }
    if (cut == 0) first = text;
    EXPECT_EQ(text, first) << cut;
  }
  return first;
}

TEST(ToolCallSplit, TextWithoutCallsStaysAsItIs) {
  for (const char* const whole :
       {"", " ", "a", "\n\n a <b> \n", "<tool", "<tool_call", "a <tool_calls> b", "<<tool_cal<",
        "{\"name\": \"f\", \"arguments\": {}}"})
    EXPECT_EQ(calls_in(whole), whole);
}

// Each byte of space is looked at once: looking at all that is held for each byte takes an hour.
TEST(ToolCallSplit, AMillionSpacesAreText) {
  ToolCallSplit parts(hermes, tools());
  std::vector<ToolPiece> out;
  const std::string spaces(1'000'000, ' ');
  parts.push(spaces, out);
  EXPECT_EQ(parts.held(), spaces.size());
  parts.push("x", out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].text, spaces + "x");
}

TEST(ToolCallSplit, HermesCalls) {
  EXPECT_EQ(calls_in("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, \"}\\\"{\"]}}\n"
                     "</tool_call>"),
            R"(f({"a": [1, "}\"{"]}))");
  EXPECT_EQ(calls_in("So be it.\n\n<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>\n"
                     "<tool_call>{\"name\":\"g\",\"parameters\":{\"x\":{}}}</tool_call>\n"),
            R"(So be it.|f({})|g({"x":{}}))");
  EXPECT_EQ(calls_in("<tool_call>\n{\"name\": \"g\"}\n</tool_call> \nDone. "), "g({})|Done. ");
  EXPECT_EQ(calls_in(R"(<tool_call>[{"name":"f","arguments":{}}, {"name":"g"}]</tool_call>)"),
            "f({})|g({})");
}

TEST(ToolCallSplit, UnusualOrdersAndTypesOfMembers) {
  EXPECT_EQ(calls_in(R"(<tool_call>{"arguments": {"a": 1}, "id": 7, "name": "f"}</tool_call>)"),
            R"(f({"a": 1}))");
  EXPECT_EQ(
      calls_in(R"(<tool_call>{"name": "f", "arguments": "{\"a\": 1}", "x": [{}]}</tool_call>)"),
      R"(f({"a": 1}))");
  EXPECT_EQ(calls_in(R"(<tool_call>{"name": "f", "arguments": null}</tool_call>)"), "f({})");
  EXPECT_EQ(calls_in(R"(<tool_call>{"name": "\u0066", "arguments": {}})"), "f({})");
}

TEST(ToolCallSplit, WhatIsNoCallIsText) {
  for (const char* const whole :
       {"<tool_call>\nnothing\n</tool_call>", R"(<tool_call>{"name": "h", "arguments": {}}x)",
        R"(<tool_call>{"name": 7}</tool_call>)", "<tool_call>{}</tool_call>", "<tool_call>",
        R"(a <tool_call>{"name": "f)", R"(<tool_call>{"arguments": {"a)"})
    EXPECT_EQ(calls_in(whole), whole);
  EXPECT_EQ(calls_in(R"(<tool_call>{"x"<tool_call>{"name": "f"}</tool_call>)"),
            R"(<tool_call>{"x"|f({}))");
}

TEST(ToolCallSplit, ArgumentsThatAreNoObjectAreText) {
  for (const char* const arguments :
       {"[1]", "5", "true", "nonsense", R"("text")", R"("[1]")", R"("{\"a\": ")", R"("")"}) {
    for (const std::string& whole :
         {cat(R"(<tool_call>{"name": "f", "arguments": )", arguments, "}</tool_call>"),
          cat(R"(<tool_call>{"arguments": )", arguments, R"(, "name": "f"}</tool_call>)")})
      EXPECT_EQ(calls_in(whole), whole);
  }
  const ToolFormat& mistral = *tool_format_of("[TOOL_CALLS] [ARGS]");
  EXPECT_EQ(calls_in("[TOOL_CALLS]f[ARGS] [1]", mistral), "[TOOL_CALLS]f[ARGS] [1]");
  const ToolFormat& lfm2 = *tool_format_named("lfm2");
  const std::string positional = cat(lfm2.open, "[f(1)]", lfm2.close);
  EXPECT_EQ(calls_in(positional, lfm2), positional);
  const ToolFormat& gemma = *tool_format_named("gemma4");
  const std::string unnamed = "<|tool_call>call:f{,1}<tool_call|>";
  EXPECT_EQ(calls_in(unnamed, gemma), unnamed);
}

TEST(ToolCallSplit, AnAnswerCutShortKeepsWhatItHas) {
  EXPECT_EQ(calls_in(R"(<tool_call>{"name": "f", "arguments": {"a": "b)"), R"(f({"a": "b))");
  EXPECT_EQ(calls_in(R"(<tool_call>{"name": "f", "arguments": {}}</tool_c)"), "f({})");
  EXPECT_EQ(calls_in("<tool_call>\n<function=f>\n<parameter=s>\nab", *tool_format_of(kQwenCoder)),
            R"(f({"s": "ab))");
}

TEST(ToolCallSplit, NoByteIsLostBehindABrokenCall) {
  EXPECT_EQ(calls_in(R"(<tool_call>{"name": "f", "arguments": {}!</tool_call>)"),
            R"(f({})|!</tool_call>)");
}

TEST(ToolCallSplit, QwenCodersTags) {
  const ToolFormat& format = *tool_format_of(kQwenCoder);
  EXPECT_EQ(format.name, "qwen3-coder");
  EXPECT_EQ(calls_in("Yes.\n<tool_call>\n<function=f>\n<parameter=s>\n12\n\"a\"\n</parameter>\n"
                     "<parameter=n>\n12\n</parameter>\n</function>\n</tool_call>\n"
                     "<tool_call>\n<function=g>\n</function>\n</tool_call>",
                     format),
            R"(Yes.|f({"s": "12\n\"a\"", "n": 12})|g({}))");
  EXPECT_EQ(calls_in("<tool_call><function=g><parameter=o>{\"a\": [1]}</parameter>"
                     "<parameter=t>free text</parameter></function></tool_call>",
                     format),
            R"(g({"o": {"a": [1]}, "t": "free text"}))");
  EXPECT_EQ(calls_in("<tool_call>\n<function=h>\n</function>", format),
            "<tool_call>\n<function=h>\n</function>");
}

TEST(ToolCallSplit, LlamasBareObjects) {
  const ToolFormat& format = *tool_format_of(kLlama);
  EXPECT_EQ(format.name, "llama3");
  EXPECT_EQ(calls_in(R"( {"name": "f", "parameters": {"a": 1}})", format), R"(f({"a": 1}))");
  EXPECT_EQ(calls_in(R"({"name": "f", "parameters": {}}; {"name": "g", "parameters": {}})", format),
            "f({})|g({})");
  for (const char* const whole :
       {R"(Write {"name": "f", "parameters": {}} so.)", R"({"name": "h", "parameters": {}})", "{",
        R"({"a": 1})", "  plain"})
    EXPECT_EQ(calls_in(whole, format), whole);
}

TEST(ToolCallSplit, CallsThatBeginWithTheirName) {
  const ToolFormat& mistral = *tool_format_of("[TOOL_CALLS] [ARGS]");
  EXPECT_EQ(
      calls_in("[TOOL_CALLS]f[CALL_ID]a1[ARGS]{\"a\": \"}\\\"{\"}[TOOL_CALLS]g[ARGS]{}", mistral),
      "f({\"a\": \"}\\\"{\"})|g({})");
  EXPECT_EQ(calls_in("See [TOOL_CALLS]h[ARGS]{} so", mistral), "See [TOOL_CALLS]h[ARGS]{} so");
  const ToolFormat& nemo = *tool_format_of("[TOOL_CALLS] tool");
  EXPECT_EQ(calls_in(R"([TOOL_CALLS] [{"name": "f", "arguments": {}, "id": "123456789"}])", nemo),
            "f({})");
  const ToolFormat& deepseek =
      *tool_format_of("<｜tool▁call▁begin｜>function<｜tool▁sep｜>```json");
  EXPECT_EQ(
      calls_in("So.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n"
               "{\"a\": 1}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>g"
               "\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
               deepseek),
      "So.|f({\"a\": 1})|g({})");
  const ToolFormat& later = *tool_format_of("<｜tool▁call▁begin｜><｜tool▁sep｜>");
  EXPECT_EQ(
      calls_in("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
               later),
      "f({})");
  const ToolFormat& kimi = *tool_format_of("<|tool_call_begin|><|tool_call_argument_begin|>");
  EXPECT_EQ(calls_in("a <|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
                     "<|tool_call_argument_begin|>{\"a\": [1]}<|tool_call_end|>"
                     "<|tool_calls_section_end|>",
                     kimi),
            "a|f({\"a\": [1]})");
}

TEST(ToolCallSplit, EscapesOfPythonsTexts) {
  const ToolFormat& lfm2 = *tool_format_named("lfm2");
  EXPECT_EQ(calls_in(cat(lfm2.open, R"([f(s="\é\x4Ab\n\t\"")])", lfm2.close), lfm2),
            R"(f({"s": "\\éJb\n\t\""}))");
}

// A header that never ends is text, and what is kept of it is bounded.
TEST(HostileToolCalls, AHeaderHasALimit) {
  ToolCallSplit parts(hermes, tools());
  std::vector<ToolPiece> out;
  parts.push("<tool_call>{\"id\": \"", out);
  std::size_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    parts.push(std::string(100, 'x'), out);
    most = std::max(most, parts.held());
  }
  EXPECT_LE(most, (64U << 10U) + 200);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].text.size(), 300'000 + 19U);
}

std::string random_json(std::mt19937_64& random, int depth) {
  static const char* const kTexts[] = {"a", "<tool_call>", "}{", "\\", "\"", "</tool_call>", "é\n"};
  switch (random() % (depth > 0 ? 6 : 4)) {
    case 0:
      return std::to_string(static_cast<std::int64_t>(random()));
    case 1:
      return random() % 2 == 0 ? "true" : "null";
    case 4: {
      std::string list = "[";
      for (std::uint64_t n = random() % 3; n > 0; --n)
        list += cat(random_json(random, depth - 1), n > 1 ? ", " : "");
      return list + "]";
    }
    case 5: {
      std::string object = "{";
      for (std::uint64_t n = random() % 3; n > 0; --n)
        object += cat("\"k", n, "\": ", random_json(random, depth - 1), n > 1 ? ", " : "");
      return object + "}";
    }
    default:
      return to_json(JsonValue(kTexts[random() % std::size(kTexts)]));
  }
}

// Calls as models write them come back byte for byte, between texts, in pieces of any size.
TEST(ToolCallSplit, RandomConversationsComeBack) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 5000; ++round) {
    std::string whole, wanted;
    if (random() % 2 == 0) whole = wanted = "Let me see < this>.";
    for (std::uint64_t n = random() % 4; n > 0; --n) {
      const std::string arguments = cat("{\"x\": ", random_json(random, 3), "}");
      whole += cat(whole.empty() ? "" : "\n",
                   "<tool_call>\n{\"name\": \"f\", \"arguments\": ", arguments, "}\n</tool_call>");
      wanted += cat("|f", arguments);
    }
    ToolCallSplit parts(hermes, tools());
    std::vector<ToolPiece> out;
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t n = 1 + random() % 20;
      parts.push(std::string_view(whole).substr(at, n), out);
      at += n;
    }
    parts.finish(out);
    std::string got;
    for (const ToolPiece& piece : out)
      got += cat(piece.kind == ToolPiece::Kind::kCall ? "|" : "", piece.text);
    ASSERT_EQ(got, wanted) << whole;
  }
}

const ToolFormat& named(std::string_view name) {
  return *tool_format_named(name);
}

TEST(ToolCallSplit, GigaChatsCallsAreMessagesOfTheirOwn) {
  const std::string call =
      "function call<|role_sep|>\n{\"name\": \"f\", \"arguments\": {\"s\": 1}}";
  EXPECT_EQ(calls_in(cat("Hm.<|message_sep|>\n\n", call, "<|message_sep|>"), named("gigachat3")),
            "Hm.|f({\"s\": 1})");
  EXPECT_EQ(calls_in("a function call<|message_sep|>", named("gigachat3")), "a function call");
}

TEST(ToolCallSplit, MiniCpmWrapsTextsInCdata) {
  const ToolFormat& format = named("minicpm5");
  EXPECT_EQ(calls_in("<function name=\"f\"><param name=\"s\"><![CDATA[a</param>\n<b]]></param>"
                     "<param name=\"n\">[1, 2]</param></function>",
                     format),
            R"(f({"s": "a</param>\n<b", "n": [1, 2]}))");
  EXPECT_EQ(calls_in("<function name=\"f\"></function>\n<function name=\"g\"></function>", format),
            "f({})|g({})");
}

TEST(ToolCallSplit, FunctionarysAllBeginsText) {
  const ToolFormat& format = named("functionary-v3.2");
  EXPECT_EQ(calls_in(">>>f\n{\"s\": \"a\"}>>>g\n{}", format), R"(f({"s": "a"})|g({}))");
  EXPECT_EQ(calls_in(">>>all\nHi >>> 1>>>f\n{}", format), "Hi >>> 1|f({})");
  EXPECT_EQ(calls_in(">>>all\n", format), "");
  for (const char* const said : {"all\nHi>>>f\n{}", "f\n{\"s\": 1}", "Hi", "all\n"}) {
    std::string byte_by_byte, whole;
    for (const bool is_whole : {true, false}) {
      ToolCallSplit parts(format, tools());
      parts.begin_opened();
      std::vector<ToolPiece> out;
      for (const char byte : std::string(is_whole ? "" : said))
        parts.push({&byte, 1}, out);
      parts.push(is_whole ? said : "", out);
      parts.finish(out);
      for (const ToolPiece& piece : out)
        (is_whole ? whole : byte_by_byte) += cat("|", piece.text);
    }
    EXPECT_EQ(whole, byte_by_byte);
    const std::string wanted = std::string(said) == "Hi"        ? "|Hi"
                               : std::string(said) == "all\n"   ? ""
                               : std::string(said).size() == 13 ? "|Hi|f|{}"
                                                                : "|f|{\"s\": 1}";
    EXPECT_EQ(whole, wanted) << said;
  }
}

TEST(ToolCallSplit, MiniMaxM3NestsTagsInTags) {
  const ToolFormat& format = named("minimax-m3");
  const std::string m = "]<]minimax[>[";
  EXPECT_EQ(calls_in(cat("Hm.", m, "<tool_call>\n", m, "<invoke name=\"f\">", m, "<s>42", m, "</s>",
                         m, "<a>", m, "<item>1", m, "</item>", m, "<item>x<y", m, "</item>", m,
                         "</a>", m, "<o>", m, "<k>true", m, "</k>", m, "</o>", m, "</invoke>\n", m,
                         "<invoke name=\"g\">", m, "</invoke>\n", m, "</tool_call>"),
                     format),
            R"(Hm.|f({"s": "42", "a": [1, "x<y"], "o": {"k": true}})|g({}))");
  EXPECT_EQ(calls_in(cat(m, "<invoke name=\"h\">"), format), cat(m, "<invoke name=\"h\">"));
}

}  // namespace
}  // namespace wick
