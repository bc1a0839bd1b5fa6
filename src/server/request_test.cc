// What requests may say: each field into the provider's request, each wrong value into a 400 that
// names it.
#include <gtest/gtest.h>

#include <limits>

#include "server/fields.h"
#include "server/json_in.h"
#include "server/limits.h"
#include "server/server_fixture_test.h"
#include "support/scripted_provider.h"

namespace wick::server {
namespace {

using namespace test;

constexpr std::string_view kPath = "/v1/chat/completions";

std::string asking(std::string_view more) {
  return cat(R"({"messages":[{"role":"user","content":"Hi"}])", more.empty() ? "" : ",", more, "}");
}

struct Asked {
  std::shared_ptr<MadeProvider> provider = always(wick::test::remote_script("text"));
  Server server{provider};

  // What the provider is asked.
  Request of(std::string_view body) {
    const Got got = server.post(kPath, body);
    EXPECT_EQ(got.status, 200) << body << "\n" << got.body;
    return provider->seen.empty() ? Request() : provider->seen.back();
  }

  Generation with(std::string_view more) { return of(asking(more)).generation; }

  // "PARAM: MESSAGE" of a refusal.
  std::string refusal(std::string_view body, int status = 400) {
    const Got got = server.post(kPath, body);
    EXPECT_EQ(got.status, status) << body << "\n" << got.body;
    const JsonValue error = at(got.json(), "error");
    for (const char* const key : {"message", "type", "param", "code"})
      EXPECT_NE(error.object()->find(key), nullptr) << key;
    return text_of(error, "param") + ": " + text_of(error, "message");
  }
};

double more(const Generation& g, std::string_view key) {
  double value = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [name, one] : g.more) {
    if (name == key) value = one;
  }
  return value;
}

TEST(ServerRequest, EachSamplerReachesTheProviderByItsName) {
  Asked asked;
  for (const Field& field : fields()) {
    if (field.key.empty() || field.kind == FieldKind::kBoolean) continue;
    const double value = field.max > 1 ? 1 : field.max / 2;
    const Generation g = asked.with(cat("\"", field.name, "\":", value));
    const std::optional<double> named = field.key == "temperature"      ? g.temperature
                                        : field.key == "top_p"          ? g.top_p
                                        : field.key == "min_p"          ? g.min_p
                                        : field.key == "repeat_penalty" ? g.repeat_penalty
                                        : field.key == "top_k"          ? g.top_k.value_or(-1)
                                                                        : std::optional<double>();
    EXPECT_EQ(named.value_or(more(g, field.key)), value) << field.name;
  }
  EXPECT_EQ(more(asked.with(R"("ignore_eos":true)"), "ignore_eos"), 1);
  EXPECT_EQ(asked.with(R"("top_k":-1)").top_k, 0);
}

TEST(ServerRequest, EachNumberOutOfItsRangeIsRefusedByName) {
  Asked asked;
  for (const Field& field : fields()) {
    if ((field.apis & kChat) == 0 || field.min == field.max || field.name == "stop") continue;
    for (const double value : {field.min - 1, field.max + 1, 1e300}) {
      const std::string said = asked.refusal(asking(cat("\"", field.name, "\":", value)));
      EXPECT_EQ(said.substr(0, said.find(':')), field.name) << said;
      if (value != 1e300 && field.kind == FieldKind::kNumber) {
        EXPECT_EQ(said, cat(field.name, ": ", field.name, " is ", value, ", allowed are ",
                            range_of(field)));
      }
    }
  }
}

TEST(ServerRequest, EachFieldOfAWrongTypeIsRefusedByName) {
  Asked asked;
  for (const Field& field : fields()) {
    if ((field.apis & kChat) == 0 || field.set == nullptr) continue;
    for (const std::string_view wrong :
         {"\"x\"", "[[]]", "{\"x\":{}}", "1.5", "true", "\"high\"", "{\"1\":1}", "[]"}) {
      const JsonValue value = at(*parse_json(cat("{\"v\":", wrong, "}")), "v");
      const bool fits = field.kind == FieldKind::kAny || field.kind == FieldKind::kObject ||
                        (field.kind == FieldKind::kNumber && wrong == "1.5") ||
                        (field.kind == FieldKind::kBoolean && wrong == "true") ||
                        (field.kind == FieldKind::kText && value.string() != nullptr) ||
                        (field.kind == FieldKind::kList && wrong == "[]");
      if (fits) continue;
      const std::string said = asked.refusal(
          cat(R"({"messages":[{"role":"user","content":"x"}],")", field.name, "\":", wrong, "}"));
      EXPECT_EQ(said.substr(0, said.find_first_of(":[")), field.name) << said;
    }
  }
}

