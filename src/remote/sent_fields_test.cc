#include "remote/sent_fields.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/strings.h"
#include "remote/dialect.h"

namespace wick::remote {

namespace {

// A request with one setting, and its name.
struct OneSetting {
  const char* name;
  void (*set)(Request& request);
};

Tool adding() {
  return {.name = "add", .parameters = R"({"type":"object"})"};
}

const OneSetting kSettings[] = {
    {"temperature", [](Request& r) { r.generation.temperature = 0.5; }},
    {"temperature", [](Request& r) { r.generation.more = {{"temperature", 0.5}}; }},
    {"temperature", [](Request& r) { r.generation.temperature = 1.5; }},
    {"top_k", [](Request& r) { r.generation.top_k = 5; }},
    {"top_k", [](Request& r) { r.generation.top_k = 0; }},
    {"top_p", [](Request& r) { r.generation.top_p = 0.5; }},
    {"min_p", [](Request& r) { r.generation.min_p = 0.5; }},
    {"repeat_penalty", [](Request& r) { r.generation.repeat_penalty = 1.5; }},
    {"presence_penalty", [](Request& r) { r.generation.more = {{"presence_penalty", 1}}; }},
    {"frequency_penalty", [](Request& r) { r.generation.more = {{"frequency_penalty", 1}}; }},
    {"min_tokens", [](Request& r) { r.generation.more = {{"min_tokens", 3}}; }},
    {"ignore_eos", [](Request& r) { r.generation.more = {{"ignore_eos", 1}}; }},
    {"typical_p", [](Request& r) { r.generation.more = {{"typical_p", 0.5}}; }},
    {"xtc_probability", [](Request& r) { r.generation.more = {{"xtc_probability", 0.5}}; }},
    {"seed", [](Request& r) { r.generation.seed = 7; }},
    {"stop", [](Request& r) { r.generation.stop = {"a"}; }},
    {"stop_token_ids", [](Request& r) { r.generation.stop_token_ids = {7}; }},
    {"logit_bias", [](Request& r) { r.generation.logit_bias = {{.id = 7, .bias = 1}}; }},
    {"samplers", [](Request& r) { r.generation.samplers = "top_k"; }},
    {"dry_sequence_breakers", [](Request& r) { r.generation.dry_sequence_breakers.emplace(); }},
    {"logprobs", [](Request& r) { r.generation.logprobs = true; }},
    {"priority", [](Request& r) { r.generation.priority = 1; }},
    {"lora", [](Request& r) { r.generation.adapters = {"a"}; }},
    {"emit_tokens", [](Request& r) { r.generation.emit_tokens = 4; }},
    {"emit_ms", [](Request& r) { r.generation.emit_ms = 4; }},
    {"tools.strict", [](Request& r) { r.generation.tools[0].is_strict = true; }},
    {"tool_choice", [](Request& r) { r.generation.tool_choice = "none"; }},
    {"tool_choice", [](Request& r) { r.generation.tool_choice = "required"; }},
    {"parallel_tool_calls", [](Request& r) { r.generation.parallel_tool_calls = false; }},
    {"reasoning.thinking", [](Request& r) { r.generation.thinking = true; }},
    {"reasoning.thinking", [](Request& r) { r.generation.thinking = false; }},
    {"reasoning.effort",
     [](Request& r) {
       r.generation.template_variables = {{"reasoning_effort", R"("low")"}};
     }},
    {"chat_template_kwargs", [](Request& r) { r.generation.template_variables = {{"d", "1"}}; }},
    {"response_format", [](Request& r) { r.generation.response_format.type = "json_object"; }},
    {"response_format",
     [](Request& r) {
       r.generation.response_format = {.type = "regex", .schema = "a+"};
     }},
    {"response_format",
     [](Request& r) {
       r.generation.response_format = {.type = "structural_tag", .schema = "{}"};
     }},
    {"user", [](Request& r) { r.remote_fields = {{"user", R"("u")"}}; }},
    {"verbosity", [](Request& r) { r.remote_fields = {{"verbosity", R"("low")"}}; }},
    {"metadata", [](Request& r) { r.remote_fields = {{"metadata", "{}"}}; }},
    {"service_tier", [](Request& r) { r.remote_fields = {{"service_tier", R"("flex")"}}; }},
};

Request asking_for_a_sum() {
  return {.model = "m",
          .prompt = std::vector<Message>{{.content = "1 + 1"}},
          .generation = {.tools = {adding()}}};
}

// The tables say what chat() does: a setting changes the body, or it is named as ignored, or the
// request is refused.
TEST(SentFields, NoDialectLosesASettingInSilence) {
  for (const Kind& kind : kinds()) {
    const Endpoint endpoint{.name = "up", .kind = &kind, .api_version = "1"};
    const std::string without = to_json(kind.dialect->chat(endpoint, asking_for_a_sum())->body);
    ASSERT_TRUE(ignored_settings(kind, asking_for_a_sum()).empty()) << kind.name;
    for (const OneSetting& one : kSettings) {
      Request request = asking_for_a_sum();
      one.set(request);
      auto call = kind.dialect->chat(endpoint, request);
      const std::string where = cat(kind.name, " ", one.name);
      if (!call) {
        EXPECT_EQ(call.error().id, "not_supported") << where;
        continue;
      }
      const bool is_sent = to_json(std::move(call->body)) != without;
      const std::vector<std::string> ignored = ignored_settings(kind, request);
      const bool is_clamped = request.generation.temperature == 1.5 && kind.name == "anthropic";
      EXPECT_EQ(ignored, is_sent && !is_clamped ? std::vector<std::string>()
                                                : std::vector<std::string>{one.name})
          << where;
    }
  }
}

// The names of what is ignored, and the fields that switch reasoning off.
std::string without_reasoning(std::string_view name) {
  const Kind& kind = **find_kind(name);
  Request request = asking_for_a_sum();
  request.generation.thinking = false;
  request.remote_fields = {{"reasoning_effort", R"("none")"}};
  const auto call = kind.dialect->chat({.name = "up", .kind = &kind, .api_version = "1"}, request);
  std::string out;
  for (const std::string_view field : {"reasoning_effort", "chat_template_kwargs", "think"}) {
    if (const JsonValue* const value = call->body.find(field))
      out += cat(field, " ", to_json(*value), " ");
  }
  for (const std::string& ignored : ignored_settings(kind, request))
    out += cat("ignores ", ignored);
  return out;
}

TEST(SentFields, NoEffortIsSentOnceOrNamed) {
  for (const std::string_view kind : {"openai", "azure", "groq", "openrouter", "ollama-v1",
                                      "huggingface", "openai-compatible"})
    EXPECT_EQ(without_reasoning(kind), "reasoning_effort \"none\" ") << kind;
  for (const std::string_view kind : {"vllm", "sglang", "wick"}) {
    EXPECT_EQ(without_reasoning(kind), R"(chat_template_kwargs {"enable_thinking": false} )")
        << kind;
  }
  EXPECT_EQ(without_reasoning("ollama"), "think false ");
  EXPECT_EQ(without_reasoning("anthropic"), "ignores reasoning.thinking");
}

std::vector<std::string> ignored_by(std::string_view kind, const Generation& generation) {
  return ignored_settings(**find_kind(kind), {.generation = generation});
}

TEST(SentFields, AreThoseOfEachApi) {
  const Generation much{.temperature = 1.5,
                        .top_k = 4,
                        .min_p = 0.1,
                        .seed = 3,
                        .more = {{"min_tokens", 2}, {"ignore_eos", 1}, {"mirostat", 2}},
                        .logit_bias = {{.id = 1, .bias = 2}}};
  using Names = std::vector<std::string>;
  const Names least = {"min_tokens", "ignore_eos", "mirostat"};
  EXPECT_EQ(ignored_by("openai", much),
            (Names{"min_tokens", "ignore_eos", "mirostat", "top_k", "min_p"}));
  EXPECT_EQ(ignored_by("anthropic", much), (Names{"min_tokens", "ignore_eos", "mirostat",
                                                  "temperature", "min_p", "seed", "logit_bias"}));
  EXPECT_EQ(ignored_by("openrouter", much), least);
  EXPECT_EQ(ignored_by("vllm", much), Names{"mirostat"});
  EXPECT_EQ(ignored_by("wick", much), Names());
}

TEST(SentFields, NumbersHaveTheirTypesAndTheLastValueCounts) {
  Object out;
  add_numbers(**find_kind("wick"),
              {.temperature = 0.5,
               .repeat_penalty = 2,
               .more = {{"temperature", 0.1}, {"min_tokens", 1}, {"min_tokens", 2},
                        {"ignore_eos", 1}}},
              out);
  EXPECT_EQ(to_json(out), R"({"temperature": 0.5, "min_tokens": 2, "ignore_eos": true, )"
                          R"("repeat_penalty": 2.0})");
  Object clamped;
  add_numbers(**find_kind("anthropic"), {.temperature = 1.5, .top_k = 0}, clamped);
  EXPECT_EQ(to_json(clamped), R"({"temperature": 1.0})");
}

TEST(SentFields, OfAnApiHaveTheirSettings) {
  EXPECT_EQ(setting_of(**find_kind("vllm"), "repetition_penalty"), "repeat_penalty");
  EXPECT_EQ(setting_of(**find_kind("wick"), "reasoning_effort"), "reasoning.effort");
  EXPECT_EQ(setting_of(**find_kind("wick"), "lora"), "lora");
}

}  // namespace

}  // namespace wick::remote
