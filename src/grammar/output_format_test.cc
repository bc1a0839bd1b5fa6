// The end that every place of a document has: found, allowed, and short.
#include "grammar/output_format.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/strings.h"
#include "grammar/limits.h"

namespace wick::grammar {
namespace {

std::unique_ptr<Recognizer> recognizer_of(const ResponseFormat& format) {
  auto made = make_recognizer(format);
  EXPECT_TRUE(made) << format.schema << ": " << (made ? "" : to_string(made.error()));
  return made ? *std::move(made) : nullptr;
}

bool accepts(Recognizer& recognizer, StateId state, std::string_view text) {
  recognizer.begin(kMaskFuel);
  for (const char c : text)
    state = recognizer.step(state, static_cast<unsigned char>(c));
  return recognizer.accepts(state);
}

std::string shortest(const std::string& schema) {
  const auto recognizer = recognizer_of({.type = "json_schema", .schema = schema});
  const auto text = recognizer->shortest(recognizer->start());
  EXPECT_TRUE(text) << schema;
  if (!text) return "";
  EXPECT_TRUE(accepts(*recognizer, recognizer->start(), *text)) << schema << " " << *text;
  return *text;
}

TEST(OutputFormat, TheShortestDocument) {
  EXPECT_EQ(shortest("true"), "0");
  EXPECT_EQ(shortest(R"({"type":"string","minLength":3,"pattern":"^a"})").size(), 5U);
  EXPECT_EQ(shortest(R"({"type":"object","properties":{"b":{"type":"string"},"a":{"enum":[true,
                         12]},"c":{}},"required":["a","b"]})"),
            R"({"b":"","a":12})");
  EXPECT_EQ(shortest(R"({"type":"array","items":{"type":"integer","minimum":7},"minItems":3})"),
            "[7,7,7]");
  EXPECT_EQ(shortest(R"({"type":"array","prefixItems":[{"const":"x"},{"type":"null"}],
                         "minItems":3})"),
            "[\"x\",null,0]");
  EXPECT_EQ(shortest(R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":
      {"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["next"]}}})"),
            R"({"next":null})");
  EXPECT_EQ(shortest(R"({"anyOf":[{"type":"object","required":["long name"]},
      {"type":"object","required":["x"],"properties":{"x":{"const":"a long text"}}},
      {"type":"object","required":["x","y"]}],"type":"object"})"),
            R"({"x":0,"y":0})");
  EXPECT_EQ(shortest(R"({"type":"object","minProperties":2})"), R"({"":0,"0":0})");
  EXPECT_EQ(shortest(R"({"type":"array","contains":{"const":5},"minContains":2,"maxItems":2})"),
            "[5,5]");
  EXPECT_EQ(shortest(R"({"const":"a\"\\\n\u0001"})"), R"("a\"\\\n\u0001")");
}

// `{"n0":X,"n1":X,…}` with X as `value` says.
std::string object_of(int n, const std::string& value) {
  std::string out = "{";
  for (int i = 0; i < n; ++i)
    out += cat(i == 0 ? "" : ",", "\"n", i, "\":", value);
  return out + "}";
}

// All `n` properties are required, and no others may come.
std::string closed_schema(int n, const std::string& of) {
  std::string names;
  for (int i = 0; i < n; ++i)
    names += cat(i == 0 ? "" : ",", "\"n", i, "\"");
  return cat(R"({"type":"object","additionalProperties":false,"properties":)", object_of(n, of),
             R"(,"required":[)", names, "]}");
}

TEST(OutputFormat, TheShortestDocumentOfManyMembers) {
  EXPECT_EQ(shortest(closed_schema(90, R"({"type":"string"})")), object_of(90, R"("")"));
  EXPECT_EQ(shortest(closed_schema(300, closed_schema(3, R"({"type":["integer","null"]})"))),
            object_of(300, object_of(3, "0")));
  EXPECT_EQ(shortest(closed_schema(200, R"({"oneOf":[{"const":"a text"},{"type":"object"}]})")),
            object_of(200, "{}"));
  // Each member is found once, however often it is referred to.
  std::string defs;
  for (int i = 0; i < 40; ++i) {
    defs += cat(i == 0 ? "" : ",", "\"d", i, R"(":{"anyOf":[{"$ref":"#/$defs/d)", i + 1,
                R"("},{"type":"object","required":["x","y"],"properties":{"x":{"$ref":"#/$defs/d)",
                i + 1, R"("},"y":{"$ref":"#/$defs/d)", i + 1, R"("}}}]})");
  }
  EXPECT_EQ(shortest(cat(R"({"$ref":"#/$defs/d0","$defs":{)", defs, R"(,"d40":{"const":"end"}}})")),
            "\"end\"");
}

TEST(OutputFormat, TheShortestDocumentOfABranchIsInItsOrder) {
  EXPECT_EQ(shortest(R"({"oneOf":[
      {"type":"object","properties":{"k":{"const":"long enough"},"a":{},"b":{}},
       "required":["k","a","b"],"additionalProperties":false},
      {"type":"object","properties":{"k":{"const":"s"},"b":{},"c":{},"a":{}},
       "required":["k","a","b","c"],"additionalProperties":false}]})"),
            R"({"k":"s","b":0,"c":0,"a":0})");
  EXPECT_EQ(shortest(R"({"type":"object","properties":{"k":{"enum":["a","bb"]},"x":{}},
      "required":["k"],"if":{"properties":{"k":{"const":"a"}}},"then":{"required":["x"]}})"),
            R"({"k":"bb"})");
  EXPECT_EQ(shortest(R"({"type":"object","required":["n"],"properties":{"n":{"$ref":"#/$defs/t"}},
      "$defs":{"t":{"anyOf":[{"type":"array","minItems":2,"items":{"$ref":"#/$defs/u"}},
      {"const":"a text"}]},"u":{"anyOf":[{"$ref":"#/$defs/t"},{"const":"xy"}]}}})"),
            R"({"n":"a text"})");
}