TEST(ServerRequest, NullIsAsAbsent) {
  Asked asked;
  std::string all;
  for (const Field& field : fields()) {
    if ((field.apis & kChat) != 0 && field.name != "messages")
      all += cat(all.empty() ? "" : ",", "\"", field.name, "\":null");
  }
  const Generation g = asked.with(all);
  EXPECT_FALSE(g.temperature || g.top_k || g.seed || g.thinking || g.dry_sequence_breakers);
  EXPECT_TRUE(g.more.empty() && g.stop.empty() && g.tools.empty() && g.logit_bias.empty());
}

TEST(ServerRequest, TheLengthThatWinsIsTheNewerName) {
  Asked asked;
  EXPECT_EQ(asked.with("").max_tokens, 0);
  EXPECT_EQ(asked.with(R"("max_tokens":5)").max_tokens, 5);
  EXPECT_EQ(asked.with(R"("max_tokens":-1)").max_tokens, 0);
  EXPECT_EQ(asked.with(R"("n_predict":6.0)").max_tokens, 6);
  EXPECT_EQ(asked.with(R"("max_completion_tokens":7,"max_tokens":5)").max_tokens, 7);
  EXPECT_EQ(asked.with(R"("max_tokens":5,"max_completion_tokens":7)").max_tokens, 7);
  EXPECT_EQ(asked.refusal(asking(R"("max_tokens":0)")),
            "max_tokens: max_tokens is 0, allowed are 1 to 16777216, and -1 for no limit");
}

TEST(ServerRequest, SeedsAreSixtyFourBits) {
  Asked asked;
  EXPECT_EQ(asked.with(R"("seed":9223372036854775807)").seed, 9223372036854775807U);
  EXPECT_EQ(asked.with(R"("seed":-2)").seed, 18446744073709551614U);
  EXPECT_FALSE(asked.with(R"("seed":-1)").seed);
  EXPECT_EQ(asked.refusal(asking(R"("seed":1.5)")),
            "seed: seed is 1.5, allowed are -2^63 to 2^63 - 1");
}

TEST(ServerRequest, StopsAreOneToFour) {
  Asked asked;
  EXPECT_EQ(asked.with(R"("stop":"\n")").stop, std::vector<std::string>{"\n"});
  EXPECT_EQ(asked.with(R"("stop":["a","b"])").stop.size(), 2U);
  EXPECT_EQ(asked.refusal(asking(R"("stop":["a","b","c","d","e"])")),
            "stop: stop has 5 strings, allowed are 4");
  EXPECT_EQ(asked.with(R"("stop_token_ids":[1,2])").stop_token_ids, (std::vector<TokenId>{1, 2}));
}

