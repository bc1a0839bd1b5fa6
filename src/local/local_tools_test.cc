// Tool calls of a local model: what it is told of tools, and what becomes of what it says.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "chat/json_value.h"
#include "grammar/schema/machine.h"
#include "local/local.h"
#include "local/tool_use.h"
#include "provider/gather.h"
#include "support/saying.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"
#include "toolcalls/tool_format.h"

namespace wick {
namespace {

struct Fixture {
  test::TempDir dir;
  std::shared_ptr<LocalModel> model;

  explicit Fixture(const std::string& chat_template = {}) {
    test::write_tiny_model(dir.path() / "tiny.gguf", {.context = 4096});
    model =
        *LocalModel::open(dir.path() / "tiny.gguf", {.threads = 1, .chat_template = chat_template});
  }
};

const Tool kWeather = {.name = "weather",
                       .description = "Of a city",
                       .parameters = R"({"type":"object","properties":{"city":{"enum":["Rome",
                         "Oslo"]}},"required":["city"],"additionalProperties":false})"};
const Tool kTime = {.name = "time"};

Request asking(std::string choice = {}) {
  return {.prompt = std::vector<Message>{{.content = "Hm?"}},
          .generation = {.tools = {kWeather, kTime}, .tool_choice = std::move(choice)}};
}

Completion answer_of(LocalModel& model, Request request, const std::string& said) {
  const auto prompt = model.prompt_tokens(request);
  EXPECT_TRUE(prompt) << to_string(prompt.error());
  request.generation.logits = test::saying(said, prompt->size());
  auto answer = ask(model, request);
  EXPECT_TRUE(answer) << to_string(answer.error());
  return answer ? *std::move(answer) : Completion{};
}

const std::string kSaid =
    "Let me look.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}}\n"
    "</tool_call>\n<tool_call>\n{\"name\": \"time\", \"arguments\": {}}\n</tool_call>";

TEST(LocalTools, CallsBecomeEventsAndTheRestStaysText) {
  const Fixture f;
  const Completion answer = answer_of(*f.model, asking(), kSaid);
  EXPECT_EQ(answer.text, "Let me look.");
  ASSERT_EQ(answer.tool_calls.size(), 2U);
  EXPECT_EQ(answer.tool_calls[0].name, "weather");
  EXPECT_EQ(answer.tool_calls[0].arguments, R"({"city": "Rome"})");
  EXPECT_EQ(answer.tool_calls[1].name, "time");
  EXPECT_EQ(answer.finish, FinishReason::kToolCalls);
  EXPECT_EQ(answer.tool_calls[0].id.size(), 9U);
  EXPECT_NE(answer.tool_calls[0].id, answer.tool_calls[1].id);
  EXPECT_EQ(answer_of(*f.model, asking(), kSaid).tool_calls[0].id, answer.tool_calls[0].id);
}

TEST(LocalTools, WithoutToolsNothingIsACall) {
  const Fixture f;
  Request request = asking("none");
  EXPECT_EQ(answer_of(*f.model, request, kSaid).text, kSaid);
  EXPECT_EQ(f.model->apply_template(request)->find("weather"), std::string::npos);
  request.generation.tools.clear();
  request.generation.tool_choice.clear();
  const Completion answer = answer_of(*f.model, request, kSaid);
  EXPECT_EQ(answer.text, kSaid);
  EXPECT_EQ(answer.finish, FinishReason::kEos);
}

TEST(LocalTools, EachTokenKeepsItsScore) {
  const Fixture f;
  Request request = asking();
  request.generation.logprobs = true;
  EXPECT_EQ(answer_of(*f.model, request, kSaid).logprobs.size(), kSaid.size() + 1);
}

// The tiny model's template shows no tools.
TEST(LocalTools, ATemplateWithoutToolsTellsThemAsText) {
  const Fixture f;
  Request request = asking();
  const std::string prompt = *f.model->apply_template(request);
  EXPECT_NE(prompt.find(R"({"name": "weather", "description": "Of a city", "parameters": )"),
            std::string::npos)
      << prompt;
  EXPECT_LT(prompt.find("<tool_call>"), prompt.find("Hm?"));
  auto& messages = std::get<std::vector<Message>>(request.prompt);
  messages.push_back({.role = "assistant",
                      .content = std::vector<Part>{
                          TextPart{"So."}, ToolCall{"a", "weather", R"({"city":"Oslo"})"}}});
  messages.push_back({.role = "tool",
                      .content = std::vector<Part>{ToolResult{"a", "cold"}, ToolResult{"b", "7"}}});
  const std::string later = *f.model->apply_template(request);
  EXPECT_NE(later.find("So.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": "
                       "\"Oslo\"}}\n</tool_call>"),
            std::string::npos)
      << later;
  EXPECT_NE(later.find("<tool_response>\ncold\n</tool_response>\n<tool_response>\n7\n"),
            std::string::npos)
      << later;
}