const std::vector<ResponseFormat>& formats() {
  static const std::vector<ResponseFormat> kAll = {
      {.type = "json_object"},
      {.type = "json_schema", .schema = "true"},
      {.type = "json_schema", .schema = R"({"type":"object","properties":{"a":{"type":"string"},
        "b":{"type":"array","items":{"type":"number"}},"c":{"$ref":"#"}},"required":["b"]})"},
      {.type = "json_schema", .schema = R"({"oneOf":[{"type":"object","properties":{"k":{"const":1},
        "x":{"type":"string","format":"date"}},"required":["k","x"]},{"type":"object","properties":
        {"k":{"const":2}},"required":["k"],"additionalProperties":false}]})"},
      {.type = "json_schema", .schema = R"({"type":"object","patternProperties":{"^a":{"type":
        "boolean"}},"propertyNames":{"maxLength":3},"minProperties":2})"},
      {.type = "json_schema", .schema = R"({"type":"array","prefixItems":[{"type":"integer"},
        {"enum":["é\n","b"]}],"items":{"type":"array","minItems":1},"minItems":4})"},
      {.type = "json_schema", .schema = R"({"if":{"required":["a"]},"then":{"required":["b"]},
        "else":{"minProperties":1},"type":"object"})"},
      {.type = "json_schema", .schema = R"({"type":"integer","minimum":-5,"maximum":1200})"},
      {.type = "regex", .schema = "(ab|cd){2,9}x?[^a]{3}"},
      {.type = "choice", .schema = R"(["yes","no","not yet"])"},
      {.type = "grammar", .schema = "root ::= \"(\" root? \")\" | [0-9]{2} \".\" root"},
  };
  return kAll;
}

TEST(OutputFormat, AnEndFromEveryPlace) {
  std::mt19937 random(1);
  int n_places = 0;
  for (const ResponseFormat& format : formats()) {
    const auto recognizer = recognizer_of(format);
    for (int round = 0; round < 20; ++round) {
      std::string text;
      StateId state = recognizer->start();
      for (int i = 0; i < 60; ++i, ++n_places) {
        const auto end = recognizer->shortest(state);
        ASSERT_TRUE(end) << format.schema << " after " << text;
        ASSERT_TRUE(accepts(*recognizer, state, *end)) << text << " + " << *end;
        recognizer->begin(kMaskFuel);
        std::vector<unsigned char> live;
        for (unsigned byte = 0; byte < 256; ++byte) {
          const StateId next = recognizer->step(state, static_cast<unsigned char>(byte));
          if (next != kDeadState && next != kFailedState)
            live.push_back(static_cast<unsigned char>(byte));
        }
        if (live.empty()) break;
        const unsigned char byte = live[random() % live.size()];
        text += static_cast<char>(byte);
        state = recognizer->step(state, byte);
      }
    }
  }
  EXPECT_GT(n_places, 3'000);
}

TEST(OutputFormat, RefusesByName) {
  const auto id_of = [](const ResponseFormat& format) {
    const auto made = make_recognizer(format);
    return made ? std::string("taken") : made.error().id;
  };
  EXPECT_EQ(id_of({.type = "yaml"}), "response_format_unsupported");
  EXPECT_EQ(id_of({.type = "text"}), "response_format_unsupported");
  EXPECT_EQ(id_of({.type = "json_schema"}), "format_without_schema");
  EXPECT_EQ(id_of({.type = "json_schema", .schema = "false"}), "no_document");
  EXPECT_EQ(id_of({.type = "json_schema", .schema = R"({"multipleOf":3})"}), "schema_keyword");
  EXPECT_EQ(id_of({.type = "regex", .schema = "a(?!.*)b"}), "no_document");
  EXPECT_EQ(id_of({.type = "regex", .schema = "(a)\\1"}), "regex_unsupported");
  for (const char* const bad : {"", "[", "[]", "{}", "[1]", "\"a\""})
    EXPECT_NE(id_of({.type = "choice", .schema = bad}), "taken") << bad;
}

}  // namespace
}  // namespace wick::grammar