TEST(ServerRequest, BiasesAreByIdOrText) {
  Asked asked;
  const auto by_id = asked.with(R"("logit_bias":{"15043":-100,"7":1.5})").logit_bias;
  ASSERT_EQ(by_id.size(), 2U);
  EXPECT_EQ(by_id[0].id, 15043);
  EXPECT_EQ(by_id[1].bias, 1.5);
  const auto pairs = asked.with(R"("logit_bias":[[5,-1],[" Hello",false]])").logit_bias;
  EXPECT_EQ(pairs[0].id, 5);
  EXPECT_EQ(pairs[1].text, " Hello");
  EXPECT_EQ(pairs[1].bias, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(asked.refusal(asking(R"("logit_bias":{"x":1})")),
            "logit_bias: logit_bias has the key 'x', wanted is a token's id");
  EXPECT_EQ(asked.refusal(asking(R"("logit_bias":{"1":101})")),
            "logit_bias: logit_bias has the bias 101, allowed are -100 to 100, and false");
  std::string many;
  for (std::size_t i = 0; i <= kMaxLogitBias; ++i)
    many += cat(i == 0 ? "" : ",", "\"", i, "\":1");
  EXPECT_EQ(asked.refusal(asking(cat("\"logit_bias\":{", many, "}"))),
            "logit_bias: logit_bias has 1025 entries, allowed are 1024");
}

TEST(ServerRequest, MessagesCarryPartsCallsResultsAndReasoning) {
  Asked asked;
  const Request request = asked.of(R"({"messages":[
    {"role":"developer","content":"Be brief."},
    {"role":"user","content":[{"type":"text","text":"Weather"},{"type":"text","text":"?"}]},
    {"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[
      {"id":"c1","type":"function","function":{"name":"w","arguments":"{\"a\":1}"}}]},
    {"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"sunny"}]}]})");
  const auto& talk = std::get<std::vector<Message>>(request.prompt);
  ASSERT_EQ(talk.size(), 4U);
  EXPECT_EQ(talk[0].role, "system");
  EXPECT_EQ(talk[1].content.text(), "Weather?");
  EXPECT_EQ(talk[2].content.text<ReasoningPart>(), "Hm.");
  EXPECT_EQ(std::get<ToolCall>(talk[2].content.parts[1]).arguments, "{\"a\":1}");
  EXPECT_EQ(std::get<ToolResult>(talk[3].content.parts[0]).text, "sunny");
  EXPECT_EQ(std::get<ToolResult>(talk[3].content.parts[0]).call_id, "c1");
}

TEST(ServerRequest, BadMessagesAreNamedByTheirPlace) {
  Asked asked;
  const auto refused = [&](std::string_view messages) {
    return asked.refusal(cat(R"({"messages":)", messages, "}"));
  };
  EXPECT_EQ(asked.refusal("{}"), "messages: messages is missing");
  EXPECT_EQ(refused("[]"), "messages: messages is an empty array, wanted is at least one message");
  EXPECT_EQ(refused("[1]"), "messages[0]: messages[0] is 1, wanted is an object");
  EXPECT_EQ(refused(R"([{"content":"x"}])"),
            "messages[0].role: messages[0].role is missing, wanted is a string");
  EXPECT_EQ(refused(R"([{"role":"user","content":7}])"),
            "messages[0].content: messages[0].content is 7, wanted is a string or an array of "
            "parts");
  EXPECT_EQ(refused(R"([{"role":"user","content":[{"type":"text"}]}])"),
            "messages[0].content[0].text: messages[0].content[0].text is missing, wanted is a "
            "string");
  EXPECT_EQ(refused(R"([{"role":"user","content":[{"type":"hologram"}]}])"),
            "messages[0].content[0].type: messages[0].content[0].type is 'hologram', known is "
            "'text'");
  EXPECT_EQ(refused(R"([{"role":"assistant","tool_calls":[{"id":"x"}]}])"),
            "messages[0].tool_calls[0]: messages[0].tool_calls[0] has no function with a name");
}

TEST(ServerRequest, AnEmptyGrammarIsNoneAndAnEmptyGuideIsAnError) {
  Asked asked;
  EXPECT_EQ(asked.with(R"("grammar":"")").response_format.type, "text");
  EXPECT_EQ(asked.with(R"("guided_regex":"")").response_format.type, "regex");
}

TEST(ServerRequest, ImagesAreRefusedByName) {
  Asked asked;
  const Got got = asked.server.post(
      kPath, R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]})");
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(text_of(got.json(), "error.code"), "images_unsupported");
  EXPECT_EQ(text_of(got.json(), "error.param"), "messages[0].content[0]");
}