TEST(LocalTools, ATemplateWithToolsIsLeftAlone) {
  const Fixture f(
      "{% for t in tools %}[{{ t.function.name }}]{% endfor %}{{ messages[0].content }}"
      "{# <function= <parameter= #}");
  EXPECT_EQ(*f.model->apply_template(asking()), "[weather][time]Hm?");
  const Completion answer = answer_of(
      *f.model, asking(),
      "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n</parameter>\n</function>");
  ASSERT_EQ(answer.tool_calls.size(), 1U);
  EXPECT_EQ(answer.tool_calls[0].arguments, R"({"city": "Rome"})");
}

// The tiny tokenizer has no control token of Harmony: here they are spelled.
TEST(LocalTools, HarmonyIsTakenApartWithToolsAndWithout) {
  const Fixture f(
      "{{ messages[0].content }}{% for t in tools %}{{ t.function.name }}{% endfor %}"
      "{# <|start|>assistant<|channel|>analysis #}");
  const std::string said =
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary "
      "to=functions.weather <|constrain|>json<|message|>{\"city\": \"Rome\"}";
  const Completion answer = answer_of(*f.model, asking(), said);
  EXPECT_EQ(answer.reasoning, "Hm.");
  ASSERT_EQ(answer.tool_calls.size(), 1U);
  EXPECT_EQ(answer.tool_calls[0].arguments, R"({"city": "Rome"})");
  EXPECT_EQ(answer.finish, FinishReason::kToolCalls);
  Request plain = asking("none");
  plain.generation.tools.clear();
  plain.generation.tool_choice.clear();
  EXPECT_EQ(answer_of(*f.model, plain, said).text, R"({"city": "Rome"})");
}

// Kimi K3 writes markers around text, too, with tools and without.
TEST(LocalTools, MarkersAroundReasoningAndTextAreDropped) {
  const Fixture f(
      "{{ messages[0].content }}{% for t in tools %}{{ t.function.name }}{% endfor %}"
      "{# open_tag('think') #}<|open|>think<|sep|>");
  const std::string thought = "Hm.<|close|>think<|sep|>";
  const std::string text = "<|open|>response<|sep|>Yes.<|close|>response<|sep|>";
  const std::string call =
      "<|open|>tools<|sep|><|open|>call tool=\"weather\" index=\"1\"<|sep|><|open|>argument "
      "key=\"city\" type=\"string\"<|sep|>Rome<|close|>argument<|sep|><|close|>call<|sep|>"
      "<|close|>tools<|sep|>";
  const std::string end = "<|close|>message<|sep|>";
  const Completion answer = answer_of(*f.model, asking(), cat(thought, text, call, end));
  EXPECT_EQ(answer.reasoning, "Hm.");
  EXPECT_EQ(answer.text, "Yes.");
  ASSERT_EQ(answer.tool_calls.size(), 1U);
  EXPECT_EQ(answer.tool_calls[0].arguments, R"({"city": "Rome"})");
  Request plain = asking();
  plain.generation.tools.clear();
  const Completion said = answer_of(*f.model, plain, cat(thought, text, end));
  EXPECT_EQ(said.reasoning, "Hm.");
  EXPECT_EQ(said.text, "Yes.");
}

// Noise at a high temperature, held to a call.
TEST(LocalTools, ARequiredCallIsAlwaysOne) {
  const Fixture f;
  int n_calls = 0;
  for (const std::string choice : {"required", "weather"}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Request request = asking(choice);
      request.generation.temperature = 3;
      request.generation.seed = seed;
      request.generation.max_tokens = 200;
      const auto answer = ask(*f.model, request);
      ASSERT_TRUE(answer) << to_string(answer.error());
      EXPECT_EQ(answer->text, "");
      ASSERT_GE(answer->tool_calls.size(), 1U);
      for (const ToolCall& call : answer->tool_calls) {
        const auto arguments = parse_json(call.arguments);
        ASSERT_TRUE(arguments) << call.arguments;
        if (call.name == "weather") {
          const std::string city = *arguments->object()->find("city")->string();
          EXPECT_TRUE(city == "Rome" || city == "Oslo") << city;
        } else {
          EXPECT_EQ(call.name, "time");
          EXPECT_EQ(choice, "required");
        }
        ++n_calls;
      }
      EXPECT_TRUE(choice == "required" || answer->tool_calls.size() == 1);
    }
  }
  EXPECT_GE(n_calls, 20);
}

// The hook wants two calls; after the first one its marker is no longer allowed.
TEST(LocalTools, WithoutParallelCallsThereIsAtMostOne) {
  const Fixture f;
  Request request = asking();
  EXPECT_EQ(answer_of(*f.model, request, kSaid).tool_calls.size(), 2U);
  request.generation.parallel_tool_calls = false;
  request.generation.max_tokens = 300;
  const Completion answer = answer_of(*f.model, request, kSaid);
  ASSERT_EQ(answer.tool_calls.size(), 1U);
  EXPECT_EQ(answer.tool_calls[0].name, "weather");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Request required = asking("required");
    required.generation.parallel_tool_calls = false;
    required.generation.temperature = 3;
    required.generation.seed = seed;
    required.generation.max_tokens = 200;
    const auto one = ask(*f.model, required);
    ASSERT_TRUE(one) << to_string(one.error());
    EXPECT_EQ(one->tool_calls.size(), 1U);
  }
}

