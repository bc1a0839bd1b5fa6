// Schemas against texts, the members in any order. The suite of json-schema.org is run by
// tools/schema_suite/run.py; here stand our own cases: one line of texts that fit, one of texts
// that do not, and schemas that must be refused.
#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/schema/decimal.h"
#include "grammar/schema/machine.h"
#include "grammar/schema/recognizer.h"
#include "support/hot_counters.h"
#include "support/instrumented.h"

namespace wick::grammar {
namespace {

Result<bool> accepts(const std::string& schema, const std::string& text,
                     const SchemaOptions& options = {}) {
  WICK_TRY(auto compiled, compile_schema(schema, options));
  return JsonMachine(std::move(compiled)).accepts(text);
}

struct Case {
  const char* schema;
  std::vector<const char*> good, bad;
};

void check(const std::vector<Case>& cases, const SchemaOptions& options = {}) {
  for (const Case& one : cases) {
    for (const char* const text : one.good) {
      const auto answer = accepts(one.schema, text, options);
      EXPECT_TRUE(answer && *answer)
          << one.schema << " refuses " << text << (answer ? "" : to_string(answer.error()));
    }
    for (const char* const text : one.bad) {
      const auto answer = accepts(one.schema, text, options);
      EXPECT_TRUE(answer && !*answer)
          << one.schema << " takes " << text << (answer ? "" : to_string(answer.error()));
    }
  }
}

TEST(JsonMachine, ReadsJsonAndNothingElse) {
  check({{"true",
          {"0", "-0.5e+3", " [ 1 , {\"a\" : null} ] ", "\"\\u00e9\\ud83d\\ude00\"", "{}", "[]"},
          {"",        "01",         "1.",
           "-",       "[1,]",       "[,1]",
           "{\"a\"}", "{\"a\":1,}", "\"\\ud83d\"",
           "tru",     "truee",      "1 2",
           "\"\n\"",  "\"\xff\"",   "{\"\xff\":1}",
           "]",       "{]",         "[}",
           "+1",      "1e",         R"({"a":1,"\u0061":2})"}}});
}

TEST(JsonMachine, HonorsLogic) {
  check({{R"({"oneOf":[{"type":"integer"},{"minimum":2}]})", {"1", "2.5", "\"a\""}, {"3", "1.5"}},
         {R"({"not":{"anyOf":[{"required":["a"]},{"type":"array"}]}})",
          {"{}"},
          {"1", "[]", R"({"a":1})"}},
         {R"({"if":{"properties":{"k":{"const":"x"}},"required":["k"]},)"
          R"("then":{"required":["x"]},"else":{"maxProperties":1}})",
          {R"({"x":1,"k":"x"})", R"({"k":"x","x":1})", "{}", R"({"k":1})"},
          {R"({"k":"x"})", R"({"k":1,"b":2})"}},
         {R"({"dependentSchemas":{"a":{"minProperties":2}},"dependentRequired":{"b":["c"]}})",
          {"{}", R"({"a":1,"z":1})", R"({"c":1,"b":1})"},
          {R"({"a":1})", R"({"b":1,"a":2})"}}});
}

// Two parts of a oneOf exclude each other by a `not` only if it refuses all strings of the other.
TEST(JsonMachine, ReadsNotBesideStrings) {
  const char* const other = R"({"oneOf":[{"enum":["a"]},{"type":"string","not":{"enum":["b"]}}]})";
  check({{other, {"\"c\""}, {"\"a\"", "\"b\""}},
         {R"({"oneOf":[{"enum":["a","b"]},{"not":{"enum":["a"]}}]})", {"\"a\"", "1"}, {"\"b\""}},
         {R"({"oneOf":[{"enum":["a",1]},{"not":{"enum":["a","b"]}}]})", {"\"a\"", "2"}, {"1"}},
         {R"({"oneOf":[{"enum":["a"]},{"not":{"enum":["a"],"minLength":2}}]})", {"1"}, {"\"a\""}},
         {R"({"oneOf":[{"enum":["a"]},{"not":{"enum":["a"],"type":"null"}}]})", {"1"}, {"\"a\""}},
         {R"({"oneOf":[{"const":"a"},{"not":{"type":["null","string"]}}]})",
          {"\"a\"", "1"},
          {"null", "\"b\""}},
         {R"({"$schema":"http://json-schema.org/draft-04/schema#",)"
          R"("oneOf":[{"enum":["a"]},{"not":{"const":"b"}}]})",
          {"1"},
          {"\"a\"", "\"b\""}}});
}

TEST(JsonMachine, HonorsArraysAndObjects) {
  check({{R"({"prefixItems":[{"type":"string"}],"items":{"type":"integer"},)"
          R"("contains":{"const":7},"maxContains":2})",
          {R"(["a",7])", R"(["a",7.0,70e-1,8])"},
          {"[]", R"(["a"])", R"(["a",7,7,7])", R"([7,7])"}},
         {R"({"uniqueItems":true})",
          {"[]", "[1,true,\"1\"]", R"([{"a":1,"b":2},{"a":2,"b":1}])", "[[1],[[1]]]"},
          {"[1,1.0]", "[10,1e1]", R"([{"a":1,"b":2},{"b":2,"a":1}])", R"(["a","\u0061"])",
           "[[[0]],[[-0.0]]]"}},
         {R"({"patternProperties":{"^x":{"type":"integer"}},)"
          R"("properties":{"xy":{"minimum":3}},)"
          R"("additionalProperties":false,"propertyNames":{"maxLength":2}})",
          {"{}", R"({"xy":3,"xz":1})"},
          {R"({"xy":2})", R"({"a":1})", R"({"xyz":1})", R"({"x":"a"})"}},
         {R"({"enum":[[1,{"a":null}],"s",2]})",
          {R"([1.0,{"a":null}])", "\"s\"", "2.0"},
          {"[1,{}]", R"([1,{"a":null,"b":1}])", "[1]", "3"}}});
}

TEST(JsonMachine, HonorsUnevaluated) {
  check({{R"({"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},)"
          R"({"properties":{"b":true},"required":["b"]}],)"
          R"("unevaluatedProperties":false})",
          {R"({"a":1})", R"({"b":5})", R"({"a":1,"b":2})", R"({"b":2,"a":1})"},
          {R"({"a":2,"b":1})", R"({"b":1,"a":2})", R"({"a":1,"c":1})", "{}"}},
         {R"({"not":{"properties":{"a":true},"unevaluatedProperties":{"type":"null"}}})",
          {R"({"a":1,"b":1})"},
          {R"({"a":1})", R"({"b":null})", "1"}},
         {R"({"contains":{"type":"string"},"unevaluatedItems":{"type":"integer"}})",
          {R"(["a",1])"},
          {R"(["a",null])", "[1]"}}});
}