TEST(ServerRequest, ToolsAndTheirChoiceReachTheProvider) {
  Asked asked;
  const Generation g =
      asked.with(R"("tools":[{"type":"function","function":{"name":"w","description":"d",)"
                 R"("parameters":{"type":"object"},"strict":true}}],"tool_choice":"none")");
  ASSERT_EQ(g.tools.size(), 1U);
  EXPECT_EQ(g.tools[0].name, "w");
  EXPECT_EQ(g.tools[0].parameters, R"({"type": "object"})");
  EXPECT_EQ(g.tool_choice, "none");
  EXPECT_TRUE(g.parallel_tool_calls);
  EXPECT_FALSE(asked.with(R"("parallel_tool_calls":false)").parallel_tool_calls);
  EXPECT_EQ(asked.with(R"("tool_choice":{"type":"function","function":{"name":"w"}})").tool_choice,
            "w");
  EXPECT_EQ(asked.refusal(asking(R"("tools":[{"type":"web_search"}])")),
            "tools[0].type: tools[0].type is 'web_search', supported is 'function'");
  EXPECT_EQ(asked.refusal(asking(R"("tools":[{"type":"custom","name":"w","format":{}}])")),
            "tools[0].type: tools[0].type is 'custom' without an input_schema; supported is "
            "'function'");
  const std::string word = R"("tool_choice":{"type":"function","function":{"name":"none"}})";
  EXPECT_EQ(asked.refusal(asking(word)),
            "tool_choice: tool_choice names the function 'none', which means something else here; "
            "give it another name");
  EXPECT_EQ(asked.refusal(asking(R"("response_format":{"type":"regex","regex":"a"})")),
            "response_format: response_format.type is 'regex', known are text, json_object, "
            "json_schema and structural_tag; structured_outputs takes regex, choice and grammar");
}

TEST(ServerRequest, FormsThinkingAndVariablesReachTheProvider) {
  Asked asked;
  const auto format =
      asked
          .with(R"("response_format":{"type":"json_schema","json_schema":{"name":"x",)"
                R"("schema":{"type":"object"}}})")
          .response_format;
  EXPECT_EQ(format.type, "json_schema");
  EXPECT_EQ(format.schema, R"({"type": "object"})");
  EXPECT_EQ(asked.with(R"("think":false)").thinking, false);
  EXPECT_EQ(asked.with(R"("reasoning_effort":"none")").thinking, false);
  const Request none = asked.of(asking(R"("reasoning_effort":"none")"));
  EXPECT_TRUE(none.generation.template_variables.empty());
  ASSERT_EQ(none.remote_fields.size(), 1U);
  EXPECT_EQ(none.remote_fields[0].second, "\"none\"");
  const Generation high = asked.with(R"("reasoning_effort":"high")");
  EXPECT_EQ(high.thinking, true);
  ASSERT_EQ(high.template_variables.size(), 1U);
  EXPECT_EQ(high.template_variables[0].second, "\"high\"");
  const auto kwargs = asked.with(R"("chat_template_kwargs":{"enable_thinking":false})");
  EXPECT_EQ(kwargs.template_variables[0].first, "enable_thinking");
  EXPECT_EQ(kwargs.template_variables[0].second, "false");
}

TEST(ServerRequest, EachNameOfStructuredOutputReachesTheProvider) {
  Asked asked;
  const auto seen = [&](std::string_view fields) {
    const ResponseFormat format = asked.with(std::string(fields)).response_format;
    return format.type + " " + format.schema;
  };
  EXPECT_EQ(seen(R"("response_format":{"type":"text"})"), "text ");
  EXPECT_EQ(seen(R"("response_format":{"type":"json_object"})"), "json_object ");
  EXPECT_EQ(seen(R"("response_format":{"type":"json_object","schema":{"a":1}})"),
            R"(json_schema {"a": 1})");
  EXPECT_EQ(seen(R"("structured_outputs":{"json":{"a":1},"regex":null})"),
            R"(json_schema {"a": 1})");
  EXPECT_EQ(seen(R"("structured_outputs":{"json":"{}"})"), "json_schema {}");
  EXPECT_EQ(seen(R"("structured_outputs":{"regex":"a+","whitespace_pattern":null})"), "regex a+");
  EXPECT_EQ(seen(R"("structured_outputs":{"choice":["a","b"]})"), R"(choice ["a", "b"])");
  EXPECT_EQ(seen(R"("structured_outputs":{"json_object":true})"), "json_object ");
  EXPECT_EQ(seen(R"("guided_json":{"a":1})"), R"(json_schema {"a": 1})");
  EXPECT_EQ(seen(R"("guided_regex":"a")"), "regex a");
  EXPECT_EQ(seen(R"("guided_choice":["a"])"), R"(choice ["a"])");
  EXPECT_EQ(seen(R"("guided_grammar":"root ::= \"a\"")"), "grammar root ::= \"a\"");
  EXPECT_EQ(seen(R"("grammar":"root ::= \"a\"")"), "grammar root ::= \"a\"");
  EXPECT_EQ(seen(R"("structured_outputs":{"structural_tag":"{}"})"), "structural_tag {}");
  EXPECT_EQ(seen(R"("structural_tag":{"a":1})"), R"(structural_tag {"a": 1})");
  EXPECT_EQ(seen(R"("response_format":{"type":"structural_tag","format":{}})"),
            R"(structural_tag {"type": "structural_tag", "format": {}})");
  EXPECT_EQ(seen(R"("grammar":"")"), "text ");
  EXPECT_EQ(seen(R"("json_schema":{"a":1})"), R"(json_schema {"a": 1})");
}