TEST(LocalTools, ReferencesOfASchemaStayInside) {
  const Fixture f;
  Request request = asking("required");
  request.generation.tools = {
      {.name = "a", .parameters = R"({"properties":{"x":{"$ref":"#/$defs/n"}},"required":["x"],
                         "additionalProperties":false,"$defs":{"n":{"const":7}}})"}};
  request.generation.max_tokens = 100;
  const auto answer = ask(*f.model, request);
  ASSERT_TRUE(answer) << to_string(answer.error());
  ASSERT_GE(answer->tool_calls.size(), 1U);
  EXPECT_EQ(to_json(*parse_json(answer->tool_calls[0].arguments)), R"({"x": 7})");
}

// MiniMax-M3's trees of tags, from noise.
TEST(LocalTools, ARequiredCallOfNestedTagsIsValid) {
  const std::string chat_template =
      "{% for m in messages %}{{ m.content }}{% endfor %}"
      "{% for t in tools %}{{ t.function.name }}{% endfor %}{# ]<]minimax[>[ <invoke name= #}";
  ASSERT_EQ(tool_format_of(chat_template)->name, "minimax-m3");
  const Fixture f(chat_template);
  const std::string schema =
      R"({"type":"object","required":["s","l","o","u"],"additionalProperties":false,"properties":{
          "s":{"type":"string","maxLength":6},
          "l":{"type":"array","items":{"type":"integer","maximum":99},"minItems":1,"maxItems":2},
          "o":{"type":"object","required":["k"],"additionalProperties":false,
               "properties":{"k":{"type":"boolean"},"e":{"type":"string","enum":["42","b"]}}},
          "u":{"anyOf":[{"const":"7"},{"type":"null"}]}}})";
  auto compiled = grammar::compile_schema(*grammar::read_document(schema), {});
  ASSERT_TRUE(compiled);
  grammar::JsonMachine machine(*std::move(compiled));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Request request = asking("required");
    request.generation.tools = {{.name = "a", .parameters = schema}};
    request.generation.temperature = 3;
    request.generation.seed = seed;
    request.generation.max_tokens = 400;
    const auto answer = ask(*f.model, request);
    ASSERT_TRUE(answer) << to_string(answer.error());
    ASSERT_GE(answer->tool_calls.size(), 1U) << answer->text;
    for (const ToolCall& call : answer->tool_calls)
      EXPECT_TRUE(*machine.accepts(call.arguments)) << call.arguments;
  }
}

// The caller must not run half a call.
TEST(LocalTools, AStopSequenceWithinACallIsNoToolCall) {
  const Fixture f;
  Request request = asking("weather");
  request.generation.stop = {"\"arguments\": {"};
  const auto cut = ask(*f.model, request);
  ASSERT_TRUE(cut) << to_string(cut.error());
  EXPECT_EQ(cut->finish, FinishReason::kStop);
  request.generation.stop = {"no such text"};
  const auto whole = ask(*f.model, request);
  ASSERT_TRUE(whole) << to_string(whole.error());
  EXPECT_EQ(whole->finish, FinishReason::kToolCalls);
}

TEST(LocalTools, WhatCannotBeRequiredIsRefused) {
  const Fixture f;
  const auto id_of = [](LocalModel& model, const Request& request) {
    const auto answer = model.start(request);
    return answer ? "" : answer.error().id;
  };
  EXPECT_EQ(id_of(*f.model, asking("clock")), "bad_tool_choice");
  Request small = asking("weather");
  small.generation.max_tokens = 5;
  EXPECT_EQ(id_of(*f.model, small), "max_tokens_too_small");
  Request bad_format = asking("required");
  bad_format.generation.response_format = {.type = "regex", .schema = "("};
  EXPECT_NE(id_of(*f.model, bad_format), "");
  bad_format.generation.response_format.schema = "a";
  EXPECT_EQ(id_of(*f.model, bad_format), "");
  const auto refused = [&](std::string parameters) {
    Request request = asking("required");
    request.generation.tools = {{.name = "a", .parameters = std::move(parameters)}};
    const auto answer = f.model->start(request);
    return answer ? "" : cat(answer.error().id, ": ", answer.error().message);
  };
  const std::string of_a = ": the parameters of the tool 'a': ";
  std::string said = refused(R"({"properties":{"n":{"multipleOf":3}}})");
  EXPECT_TRUE(said.starts_with("tool_schema_unsupported" + of_a)) << said;
  said = refused(R"({"minProperties":2,"maxProperties":1})");
  EXPECT_TRUE(said.starts_with("bad_tool" + of_a)) << said;
  const Fixture unknown("{% for t in tools %}{{ t.function.name }}{% endfor %}");
  EXPECT_EQ(id_of(*unknown.model, asking("required")), "tool_choice_unsupported");
  EXPECT_EQ(id_of(*unknown.model, asking()), "");
}

}  // namespace
}  // namespace wick