TEST(JsonMachine, FollowsReferences) {
  SchemaOptions options;
  options.fetch = [](const std::string& address) -> std::optional<std::string> {
    if (address != "http://localhost:1234/folder/int.json") return std::nullopt;
    return R"({"$defs":{"n":{"$anchor":"n","type":"integer"}},"$ref":"#n"})";
  };
  check({{R"({"type":"array","items":{"$ref":"#"}})", {"[]", "[[],[[]]]"}, {"[1]", "1"}},
         {R"({"$id":"http://localhost:1234/x.json","$ref":"folder/int.json"})", {"1"}, {"1.5"}},
         {R"({"$defs":{"a/b~":{"type":"null"}},"$ref":"#/$defs/a~1b~0"})", {"null"}, {"1"}},
         {R"({"$id":"tree","$dynamicAnchor":"node","type":"object",)"
          R"("properties":{"kids":{"items":{"$dynamicRef":"#node"}}}})",
          {R"({"kids":[{"kids":[]}]})"},
          {R"({"kids":[{"kids":[1]}]})"}},
         {R"({"$ref":"https://json-schema.org/draft/2020-12/schema"})",
          {"{}", "true", R"({"minLength":2})"},
          {"1", R"({"minLength":-1})", R"({"properties":[]})"}}},
        options);
}

TEST(JsonMachine, KeepsTheDraft) {
  check({{R"({"minimum":1,"exclusiveMinimum":true})", {"2"}, {"1"}},
         {R"({"type":"integer"})", {"1"}, {"1.0"}},
         {R"({"definitions":{"a":{"type":"null"}},"$ref":"#/definitions/a",)"
          R"("maxLength":1})",
          {"null"},
          {"1"}}},
        {.draft = Draft::k4});
  check({{R"({"items":[true],"additionalItems":false})", {"[1]"}, {"[1,2]"}}},
        {.draft = Draft::k7});
}

TEST(JsonMachine, AssertsFormats) {
  check({{R"({"format":"date-time"})",
          {R"("2024-02-29T23:59:60Z")", R"("1999-12-31T00:00:00.5+01:30")", "1"},
          {R"("2023-02-29T00:00:00Z")", R"("2024-02-29T22:59:60Z")", R"("2024-02-29")"}},
         {R"({"format":"ipv6"})",
          {R"("::1")", R"("1:2:3:4:5:6:7:8")", R"("::ffff:1.2.3.4")", R"("1::")"},
          {R"("1::2::3")", R"("1:2:3:4:5:6:7")", R"("12345::")"}},
         {R"({"format":"uri"})",
          {R"("http://a.b/c?d#e")", R"("urn:x:y")"},
          {R"("//a/b")", R"("a b:c")"}},
         {R"({"format":"nobody-knows"})", {R"("x")"}, {}}});
  check({{R"({"format":"ipv4"})", {R"("x")"}, {}}}, {.asserts_formats = false});
}

TEST(JsonMachine, KnowsTheAddressesThatPublishedSchemasGiveADraft) {
  for (const char* draft :
       {"http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft-04/schema",
        "http://json-schema-org/draft-04/schema"}) {
    const std::string schema =
        cat(R"({"$schema":")", draft, R"(","minimum":1,"exclusiveMinimum":true})");
    EXPECT_FALSE(*accepts(schema, "1")) << draft;
    EXPECT_TRUE(*accepts(schema, "2")) << draft;
  }
  const char* const newest =
      R"({"$schema":"http://json-schema.org/schema#","prefixItems":[false]})";
  EXPECT_FALSE(*accepts(newest, "[1]"));
  EXPECT_FALSE(accepts(R"({"$schema":"http://a.b/draft-07/schema"})", "1"));
}

TEST(JsonMachine, RefusesByKeywordAndPlace) {
  struct Refused {
    const char *schema, *id, *place;
  };

  for (const auto& [schema, id, place] : std::vector<Refused>{
           {R"({"properties":{"a":{"minLength":-1}}})", "schema_keyword",
            "'minLength' at '#/properties/a'"},
           {R"({"type":"float"})", "schema_keyword", "'type' at '#'"},
           {R"({"allOf":[{"pattern":"(a)\\1"}]})", "regex_unsupported", "'pattern' at '#/allOf/0'"},
           {R"({"$ref":"#/nowhere"})", "", "'$ref' at '#'"},
           {R"({"$ref":"http://a.b/c"})", "", "'$ref' at '#'"},
           {R"({"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"})",
            "schema_cycle", "leads back"},
           {R"({"multipleOf":1.2345678901234567890123})", "schema_keyword", "'multipleOf' at '#'"},
           {R"({"$schema":"http://json-schema.org/draft-03/schema"})", "schema_keyword",
            "'$schema'"},
           {"[]", "schema_keyword", "at '#'"}}) {
    const auto answer = accepts(schema, "1");
    ASSERT_FALSE(answer) << schema;
    EXPECT_EQ(answer.error().id.find(id), 0U) << schema << answer.error().id;
    EXPECT_NE(to_string(answer.error()).find(place), std::string::npos)
        << to_string(answer.error());
  }
}

TEST(JsonMachine, SaysWhichReferenceLeadsNowhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"#/$defs/b", "nothing is there"},
      {"#b", "no schema has this anchor"},
      {"http://example.com/b", "this document is not known"},
  };
  for (const auto& [reference, why] : cases) {
    const auto made =
        compile_schema(cat(R"({"properties":{"a":{"$ref":")", reference, R"("}}})"), {});
    ASSERT_FALSE(made) << reference;
    EXPECT_EQ(to_string(made.error()), cat("the keyword '$ref' at '#/properties/a' refers to '",
                                           reference, "', and ", why));
    EXPECT_EQ(made.error().id, "schema_reference");
    EXPECT_NE(made.error().hint, "");
  }
}

TEST(Decimal, ComparesAndDividesExactly) {
  const auto at = [](const char* text) { return *parse_decimal(text); };
  EXPECT_EQ(at("1.50"), at("15e-1"));
  EXPECT_EQ(at("-0.0"), at("0e99"));
  EXPECT_LT(compare(at("9007199254740992"), at("9007199254740993")), 0);
  EXPECT_LT(compare(at("-1e400"), at("1e-400")), 0);
  EXPECT_TRUE(is_multiple(at("1e308"), *divisor_of(at("0.5"))));
  EXPECT_TRUE(is_multiple(at("0.0075"), *divisor_of(at("0.0001"))));
  EXPECT_FALSE(is_multiple(at("0.00751"), *divisor_of(at("0.0001"))));
  EXPECT_FALSE(is_multiple(at("35"), *divisor_of(at("1e1"))));
  EXPECT_FALSE(parse_decimal("01"));
}

std::string nested(std::size_t depth) {
  std::string out = R"({"type":"integer"})";
  for (std::size_t i = 0; i < depth; ++i)
    out = cat(R"({"oneOf":[)", out, R"(,{"type":"string","minLength":)", i, "}]}");
  return out;
}

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Compiles for masks and walks through the text.
std::string walked(const std::string& schema, const std::string& text) {
  const auto recognizer = SchemaRecognizer::parse(schema, {});
  if (!recognizer) return recognizer.error().id;
  (*recognizer)->begin(kMaskFuel);
  const StateId state = (*recognizer)->step_all((*recognizer)->start(), text);
  if (state == kFailedState) return (*recognizer)->failure().id;
  return (*recognizer)->accepts(state) ? "accepted" : "rejected";
}

std::string checked(const std::string& schema, const std::string& text) {
  const auto answer = accepts(schema, text);
  return !answer ? answer.error().id : *answer ? "accepted" : "rejected";
}

// Either answer is right; what counts is that one comes within 250 ms of one core and 32 MiB.
TEST(HostileSchema, AnswersOrRefusesInBoundedTimeAndMemory) {
  std::string names, many = "[";
  for (int i = 0; i < 10'000; ++i) {
    names += cat(i == 0 ? "" : ",", "\"name", i, "\"");
    many += "0,";
  }
  const std::vector<std::pair<std::string, std::string>> attacks = {
      {nested(64), "1"},
      {cat(R"({"enum":[)", names, "]}"), "\"name9999\""},
      {R"({"pattern":"^a{0,100000}$"})", cat("\"", std::string(20'000, 'a'), "\"")},
      {R"({"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},)"
       R"({"items":{"$ref":"#/$defs/a"}}]},)"
       R"("b":{"properties":{"x":{"$ref":"#/$defs/a"}}}},)"
       R"("$ref":"#/$defs/a"})",
       std::string(5'000, '[')},
      {cat(R"({"pattern":")", std::string(1'000'000, 'a'), R"("})"), "\"a\""},
      {cat(R"({"pattern":")", std::string(1'000'000, '('), R"("})"), "\"a\""},
      {cat(std::string(300, '['), std::string(300, ']')), "1"},
      {R"({"uniqueItems":true})", many + "1]"},
      {R"({"minItems":1000000000,"maxLength":1000000000})", "[1]"}};
  for (const auto& [schema, text] : attacks) {
    for (const auto& answer_of : {checked, walked}) {
      test::reset_peak_bytes();
      const long before = test::live_bytes();
      const double began = cpu_ms();
      const std::string answer = answer_of(schema, text);
      const double took = cpu_ms() - began;
      const long bytes = test::peak_bytes() - before;
      std::printf("%8.1f ms %6.1f MiB  %-60.60s %s\n", took, static_cast<double>(bytes) / (1 << 20),
                  schema.c_str(), answer.c_str());
      EXPECT_LT(took, test::kIsInstrumented ? 5'000 : 250) << schema.substr(0, 100);
      EXPECT_LT(bytes, 32L << 20U) << schema.substr(0, 100);
    }
  }
}

}  // namespace
}  // namespace wick::grammar