TEST(ServerRequest, WhatItCannotConstrainIsRefusedByName) {
  Asked asked;
  const auto refused = [&](std::string_view fields) {
    const std::string refusal = asked.refusal(asking(std::string(fields)));
    return refusal.substr(0, refusal.find(':'));
  };
  EXPECT_EQ(refused(R"("response_format":{"type":"json_schema","json_schema":{"name":"x"}})"),
            "response_format.json_schema.schema");
  EXPECT_EQ(refused(R"("response_format":{"type":"json_schema"})"), "response_format.schema");
  EXPECT_EQ(refused(R"("response_format":{})"), "response_format.type");
  EXPECT_EQ(refused(R"("structured_outputs":{"structural_tag":1})"),
            "structured_outputs.structural_tag");
  EXPECT_EQ(refused(R"("structured_outputs":{"disable_any_whitespace":true})"),
            "structured_outputs.disable_any_whitespace");
  EXPECT_EQ(refused(R"("structured_outputs":{"regex":1})"), "structured_outputs.regex");
  EXPECT_EQ(refused(R"("grammar":"root ::= \"a\"","json_schema":{})"), "json_schema");
  EXPECT_EQ(refused(R"("guided_choice":"a")"), "guided_choice");
}

TEST(ServerRequest, OtherGenerationFields) {
  Asked asked;
  const Generation g = asked.with(
      R"("logprobs":true,"top_logprobs":3,"priority":-2,"time_limit_ms":50,"emit_ms":20,)"
      R"("samplers":["top_k","temperature"],"dry_sequence_breakers":["\n"])");
  EXPECT_TRUE(g.logprobs);
  EXPECT_EQ(g.top_logprobs, 3);
  EXPECT_EQ(g.priority, -2);
  EXPECT_EQ(g.time_limit_ms, 50);
  EXPECT_EQ(g.emit_ms, 20);
  EXPECT_EQ(g.samplers, "top_k;temperature");
  EXPECT_EQ(g.dry_sequence_breakers, std::vector<std::string>{"\n"});
  EXPECT_EQ(g.tenant, 7U);  // the key's, not the body's
}

TEST(ServerRequest, UnknownFieldsAreIgnoredAndNamed) {
  Asked asked;
  const Got got = asked.server.post(
      kPath, asking(R"("frobnicate":1,"user":"u","a\r\nb: c":2,"wick":{"x":1},"store":true)"));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.header("x-wick-ignored"), "frobnicate, ?, wick.x");
  EXPECT_EQ(asked.server.post(kPath, asking("")).header("x-wick-ignored"), "");
}

// Settings of the server, which the provider ignores as well, are no fields of the request.
TEST(ServerRequest, FieldsThatTheProviderIgnoresAreNamedAsTheClientCallsThem) {
  struct Row {
    const char *path, *body, *told;
  };

  const Row rows[] = {
      {"/v1/chat/completions", R"("top_k":1,"repetition_penalty":1.1,"seed":7,"x":0)",
       "x, top_k, repetition_penalty"},
      {"/v1/chat/completions", R"("reasoning_effort":"low","user":"u","verbosity":"low")",
       "reasoning_effort, verbosity"},
      {"/v1/chat/completions",
       R"("tools":[{"function":{"name":"f","strict":true}}],"think":true,"n":3)",
       "tools.strict, think"},
      {"/v1/chat/completions", R"("temperature":1,"max_tokens":5,"stop":"a")", "stop"},
      {"/v1/messages", R"("stop_sequences":["a"],"thinking":{"type":"disabled"},"max_tokens":5)",
       "stop_sequences, thinking"},
      {"/v1/responses", R"("reasoning":{"effort":"low"},"input":"a")",
       "messages, reasoning.effort, reasoning.thinking"},
      {"/api/chat", R"("options":{"top_k":3,"num_ctx":9,"seed":1})", "num_ctx, top_k"},
  };
  for (const Row& row : rows) {
    for (const char* const stream : {"false", "true"}) {
      const auto made = test::always({TextEvent{"a"}, DoneEvent{.finish = FinishReason::kEos}});
      made->report.ignored = {"top_k",    "repeat_penalty", "min_p",        "reasoning.effort",
                              "verbosity", "stop",           "tools.strict", "reasoning.thinking"};
      test::Server server(made);
      const std::string body = cat(R"({"messages":[{"role":"user","content":"a"}],"stream":)",
                                   stream, ",", row.body, "}");
      const Got got = server.post(row.path, body);
      EXPECT_EQ(got.status, 200) << got.body;
      EXPECT_EQ(got.header("x-wick-ignored"), row.told) << row.body << stream;
    }
  }
}

TEST(ServerRequest, TheLastOfEqualKeysWins) {
  Asked asked;
  EXPECT_EQ(asked.with(R"("top_p":0.1,"top_p":0.2)").top_p, 0.2);
  EXPECT_EQ(asked.with(R"("top_p":7,"top_p":0.2)").top_p, 0.2);
}

TEST(ServerRequest, AModelIsItsNameAnAliasOrTheFirst) {
  const auto provider = always(wick::test::remote_script("text"));
  Server server(provider, {.version = "1", .models = [] {
                             return list_of({{"small", {"gpt-4", "s"}}, {"big"}});
                           }});
  const auto asked = [&](std::string_view model) {
    const Got got = server.post(kPath, asking(cat(R"("model":")", model, "\"")));
    return got.status == 200 ? provider->seen.back().model : text_of(got.json(), "error.code");
  };
  EXPECT_EQ(asked("small"), "small");
  EXPECT_EQ(asked("gpt-4"), "small");
  EXPECT_EQ(asked("big"), "big");
  EXPECT_EQ(asked(""), "small");
  EXPECT_EQ(asked("gpt-5"), "model_not_found");
  EXPECT_EQ(server.post(kPath, asking(R"("model":"gpt-5")")).status, 404);
  EXPECT_EQ(text_of(server.post(kPath, asking(R"("model":"gpt-5")")).json(), "error.param"),
            "model");
}

TEST(ServerRequest, TheServersDefaultsStandBelowTheRequest) {
  const auto provider = always(wick::test::remote_script("text"));
  Generation defaults{.temperature = 0.3, .origins = {{"temperature", "flag --temp"}}};
  Server server(provider, {.version = "1",
                           .settings = [kept = std::make_shared<const Settings>(
                                            Settings{.defaults = defaults})] { return kept; }});
  server.post(kPath, asking(""));
  EXPECT_EQ(provider->seen.back().generation.temperature, 0.3);
  EXPECT_EQ(provider->seen.back().generation.origins.size(), 1U);
  server.post(kPath, asking(R"("temperature":1)"));
  EXPECT_EQ(provider->seen.back().generation.temperature, 1);
  EXPECT_TRUE(provider->seen.back().generation.origins.empty());
}

TEST(ServerRequest, WhatTheRequestSetsIsNotToldAsTheServersDefault) {
  const auto provider = always(wick::test::remote_script("text"));
  Generation defaults{.seed = 4,
                      .samplers = "top_k",
                      .origins = {{"samplers", "default"}, {"max_tokens", "default"}}};
  Server server(provider,
                {.version = "1", .settings = [&] {
                   return std::make_shared<const Settings>(Settings{.defaults = defaults});
                 }});
  const auto origin = [&](std::string_view path, const std::string& body, std::string_view key) {
    EXPECT_EQ(server.post(path, body).status, 200) << body;
    for (const auto& [name, told] : provider->seen.back().generation.origins) {
      if (name == key) return told;
    }
    return std::string("request");
  };
  EXPECT_EQ(origin(kPath, asking(""), "max_tokens"), "default");
  EXPECT_EQ(origin(kPath, asking(""), "samplers"), "default");
  for (const char* const more : {R"("max_tokens":7)", R"("max_completion_tokens":7)",
                                 R"("max_tokens":-1)", R"("max_completion_tokens":-1)"}) {
    EXPECT_EQ(origin(kPath, asking(more), "max_tokens"), "request") << more;
  }
  EXPECT_EQ(origin(kPath, asking(R"("samplers":"top_p;temperature")"), "samplers"), "request");
  EXPECT_EQ(origin("/v1/responses", R"({"input":"a","max_output_tokens":7})", "max_tokens"),
            "request");
  EXPECT_EQ(origin("/api/generate", R"({"prompt":"a","options":{"num_predict":7}})", "max_tokens"),
            "request");
  EXPECT_EQ(origin("/v1/completions", R"({"prompt":"a","max_tokens":7})", "max_tokens"), "request");
  EXPECT_EQ(origin("/v1/completions", R"({"prompt":"a"})", "max_tokens"),
            "default of /v1/completions");
  EXPECT_EQ(provider->seen.back().generation.max_tokens, 16);
  defaults.max_tokens = 99;
  defaults.origins = {{"max_tokens", "flag -n"}};
  EXPECT_EQ(origin("/v1/completions", R"({"prompt":"a"})", "max_tokens"), "flag -n");
  EXPECT_EQ(provider->seen.back().generation.max_tokens, 99);
}

TEST(HostileServerRequest, BodiesThatAreNoJsonAreRefused) {
  Asked asked;
  std::string deep(100, '[');
  for (const std::string& body : std::vector<std::string>{
           "", " ", "{", "[]", "1", "null", R"({"a":})", "{\"a\":\"\xFF\"}", "{\"a\":\"\x01\"}",
           R"({"a":"\ud800"})", R"({"a":1e999})", cat("{\"a\":", deep), R"({"a":1} x)",
           "\xEF\xBB\xBF{}", R"({'a':1})", R"({"a":NaN})"}) {
    const Got got = asked.server.post(kPath, body);
    EXPECT_EQ(got.status, 400) << body;
    EXPECT_EQ(text_of(got.json(), "error.code"), "invalid_json") << body;
  }
}

TEST(HostileServerRequest, DepthSizeAndCountsAreLimited) {
  const auto nested = [](int levels) {
    const auto n = static_cast<std::size_t>(levels - 1);
    return cat("{\"a\":", std::string(n, '['), std::string(n, ']'), "}");
  };
  EXPECT_TRUE(read_body(nested(kMaxJsonLevels - 1)));
  EXPECT_FALSE(read_body(nested(kMaxJsonLevels + 1)));
  EXPECT_FALSE(read_body(std::string(kMaxBodyBytes + 1, ' ')));
  std::string many = R"({"a":[0)";
  for (std::size_t i = 0; i < kMaxBodyValues; ++i)
    many += ",0";
  const auto refused = read_body(many + "]}");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("more than 1048576 values"), std::string::npos);
}

TEST(HostileServerRequest, TooManyTokensOfContextNameTheMessages) {
  Server server(std::make_shared<MadeProvider>([](const Request&) -> Result<std::vector<Event>> {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "context_length_exceeded",
                 .message = "prompt 300 + max 1 > context 256 tokens",
                 .hint = "shorten the prompt"};
  }));
  const Got got = server.post(kPath, asking(R"("stream":true)"));
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(got.body,
            R"({"error":{"message":"prompt 300 + max 1 > context 256 tokens; shorten the prompt",)"
            R"("type":"invalid_request_error","param":"messages",)"
            R"("code":"context_length_exceeded"}})");
}

TEST(HostileServerRequest, AFullQueueSaysWhenToComeAgain) {
  const auto provider =
      std::make_shared<MadeProvider>([](const Request&) -> Result<std::vector<Event>> {
        return Error{.code = ErrorCode::kUnavailable, .id = "queue_full", .message = "full"};
      });
  Server server(provider);
  EXPECT_EQ(server.post(kPath, asking("")).header("retry-after"), "1");
  const Got got = server.post(kPath, asking(""));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(text_of(got.json(), "error.code"), "queue_full");
}

}  // namespace
}  // namespace wick::server
